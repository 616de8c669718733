#include <cstring>

#include "text/internal/compose.h"
#include "text/internal/normalizer_steps.h"
#include "text/utf8.h"

namespace sibyl::text {

namespace {

// SentencePiece's own maps are a few hundred kilobytes.
constexpr size_t kMapBytesMax = size_t{16} << 20;

int sextet(char letter) {
  if (letter >= 'A' && letter <= 'Z') {
    return letter - 'A';
  }
  if (letter >= 'a' && letter <= 'z') {
    return letter - 'a' + 26;
  }
  if (letter >= '0' && letter <= '9') {
    return letter - '0' + 52;
  }
  return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

std::optional<std::string> decode_base64(std::string_view text) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const int value = sextet(letter);
    if (value < 0) {
      return std::nullopt;
    }
    bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xFFFFFF;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>((bits >> count) & 0xFF);
    }
  }
  return out;
}

// Bits of a unit of a darts-clone double array.
bool has_leaf(uint32_t unit) {
  return ((unit >> 8) & 1) == 1;
}
uint32_t value_of(uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
uint32_t label_of(uint32_t unit) {
  return unit & 0x800000FF;
}
uint32_t offset_of(uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200) >> 6);
}

}  // namespace

Result<std::unique_ptr<NormalizerStep>> CharacterMapStep::read(std::string_view base64) {
  const auto bytes = decode_base64(base64);
  uint32_t size = 0;
  if (!bytes || bytes->size() < 4 || bytes->size() > kMapBytesMax) {
    return fail(Code::InvalidData,
                "tokenizer.json: normalizer.precompiled_charsmap is not base64 of a character map");
  }
  std::memcpy(&size, bytes->data(), 4);
  if (size % 4 != 0 || size > bytes->size() - 4) {
    return fail(Code::InvalidData,
                "tokenizer.json: normalizer.precompiled_charsmap says {} bytes of trie but has {}",
                size, bytes->size() - 4);
  }
  auto step = std::make_unique<CharacterMapStep>();
  step->units_.resize(size / 4);
  std::memcpy(step->units_.data(), bytes->data() + 4, size);
  step->pool_ = bytes->substr(4 + size);
  return std::unique_ptr<NormalizerStep>(std::move(step));
}

/// The replacement of the shortest key that the chunk starts with, as the library takes it.
std::optional<std::string_view> CharacterMapStep::replacement(std::string_view chunk) const {
  if (units_.empty()) {
    return std::nullopt;
  }
  size_t node = offset_of(units_[0]);
  for (const char letter : chunk) {
    const auto byte = static_cast<unsigned char>(letter);
    node ^= byte;
    if (byte == 0 || node >= units_.size() || label_of(units_[node]) != byte) {
      return std::nullopt;
    }
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (has_leaf(unit)) {
      const size_t place = node < units_.size() ? value_of(units_[node]) : pool_.size();
      if (place >= pool_.size()) {
        return std::nullopt;
      }
      const std::string_view rest = std::string_view(pool_).substr(place);
      return rest.substr(0, rest.find('\0'));
    }
  }
  return std::nullopt;
}

void CharacterMapStep::apply(std::string_view text, bool offsets, WordBuffer& out) const {
  // The library looks whole clusters of up to five bytes up first, then single code points.
  constexpr size_t kClusterBytesMax = 5;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + grapheme_length(text, at);
    if (end - at <= kClusterBytesMax) {
      if (const auto whole = replacement(text.substr(at, end - at))) {
        append_with_origin(*whole, at, end, offsets, out);
        at = end;
        continue;
      }
    }
    while (at < end) {
      const size_t begin = at;
      next_code_point(text, at);
      const std::string_view part = text.substr(begin, at - begin);
      append_with_origin(replacement(part).value_or(part), begin, at, offsets, out);
    }
  }
}

}  // namespace sibyl::text
