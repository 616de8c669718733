#include "server/internal/feedback_log.h"

#include <map>
#include <utility>

#include "base/gzip.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace sibyl::server {
namespace {

constexpr uint64_t kLineBytesMax = uint64_t{1} << 20;

/// Bytes up to and with the last line end.
Result<uint64_t> whole_lines(const std::string& path) {
  base::FileSystem& files = base::real_file_system();
  if (!files.exists(path)) {
    return 0;
  }
  const auto view = files.map(path);
  if (!view) {
    return tl::unexpected<Error>(view.error());
  }
  const std::string_view bytes = (*view)->bytes();
  const size_t end = bytes.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

/// Empty for a row that is none of ours: the file may have been edited.
std::string text_of(const base::Json& row, const char* key) {
  const auto found = row.is_object() ? row.find(key) : row.end();
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_good(const base::Json& row) {
  const auto found = row.find("good");
  return found != row.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace

std::string feedback_to_json(const FeedbackRow& row) {
  std::string out;
  base::JsonWriter json(out);
  json.begin_object().key("time").text(row.time).key("collection").text(row.collection);
  json.key("question").text(row.question).key("answer_id").text(row.answer_id);
  json.key("passage_id").text(row.passage_id).key("good").boolean(row.good).end_object();
  return out;
}

Result<std::unique_ptr<FeedbackLog>> FeedbackLog::open(const std::string& path) {
  const auto keep = whole_lines(path);
  if (!keep) {
    return tl::unexpected<Error>(keep.error());
  }
  auto file = base::real_file_system().open_append(path, *keep);
  if (!file) {
    return pass_on(file);
  }
  return std::unique_ptr<FeedbackLog>(new FeedbackLog(path, std::move(*file)));
}

Result<void> FeedbackLog::append(const FeedbackRow& row) {
  const std::string line = feedback_to_json(row) + "\n";
  const std::lock_guard lock(mutex_);
  if (!broken_.message.empty()) {
    return tl::unexpected<Error>(broken_);
  }
  if (file_->size() + line.size() > kBytesMax) {
    return fail(Code::ResourceExhausted, "feedback.jsonl holds {} bytes, its limit; move it away",
                file_->size());
  }
  auto written = file_->append(line);
  if (written) {
    written = file_->sync();
  }
  if (!written) {
    broken_ = written.error();  // a half line may stand there: it is cut when it is opened next
  }
  return written;
}

Result<FeedbackLog::Page> FeedbackLog::list(const std::string& collection, uint64_t after,
                                            size_t limit) const {
  Page page;
  auto read = base::for_each_line(path_, kLineBytesMax, [&](const base::Line& line) {
    if (line.number <= after || line.too_long || line.text.empty()) {
      return true;
    }
    if (page.lines.size() == limit) {
      page.next = line.number - 1;
      return false;
    }
    const auto row = base::parse_json(line.text);
    if (row && (collection.empty() || text_of(*row, "collection") == collection)) {
      page.lines.emplace_back(line.text);
    }
    return true;
  });
  if (!read) {
    return pass_on(read);
  }
  return page;
}

Result<std::string> FeedbackLog::pairs(const std::string& collection) const {
  std::map<std::pair<std::string, std::string>, bool> last;  // (question, document) -> good
  auto read = base::for_each_line(path_, kLineBytesMax, [&](const base::Line& line) {
    const auto row = base::parse_json(line.text);
    if (row && row->is_object() &&
        (collection.empty() || text_of(*row, "collection") == collection)) {
      last[{text_of(*row, "question"), text_of(*row, "answer_id")}] = is_good(*row);
    }
    return true;
  });
  if (!read) {
    return pass_on(read);
  }
  std::string out;
  for (const auto& [pair, good] : last) {
    if (good) {
      base::JsonWriter json(out);
      json.begin_object().key("question").text(pair.first).key("answer_id").text(pair.second);
      json.end_object();
      out.push_back('\n');
    }
  }
  return out;
}

}  // namespace sibyl::server
