#pragma once

#include <string>
#include <vector>

#include "answer/document.h"
#include "base/result.h"
#include "job/step.h"

namespace sibyl::job::internal {

/// Documents of a file or folder, read as `sibyl add` reads them. InvalidData names what is wrong.
Result<std::vector<answer::Document>> read_documents(const std::string& path,
                                                     const StepContext& context);
/// Documents of the owner's collection, page by page.
Result<std::vector<answer::Document>> fetch_documents(const std::string& collection,
                                                      const StepContext& context);
/// A document that is only a text, as the answers of pairs are; its id comes from the text.
Result<answer::Document> text_document(const std::string& text);

}  // namespace sibyl::job::internal
