#include "job/internal/training_data.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_set>
#include <utility>

#include "job/internal/defaults.h"
#include "job/internal/documents_and_pairs.h"
#include "text/analyzer.h"

namespace sibyl::job::internal {
namespace {

constexpr size_t kTestQuestions = 64;
constexpr size_t kTestDocuments = 200;
constexpr size_t kTestJudged = 50;
constexpr size_t kLanguageSampleBytes = 200'000;

uint64_t word_count(std::string_view text) {
  uint64_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words;
}

// The work of build_training_data, step by step.
class Builder {
 public:
  Builder(const JobFile& job, const BuildOptions& options, const StepContext& context)
      : job_(job), options_(options), context_(context), random_(options.seed) {}

  Result<TrainingData> build() {
    if (auto done = load(); !done) {
      return pass_on(done);
    }
    if (job_.test_mode) {
      trim_for_test();
    }
    if (job_.kind != JobKind::Evaluate) {
      if (auto done = make_training_rows(); !done) {
        return pass_on(done);
      }
    }
    choose_evaluation();
    describe();
    return std::move(out_);
  }

 private:
  Result<void> load() {
    auto documents = load_documents(job_, context_);
    if (!documents) {
      return pass_on(documents);
    }
    documents_ = std::move(*documents);
    if (!job_.pairs.empty()) {
      auto rows = read_pairs(job_.pairs);
      if (!rows) {
        return pass_on(rows);
      }
      empty_pairs_ = rows->empty_dropped;
      auto pairs = resolve_pairs(std::move(*rows), documents_, true);
      if (!pairs) {
        return pass_on(pairs);
      }
      pairs_ = std::move(*pairs);
    }
    if (!job_.evaluate_texts.empty()) {
      JobFile only_texts;
      only_texts.texts = job_.evaluate_texts;
      auto other = load_documents(only_texts, context_);
      if (!other) {
        return pass_on(other);
      }
      other_documents_ = std::move(*other);
    }
    if (!job_.evaluate_questions.empty()) {
      auto judged = load_judged_questions(job_, evaluation_set());
      if (!judged) {
        return pass_on(judged);
      }
      judged_ = std::move(*judged);
    }
    return {};
  }

  DocumentSet& evaluation_set() {
    return job_.evaluate_texts.empty() ? documents_ : other_documents_;
  }

  void trim_for_test() {
    judged_.resize(std::min(judged_.size(), kTestJudged));
    pairs_.resize(std::min(pairs_.size(), kTestQuestions));
    std::vector<std::string> needed;
    for (const ResolvedPair& pair : pairs_) {
      needed.push_back(pair.document);
    }
    std::vector<std::string> golds;
    for (const answer::JudgedQuestion& question : judged_) {
      golds.insert(golds.end(), question.gold.begin(), question.gold.end());
    }
    if (job_.evaluate_texts.empty()) {
      needed.insert(needed.end(), golds.begin(), golds.end());
    } else {
      other_documents_.keep(golds, kTestDocuments);
    }
    documents_.keep(needed, kTestDocuments);
    out_.notes.push_back("test_mode: a small part of the data, figures mean nothing");
  }

  Result<void> make_training_rows() {
    passages_ = build_passages(documents_.items(), job_.kind == JobKind::ColdStart);
    out_.passages = std::move(passages_.items);
    if (out_.passages.empty()) {
      return fail(Code::InvalidData, "no document of the job holds text");
    }
    drop_held_out();
    group_pairs();
    if (!use_judged_as_validation()) {
      options_.labels ? split_labels() : split_cold();
    }
    if (options_.labels && out_.pairs.empty()) {
      return fail(Code::InvalidData, "no pair is left to train on: all were empty or held out");
    }
    if (options_.cold) {
      make_cold_pairs();
      if (out_.cold.empty()) {
        return fail(Code::InvalidData,
                    "no structural pair could be made of {} passages: they have neither headings "
                    "nor two sentences",
                    out_.passages.size());
      }
    }
    return {};
  }

  // Questions that are judged later must not be learned.
  void drop_held_out() {
    std::unordered_set<std::string> held_out;
    for (const answer::JudgedQuestion& question : judged_) {
      held_out.insert(normalized_question(question.question));
    }
    held_out_ = std::erase_if(pairs_, [&](const ResolvedPair& pair) {
      return held_out.contains(normalized_question(pair.question));
    });
    if (held_out_ > 0) {
      out_.notes.push_back(fmt::format(
          "{} training rows ask a question of evaluate.questions and were dropped", held_out_));
    }
  }

