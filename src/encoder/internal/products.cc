#include "encoder/internal/products.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <dnnl.hpp>

#include "base/check.h"
#include "base/log.h"
#include "base/random.h"
#include "encoder/internal/own_products.h"

// The runtime's own declaration comes with the compiler, and clang has none for g++'s runtime.
extern "C" void omp_set_num_threads(int threads);

namespace sibyl::encoder {

namespace {

using dnnl::memory;

/// Row counts that may agree: multiples of 16, and above it of 48, the least common multiple of the
/// register blocks of the kernels; largest first. docs/decisions/030 says which agreed where.
constexpr std::array<size_t, 5> kRowClasses = {384, 192, 96, 48, 16};
constexpr size_t kReference = 384;
/// Different rows in the self-test; prime to the classes, so that each stands at every position.
constexpr size_t kTestRows = 7;

/// The products of one shape, one for each class of rows, all reading weights in one form.
struct ShapeProducts {
  ProductShape shape;
  memory::desc weights;
  std::vector<dnnl::matmul> products;  ///< by class
  size_t scratch_bytes = 0;
};

class DnnlWeights final : public PackedWeights {
 public:
  DnnlWeights(ProductShape shape, size_t index, FloatBuffer values, memory wrapped)
      : shape_(shape), index_(index), values_(std::move(values)), wrapped_(std::move(wrapped)) {}
  ProductShape shape() const override { return shape_; }
  size_t index() const { return index_; }
  const memory& wrapped() const { return wrapped_; }

 private:
  ProductShape shape_;
  size_t index_;
  FloatBuffer values_;
  memory wrapped_;
};

class DnnlScratch final : public ProductScratch {
 public:
  DnnlScratch(const dnnl::engine& engine, size_t bytes)
      : stream_(engine), buffer_(bytes / sizeof(float) + 1) {}
  dnnl::stream& stream() { return stream_; }
  void* data() { return buffer_.data(); }

 private:
  dnnl::stream stream_;
  FloatBuffer buffer_;
};

memory::desc plain(size_t rows, size_t columns) {
  return {{static_cast<memory::dim>(rows), static_cast<memory::dim>(columns)},
          memory::data_type::f32,
          memory::format_tag::ab};
}

class DnnlProducts final : public Products {
 public:
  /// Throws dnnl::error when oneDNN has no such product.
  explicit DnnlProducts(const std::vector<ProductShape>& shapes)
      : engine_(dnnl::engine::kind::cpu, 0) {
    for (const ProductShape& shape : shapes) {
      add_shape(shape);
    }
    choose_classes();
  }

  bool usable() const { return !classes_.empty(); }

  std::unique_ptr<const PackedWeights> pack(const float* weights,
                                            ProductShape shape) const override {
    const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const ShapeProducts& s) { return s.shape == shape; });
    base::check(found != shapes_.end(), "weights have a shape that was announced");
    FloatBuffer values(found->weights.get_size() / sizeof(float));
    memory packed(found->weights, engine_, values.data());
    // W [out x in] row-major is W^T [in x out] column-major.
    memory from({{static_cast<memory::dim>(shape.in), static_cast<memory::dim>(shape.out)},
                 memory::data_type::f32,
                 memory::format_tag::ba},
                engine_, const_cast<float*>(weights));
    dnnl::stream stream(engine_);
    dnnl::reorder(from, packed).execute(stream, from, packed);
    stream.wait();
    const auto index = static_cast<size_t>(found - shapes_.begin());
    return std::make_unique<DnnlWeights>(shape, index, std::move(values), std::move(packed));
  }

  std::unique_ptr<ProductScratch> make_scratch() const override {
    size_t bytes = 0;
    for (const ShapeProducts& shape : shapes_) {
      bytes = std::max(bytes, shape.scratch_bytes);
    }
    return std::make_unique<DnnlScratch>(engine_, bytes);
  }

  void run(const PackedWeights& weights, const float* a, size_t rows, float* c,
           ProductScratch& scratch) const override {
    const ProductShape shape = weights.shape();
    size_t done = 0;
    for (const size_t index : classes_) {
      while (rows - done >= kRowClasses[index]) {
        run_class(index, weights, a + done * shape.in, c + done * shape.out, scratch);
        done += kRowClasses[index];
      }
    }
    base::check(done == rows, "rows are a multiple of the row step");
  }

  size_t row_step() const override { return kRowClasses[classes_.back()]; }
  size_t block_rows() const override { return kRowClasses[classes_.front()]; }
  std::string description() const override {
    std::vector<size_t> rows;
    for (const size_t index : classes_) {
      rows.push_back(kRowClasses[index]);
    }
    return fmt::format("oneDNN, rows in blocks of {}", fmt::join(rows, ", "));
  }

