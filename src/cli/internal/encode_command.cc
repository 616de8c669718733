#include <charconv>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/gzip.h"
#include "base/json.h"
#include "base/json_access.h"
#include "base/json_writer.h"
#include "base/stop.h"
#include "cli/internal/commands.h"
#include "cli/internal/npy_file.h"
#include "cli/internal/owner.h"
#include "encoder/cpu_encoder.h"
#include "model/model_directory.h"

namespace sibyl::cli {
namespace {

constexpr uint64_t kLineBytesMax = uint64_t{32} << 20;
constexpr size_t kBatchTexts = 512;
constexpr size_t kBatchBytes = size_t{4} << 20;

// The registry says where the model lies; its files never change, so they are read here whether a
// server owns the directory or not, and the server's questions are not kept waiting.
Result<std::shared_ptr<encoder::Encoder>> open_encoder(const Arguments& arguments) {
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  std::string reference = arguments.model;
  if (reference.empty()) {
    auto status = (*owner)->call("GET", "/v1/status");
    if (!status) {
      return pass_on(status);
    }
    const base::Json& name = base::value_at(*status, "default_model");
    if (!name.is_string() || name.get<std::string>().empty()) {
      return fail_field(Code::InvalidArgument, "model",
                        "--model is missing and there is no default model");
    }
    reference = name.get<std::string>();
  }
  auto entry = (*owner)->call("GET", model_path(reference));
  if (!entry) {
    return pass_on(entry);
  }
  auto model = model::read_model_directory(base::text_at(*entry, "path"));
  if (!model) {
    return pass_on(model);
  }
  return encoder::open_cpu_encoder(std::move(*model), base::text_at(*entry, "name"), {});
}

void append_plain(std::string& out, std::span<const float> vector) {
  char digits[32];
  for (size_t i = 0; i < vector.size(); ++i) {
    if (i > 0) {
      out.push_back(' ');
    }
    out.append(digits, std::to_chars(digits, digits + sizeof digits, vector[i]).ptr);
  }
  out.push_back('\n');
}

void append_json(std::string& out, std::span<const float> vector) {
  base::JsonWriter(out).begin_object().key("vector").floats(vector).end_object();
  out.push_back('\n');
}

class Encoding {
 public:
  Encoding(const Arguments& arguments, encoder::Encoder& encoder)
      : arguments_(arguments), encoder_(encoder) {
    options_.stop = base::process_stop_token();
    if (arguments.as_question) {
      options_.kind = encoder::TextKind::Question;
    }
  }

  Result<int> run() {
    if (!arguments_.npy.empty()) {
      array_.emplace();
      if (auto opened = array_->open(arguments_.npy, encoder_.info().dimension); !opened) {
        return pass_on(opened);
      }
    }
    Result<void> done;
    auto read = base::for_each_line("-", kLineBytesMax, [&](const base::Line& line) {
      done = take(line);
      return done.has_value();
    });
    if (read && done) {
      done = flush();
    }
    if (read && done && array_) {
      done = array_->finish();
    }
    if (!read || !done) {
      return tl::unexpected<Error>(read ? done.error() : read.error());
    }
    return 0;
  }

 private:
  Result<void> take(const base::Line& line) {
    if (line.too_long) {
      return fail(Code::TooLarge, "line {}: longer than {} bytes", line.number, kLineBytesMax);
    }
    std::string text(line.text);
    if (arguments_.json) {
      auto json = base::parse_json(line.text, fmt::format("line {}", line.number));
      if (!json) {
        return pass_on(json);
      }
      if (!json->is_object() || !json->contains("text") || !(*json)["text"].is_string()) {
        return fail(Code::InvalidData, "line {}: must be {{\"text\": …}}", line.number);
      }
      text = (*json)["text"].get<std::string>();
    }
    bytes_ += text.size();
    texts_.push_back(std::move(text));
    return texts_.size() >= kBatchTexts || bytes_ >= kBatchBytes ? flush() : Result<void>();
  }

  Result<void> flush() {
    const std::vector<std::string_view> views(texts_.begin(), texts_.end());
    auto encoded = encoder_.encode(views, options_);
    if (!encoded) {
      return pass_on(encoded);
    }
    const size_t dimension = encoder_.info().dimension;
    std::string out;
    Result<void> done;
    if (array_) {
      done = array_->add(encoded->vectors);
    } else {
      for (size_t i = 0; i < texts_.size(); ++i) {
        const std::span<const float> vector(encoded->vectors.data() + i * dimension, dimension);
        arguments_.json ? append_json(out, vector) : append_plain(out, vector);
      }
      if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) {
        done = fail(Code::IoError, "cannot write to standard output");
      }
    }
    texts_.clear();
    bytes_ = 0;
    return done;
  }

  const Arguments& arguments_;
  encoder::Encoder& encoder_;
  encoder::EncodeOptions options_;
  std::vector<std::string> texts_;
  size_t bytes_ = 0;
  std::optional<NpyFile> array_;
};

}  // namespace

Result<int> encode_lines(const Arguments& arguments, const Terminal& /*terminal*/) {
  auto encoder = open_encoder(arguments);
  if (!encoder) {
    return pass_on(encoder);
  }
  return Encoding(arguments, **encoder).run();
}

}  // namespace sibyl::cli
