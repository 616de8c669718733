#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/internal/arguments.h"
#include "cli/internal/terminal.h"

namespace sibyl::cli {

/// A command: the exit status, or an error that is still to be said.
using Command = std::function<Result<int>(const Arguments&, const Terminal&)>;

/// The command of a full name such as "models import"; the parser lets no other name through.
Command find_command(const std::string& name);

Result<int> add_documents(const Arguments& arguments, const Terminal& terminal);
Result<int> ask_question(const Arguments& arguments, const Terminal& terminal);

Result<int> list_documents(const Arguments& arguments, const Terminal& terminal);
Result<int> get_document(const Arguments& arguments, const Terminal& terminal);
Result<int> delete_documents(const Arguments& arguments, const Terminal& terminal);
Result<int> export_documents(const Arguments& arguments, const Terminal& terminal);

Result<int> train_model(const Arguments& arguments, const Terminal& terminal);
Result<int> evaluate(const Arguments& arguments, const Terminal& terminal);
Result<int> encode_lines(const Arguments& arguments, const Terminal& terminal);

Result<int> list_models(const Arguments& arguments, const Terminal& terminal);
Result<int> show_model(const Arguments& arguments, const Terminal& terminal);
Result<int> import_model(const Arguments& arguments, const Terminal& terminal);
Result<int> export_model(const Arguments& arguments, const Terminal& terminal);
Result<int> set_default_model(const Arguments& arguments, const Terminal& terminal);
Result<int> use_model(const Arguments& arguments, const Terminal& terminal);
Result<int> rollback_model(const Arguments& arguments, const Terminal& terminal);
Result<int> delete_model(const Arguments& arguments, const Terminal& terminal);

Result<int> list_collections(const Arguments& arguments, const Terminal& terminal);
Result<int> show_collection(const Arguments& arguments, const Terminal& terminal);
Result<int> create_collection(const Arguments& arguments, const Terminal& terminal);
Result<int> drop_collection(const Arguments& arguments, const Terminal& terminal);
Result<int> compact_collection(const Arguments& arguments, const Terminal& terminal);
Result<int> cancel_operation(const Arguments& arguments, const Terminal& terminal);

Result<int> list_jobs(const Arguments& arguments, const Terminal& terminal);
Result<int> show_job(const Arguments& arguments, const Terminal& terminal);
Result<int> show_job_log(const Arguments& arguments, const Terminal& terminal);
Result<int> cancel_job(const Arguments& arguments, const Terminal& terminal);
Result<int> resume_job(const Arguments& arguments, const Terminal& terminal);

Result<int> serve(const Arguments& arguments, const Terminal& terminal);
Result<int> run_job_step(const Arguments& arguments, const Terminal& terminal);
Result<int> check_cluster(const Arguments& arguments, const Terminal& terminal);
Result<int> submit_to_cluster(const Arguments& arguments, const Terminal& terminal);
Result<int> show_cluster_status(const Arguments& arguments, const Terminal& terminal);
Result<int> show_cluster_logs(const Arguments& arguments, const Terminal& terminal);
Result<int> doctor(const Arguments& arguments, const Terminal& terminal);

}  // namespace sibyl::cli
