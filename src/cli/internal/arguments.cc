#include "cli/internal/arguments.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/environment.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/internal/config_file.h"
#include "cli/internal/version_text.h"

namespace sibyl::cli {
namespace {

// Commands and their options, one function a group. Texts are short: docs/reference/cli.md is the
// long form.
class Grammar {
 public:
  explicit Grammar(Arguments& out)
      : out_(out), app_("Question answering over your own documents.") {
    app_.name("sibyl");
    app_.require_subcommand(1);
    app_.set_help_all_flag("--help-all", "Help of every command");
    app_.add_option("--data", out_.data, "Data directory (or SIBYL_DATA)");
    app_.add_option("--config", out_.config, "Configuration file (YAML)");
    app_.add_flag("--json", out_.json, "One JSON document (or JSON lines) on standard output");
    app_.add_flag("--quiet,-q", out_.quiet, "No progress and no notes");
    app_.add_flag("--verbose,-v", out_.verbose, "Log what is done to standard error");
    app_.add_flag_callback(
        "--version", [] { throw CLI::CallForVersion(version_text(), 0); },
        "Version, CPU kernels, libraries");
    add();
    ask();
    documents();
    train();
    evaluate();
    encode();
    models();
    collections();
    jobs();
    serve();
    step();
    cluster();
    command(app_, "doctor", "Checks the machine and the data");
    // Options of `sibyl` may also stand behind the command.
    for (CLI::App* const sub : app_.get_subcommands({})) {
      sub->fallthrough();
      for (CLI::App* const inner : sub->get_subcommands({})) {
        inner->fallthrough();
      }
    }
  }

  CLI::App& app() { return app_; }

 private:
  CLI::App* command(CLI::App& parent, const std::string& name, const std::string& what) {
    CLI::App* const sub = parent.add_subcommand(name, what);
    const std::string full = &parent == &app_ ? name : parent.get_name() + " " + name;
    sub->callback([this, full] {
      if (out_.command.empty()) {
        out_.command = full;
      }
    });
    return sub;
  }
  // A command that only has commands of its own.
  CLI::App* group(const std::string& name, const std::string& what) {
    CLI::App* const sub = app_.add_subcommand(name, what);
    sub->require_subcommand(1);
    return sub;
  }
  void collection_of(CLI::App* sub) {
    sub->add_option("COLLECTION", out_.collection, "Collection")->required();
  }

