#include "text/internal/bert_splitter.h"

#include "text/internal/bert_characters.h"
#include "text/internal/unicode.h"

namespace sibyl::text {

BertSplitter::BertSplitter(const BertOptions& options) : options_(options) {
  for (char32_t c = 0; c < 0x80; ++c) {
    describe(c, ascii_, ascii_.entries[c]);
  }
}

BertSplitter::~BertSplitter() {
  for (auto& slot : pages_) {
    std::unique_ptr<const Page>(slot.load());
  }
}

const BertSplitter::Page& BertSplitter::page(char32_t code_point) const {
  auto& slot = pages_[code_point >> 8];
  const Page* found = slot.load(std::memory_order_acquire);
  if (found != nullptr) [[likely]] {
    return *found;
  }
  auto made = build_page(code_point & ~char32_t{0xFF});
  // Two threads may build the same page; the first one's stays.
  if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *found;
}

std::unique_ptr<BertSplitter::Page> BertSplitter::build_page(char32_t first) const {
  auto made = std::make_unique<Page>();
  for (char32_t i = 0; i < 256; ++i) {
    describe(first + i, *made, made->entries[i]);
  }
  return made;
}

BertSplitter::Kind BertSplitter::kind_of(char32_t c) {
  return is_space(c) ? Kind::Space : bert_is_punctuation(c) ? Kind::Alone : Kind::Word;
}

void BertSplitter::describe(char32_t c, Page& page, Entry& entry) const {
  entry.offset = static_cast<uint16_t>(page.pool.size());
  if (options_.clean_text && bert_is_dropped(c)) {
    entry.kind = Kind::Dropped;
    return;
  }
  if (options_.clean_text && is_space(c)) {
    entry.kind = Kind::Space;
    page.pool += ' ';
    entry.length = 1;
    return;
  }
  char32_t parts[18] = {c};
  const int count = options_.strip_accents ? bert_decompose(c, parts) : 1;
  int kept = 0;
  bool same = true;
  bool marks = false;
  for (int i = 0; i < count; ++i) {
    if (options_.strip_accents && bert_is_accent(parts[i])) {
      continue;
    }
    marks = marks || (options_.strip_accents && combining_class(parts[i]) != 0);
    char32_t lower[3] = {parts[i]};
    const int letters = options_.lowercase ? bert_lower_case(parts[i], lower) : 1;
    for (int j = 0; j < letters; ++j, ++kept) {
      const Kind kind = kind_of(lower[j]);
      same = same && (kept == 0 || (kind == entry.kind && kind == Kind::Word));
      entry.kind = kind;
      append_code_point(page.pool, lower[j]);
    }
  }
  entry.length = static_cast<uint8_t>(page.pool.size() - entry.offset);
  entry.ideograph = options_.handle_chinese_chars && is_cjk_ideograph(c);
  if (kept == 0) {
    entry.kind = Kind::Dropped;
  } else if (!same || marks) {
    entry.kind = Kind::Mixed;
  } else if (entry.ideograph) {
    entry.kind = Kind::Alone;
  }
}

void BertSplitter::append_part(char32_t part, std::string_view bytes, uint32_t begin, uint32_t end,
                               bool offsets, MarkRun& run, WordBuffer& word) const {
  const int rank = options_.strip_accents ? combining_class(part) : 0;
  if (run.end != word.bytes.size()) {
    run.marks.clear();  // a starter came between
  }
  size_t at = word.bytes.size();
  size_t place = run.marks.size();
  while (rank != 0 && place > 0 && run.marks[place - 1].first > rank) {
    at = run.marks[--place].second;
  }
  word.bytes.insert(at, bytes);
  if (offsets) {
    word.begins.insert(word.begins.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), begin);
    word.ends.insert(word.ends.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), end);
  }
  if (rank == 0) {
    run.end = SIZE_MAX;
    return;
  }
  for (size_t i = place; i < run.marks.size(); ++i) {
    run.marks[i].second += bytes.size();
  }
  run.marks.insert(run.marks.begin() + static_cast<std::ptrdiff_t>(place), {rank, at});
  run.end = word.bytes.size();
}

void BertSplitter::normalize(std::string_view text, uint32_t base, bool offsets,
                             WordBuffer& out) const {
  MarkRun run;
  for (size_t at = 0; at < text.size();) {
    const uint32_t from = base + static_cast<uint32_t>(at);
    const Found found = look_up(text, at);
    const uint32_t to = base + static_cast<uint32_t>(at);
    if (found.kind == Kind::Dropped) {
      continue;
    }
    if (found.ideograph) {
      append(" ", from, to, offsets, out);
    }
    if (found.kind == Kind::Mixed) {
      for (size_t i = 0; i < found.bytes.size();) {
        const size_t begin = i;
        const char32_t part = next_code_point(found.bytes, i);
        append_part(part, found.bytes.substr(begin, i - begin), from, to, offsets, run, out);
      }
    } else {
      append(found.bytes, from, to, offsets, out);
    }
    if (found.ideograph) {
      append(" ", from, to, offsets, out);
    }
  }
}

}  // namespace sibyl::text