 private:
  void add_shape(const ProductShape& shape) {
    ShapeProducts out;
    out.shape = shape;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    out.weights = {{static_cast<memory::dim>(shape.in), static_cast<memory::dim>(shape.out)},
                   memory::data_type::f32,
                   memory::format_tag::any};
    for (const size_t rows : kRowClasses) {
      const dnnl::matmul::primitive_desc description(
          dnnl::matmul::desc(plain(rows, shape.in), out.weights, plain(rows, shape.out)),
          attributes, engine_);
      // The first class chooses the form; the others must read the same one.
      out.weights = description.weights_desc();
      out.scratch_bytes = std::max(out.scratch_bytes, description.scratchpad_desc().get_size());
      out.products.emplace_back(description);
    }
    shapes_.push_back(std::move(out));
  }

  void run_class(size_t index, const PackedWeights& weights, const float* a, float* c,
                 ProductScratch& scratch) const {
    const auto& packed = static_cast<const DnnlWeights&>(weights);
    auto& own = static_cast<DnnlScratch&>(scratch);
    const ShapeProducts& shape = shapes_[packed.index()];
    const size_t rows = kRowClasses[index];
    const memory from(plain(rows, shape.shape.in), engine_, const_cast<float*>(a));
    const memory to(plain(rows, shape.shape.out), engine_, c);
    const memory room({{static_cast<memory::dim>(shape.scratch_bytes)},
                       memory::data_type::u8,
                       memory::format_tag::a},
                      engine_, own.data());
    shape.products[index].execute(own.stream(), {{DNNL_ARG_SRC, from},
                                                 {DNNL_ARG_WEIGHTS, packed.wrapped()},
                                                 {DNNL_ARG_DST, to},
                                                 {DNNL_ARG_SCRATCHPAD, room}});
    own.stream().wait();
  }

  /// Keeps the classes whose rows are the same bits as the reference's, for every shape.
  void choose_classes() {
    std::array<bool, kRowClasses.size()> good{};
    good.fill(true);
    const auto scratch = make_scratch();
    for (const ShapeProducts& shape : shapes_) {
      test_shape(shape.shape, *scratch, good);
    }
    for (size_t index = 0; index < kRowClasses.size(); ++index) {
      if (good[index]) {
        classes_.push_back(index);
      }
    }
  }

  void test_shape(ProductShape shape, ProductScratch& scratch,
                  std::array<bool, kRowClasses.size()>& good) const {
    base::Random random(17);
    const auto fill = [&random](FloatBuffer& buffer) {
      for (size_t i = 0; i < buffer.size(); ++i) {
        buffer.data()[i] = static_cast<float>(random.uniform()) - 0.5F;
      }
    };
    FloatBuffer matrix(shape.in * shape.out);
    FloatBuffer rows(kTestRows * shape.in);
    fill(matrix);
    fill(rows);
    const auto weights = pack(matrix.data(), shape);
    FloatBuffer a(kReference * shape.in);
    for (size_t row = 0; row < kReference; ++row) {
      std::copy_n(rows.data() + row % kTestRows * shape.in, shape.in, a.data() + row * shape.in);
    }
    FloatBuffer c(kReference * shape.out);
    FloatBuffer wanted(kTestRows * shape.out);
    for (size_t index = 0; index < kRowClasses.size(); ++index) {
      for (size_t at = 0; at < kReference; at += kRowClasses[index]) {
        run_class(index, *weights, a.data() + at * shape.in, c.data() + at * shape.out, scratch);
      }
      if (index == 0) {
        std::copy_n(c.data(), wanted.size(), wanted.data());
      }
      for (size_t row = 0; row < kReference; ++row) {
        good[index] = good[index] && std::memcmp(c.data() + row * shape.out,
                                                 wanted.data() + row % kTestRows * shape.out,
                                                 shape.out * sizeof(float)) == 0;
      }
    }
    // Without a reference that agrees with itself nothing is proved.
    if (!good[0]) {
      good.fill(false);
    }
  }

  dnnl::engine engine_;
  std::vector<ShapeProducts> shapes_;
  std::vector<size_t> classes_;  ///< indexes into kRowClasses, largest first
};

std::shared_ptr<const Products> open_dnnl(const std::vector<ProductShape>& shapes) {
  try {
    auto products = std::make_shared<const DnnlProducts>(shapes);
    if (products->usable()) {
      return products;
    }
    base::log_warning("encoder",
                      "oneDNN's products depend on the number of rows on this CPU; the slower own "
                      "kernel is used, so that the same text gives the same vector");
  } catch (const dnnl::error& error) {
    base::log_warning("encoder", "oneDNN cannot run here ({}); the slower own kernel is used",
                      error.what());
  }
  return nullptr;
}

}  // namespace

void use_one_thread() {
  omp_set_num_threads(1);
}

std::shared_ptr<const Products> Products::open(const std::vector<ProductShape>& shapes,
                                               bool force_own_kernel) {
  std::shared_ptr<const Products> products;
  if (!force_own_kernel) {
    products = open_dnnl(shapes);
  }
  return products != nullptr ? products : open_own_products();
}

}  // namespace sibyl::encoder
