#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sibyl::server {

inline constexpr size_t kFormFieldsMax = 64;

/// "multipart/form-data; boundary=x" is a form, "application/json" is none.
bool is_form(std::string_view content_type);

/// The fields of a form by name, as application/x-www-form-urlencoded or multipart/form-data (RFC
/// 7578) has them; of two with one name the last. InvalidArgument for a body that is no such form.
Result<std::map<std::string, std::string>> parse_form(std::string_view content_type,
                                                      std::string_view body);

}  // namespace sibyl::server
