#include <utility>

#include "answer/query_json.h"
#include "base/json.h"
#include "cli/internal/commands.h"
#include "cli/internal/owner.h"
#include "job/owner_client.h"

namespace sibyl::cli {
namespace {

constexpr size_t kPassageBytesShown = 600;

// The passage with its best span in bold, cut around it when it is long.
std::string passage_text(const Terminal& terminal, const answer::Answer& answer) {
  std::string text = answer.text;
  if (answer.span && answer.span->end <= text.size() && answer.span->begin <= answer.span->end) {
    const std::string before = text.substr(0, answer.span->begin);
    const std::string inside =
        text.substr(answer.span->begin, answer.span->end - answer.span->begin);
    text = before + terminal.bold(inside) + text.substr(answer.span->end);
  } else if (text.size() > kPassageBytesShown) {
    size_t cut = kPassageBytesShown;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) {
      --cut;
    }
    text.resize(cut);
    text += " …";
  }
  std::string out;
  for (const char c : text) {
    out.push_back(c);
    if (c == '\n') {
      out += "   ";
    }
  }
  return out;
}

std::string answer_text(const Terminal& terminal, const answer::Answer& answer, size_t rank,
                        bool explain) {
  std::string heading = answer.title;
  for (const std::string& part : answer.headings) {
    if (part != answer.title) {
      heading += (heading.empty() ? "" : " › ") + part;
    }
  }
  std::string out =
      fmt::format("{}. {}  {}\n", rank, terminal.bold(heading.empty() ? answer.id : heading),
                  terminal.dim(fmt::format("{:.3f}", answer.score)));
  out += fmt::format("   {}\n", passage_text(terminal, answer));
  out += fmt::format(
      "   {}\n", terminal.dim(fmt::format("{} bytes {}-{}{}{}", answer.passage_id, answer.begin,
                                          answer.end, answer.url.empty() ? "" : "  ", answer.url)));
  if (explain) {
    for (size_t i = 0; i < answer::kRetrievals; ++i) {
      const answer::RetrievalScore& score = answer.retrievals[i];
      if (score.used) {
        out += fmt::format("   {:<9} rank {:>4}  score {:.4f}\n", answer::kRetrievalNames[i],
                           score.rank == 0 ? "-" : std::to_string(score.rank), score.score);
      }
    }
  }
  return out;
}

}  // namespace

Result<int> ask_question(const Arguments& arguments, const Terminal& terminal) {
  answer::QueryRequest request;
  request.question = arguments.question;
  request.top = arguments.top;
  request.filter = arguments.filter;
  request.pipeline = arguments.pipeline;
  request.explain = arguments.explain;
  auto owner = Owner::open(arguments.data, false);
  if (!owner) {
    return pass_on(owner);
  }
  auto reply = (*owner)->send("POST", collection_path(arguments.collection) + "/query",
                              answer::query_request_to_json(request));
  if (!reply) {
    return pass_on(reply);
  }
  if (reply->status >= 400) {
    auto error = job::read_reply(reply->status, reply->body);
    return pass_on(error);
  }
  if (terminal.json()) {
    terminal.print_json_text(reply->body);
    return 0;
  }
  auto answers = answer::query_reply_from_json(reply->body);
  if (!answers) {
    return pass_on(answers);
  }
  std::string text;
  for (size_t i = 0; i < answers->answers.size(); ++i) {
    text +=
        (i == 0 ? "" : "\n") + answer_text(terminal, answers->answers[i], i + 1, arguments.explain);
  }
  terminal.print(text.empty() ? "no document answers" : text);
  if (!answers->notice.empty()) {
    terminal.note("note: " + answers->notice);
  }
  terminal.note(terminal.dim(fmt::format("{} · {} · {} · {:.1f} ms", answers->collection,
                                         answers->model.empty() ? "no model" : answers->model,
                                         answers->pipeline, answers->took_ms)));
  return 0;
}

}  // namespace sibyl::cli
