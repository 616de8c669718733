#include "answer/internal/html_tree.h"

#include <csetjmp>
#include <cstddef>
#include <vector>

#include "base/clock.h"

namespace sibyl::answer::internal {
namespace {

constexpr size_t kArenaBytesMax = size_t{1} << 30;
constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr int64_t kParseTimeMaxUs = 30'000'000;
/// Allocations between two looks at the clock.
constexpr size_t kClockEvery = 256;

}  // namespace

/// Memory of one parse. When a limit is met it jumps back to the start of the parse, which is sound
/// because only the parser's C frames, which own nothing but arena memory, lie between.
class HtmlTree::Arena {
 public:
  const GumboOutput* parse(std::string_view html) {
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = [](void* arena, size_t bytes) {
      return static_cast<Arena*>(arena)->allocate(bytes);
    };
    options.deallocator = [](void*, void*) {};
    options.userdata = this;
    options.max_errors = 0;
    started_us_ = base::system_clock().steady_us();
    if (setjmp(over_limit_) != 0) {
      return nullptr;
    }
    return gumbo_parse_with_options(&options, html.data(), html.size());
  }

 private:
  void* allocate(size_t bytes) {
    constexpr size_t kAlign = alignof(std::max_align_t);
    bytes = (bytes + kAlign - 1) / kAlign * kAlign;
    if (++allocations_ % kClockEvery == 0 &&
        base::system_clock().steady_us() - started_us_ > kParseTimeMaxUs) {
      std::longjmp(over_limit_, 1);
    }
    if (bytes > left_) {
      if (bytes > kArenaBytesMax - total_) {
        std::longjmp(over_limit_, 1);
      }
      add_block(bytes);
    }
    std::byte* place = next_;
    next_ += bytes;
    left_ -= bytes;
    return place;
  }

  void add_block(size_t bytes) {
    const size_t size = bytes > kBlockBytes ? bytes : kBlockBytes;
    // Left uninitialised: the parser writes what it reads.
    blocks_.emplace_back(new std::byte[size]);
    total_ += size < kArenaBytesMax - total_ ? size : kArenaBytesMax - total_;
    next_ = blocks_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
  size_t total_ = 0;
  size_t allocations_ = 0;
  int64_t started_us_ = 0;
  std::jmp_buf over_limit_;
};

HtmlTree::HtmlTree(std::unique_ptr<Arena> arena) : arena_(std::move(arena)) {}
HtmlTree::HtmlTree(HtmlTree&&) noexcept = default;
HtmlTree& HtmlTree::operator=(HtmlTree&&) noexcept = default;
HtmlTree::~HtmlTree() = default;

Result<HtmlTree> HtmlTree::parse(std::string_view html) {
  if (html.size() > kHtmlBytesMax) {
    return fail(Code::TooLarge, "HTML: has {} bytes; at most {} are right", html.size(),
                kHtmlBytesMax);
  }
  HtmlTree tree(std::make_unique<Arena>());
  tree.output_ = tree.arena_->parse(html);
  if (tree.output_ == nullptr) {
    return fail(Code::InvalidData,
                "HTML: takes more than {} MiB of memory or {} seconds to parse; it is malformed",
                kArenaBytesMax >> 20, kParseTimeMaxUs / 1'000'000);
  }
  return tree;
}

std::string_view attribute(const GumboElement& element, const char* name) {
  const GumboAttribute* found = gumbo_get_attribute(&element.attributes, name);
  return found == nullptr || found->value == nullptr ? std::string_view{} : found->value;
}

}  // namespace sibyl::answer::internal
