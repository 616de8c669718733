#include "job/internal/defaults.h"

#include <map>

#include <gtest/gtest.h>

namespace sibyl::job::internal {
namespace {

std::map<std::string, ChosenParameter> chosen(const JobFile& job, const DataFacts& facts) {
  std::map<std::string, ChosenParameter> out;
  for (ChosenParameter& parameter : choose_parameters(job, facts)) {
    out[parameter.name] = parameter;
  }
  return out;
}

TEST(Defaults, EveryParameterHasAValueInItsRangeAndAReason) {
  for (const bool transformer : {true, false}) {
    for (const JobKind kind : {JobKind::Supervised, JobKind::ColdStart}) {
      for (const bool test_mode : {true, false}) {
        DataFacts facts{kind, transformer, test_mode, 100, 100, 100, 10};
        const auto all = chosen({}, facts);
        for (const TrainParameter& parameter : train_parameters()) {
          const ChosenParameter& one = all.at(std::string(parameter.name));
          EXPECT_FALSE(one.reason.empty()) << parameter.name;
          if (one.value.is_number()) {
            EXPECT_GE(one.value.get<double>(), parameter.lowest) << parameter.name;
            EXPECT_LE(one.value.get<double>(), parameter.highest) << parameter.name;
          } else {
            EXPECT_TRUE(one.value.is_boolean() || one.value.is_string()) << parameter.name;
          }
        }
      }
    }
  }
}

TEST(Defaults, LabelsAloneForTransformersAndColdPairsFirstForTables) {
  DataFacts facts;
  facts.questions = 4407;
  EXPECT_EQ(chosen({}, facts)["stages"].value, "labels");
  EXPECT_EQ(chosen({}, facts)["epochs"].value, 2);
  EXPECT_EQ(chosen({}, facts)["cold_epochs"].value, 0);
  facts.transformer = false;
  EXPECT_EQ(chosen({}, facts)["stages"].value, "cold,labels");
  EXPECT_EQ(chosen({}, facts)["cold_epochs"].value, 12);
  facts.kind = JobKind::ColdStart;
  EXPECT_EQ(chosen({}, facts)["stages"].value, "cold");
  EXPECT_EQ(chosen({}, facts)["epochs"].value, 0);
}

TEST(Defaults, AColdStartOfATransformerHidesPartsAndAsksOneWay) {
  DataFacts facts;
  EXPECT_EQ(chosen({}, facts)["dropout"].value, 0.0);
  EXPECT_EQ(chosen({}, facts)["symmetric"].value, true);
  facts.kind = JobKind::ColdStart;
  EXPECT_EQ(chosen({}, facts)["dropout"].value, 0.1);
  EXPECT_EQ(chosen({}, facts)["symmetric"].value, false);
  EXPECT_EQ(chosen({}, facts)["gradient_norm_max"].value, 1.0);
  EXPECT_EQ(chosen({}, facts)["index_tokens_max"].value,
            chosen({}, facts)["passage_tokens_max"].value);
  facts.transformer = false;
  EXPECT_EQ(chosen({}, facts)["symmetric"].value, true);
  EXPECT_EQ(chosen({}, facts)["gradient_norm_max"].value, 0.0);
}

TEST(Defaults, FewQuestionsAreReadMoreOften) {
  DataFacts facts;
  facts.questions = 100;
  EXPECT_EQ(chosen({}, facts)["epochs"].value, 6);
  facts.questions = 1000;
  EXPECT_EQ(chosen({}, facts)["epochs"].value, 4);
}

TEST(Defaults, WhatTheJobFileSaysWins) {
  JobFile job;
  job.train = {{"epochs", "7"}, {"stages", "\"cold,labels\""}};
  const auto all = chosen(job, {});
  EXPECT_EQ(all.at("epochs").value, 7);
  EXPECT_EQ(all.at("epochs").reason, "given in the job file");
  EXPECT_EQ(all.at("cold_epochs").value, 1);
}

}  // namespace
}  // namespace sibyl::job::internal
