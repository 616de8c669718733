#include "job/internal/documents_and_pairs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "job/internal/document_source.h"

namespace sibyl::job::internal {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

Result<void> add_all(Result<std::vector<answer::Document>> documents, DocumentSet& out) {
  if (!documents) {
    return pass_on(documents);
  }
  for (answer::Document& document : *documents) {
    out.add(std::move(document));
  }
  return {};
}

}  // namespace

bool DocumentSet::add(answer::Document document) {
  if (by_id_.contains(document.id)) {
    return false;
  }
  items_.push_back(std::move(document));
  index(items_.size() - 1);
  return true;
}

void DocumentSet::index(size_t place) {
  by_id_.emplace(items_[place].id, place);
  by_text_.emplace(trimmed(items_[place].text), place);
}

std::string DocumentSet::find_text(const std::string& text) const {
  const auto found = by_text_.find(trimmed(text));
  return found == by_text_.end() ? std::string() : items_[found->second].id;
}

void DocumentSet::keep(const std::vector<std::string>& ids, size_t count) {
  const std::unordered_set<std::string> wanted(ids.begin(), ids.end());
  size_t others = wanted.size() < count ? count - wanted.size() : 0;
  std::vector<answer::Document> kept;
  for (answer::Document& document : items_) {
    if (wanted.contains(document.id)) {
      kept.push_back(std::move(document));
    } else if (others > 0) {
      --others;
      kept.push_back(std::move(document));
    }
  }
  items_ = std::move(kept);
  by_id_.clear();
  by_text_.clear();
  for (size_t i = 0; i < items_.size(); ++i) {
    index(i);
  }
}

Result<DocumentSet> load_documents(const JobFile& job, const StepContext& context) {
  DocumentSet documents;
  if (!job.texts.empty()) {
    if (auto done = add_all(read_documents(job.texts, context), documents); !done) {
      return pass_on(done);
    }
  }
  if (!job.collection.empty()) {
    if (auto done = add_all(fetch_documents(job.collection, context), documents); !done) {
      return pass_on(done);
    }
  }
  if (documents.items().empty() && !(job.texts.empty() && job.collection.empty())) {
    return fail(Code::InvalidData, "no document is in {}",
                job.texts.empty() ? "collection " + job.collection : job.texts);
  }
  return documents;
}

Result<std::vector<ResolvedPair>> resolve_pairs(PairRows&& rows, DocumentSet& documents,
                                                bool may_add) {
  std::vector<ResolvedPair> pairs;
  WrongLines wrong;
  for (PairRow& row : rows.rows) {
    std::string id = row.answer_id;
    if (!id.empty()) {
      if (!documents.has(id)) {
        wrong.add(rows.file, row.line,
                  fmt::format("answer_id '{}' is none of the {} documents", id,
                              documents.items().size()));
        continue;
      }
    } else {
      id = documents.find_text(row.answer);
      if (id.empty() && !may_add) {
        wrong.add(rows.file, row.line, "the answer is the text of no document");
        continue;
      }
      if (id.empty()) {
        auto document = text_document(row.answer);
        if (!document) {
          wrong.add(rows.file, row.line, document.error().message);
          continue;
        }
        id = document->id;
        documents.add(std::move(*document));
      }
    }
    pairs.push_back({trimmed(row.question), std::move(id)});
  }
  if (wrong.any()) {
    return tl::unexpected<Error>(wrong.error());
  }
  return pairs;
}

Result<std::vector<answer::JudgedQuestion>> load_judged_questions(const JobFile& job,
                                                                  DocumentSet& documents) {
  std::vector<answer::JudgedQuestion> questions;
  if (!job.evaluate_qrels.empty()) {
    auto read = answer::read_judged_questions(job.evaluate_questions, job.evaluate_qrels);
    if (!read) {
      return pass_on(read);
    }
    for (const answer::JudgedQuestion& question : *read) {
      for (const std::string& gold : question.gold) {
        if (!documents.has(gold)) {
          return fail_field(
              Code::InvalidData, "evaluate.qrels",
              "{}: question '{}' is judged for document '{}', which is none of the {} "
              "documents",
              job.evaluate_qrels, question.id, gold, documents.items().size());
        }
      }
    }
    return std::move(*read);
  }
  auto rows = read_pairs(job.evaluate_questions);
  if (!rows) {
    return pass_on(rows);
  }
  auto pairs = resolve_pairs(std::move(*rows), documents, job.evaluate_texts.empty());
  if (!pairs) {
    return pass_on(pairs);
  }
  std::unordered_map<std::string, size_t> places;
  for (ResolvedPair& pair : *pairs) {
    const auto [place, is_new] = places.emplace(pair.question, questions.size());
    if (is_new) {
      answer::JudgedQuestion question;
      question.id = fmt::format("q{}", questions.size() + 1);
      question.question = pair.question;
      questions.push_back(std::move(question));
    }
    auto& gold = questions[place->second].gold;
    if (std::find(gold.begin(), gold.end(), pair.document) == gold.end()) {
      gold.push_back(std::move(pair.document));
    }
  }
  return questions;
}

}  // namespace sibyl::job::internal
