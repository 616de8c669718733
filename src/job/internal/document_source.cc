#include "job/internal/document_source.h"

#include <utility>

#include "answer/document_reader.h"
#include "base/bytes.h"
#include "base/json.h"
#include "job/internal/pairs_reader.h"
#include "job/owner_client.h"
#include "net/http_client.h"

namespace sibyl::job::internal {
namespace {

constexpr size_t kPageRows = 500;

}  // namespace

Result<std::vector<answer::Document>> read_documents(const std::string& path,
                                                     const StepContext& context) {
  answer::ReadOptions options;
  options.stop = context.stop;
  std::vector<answer::Document> documents;
  WrongLines wrong;
  auto done = answer::DocumentReader(options).read(
      {path},
      [&](answer::Document&& document, const std::string& /*file*/) {
        documents.push_back(std::move(document));
        return !context.stop.stop_requested();
      },
      [&](const answer::ReadFailure& failure) {
        wrong.add(failure.file, failure.line, failure.error.message);
        return true;
      });
  if (!done) {
    return pass_on(done);
  }
  if (context.stop.stop_requested()) {
    return fail(Code::Interrupted, "stopped while reading {}", path);
  }
  if (wrong.any()) {
    return tl::unexpected<Error>(wrong.error());
  }
  return documents;
}

Result<std::vector<answer::Document>> fetch_documents(const std::string& collection,
                                                      const StepContext& context) {
  auto owner = OwnerClient::open(context.server, context.api_key, context.ca_file);
  if (!owner) {
    return pass_on(owner, "data.collection");
  }
  std::vector<answer::Document> documents;
  const std::string address = fmt::format("/v1/collections/{}/documents?limit={}",
                                          net::encode_uri_part(collection), kPageRows);
  std::string after;
  for (;;) {
    if (context.stop.stop_requested()) {
      return fail(Code::Interrupted, "stopped while reading collection {}", collection);
    }
    auto page = (*owner)->call("GET", address + "&after=" + net::encode_uri_part(after), {});
    if (!page) {
      return pass_on(page, fmt::format("data.collection '{}'", collection));
    }
    if (!page->is_object() || !page->contains("documents") || !(*page)["documents"].is_array()) {
      return fail(Code::Unavailable, "the server's list of documents has no 'documents'");
    }
    for (const base::Json& row : (*page)["documents"]) {
      auto document = answer::parse_document(base::dump_json(row), {});
      if (!document) {
        return pass_on(document, fmt::format("collection {}", collection));
      }
      documents.push_back(std::move(*document));
    }
    const auto next = page->find("next");
    if (next == page->end() || !next->is_string() || next->get<std::string>() == after) {
      return documents;
    }
    after = next->get<std::string>();
  }
}

Result<answer::Document> text_document(const std::string& text) {
  const base::Json json = {{"id", fmt::format("answer-{:016x}", base::hash64(text))},
                           {"text", text}};
  return answer::parse_document(base::dump_json(json), {});
}

}  // namespace sibyl::job::internal