  void group_pairs() {
    std::unordered_map<std::string, size_t> places;
    for (const ResolvedPair& pair : pairs_) {
      const auto found = passages_.by_id.find(pair.document);
      if (found == passages_.by_id.end()) {
        ++empty_pairs_;  // its document holds no text
        continue;
      }
      const auto [place, is_new] = places.emplace(pair.question, out_.pairs.size());
      if (is_new) {
        out_.pairs.push_back({pair.question, {}});
      }
      auto& list = out_.pairs[place->second].passages;
      list.insert(list.end(), found->second.begin(), found->second.end());
    }
    for (LabelledQuestion& question : out_.pairs) {
      std::sort(question.passages.begin(), question.passages.end());
      question.passages.erase(std::unique(question.passages.begin(), question.passages.end()),
                              question.passages.end());
    }
  }

  // Judged questions over the same documents choose the best epoch; nothing is split off then.
  bool use_judged_as_validation() {
    if (judged_.empty() || !job_.evaluate_texts.empty()) {
      return false;
    }
    for (const answer::JudgedQuestion& question : judged_) {
      LabelledQuestion valid{question.question, {}};
      for (const std::string& gold : question.gold) {
        if (const auto found = passages_.by_id.find(gold); found != passages_.by_id.end()) {
          valid.passages.insert(valid.passages.end(), found->second.begin(), found->second.end());
        }
      }
      std::sort(valid.passages.begin(), valid.passages.end());
      if (!valid.passages.empty()) {
        out_.valid.push_back(std::move(valid));
      }
    }
    out_.notes.push_back(fmt::format(
        "the best epoch is chosen on the {} questions of evaluate.questions; cross-fitted figures "
        "stand beside the fitted ones",
        out_.valid.size()));
    return !out_.valid.empty();
  }

  // Whole passages are held out with all their questions, so that none is half seen.
  void split_labels() {
    const uint64_t wanted = validation_count(out_.pairs.size());
    std::vector<uint32_t> order;
    for (const LabelledQuestion& question : out_.pairs) {
      order.insert(order.end(), question.passages.begin(), question.passages.end());
    }
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    random_.shuffle(order);
    std::vector<std::vector<size_t>> asked(out_.passages.size());
    for (size_t i = 0; i < out_.pairs.size(); ++i) {
      for (const uint32_t passage : out_.pairs[i].passages) {
        asked[passage].push_back(i);
      }
    }
    std::vector<bool> taken(out_.pairs.size(), false);
    uint64_t count = 0;
    for (const uint32_t passage : order) {
      if (count >= wanted) {
        break;
      }
      for (const size_t question : asked[passage]) {
        count += taken[question] ? 0 : 1;
        taken[question] = true;
      }
    }
    std::vector<LabelledQuestion> kept;
    for (size_t i = 0; i < out_.pairs.size(); ++i) {
      (taken[i] ? out_.valid : kept).push_back(std::move(out_.pairs[i]));
    }
    out_.pairs = std::move(kept);
    out_.notes.push_back(
        fmt::format("{} questions are held out to choose the best epoch", out_.valid.size()));
  }

