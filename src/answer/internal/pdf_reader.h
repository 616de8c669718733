#pragma once

#include <string>

#include "answer/document.h"
#include "answer/document_reader.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// Text of a PDF file through `pdftotext` as a child process with limits on time, memory and
/// output. Unavailable when the program is not installed, InvalidData when the file is damaged or
/// holds no text.
Result<Document> read_pdf(const std::string& path, const ReadOptions& options);

}  // namespace sibyl::answer::internal
