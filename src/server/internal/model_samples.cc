#include "server/internal/model_samples.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bytes.h"
#include "base/file_system.h"

namespace sibyl::server {
namespace {

constexpr std::string_view kMagic = "SIBYLSMP";
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumBytes = 4;
constexpr uint64_t kFileBytesMax = uint64_t{1} << 30;

Error damaged(const std::string& path, std::string_view what) {
  return {Code::DataLoss,
          fmt::format("'{}' {}; restore it, or delete it when the models of --encoder are the ones "
                      "that the collections were made with",
                      path, what),
          {}};
}

bool read_sample(base::ByteReader& reader, SampleMap& samples) {
  std::string reference(reader.text());
  ModelSample sample;
  sample.is_served = reader.u8() != 0;
  const uint32_t dimension = reader.u32();
  if (!reader.ok() || dimension > reader.left() / sizeof(float)) {
    return false;
  }
  sample.vector.reserve(dimension);
  for (uint32_t i = 0; i < dimension; ++i) {
    sample.vector.push_back(reader.f32());
    if (!std::isfinite(sample.vector.back())) {
      return false;
    }
  }
  return samples.emplace(std::move(reference), std::move(sample)).second;
}

}  // namespace

bool is_same_sample(const std::vector<float>& a, const std::vector<float>& b) {
  static constexpr float kDifferenceMax = 1e-3F;
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= kDifferenceMax)) {
      return false;
    }
  }
  return true;
}

std::string encode_samples(const SampleMap& samples) {
  std::string out(kMagic);
  base::put_u32(out, kVersion);
  base::put_u32(out, static_cast<uint32_t>(samples.size()));
  for (const auto& [reference, sample] : samples) {
    base::put_text(out, reference);
    out.push_back(sample.is_served ? '\1' : '\0');
    base::put_u32(out, static_cast<uint32_t>(sample.vector.size()));
    for (const float value : sample.vector) {
      base::put_f32(out, value);
    }
  }
  base::put_u32(out, base::crc32(out));
  return out;
}

Result<SampleMap> decode_samples(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kMagic.size() + kChecksumBytes || !bytes.starts_with(kMagic)) {
    return tl::unexpected<Error>(damaged(path, "is no file of model samples"));
  }
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (base::ByteReader(bytes.substr(content.size())).u32() != base::crc32(content)) {
    return tl::unexpected<Error>(damaged(path, "has another checksum than its bytes"));
  }
  base::ByteReader reader(content);
  reader.skip(kMagic.size());
  const uint32_t version = reader.u32();
  const uint32_t count = reader.u32();
  if (!reader.ok() || version != kVersion || count > ModelSamples::kModelsMax) {
    return tl::unexpected<Error>(
        damaged(path, fmt::format("is of format {} with {} models; this program reads format {}",
                                  version, count, kVersion)));
  }
  SampleMap samples;
  for (uint32_t i = 0; i < count; ++i) {
    if (!read_sample(reader, samples)) {
      return tl::unexpected<Error>(damaged(path, fmt::format("is wrong at model {}", i)));
    }
  }
  if (!reader.ok() || reader.left() != 0) {
    return tl::unexpected<Error>(damaged(path, "has bytes behind its last model"));
  }
  return samples;
}

Result<std::unique_ptr<ModelSamples>> ModelSamples::open(std::string path) {
  SampleMap samples;
  if (base::real_file_system().exists(path)) {
    const auto bytes = base::read_file(path, kFileBytesMax);
    if (!bytes) {
      return tl::unexpected<Error>(bytes.error());
    }
    auto read = decode_samples(*bytes, path);
    if (!read) {
      return pass_on(read);
    }
    samples = std::move(*read);
  }
  return std::unique_ptr<ModelSamples>(new ModelSamples(std::move(path), std::move(samples)));
}

std::optional<ModelSample> ModelSamples::find(const std::string& reference) const {
  const std::lock_guard lock(mutex_);
  const auto found = samples_.find(reference);
  return found == samples_.end() ? std::nullopt : std::optional(found->second);
}

bool ModelSamples::is_served(std::string_view reference) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(samples_, [reference](const auto& item) {
    const std::string_view known = item.first;
    return item.second.is_served &&
           (known == reference || known.substr(0, known.find('@')) == reference);
  });
}

Result<void> ModelSamples::put(const std::string& reference, ModelSample sample) {
  const std::lock_guard lock(mutex_);
  if (samples_.size() >= kModelsMax && !samples_.contains(reference)) {
    return fail(Code::ResourceExhausted, "'{}' knows {} models already; no more are kept", path_,
                kModelsMax);
  }
  SampleMap next = samples_;
  next.insert_or_assign(reference, std::move(sample));
  if (auto written = base::replace_file(path_, encode_samples(next)); !written) {
    return written;
  }
  samples_ = std::move(next);
  return {};
}

}  // namespace sibyl::server
