#include "train/internal/setup.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/environment.h"
#include "base/file_system.h"
#include "base/thread_pool.h"
#include "train/internal/torch.h"

namespace sibyl::train {
namespace {

constexpr uint64_t kJobBytesMax = uint64_t{64} << 20;
/// A GPU wants few, regular products: lengths are padded up to a multiple of this there.
constexpr size_t kGpuLengthStep = 16;
constexpr size_t kTestQuestions = 32;
constexpr size_t kTestPassages = 64;

/// The job's number, else what the environment says, else every core.
size_t choose_threads(size_t wanted) {
  if (wanted > 0) {
    return wanted;
  }
  const bool told = !base::environment_variable("OMP_NUM_THREADS").empty();
  return told ? static_cast<size_t>(at::get_num_threads()) : base::usable_cores();
}

/// The same seed shall give the same model on a GPU too, where some sums else run in any order.
void settle_determinism(const DeviceChoice& choice) {
  if (choice.cuda) {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setDeterministicFillUninitializedMemory(false);
  }
}

Result<DeviceChoice> settle_device(Setup& setup, EventLog& events) {
  const size_t threads = choose_threads(setup.plan.threads);
  at::set_num_threads(static_cast<int>(threads));
  auto choice = choose_device(setup.plan.device, setup.plan.allow_cpu_fallback, look_for_gpus());
  if (!choice) {
    return choice;
  }
  auto tried = try_device(*choice);
  if (!tried && !setup.plan.allow_cpu_fallback) {
    return pass_on(tried);
  }
  if (!tried) {
    *choice = {.cuda = false,
               .index = 0,
               .why = "the GPU cannot be used and allow_cpu_fallback is true",
               .warning = tried.error().message};
  }
  settle_determinism(*choice);
  setup.device_text = device_line(*choice, threads);
  auto said = events.device(setup.device_text);
  if (said && !choice->warning.empty()) {
    said = events.note(choice->warning);
  }
  if (!said) {
    return pass_on(said);
  }
  return choice;
}

Result<void> open_base(Setup& setup) {
  const std::string folder = base::join_path(setup.workspace, "base");
  if (setup.plan.static_base) {
    setup.tokenizer_path = base::join_path(setup.workspace, "data/tokenizer.json");
    auto text = base::read_file(setup.tokenizer_path);
    if (!text) {
      return pass_on(text);
    }
    auto tokenizer = text::load_tokenizer_json(*text);
    if (!tokenizer) {
      return pass_on(tokenizer, setup.tokenizer_path);
    }
    setup.tokenizer = std::move(*tokenizer);
    return {};
  }
  auto model = model::read_model_directory(folder);
  if (!model) {
    return pass_on(model);
  }
  setup.base = std::move(*model);
  setup.tokenizer = setup.base->tokenizer;
  setup.tokenizer_path = base::join_path(folder, "tokenizer.json");
  return {};
}

/// ln(1 + N / (1 + passages with the token)), scaled to a mean of 1 over the tokens seen: a bag of
/// random vectors with these lengths already ranks a little like keyword search.
std::vector<float> token_weights(const Setup& setup) {
  std::vector<uint32_t> seen(setup.tokenizer->vocabulary_size(), 0);
  std::vector<std::string_view> texts(setup.data.passages.begin(), setup.data.passages.end());
  const TokenTable tokens =
      tokenize_all(*setup.tokenizer, texts, {.prompt = {}, .special_tokens = false});
  for (size_t i = 0; i < tokens.size(); ++i) {
    std::vector<int32_t> ids(tokens.at(i).begin(), tokens.at(i).end());
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    for (const int32_t id : ids) {
      ++seen[static_cast<size_t>(id)];
    }
  }
  std::vector<float> weights;
  double sum = 0;
  for (const uint32_t count : seen) {
    weights.push_back(static_cast<float>(
        std::log(1.0 + static_cast<double>(texts.size()) / (1.0 + static_cast<double>(count)))));
    sum += weights.back();
  }
  for (float& weight : weights) {
    weight = static_cast<float>(weight * static_cast<double>(weights.size()) / sum);
  }
  return weights;
}

Result<void> make_network(Setup& setup, const DeviceChoice& choice) {
  NetworkOptions options;
  options.dropout = setup.plan.dropout;
  if (choice.cuda) {
    options.device = at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(choice.index));
  }
  auto network = setup.plan.static_base
                     ? make_static_network(setup.tokenizer->vocabulary_size(), setup.plan.dimension,
                                           token_weights(setup), setup.plan.seed, options)
                     : make_transformer_network(*setup.base, options);
  if (!network) {
    return pass_on(network);
  }
  setup.network = std::move(*network);
  setup.batch_limits = {setup.plan.batch_passages, setup.plan.batch_questions_max};
  setup.micro_limits = {.tokens_max = setup.plan.micro_batch_tokens,
                        .length_step = choice.cuda && !setup.plan.static_base ? kGpuLengthStep : 1,
                        .padding_id = std::max(setup.tokenizer->padding_id(), 0)};
  return {};
}

struct Rules {
  TokenizeRule question, passage, index_question, index_passage;
};

Rules tokenize_rules(const Setup& setup) {
  const TrainPlan& plan = setup.plan;
  Rules rules;
  rules.question.tokens_max = plan.question_tokens_max;
  rules.passage.tokens_max = plan.passage_tokens_max;
  if (plan.static_base) {
    for (TokenizeRule* rule :
         {&rules.question, &rules.passage, &rules.index_question, &rules.index_passage}) {
      rule->special_tokens = false;
    }
    return rules;
  }
  size_t positions = SIZE_MAX;
  for (const model::Module& module : setup.base->modules) {
    if (const auto* transformer = std::get_if<model::TransformerModule>(&module)) {
      positions = transformer->positions - transformer->position_offset;
    }
  }
  const size_t index = plan.index_tokens_max > 0 ? plan.index_tokens_max : positions;
  rules.index_question.tokens_max = index;
  rules.index_passage.tokens_max = index;
  const auto prompt = [&](const char* name) {
    const auto found = setup.base->prompts.find(name);
    return found == setup.base->prompts.end() ? std::string() : found->second;
  };
  for (TokenizeRule* rule : {&rules.question, &rules.index_question}) {
    rule->prompt = prompt("query");
    rule->tokens_max = std::min(rule->tokens_max, positions);
  }
  for (TokenizeRule* rule : {&rules.passage, &rules.index_passage}) {
    rule->prompt = prompt("document");
    rule->tokens_max = std::min(rule->tokens_max, positions);
  }
  return rules;
}

/// All passages and questions; a test run takes a few questions, their answers and some others.
Validation make_validation(const Setup& setup, const Rules& rules) {
  std::vector<LabelledQuestion> questions = setup.data.valid;
  std::vector<uint32_t> passages(setup.data.passages.size());
  std::iota(passages.begin(), passages.end(), 0U);
  if (setup.plan.test_mode) {
    questions.resize(std::min(questions.size(), kTestQuestions));
    passages.resize(std::min(passages.size(), kTestPassages));
    for (const LabelledQuestion& question : questions) {
      passages.insert(passages.end(), question.passages.begin(), question.passages.end());
    }
    std::ranges::sort(passages);
    passages.erase(std::ranges::unique(passages).begin(), passages.end());
  }
  return {setup.data,           passages,           questions, *setup.tokenizer,
          rules.index_question, rules.index_passage};
}

Result<void> read_inputs(Setup& setup) {
  auto job = base::read_file(base::join_path(setup.workspace, "job.json"), kJobBytesMax);
  if (!job) {
    return pass_on(job);
  }
  auto plan = parse_plan(*job);
  if (!plan) {
    return pass_on(plan);
  }
  setup.plan = std::move(*plan);
  setup.fingerprint = std::move(*job);
  return {};
}

bool has_stage(const TrainPlan& plan, Stage stage) {
  return std::ranges::find(plan.stages, stage) != plan.stages.end();
}

}  // namespace

