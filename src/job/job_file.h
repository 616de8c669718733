#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace sibyl::job {

enum class JobKind { Supervised, ColdStart, Evaluate };
std::string_view kind_name(JobKind kind);

/// A job file (INTERFACE section 4), checked whole: unknown keys, wrong types and impossible values
/// are InvalidConfig with line, value and the nearest right name.
struct JobFile {
  JobKind kind = JobKind::Supervised;
  std::string name;
  std::string pairs;  ///< absolute paths once parsed
  std::string texts;
  std::string collection;  ///< documents come from the owner's collection
  std::string base = "minilm";
  bool base_given = false;
  std::map<std::string, std::string> train;  ///< given parameters, as JSON scalars
  bool auto_tune = false;
  double auto_tune_budget_minutes = 30;
  bool test_mode = false;
  std::string device = "auto";
  bool allow_cpu_fallback = false;
  std::string evaluate_questions;
  std::string evaluate_qrels;
  std::string evaluate_texts;  ///< documents to answer from; empty: those of training
  bool fit_weights = true;
  bool compare_base = true;  ///< also evaluate the untrained base model
  std::string deploy_collection;
};
/// YAML (or JSON, which is YAML). Relative paths are taken from `folder`.
Result<JobFile> parse_job_file(std::string_view yaml, const std::string& folder);
Result<JobFile> job_from_json(const base::Json& json, const std::string& folder);
/// The job file that `job` came from, with absolute paths; read back it gives the same.
base::Json job_to_json(const JobFile& job);
/// NotFound naming the first input file or folder that is not there.
Result<void> check_inputs_exist(const JobFile& job);
/// Whether `base` is a folder (it holds a slash) and not a model's name or a base made from
/// nothing.
bool is_base_folder(std::string_view base);

/// One row of the parameter table: docs/reference/job.schema.json and --dry-run are made from it.
struct TrainParameter {
  std::string_view name;
  enum class Type { Integer, Number, Boolean, Text } type;
  double lowest;
  double highest;
  std::string_view what;
};
const std::vector<TrainParameter>& train_parameters();
/// The JSON Schema of a job file, from the same table.
std::string job_json_schema();

}  // namespace sibyl::job
