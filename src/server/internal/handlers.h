#pragma once

#include "server/internal/services.h"

namespace sibyl::server {

/// One function an operation of the route table; docs/reference/http.md says what each answers.
using Handler = Result<Response> (*)(Services&, const Call&);

Result<Response> add_documents(Services& services, const Call& call);
Result<Response> list_documents(Services& services, const Call& call);
Result<Response> get_document(Services& services, const Call& call);
Result<Response> delete_document(Services& services, const Call& call);
Result<Response> query_collection(Services& services, const Call& call);

Result<Response> list_collections(Services& services, const Call& call);
Result<Response> get_collection(Services& services, const Call& call);
Result<Response> put_collection(Services& services, const Call& call);
Result<Response> drop_collection(Services& services, const Call& call);
Result<Response> cancel_operation(Services& services, const Call& call);
Result<Response> compact_collection(Services& services, const Call& call);
Result<Response> rollback_collection(Services& services, const Call& call);

Result<Response> list_models(Services& services, const Call& call);
Result<Response> get_model(Services& services, const Call& call);
Result<Response> import_model(Services& services, const Call& call);
Result<Response> delete_model(Services& services, const Call& call);
Result<Response> set_default_model(Services& services, const Call& call);
Result<Response> make_embeddings(Services& services, const Call& call);
Result<Response> get_model_version(Services& services, const Call& call);
Result<Response> get_model_file(Services& services, const Call& call);

Result<Response> inference_server(Services& services, const Call& call);
Result<Response> inference_live(Services& services, const Call& call);
Result<Response> inference_ready(Services& services, const Call& call);
Result<Response> inference_model(Services& services, const Call& call);
Result<Response> inference_model_ready(Services& services, const Call& call);
Result<Response> infer(Services& services, const Call& call);

Result<Response> seldon_predict(Services& services, const Call& call);
Result<Response> seldon_feedback(Services& services, const Call& call);
Result<Response> seldon_health(Services& services, const Call& call);
Result<Response> seldon_ping(Services& services, const Call& call);
Result<Response> seldon_metadata(Services& services, const Call& call);

Result<Response> submit_job(Services& services, const Call& call);
Result<Response> list_jobs(Services& services, const Call& call);
Result<Response> get_job(Services& services, const Call& call);
Result<Response> cancel_job(Services& services, const Call& call);
Result<Response> resume_job(Services& services, const Call& call);
Result<Response> job_log(Services& services, const Call& call);
Result<Response> job_events(Services& services, const Call& call);

Result<Response> create_upload(Services& services, const Call& call);
Result<Response> list_uploads(Services& services, const Call& call);
Result<Response> delete_upload(Services& services, const Call& call);
Result<Response> add_feedback(Services& services, const Call& call);
Result<Response> list_feedback(Services& services, const Call& call);

Result<Response> health_live(Services& services, const Call& call);
Result<Response> health_ready(Services& services, const Call& call);
Result<Response> show_metrics(Services& services, const Call& call);
Result<Response> show_status(Services& services, const Call& call);
Result<Response> show_openapi(Services& services, const Call& call);

}  // namespace sibyl::server
