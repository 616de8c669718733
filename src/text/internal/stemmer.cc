#include "text/internal/stemmer.h"

#include <map>
#include <memory>

#include <libstemmer.h>

namespace sibyl::text {

namespace {

struct StemmerDelete {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using StemmerPointer = std::unique_ptr<sb_stemmer, StemmerDelete>;

sb_stemmer* stemmer_of_thread(std::string_view language) {
  thread_local std::map<std::string, StemmerPointer, std::less<>> stemmers;
  auto at = stemmers.find(language);
  if (at == stemmers.end()) {
    const std::string name(language);
    at = stemmers.emplace(name, StemmerPointer(sb_stemmer_new(name.c_str(), "UTF_8"))).first;
  }
  return at->second.get();
}

}  // namespace

void stem_in_place(std::string_view language, std::string& word) {
  sb_stemmer* stemmer = stemmer_of_thread(language);
  if (stemmer == nullptr) {
    return;  // a libstemmer without that language
  }
  const auto* bytes = reinterpret_cast<const sb_symbol*>(word.data());
  const sb_symbol* stem = sb_stemmer_stem(stemmer, bytes, static_cast<int>(word.size()));
  if (stem != nullptr) {
    word.assign(reinterpret_cast<const char*>(stem),
                static_cast<size_t>(sb_stemmer_length(stemmer)));
  }
}

}  // namespace sibyl::text
