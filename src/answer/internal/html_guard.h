#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace sibyl::answer::internal {

/// Looks through HTML once, in linear time, before the parser sees it: InvalidData when elements
/// nest deeper than `depth_max`, or when unclosed formatting elements would be opened anew in so
/// many blocks that the tree grows far past the input. An estimate, made so that sloppy real pages
/// pass; the parser's own memory and time limits hold whatever this overlooks.
Result<void> check_html_shape(std::string_view html, size_t depth_max);

}  // namespace sibyl::answer::internal
