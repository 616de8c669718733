#include <utility>

#include "answer/evaluation.h"
#include "answer/query_json.h"
#include "base/json.h"
#include "base/stop.h"
#include "cli/internal/commands.h"
#include "cli/internal/job_arguments.h"
#include "cli/internal/owner.h"
#include "cli/internal/run_job.h"
#include "job/owner_client.h"

namespace sibyl::cli {
namespace {

Result<answer::QueryReply> ask(Owner& owner, const std::string& target,
                               const answer::QueryRequest& request) {
  auto reply = owner.send("POST", target, answer::query_request_to_json(request));
  if (!reply) {
    return pass_on(reply);
  }
  if (reply->status >= 400) {
    auto error = job::read_reply(reply->status, reply->body);
    return pass_on(error);
  }
  return answer::query_reply_from_json(reply->body);
}

}  // namespace

Result<int> evaluate(const Arguments& arguments, const Terminal& terminal) {
  if (is_job_file(arguments.target)) {
    const auto job = evaluation_job(arguments);
    if (!job) {
      return tl::unexpected<Error>(job.error());
    }
    return run_job(arguments, terminal, *job);
  }
  if (arguments.questions.empty()) {
    return fail_field(
        Code::InvalidArgument, "questions",
        "--questions is missing; an evaluation of a collection needs judged questions");
  }
  const auto questions = answer::read_judged_questions(arguments.questions, arguments.qrels);
  if (!questions) {
    return tl::unexpected<Error>(questions.error());
  }
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  answer::EvaluationOptions options;
  options.fit_weights = arguments.fit_weights;
  options.stop = base::process_stop_token();
  if (!arguments.pipeline.empty()) {
    options.pipelines = {arguments.pipeline};
  }
  const std::string target = collection_path(arguments.target) + "/query";
  ProgressBar bar(terminal, "asking", "questions");
  uint64_t asked = 0;
  auto report = answer::evaluate(
      [&](const answer::QueryRequest& request) {
        bar.update(++asked, 0);
        return ask(**owner, target, request);
      },
      *questions, options);
  bar.finish();
  if (!report) {
    return pass_on(report);
  }
  terminal.print(terminal.json() ? answer::evaluation_to_json(*report)
                                 : answer::evaluation_to_table(*report));
  return 0;
}

}  // namespace sibyl::cli