  void add() {
    CLI::App* const sub = command(app_, "add", "Documents in: files, folders, - for JSONL");
    collection_of(sub);
    sub->add_option("PATH", out_.paths, "Files or folders, - for standard input")->required();
    sub->add_option("--model", out_.model, "Model of a new collection");
    sub->add_option_function<std::vector<std::string>>(
           "--map", [this](const std::vector<std::string>& pairs) { read_map(pairs); },
           "Columns of CSV files: text=body,title=subject")
        ->delimiter(',')
        ->type_name("OURS=THEIRS");
    sub->add_option("--max-bad", out_.bad_max, "Wrong lines that are passed over (0)");
    sub->add_flag("--prune", out_.prune, "Remove documents that the PATHs no longer hold");
  }
  void ask() {
    CLI::App* const sub = command(app_, "ask", "The best answers to a question");
    collection_of(sub);
    sub->add_option("QUESTION", out_.question, "Question")->required();
    sub->add_option("--top", out_.top, "Documents, 1 to 1000 (5)")->check(CLI::Range(1, 1000));
    sub->add_option("--filter", out_.filter, "Condition on metadata");
    sub->add_option("--pipeline", out_.pipeline, "Name or blend expression");
    sub->add_flag("--explain", out_.explain, "Rank and score of every retrieval");
  }
  void documents() {
    CLI::App* const parent = group("documents", "Documents of a collection");
    for (const auto& [name, what] :
         {std::pair("list", "Ids and titles, in id order"),
          std::pair("get", "A document as it was given"), std::pair("delete", "Delete documents"),
          std::pair("export", "Every document as JSONL")}) {
      CLI::App* const sub = command(*parent, name, what);
      collection_of(sub);
      const std::string_view which = name;
      if (which == "get") {
        sub->add_option("ID", out_.id, "Document id")->required();
      } else if (which == "delete") {
        sub->add_option("ID", out_.paths, "Document ids")->required();
      } else if (which == "list") {
        sub->add_option("--after", out_.after, "Start behind this id");
        sub->add_option("--limit", out_.limit, "At most so many (all)");
      }
    }
  }
  void train() {
    CLI::App* const sub = command(app_, "train", "A training job, from data to registered model");
    sub->add_option("JOB", out_.target, "Job file (YAML), or supervised or coldstart");
    sub->add_option("--pairs", out_.pairs, "Questions with answers");
    sub->add_option("--texts", out_.texts, "Documents");
    sub->add_option("--collection", out_.collection, "Documents of this collection");
    sub->add_option("--base", out_.base, "Model name or folder, or static_custom (minilm)");
    sub->add_option("--name", out_.name, "Name of the new model");
    sub->add_option("--device", out_.device, "auto, cpu, cuda or cuda:N");
    sub->add_option("--questions", out_.questions, "Judged questions for the evaluation");
    sub->add_option("--set", out_.settings, "train.epochs=3, device=cpu: any key of the job file")
        ->type_name("KEY=VALUE");
    sub->add_flag("--dry-run", out_.dry_run, "Print the plan with every parameter and why");
    sub->add_flag("--print-schema", out_.print_schema, "Print the JSON Schema of a job file");
  }
  void evaluate() {
    CLI::App* const sub = command(app_, "evaluate", "Ranking metrics with confidence intervals");
    sub->add_option("TARGET", out_.target, "Job file (YAML), or a collection")->required();
    sub->add_option("--questions", out_.questions, "Judged questions of a collection");
    sub->add_option("--qrels", out_.qrels, "TREC or BEIR judgements of the questions");
    sub->add_option("--pipeline", out_.pipeline, "Name or blend expression (all)");
    sub->add_flag("--fit-weights", out_.fit_weights, "Search the blend's weights, cross-fitted");
  }
  void encode() {
    CLI::App* const sub = command(app_, "encode", "One text a line in, one vector a line out");
    sub->add_option("--model", out_.model, "Model (the default one)");
    sub->add_option("--npy", out_.npy, "Write an array (NumPy) instead");
    sub->add_flag("--question", out_.as_question, "The texts are questions");
  }
  void models() {
    CLI::App* const parent = group("models", "The registry of models");
    command(*parent, "list", "Every model");
    const auto named = [&](const char* name, const char* what) {
      CLI::App* const sub = command(*parent, name, what);
      sub->add_option("NAME", out_.name, "NAME or NAME@VERSION")->required();
      return sub;
    };
    named("show", "A model and what it was trained on");
    named("default", "Make a model the default");
    named("delete", "Delete a model or one version");
    CLI::App* const out = named("export", "Copy a model to a folder");
    out->add_option("DIR", out_.target, "New folder")->required();
    CLI::App* const in = command(*parent, "import", "Copy a model directory into the registry");
    in->add_option("DIR_OR_URI", out_.target, "Model directory")->required();
    in->add_option("--name", out_.name, "Name (the folder's)");
    CLI::App* const use = command(*parent, "use", "Switch a collection to a model");
    collection_of(use);
    use->add_option("NAME", out_.model, "NAME or NAME@VERSION")->required();
    use->add_flag("--wait", out_.wait, "Return when the switch is done");
    CLI::App* const back = command(*parent, "rollback", "Back to the model before");
    collection_of(back);
    back->add_flag("--wait", out_.wait, "Return when the switch is done");
  }
  void collections() {
    CLI::App* const parent = group("collections", "Collections of documents");
    command(*parent, "list", "Every collection");
    for (const auto& [name, what] :
         {std::pair("show", "Settings, size, indexes and health"),
          std::pair("create", "A new collection"),
          std::pair("drop", "Delete a collection with its documents"),
          std::pair("compact", "Rewrite the files without deleted documents"),
          std::pair("cancel", "Stop the long operation that runs")}) {
      CLI::App* const sub = command(*parent, name, what);
      collection_of(sub);
      if (std::string_view(name) == "create") {
        sub->add_option("--model", out_.model, "Model (the default one)");
        sub->add_option("--language", out_.language, "Language of the texts (en)");
        sub->add_option("--pipeline", out_.pipeline, "Name or blend expression (blend)");
        sub->add_option("--chunking", out_.chunking, "off, or TOKENS:OVERLAP (200:40)");
      }
    }
  }
  void jobs() {
    CLI::App* const parent = group("jobs", "Training jobs and their history");
    command(*parent, "list", "Every job, newest first");
    for (const auto& [name, what] :
         {std::pair("show", "A job"), std::pair("logs", "What its steps printed"),
          std::pair("cancel", "Stop a job"), std::pair("resume", "Go on with a job")}) {
      command(*parent, name, what)->add_option("ID", out_.id, "Job id")->required();
    }
  }
  void serve() {
    CLI::App* const sub = command(app_, "serve", "Everything behind addresses");
    sub->add_option("--http", out_.http, "HTTP address (127.0.0.1:8080)");
    sub->add_option("--grpc", out_.grpc, "gRPC address (127.0.0.1:19530)");
    sub->add_option("--role", out_.role, "all, answers, models or vectors")
        ->check(CLI::IsMember({"all", "answers", "models", "vectors"}));
    sub->add_option("--model", out_.models,
                    "Import this model when its name is not there; with --role models: serve it")
        ->type_name("NAME=DIR_OR_URI");
    sub->add_option("--encoder", out_.encoders, "A model served elsewhere")
        ->type_name("NAME=KIND+URL");
    sub->add_option("--api-keys", out_.api_keys, "File of hashed API keys");
    sub->add_option("--tls-cert", out_.tls_certificate, "Certificate chain (PEM)");
    sub->add_option("--tls-key", out_.tls_key, "Private key (PEM)");
    sub->add_option("--allow-host", out_.allowed_hosts, "Host names beside loopback's");
    sub->add_option("--web-root", out_.web_root, "The page from a folder");
  }
  void step() {
    CLI::App* const sub = command(app_, "step", "One step of a job");
    sub->add_option("NAME", out_.name, "prepare, train, evaluate, publish or deploy")->required();
    sub->add_option("--workspace", out_.workspace, "Folder of the job, or s3://BUCKET/PREFIX")
        ->required();
    sub->add_option("--server", out_.server, "Owner: unix:/PATH or http(s) URL");
  }
  void cluster() {
    CLI::App* const parent = group("cluster", "Jobs in Kubernetes, through kubectl");
    const auto in_release = [&](const char* name, const char* what) {
      CLI::App* const sub = command(*parent, name, what);
      sub->add_option("--release", out_.release, "Release of the chart (sibyl)");
      sub->add_option("--namespace", out_.name_space, "Namespace (kubectl's own)");
      sub->add_option("--context", out_.context, "Context of kubectl (its current one)");
      return sub;
    };
    in_release("doctor", "What is missing, and what keeps a GPU node");
    CLI::App* const submit = in_release("submit", "Bring a job's files up and run it");
    submit->add_option("JOB", out_.target, "Job file (YAML)")->required();
    submit->add_option("--run", out_.run, "Name of the run; that of an earlier one goes on");
    submit->add_option("--set", out_.settings, "train.epochs=3: any key of the job file")
        ->type_name("KEY=VALUE");
    submit->add_flag("--dry-run", out_.dry_run, "Print what would be brought up and made");
    in_release("status", "Runs and how they stand")
        ->add_option("RUN", out_.run, "One run, with its pods");
    CLI::App* const logs = in_release("logs", "What the steps of a run print");
    logs->add_option("RUN", out_.run, "Run")->required();
    logs->add_option("--step", out_.step, "Only this step");
    logs->add_flag("--follow,-f", out_.follow, "Go on while the step runs");
  }

