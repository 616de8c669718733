#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "job/job_file.h"

namespace sibyl::job::internal {

/// What the defaults are chosen from.
struct DataFacts {
  JobKind kind = JobKind::Supervised;
  bool transformer = true;
  bool test_mode = false;
  uint64_t questions = 0;  ///< labelled, distinct, for training
  uint64_t cold_pairs = 0;
  uint64_t passages = 0;
  uint64_t valid = 0;
};

struct ChosenParameter {
  std::string name;
  base::Json value;
  std::string reason;
};

/// Every training parameter with its final value and why, in the order of the parameter table. The
/// one place where a default stands; what the job file gives wins.
std::vector<ChosenParameter> choose_parameters(const JobFile& job, const DataFacts& facts);

/// The stages that a job trains: "labels", "cold" or "cold,labels".
std::string default_stages(JobKind kind, bool transformer);
/// Structural pairs of one kind of sentence a passage: fewer for pre-trained transformers.
size_t cold_sentences_per_passage(bool transformer);

}  // namespace sibyl::job::internal
