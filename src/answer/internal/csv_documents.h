#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "answer/document.h"
#include "base/csv.h"
#include "base/result.h"

namespace sibyl::answer::internal {

/// Turns the rows of a CSV file with a header into documents. Columns named id, title, headings,
/// text, url and metadata mean what those fields mean; `columns` maps our name to theirs; all
/// others go to the metadata, numbers and booleans typed.
class CsvDocuments {
 public:
  /// InvalidData naming the columns there are when the text's column is missing.
  static Result<CsvDocuments> create(const base::CsvRecord& header,
                                     const std::map<std::string, std::string>& columns);
  /// `default_id` when the row has none.
  Result<Document> document(const base::CsvRecord& row, const std::string& default_id) const;

 private:
  std::vector<std::string> names_;  ///< our field, or the metadata key
  std::vector<bool> is_field_;
};

/// The separator of a file by its first line: a tab for .tsv; else a comma, or a semicolon when the
/// line holds no comma.
char csv_separator(std::string_view first_line, bool tabs);

}  // namespace sibyl::answer::internal
