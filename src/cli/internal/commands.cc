#include "cli/internal/commands.h"

#include <map>

#include "base/check.h"

namespace sibyl::cli {

Command find_command(const std::string& name) {
  static const std::map<std::string, Command> commands = {
      {"add", add_documents},
      {"ask", ask_question},
      {"documents list", list_documents},
      {"documents get", get_document},
      {"documents delete", delete_documents},
      {"documents export", export_documents},
      {"train", train_model},
      {"evaluate", evaluate},
      {"encode", encode_lines},
      {"models list", list_models},
      {"models show", show_model},
      {"models import", import_model},
      {"models export", export_model},
      {"models default", set_default_model},
      {"models use", use_model},
      {"models rollback", rollback_model},
      {"models delete", delete_model},
      {"collections list", list_collections},
      {"collections show", show_collection},
      {"collections create", create_collection},
      {"collections drop", drop_collection},
      {"collections compact", compact_collection},
      {"collections cancel", cancel_operation},
      {"jobs list", list_jobs},
      {"jobs show", show_job},
      {"jobs logs", show_job_log},
      {"jobs cancel", cancel_job},
      {"jobs resume", resume_job},
      {"serve", serve},
      {"step", run_job_step},
      {"cluster doctor", check_cluster},
      {"cluster submit", submit_to_cluster},
      {"cluster status", show_cluster_status},
      {"cluster logs", show_cluster_logs},
      {"doctor", doctor},
  };
  const auto found = commands.find(name);
  base::check(found != commands.end(), "every command of the grammar has its function");
  return found->second;
}

}  // namespace sibyl::cli
