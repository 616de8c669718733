#pragma once

#include <unordered_map>

#include <gumbo.h>

#include "base/result.h"

namespace sibyl::answer::internal {

/// What of a page is content: decides for each element whether it is read, from its tag, role,
/// class, id and share of link text.
class HtmlContent {
 public:
  /// Measures the tree; InvalidData when it nests deeper than `depth_max`.
  static Result<HtmlContent> measure(const GumboNode* root, size_t depth_max);

  /// The element that holds the main content: `main` or its role, the only article, else the body.
  const GumboNode* main_content() const { return main_; }
  const GumboNode* title() const { return title_; }
  /// Lists of links are navigation; a page of nothing else is read with them.
  void keep_link_lists() { keep_link_lists_ = true; }
  bool is_dropped(const GumboNode& element) const;
  bool has_text(const GumboNode& element) const;

 private:
  struct Weight {
    uint32_t text_bytes = 0;
    uint32_t link_bytes = 0;
    uint32_t links = 0;
  };
  Result<Weight> weigh(const GumboNode* node, size_t depth, size_t depth_max, bool in_link);
  bool is_link_list(const GumboNode& element) const;
  void choose_main();

  std::unordered_map<const GumboNode*, Weight> weights_;
  const GumboNode* body_ = nullptr;
  const GumboNode* main_ = nullptr;
  const GumboNode* first_main_ = nullptr;
  const GumboNode* article_ = nullptr;
  const GumboNode* title_ = nullptr;
  size_t articles_ = 0;
  bool keep_link_lists_ = false;
};

}  // namespace sibyl::answer::internal
