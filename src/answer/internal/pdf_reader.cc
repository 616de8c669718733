#include "answer/internal/pdf_reader.h"

#include <filesystem>

#include "answer/internal/structured_text.h"
#include "base/child_process.h"
#include "text/utf8.h"

namespace sibyl::answer::internal {
namespace {

std::string first_line(std::string_view text) {
  return std::string(text::cut_utf8(text.substr(0, text.find('\n')), 200));
}

/// Paragraphs stay apart, pages too; single line ends stay as the page has them.
void add_pages(std::string_view output, StructuredText& out) {
  while (!output.empty()) {
    const size_t end = std::min(output.find_first_of("\n\f"), output.size());
    const std::string line = collapse_space(output.substr(0, end));
    if (line.empty()) {
      out.break_paragraph();
    } else {
      out.add_inline(line);
      out.break_line();
    }
    if (end < output.size() && output[end] == '\f') {
      out.break_paragraph();
    }
    output.remove_prefix(std::min(end + 1, output.size()));
  }
}

}  // namespace

Result<Document> read_pdf(const std::string& path, const ReadOptions& options) {
  base::ChildOptions child;
  // An absolute path never looks like an option.
  std::error_code problem;
  const std::string absolute = std::filesystem::absolute(path, problem).string();
  child.arguments = {"pdftotext", "-q", "-enc", "UTF-8", problem ? path : absolute, "-"};
  child.timeout_ms = options.converter_timeout_ms;
  child.cpu_seconds_max = static_cast<uint64_t>(options.converter_timeout_ms / 1000 + 1);
  child.memory_bytes_max = options.converter_memory_bytes_max;
  child.output_bytes_max = options.file_bytes_max;
  auto outcome = base::run_child(child);
  if (!outcome && outcome.error().code == Code::NotFound) {
    return fail(Code::Unavailable,
                "pdftotext is not installed; run: apt-get install poppler-utils");
  }
  if (!outcome && outcome.error().code == Code::DeadlineExceeded) {
    return fail(Code::InvalidData, "PDF: pdftotext did not end within {} seconds and was stopped",
                options.converter_timeout_ms / 1000);
  }
  if (!outcome) {
    return pass_on(outcome, "PDF: pdftotext");
  }
  if (outcome->exit_status != 0) {
    return fail(Code::InvalidData, "PDF: pdftotext ended with {}{}{}", outcome->exit_status,
                outcome->errors.empty() ? "" : ": ", first_line(outcome->errors));
  }
  StructuredText text;
  add_pages(text::repair_utf8(outcome->output), text);
  Document document;
  text.finish(document);
  if (document.text.empty()) {
    return fail(Code::InvalidData, "PDF: holds no text; is it a scan?");
  }
  return document;
}

}  // namespace sibyl::answer::internal