Result<std::unique_ptr<Setup>> open_setup(const std::string& workspace, EventLog& events) {
  auto setup = std::make_unique<Setup>();
  setup->workspace = workspace;
  auto read = read_inputs(*setup);
  if (!read) {
    return pass_on(read);
  }
  auto device = settle_device(*setup, events);
  if (!device) {
    return pass_on(device);
  }
  auto data = read_dataset(base::join_path(workspace, "data"),
                           {.pairs = has_stage(setup->plan, Stage::Labels),
                            .cold = has_stage(setup->plan, Stage::Cold)});
  if (!data) {
    return pass_on(data);
  }
  setup->data = std::move(*data);
  setup->fingerprint = fingerprint(setup->fingerprint, setup->data);
  auto opened = open_base(*setup);
  if (opened) {
    opened = make_network(*setup, *device);
  }
  if (!opened) {
    return pass_on(opened);
  }
  const Rules rules = tokenize_rules(*setup);
  const std::vector<uint32_t> canonical = canonical_passages(setup->data.passages);
  for (const Stage stage : setup->plan.stages) {
    setup->stages.push_back(make_stage_items(stage, setup->data, canonical, *setup->tokenizer,
                                             rules.question, rules.passage));
  }
  if (!setup->data.valid.empty()) {
    setup->validation.emplace(make_validation(*setup, rules));
  }
  return setup;
}

}  // namespace sibyl::train