  // Without labels: passages whose own heading (or a sentence) must find the rest. They are not
  // trained on, and what they are found by is taken out of their text.
  void split_cold() {
    const uint64_t wanted = validation_count(out_.passages.size());
    std::unordered_map<std::string, int> heading_uses;
    for (const Passage& passage : out_.passages) {
      ++heading_uses[normalized_question(passage.last_heading)];
    }
    std::vector<uint32_t> order(out_.passages.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    random_.shuffle(order);
    held_passages_.assign(out_.passages.size(), false);
    for (const uint32_t index : order) {
      if (out_.valid.size() >= wanted) {
        break;
      }
      Passage& passage = out_.passages[index];
      const bool telling = word_count(passage.last_heading) >= 2 &&
                           heading_uses[normalized_question(passage.last_heading)] == 1;
      const std::vector<ColdPair> pairs =
          structural_pairs(passage, index, {1, false, 0.0}, random_);
      if (pairs.empty() || (!telling && pairs.back().question == passage.last_heading)) {
        continue;
      }
      const ColdPair& pair = telling ? pairs.front() : pairs.back();
      out_.valid.push_back({pair.question, {index}});
      passage.text = pair.text.value_or(passage.body);
      if (telling) {
        passage.heading.clear();
      }
      held_passages_[index] = true;
    }
    out_.notes.push_back(
        fmt::format("{} passages are held out: their headings or a sentence must find them",
                    out_.valid.size()));
  }

  void make_cold_pairs() {
    const ColdOptions cold{cold_sentences_per_passage(options_.transformer), !options_.transformer,
                           0.1};
    for (uint32_t i = 0; i < out_.passages.size(); ++i) {
      if (!held_passages_.empty() && held_passages_[i]) {
        continue;
      }
      for (ColdPair& pair : structural_pairs(out_.passages[i], i, cold, random_)) {
        out_.cold.push_back(std::move(pair));
      }
    }
  }

  void choose_evaluation() {
    out_.questions_from = "evaluate.questions";
    if (!judged_.empty()) {
      out_.evaluation_questions = std::move(judged_);
      out_.evaluation_documents = std::move(evaluation_set().items());
      return;
    }
    out_.questions_from = "held-out training data";
    if (options_.labels) {
      out_.evaluation_documents = std::move(documents_.items());
    } else {
      add_passages_as_documents();
    }
    for (const LabelledQuestion& question : out_.valid) {
      answer::JudgedQuestion judged;
      judged.id = fmt::format("q{}", out_.evaluation_questions.size() + 1);
      judged.question = question.question;
      for (const uint32_t passage : question.passages) {
        judged.gold.push_back(options_.labels ? out_.passages[passage].id : passage_name(passage));
      }
      out_.evaluation_questions.push_back(std::move(judged));
    }
  }

  std::string passage_name(uint32_t passage) const {
    return fmt::format("{}#{}", out_.passages[passage].id, passage);
  }

  // The held-out passages have lost what they are found by; the whole documents still show it.
  void add_passages_as_documents() {
    for (uint32_t i = 0; i < out_.passages.size(); ++i) {
      answer::Document document;
      document.id = passage_name(i);
      document.text = out_.passages[i].text;
      document.metadata = "{}";
      out_.evaluation_documents.push_back(std::move(document));
    }
  }

  void describe() {
    uint64_t passage_words = 0;
    std::string sample;
    for (const Passage& passage : out_.passages) {
      passage_words += word_count(passage.text);
      if (sample.size() < kLanguageSampleBytes) {
        sample += passage.text;
        sample.push_back('\n');
      }
    }
    uint64_t question_words = 0;
    for (const LabelledQuestion& question : out_.pairs) {
      question_words += word_count(question.question);
    }
    const auto mean = [](uint64_t sum, size_t count) {
      return count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count);
    };
    out_.statistics = {{"passages", out_.passages.size()},
                       {"questions", out_.pairs.size()},
                       {"cold_pairs", out_.cold.size()},
                       {"valid", out_.valid.size()},
                       {"evaluation_questions", out_.evaluation_questions.size()},
                       {"evaluation_documents", out_.evaluation_documents.size()},
                       {"questions_from", out_.questions_from},
                       {"duplicate_passages_dropped", passages_.duplicates_dropped},
                       {"empty_documents_dropped", passages_.empty_dropped},
                       {"empty_pairs_dropped", empty_pairs_},
                       {"held_out_pairs_dropped", held_out_},
                       {"documents_cut", passages_.documents_cut},
                       {"passage_words_mean", mean(passage_words, out_.passages.size())},
                       {"question_words_mean", mean(question_words, out_.pairs.size())},
                       {"language", text::guess_language(sample)}};
    const std::pair<const char*, uint64_t> dropped[] = {
        {"passages of the same text as another were dropped", passages_.duplicates_dropped},
        {"documents without text were dropped", passages_.empty_dropped},
        {"pairs without text were dropped", empty_pairs_}};
    for (const auto& [what, count] : dropped) {
      if (count > 0) {
        out_.notes.push_back(fmt::format("{} {}", count, what));
      }
    }
  }

  const JobFile& job_;
  const BuildOptions options_;
  const StepContext& context_;
  base::Random random_;
  DocumentSet documents_;
  DocumentSet other_documents_;
  std::vector<ResolvedPair> pairs_;
  std::vector<answer::JudgedQuestion> judged_;
  Passages passages_;
  std::vector<bool> held_passages_;
  uint64_t empty_pairs_ = 0;
  uint64_t held_out_ = 0;
  TrainingData out_;
};

}  // namespace

Result<TrainingData> build_training_data(const JobFile& job, const BuildOptions& options,
                                         const StepContext& context) {
  return Builder(job, options, context).build();
}

}  // namespace sibyl::job::internal
