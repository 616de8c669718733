#pragma once

#include <memory>

#include "job/step.h"

namespace sibyl::job::internal {

std::unique_ptr<Step> make_prepare_step();
std::unique_ptr<Step> make_train_step();
std::unique_ptr<Step> make_evaluate_step();
std::unique_ptr<Step> make_publish_step();
std::unique_ptr<Step> make_deploy_step();

}  // namespace sibyl::job::internal