  void read_map(const std::vector<std::string>& pairs) {
    for (const std::string& pair : pairs) {
      const size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
        throw CLI::ValidationError("--map", "'" + pair + "' must be OURS=THEIRS, as text=body");
      }
      out_.columns[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }

  Arguments& out_;
  CLI::App app_;
};

std::string default_data_directory() {
  const auto variable = base::environment_variable;
  if (!variable("SIBYL_DATA").empty()) {
    return variable("SIBYL_DATA");
  }
  if (!variable("XDG_DATA_HOME").empty()) {
    return variable("XDG_DATA_HOME") + "/sibyl";
  }
  return (variable("HOME").empty() ? std::string(".") : variable("HOME")) + "/.local/share/sibyl";
}

// `sibyl trian` should say what was meant.
std::string command_hint(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::App* const sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(sub->get_name());
  }
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--data" || word == "--config") {
      ++i;
    } else if (!word.starts_with("-")) {
      const bool right = std::find(known.begin(), known.end(), word) != known.end();
      const std::string nearest = right ? "" : base::nearest_name(word, known);
      return nearest.empty() ? "" : fmt::format("; did you mean `sibyl {}`?", nearest);
    }
  }
  return {};
}

}  // namespace

ParsedArguments parse_arguments(int argc, char** argv) {
  ParsedArguments parsed;
  Grammar grammar(parsed.arguments);
  try {
    grammar.app().parse(argc, argv);
  } catch (const CLI::Success& success) {  // help and version
    grammar.app().exit(success);
    return parsed;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "sibyl: {}{}\nsee `sibyl --help`\n", error.what(),
               command_hint(grammar.app(), argc, argv));
    parsed.exit_status = exit_status(Code::InvalidArgument);
    return parsed;
  }
  if (auto read = apply_config_file(parsed.arguments); !read) {
    fmt::print(stderr, "sibyl: {}\n", read.error().message);
    parsed.exit_status = exit_status(read.error().code);
    return parsed;
  }
  if (parsed.arguments.data.empty()) {
    parsed.arguments.data = default_data_directory();
  }
  std::error_code problem;
  const auto absolute = std::filesystem::absolute(parsed.arguments.data, problem);
  if (!problem) {
    parsed.arguments.data = absolute.lexically_normal().string();
  }
  parsed.go_on = true;
  return parsed;
}

}  // namespace sibyl::cli
