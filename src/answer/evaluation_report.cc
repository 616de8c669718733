#include <algorithm>

#include <fmt/format.h>

#include "answer/evaluation.h"
#include "base/json_writer.h"

namespace sibyl::answer {
namespace {

void write_reports(const std::vector<PipelineReport>& reports, base::JsonWriter& writer) {
  writer.begin_array();
  for (const PipelineReport& report : reports) {
    writer.begin_object();
    writer.key("pipeline").text(report.pipeline);
    writer.key("blend").text(report.blend);
    writer.key("metrics").begin_object();
    for (size_t m = 0; m < rank::kMetricNames.size(); ++m) {
      writer.key(rank::kMetricNames[m]).begin_object();
      writer.key("mean").number(report.metrics[m].mean);
      writer.key("low").number(report.metrics[m].low);
      writer.key("high").number(report.metrics[m].high);
      writer.end_object();
    }
    writer.end_object();
    writer.end_object();
  }
  writer.end_array();
}

void append_row(std::string& out, const std::string& name, size_t width,
                const PipelineReport& report) {
  out += fmt::format("{:<{}}", name, width);
  for (const rank::Estimate& metric : report.metrics) {
    out += fmt::format("  {:>5.1f} [{:>5.1f},{:>5.1f}]", 100 * metric.mean, 100 * metric.low,
                       100 * metric.high);
  }
  out += '\n';
}

}  // namespace

std::string evaluation_to_json(const EvaluationReport& report) {
  std::string out;
  base::JsonWriter writer(out);
  writer.begin_object();
  writer.key("questions").integer(static_cast<int64_t>(report.questions));
  writer.key("pipelines");
  write_reports(report.pipelines, writer);
  if (!report.fitted.empty()) {
    writer.key("fitted").begin_object();
    for (const auto& [pipeline, expression] : report.fitted) {
      writer.key(pipeline).text(expression);
    }
    writer.end_object();
    writer.key("cross_fitted");
    write_reports(report.cross_fitted, writer);
  }
  writer.end_object();
  return out;
}

std::string evaluation_to_table(const EvaluationReport& report) {
  const std::string suffix = " (cross-fitted)";
  size_t width = std::string_view("pipeline").size();
  for (const PipelineReport& one : report.pipelines) {
    width = std::max(width, one.pipeline.size());
  }
  for (const PipelineReport& one : report.cross_fitted) {
    width = std::max(width, one.pipeline.size() + suffix.size());
  }
  std::string out = fmt::format("{:<{}}", "pipeline", width);
  for (const std::string_view name : rank::kMetricNames) {
    out += fmt::format("  {:<19}", name);
  }
  while (out.ends_with(' ')) {
    out.pop_back();
  }
  out += '\n';
  for (const PipelineReport& one : report.pipelines) {
    append_row(out, one.pipeline, width, one);
  }
  for (const PipelineReport& one : report.cross_fitted) {
    append_row(out, one.pipeline + suffix, width, one);
  }
  out += fmt::format("{} questions; percent, with 95 % bootstrap intervals\n", report.questions);
  for (const auto& [pipeline, expression] : report.fitted) {
    out += fmt::format("fitted {}: {}\n", pipeline, expression);
  }
  return out;
}

}  // namespace sibyl::answer
