#include "index/internal/graph_encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "simd/distance.h"

namespace sibyl::index {
namespace {

/// Vectors that are fetched before they are needed.
constexpr size_t kAhead = 3;
constexpr size_t kLanes = simd::kScanLanes;
/// Float16 infinity: a neighbour that is not there is never near.
constexpr uint16_t kNever = 0x7C00;

template <class T>
void put(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

}  // namespace

struct GraphEncoder::Start {
  std::vector<float> vector;     ///< As the vectors are given.
  std::vector<float> head;       ///< Its projection.
  std::vector<float> pole;       ///< In the units of queries.
  std::vector<float> pole_head;  ///< Its projection.
};

struct GraphEncoder::Batch {
  explicit Batch(const CodeSpace& space)
      : along(space.head() * kLanes),
        codes(space.groups() * kLanes),
        direction(space.dimension()) {}
  std::vector<float> along;    ///< Unit directions on the axes, [head x 32].
  std::vector<uint8_t> codes;  ///< [groups x 32]
  std::vector<float> direction;
  std::array<float, kLanes> length{};
  std::array<float, kLanes> pole_product{};  ///< Of the whole direction.
};

GraphEncoder::GraphEncoder(const CodeSpace& space, std::span<const float> vectors,
                           const NeighbourGraph& graph)
    : space_(space),
      vectors_(vectors),
      graph_(graph),
      layout_{space.dimension(), graph.degree, space.groups()} {}

Result<void> GraphEncoder::project(NeighbourWork& work, double share) {
  const size_t head = space_.head();
  const size_t dimension = space_.dimension();
  const size_t count = vectors_.size() / dimension;
  heads_.resize(count * head);
  mean_head_.resize(head);
  simd::dot_many(space_.mean.data(), space_.axes.data(), head, dimension, dimension,
                 mean_head_.data());
  return work.for_blocks(count, 256, share, [&](size_t first, size_t last, size_t) {
    for (size_t i = first; i < last; ++i) {
      simd::dot_many(vector(i).data(), space_.axes.data(), head, dimension, dimension,
                     heads_.data() + i * head);
    }
  });
}

GraphEncoder::Start GraphEncoder::start_of(uint32_t node_vector) const {
  const std::span<const float> from = vector(node_vector);
  const std::span<const float> head =
      std::span(heads_).subspan(node_vector * space_.head(), space_.head());
  Start start{{from.begin(), from.end()}, {head.begin(), head.end()}, {}, {}};
  start.pole = start.vector;
  start.pole_head = start.head;
  if (space_.metric == Metric::kSquaredL2) {
    for (size_t c = 0; c < start.pole.size(); ++c) {
      start.pole[c] = (start.pole[c] - space_.mean[c]) / space_.unit;
    }
    for (size_t c = 0; c < start.pole_head.size(); ++c) {
      start.pole_head[c] = (start.pole_head[c] - mean_head_[c]) / space_.unit;
    }
  } else {
    const float length = simd::normalize(start.pole.data(), start.pole.size());
    for (float& value : start.pole_head) {
      value = length > 0 ? value / length : 0.0F;
    }
  }
  return start;
}

void GraphEncoder::prefetch(uint32_t node_vector) const {
  constexpr size_t kPerLine = 16;
  for (size_t c = 0; c < space_.dimension(); c += kPerLine) {
    __builtin_prefetch(vector(node_vector).data() + c);
  }
  for (size_t i = 0; i < space_.head(); i += kPerLine) {
    __builtin_prefetch(heads_.data() + node_vector * space_.head() + i);
  }
}

void GraphEncoder::encode_own(uint32_t node_vector, uint8_t* out) const {
  const std::span<const float> from = vector(node_vector);
  float most = 0;
  double squared = 0;
  for (size_t c = 0; c < from.size(); ++c) {
    const float value = (from[c] - space_.mean[c]) / space_.unit;
    most = std::max(most, std::fabs(value));
    squared += double{value} * value;
  }
  // Numbers so small that their step loses its digits are as good as 0.
  const float step = std::isnormal(most / 127.0F) ? most / 127.0F : 1.0F;
  for (size_t c = 0; c < from.size(); ++c) {
    const float value = (from[c] - space_.mean[c]) / space_.unit;
    out[layout_.own_at() + c] = static_cast<uint8_t>(static_cast<int8_t>(std::lrint(value / step)));
  }
  put(out + layout_.scale_at(), step);
  put(out + layout_.scale_at() + 4, static_cast<float>(squared));
}

void GraphEncoder::add_lane(const Start& start, uint32_t to, size_t lane, Batch& batch) const {
  const std::span<const float> other = vector(to);
  const float per_unit = 1.0F / space_.unit;
  for (size_t c = 0; c < other.size(); ++c) {
    batch.direction[c] = (other[c] - start.vector[c]) * per_unit;
  }
  const float* direction = batch.direction.data();
  const float length = std::sqrt(simd::dot(direction, direction, other.size()));
  batch.length[lane] = length;
  batch.pole_product[lane] = simd::dot(direction, start.pole.data(), other.size());
  const float factor = length > 0 ? 1.0F / (length * space_.unit) : 0.0F;
  const float* head = heads_.data() + to * space_.head();
  for (size_t i = 0; i < space_.head(); ++i) {
    batch.along[i * kLanes + lane] = (head[i] - start.head[i]) * factor;
  }
}

void GraphEncoder::finish(const Start& start, size_t count, Batch& batch, uint8_t* codes,
                          uint8_t* add, uint8_t* gain) const {
  std::array<float, kLanes> product{};       // of the code with its direction
  std::array<float, kLanes> pole_product{};  // of the code with the pole
  size_t axis = 0;
  for (size_t g = 0; g < space_.groups(); ++g) {
    const size_t size = space_.group_size[g];
    const float* centroids = space_.centroids.data() + axis * 16;
    const float* along = batch.along.data() + axis * kLanes;
    uint8_t* group = batch.codes.data() + g * kLanes;
    simd::nearest_of_16(along, centroids, size, group);
    for (size_t lane = 0; lane < count; ++lane) {
      for (size_t c = 0; c < size; ++c) {
        const float value = centroids[group[lane] * size + c];
        product[lane] += along[c * kLanes + lane] * value;
        pole_product[lane] += start.pole_head[axis + c] * value;
      }
    }
    axis += size;
  }
  simd::scan_pack(batch.codes.data(), space_.groups(), codes);
  const bool l2 = space_.metric == Metric::kSquaredL2;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (lane >= count) {
      put(add + lane * 2, kNever);
      continue;
    }
    // A query at the neighbour itself gets its distance right; a code that points nowhere counts
    // as a right angle.
    const float length = batch.length[lane];
    const float scale = product[lane] > 0.05F ? length / product[lane] : 0.0F;
    const float sum = l2 ? length * length + 2 * scale * pole_product[lane]
                         : scale * pole_product[lane] - batch.pole_product[lane];
    put(add + lane * 2, simd::to_float16(sum));
    put(gain + lane * 2, simd::to_float16(l2 ? -2 * scale : -scale));
  }
}

void GraphEncoder::encode_node(uint32_t node, uint8_t* out) const {
  encode_own(node, out);
  const std::span<const uint32_t> neighbours = graph_.of(node);
  const auto count = static_cast<size_t>(
      std::find(neighbours.begin(), neighbours.end(), NeighbourGraph::kNone) - neighbours.begin());
  for (size_t i = 0; i < neighbours.size(); ++i) {
    // A place without a neighbour names the node itself, which is visited already.
    put(out + layout_.neighbours_at() + i * 4, i < count ? neighbours[i] : node);
  }
  if (space_.groups() == 0) {
    return;
  }
  const Start start = start_of(node);
  Batch batch(space_);
  for (size_t first = 0; first < neighbours.size(); first += kLanes) {
    const size_t lanes = std::min(kLanes, count > first ? count - first : 0);
    for (size_t lane = 0; lane < lanes; ++lane) {
      if (first + lane + kAhead < count) {
        prefetch(neighbours[first + lane + kAhead]);
      }
      add_lane(start, neighbours[first + lane], lane, batch);
    }
    finish(start, lanes, batch, out + first / kLanes * layout_.batch_bytes(),
           out + layout_.add_at() + first * 2, out + layout_.gain_at() + first * 2);
  }
}

void GraphEncoder::encode_entries(std::span<const uint32_t> nodes, uint8_t* out) const {
  const EntryLayout entry{space_.groups()};
  for (size_t i = 0; i < kLanes; ++i) {
    put(out + entry.nodes_at() + i * 4, nodes[std::min(i, nodes.size() - 1)]);
  }
  if (space_.groups() == 0) {
    return;
  }
  // From the mean of all vectors; nothing is known of where queries lie.
  Start start{space_.mean, mean_head_, std::vector<float>(space_.dimension(), 0.0F),
              std::vector<float>(space_.head(), 0.0F)};
  Batch batch(space_);
  for (size_t lane = 0; lane < nodes.size(); ++lane) {
    add_lane(start, nodes[lane], lane, batch);
  }
  finish(start, nodes.size(), batch, out, out + entry.add_at(), out + entry.gain_at());
}

}  // namespace sibyl::index
