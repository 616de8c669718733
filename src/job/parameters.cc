#include <limits>

#include "job/job_file.h"

namespace sibyl::job {

// The trainer's own limits are the same or wider; docs/formats/workspace.md says what each means.
const std::vector<TrainParameter>& train_parameters() {
  using Type = TrainParameter::Type;
  static const std::vector<TrainParameter> table = {
      {"stages", Type::Text, 0, 0, "labels, cold or cold,labels"},
      {"epochs", Type::Integer, 0, 1000, "passes over the labelled pairs"},
      {"cold_epochs", Type::Integer, 0, 1000, "passes over the structural pairs"},
      {"learning_rate", Type::Number, 0, 1, "peak of the stage labels"},
      {"cold_learning_rate", Type::Number, 0, 1, "peak of the stage cold"},
      {"warmup_share", Type::Number, 0, 1, "share of all steps, linear"},
      {"final_share", Type::Number, 0, 1, "of the peak, where the linear decay ends"},
      {"weight_decay", Type::Number, 0, 1,
       "AdamW, not on biases, norms and a transformer's token table"},
      {"gradient_norm_max", Type::Number, 0, 1000000,
       "a longer gradient of a step is shortened to it; 0: never"},
      {"batch_passages", Type::Integer, 2, 65536, "passages a step"},
      {"batch_questions_max", Type::Integer, 2, 262144, "questions a step at most"},
      {"micro_batch_tokens", Type::Integer, 16, 16777216, "tokens encoded at once"},
      {"question_tokens_max", Type::Integer, 3, 8192, "cut in training, special tokens included"},
      {"passage_tokens_max", Type::Integer, 3, 8192, "cut in training, special tokens included"},
      {"index_tokens_max", Type::Integer, 0, 8192,
       "cut of passages in validation and of the model; 0: no limit"},
      {"scale", Type::Number, 0.01, 1000, "of the cosine in the softmax"},
      {"symmetric", Type::Boolean, 0, 1, "loss also from passages to their questions"},
      {"mask_margin", Type::Number, -1, 2,
       "in-batch items that score above the positive minus this under the start model are no "
       "negatives; negative: off"},
      {"dropout", Type::Number, 0, 0.9, "transformers"},
      {"dimension", Type::Integer, 0, 8192, "static bases; 0: the base model's own"},
      {"patience", Type::Integer, 0, 1000, "epochs without a better validation; 0: never early"},
      {"validate_every_steps", Type::Integer, 0, 1000000000, "0: at the end of each epoch"},
      {"budget_minutes", Type::Number, 0, 100000, "of training time; 0: none"},
      {"seed", Type::Integer, 0, 9007199254740992, "of order, dropout and initial weights"},
      {"threads", Type::Integer, 0, 4096, "0: all cores"},
  };
  return table;
}

}  // namespace sibyl::job
