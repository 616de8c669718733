#pragma once

#include <memory>
#include <string_view>

#include <gumbo.h>

#include "base/result.h"

namespace sibyl::answer::internal {

inline constexpr size_t kHtmlBytesMax = size_t{64} << 20;

/// A parsed page. The parser's memory is an arena that is let go as a whole: freeing its tree node
/// by node would recurse as deep as the page nests. Limits on that memory and on time end a parse
/// from within its allocator. Keeps `html` referenced.
class HtmlTree {
 public:
  static Result<HtmlTree> parse(std::string_view html);
  HtmlTree(HtmlTree&&) noexcept;
  HtmlTree& operator=(HtmlTree&&) noexcept;
  ~HtmlTree();
  const GumboNode* root() const { return output_->root; }

 private:
  class Arena;
  explicit HtmlTree(std::unique_ptr<Arena> arena);

  std::unique_ptr<Arena> arena_;
  const GumboOutput* output_ = nullptr;
};

/// An attribute's value, empty when there is none.
std::string_view attribute(const GumboElement& element, const char* name);

}  // namespace sibyl::answer::internal
