#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "answer/document.h"
#include "answer/evaluation.h"
#include "job/internal/pairs_reader.h"
#include "job/job_file.h"
#include "job/step.h"

namespace sibyl::job::internal {

/// Documents by id and by text, so that pairs find their answers.
class DocumentSet {
 public:
  /// False when a document of the same id is there already.
  bool add(answer::Document document);
  bool has(const std::string& id) const { return by_id_.contains(id); }
  /// The id of the document whose text is `text` (white space at the ends aside), or empty.
  std::string find_text(const std::string& text) const;
  std::vector<answer::Document>& items() { return items_; }
  const std::vector<answer::Document>& items() const { return items_; }
  /// Keeps the documents of `ids` and others until there are `count`.
  void keep(const std::vector<std::string>& ids, size_t count);

 private:
  void index(size_t place);

  std::vector<answer::Document> items_;
  std::unordered_map<std::string, size_t> by_id_;
  std::unordered_map<std::string, size_t> by_text_;
};

/// A question and the ids of the documents that answer it.
struct ResolvedPair {
  std::string question;
  std::string document;
};

/// The job's training documents: `data.texts` and `data.collection`.
Result<DocumentSet> load_documents(const JobFile& job, const StepContext& context);

/// Finds the document of every pair; answers given as text that no document has become documents
/// when `may_add`. InvalidData names the lines whose answer is not there.
Result<std::vector<ResolvedPair>> resolve_pairs(PairRows&& rows, DocumentSet& documents,
                                                bool may_add);

/// `evaluate.questions` with golds that are among `documents`; one entry a distinct question.
Result<std::vector<answer::JudgedQuestion>> load_judged_questions(const JobFile& job,
                                                                  DocumentSet& documents);

}  // namespace sibyl::job::internal
