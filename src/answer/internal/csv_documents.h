#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "answer/document.h"
#include "answer/internal/csv_parser.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// Turns the rows of a CSV file with a header into documents. Columns named id, title, headings,
/// text, url and metadata mean what those fields mean; `columns` maps our name to theirs; all
/// others go to the metadata, numbers and booleans typed.
class CsvDocuments {
 public:
  /// InvalidData naming the columns there are when the text's column is missing.
  static Result<CsvDocuments> create(const CsvRow& header,
                                     const std::map<std::string, std::string>& columns);
  /// `default_id` when the row has none.
  Result<Document> document(const CsvRow& row, const std::string& default_id) const;

 private:
  std::vector<std::string> names_;  ///< our field, or the metadata key
  std::vector<bool> is_field_;
};

}  // namespace sibyl::answer::internal
