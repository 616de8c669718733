#include "encoder/internal/transformer_encoder.h"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "encoder/internal/batch_queue.h"
#include "encoder/internal/pooling.h"
#include "encoder/internal/text_tokens.h"
#include "encoder/internal/transformer.h"
#include "encoder/internal/vector_head.h"

namespace sibyl::encoder {

namespace {

/// Tokens below which a batch is not cut for another worker: the weights are read once a batch.
constexpr size_t kPieceTokensMin = 64;
/// Texts of a long call that are tokenised ahead, so that memory does not grow with the call.
constexpr size_t kWindowTexts = 4096;
constexpr size_t kWindowBatches = 8;

/// Runs batches: tokens through the layers, then pooled and through the head.
class BatchRunner {
 public:
  BatchRunner(std::shared_ptr<const model::ModelDirectory> model,
              std::unique_ptr<const Transformer> transformer)
      : model_(std::move(model)),
        transformer_(std::move(transformer)),
        pooling_(std::get<model::PoolingModule>(model_->modules[1])),
        head_(model_, 2) {}

  const Transformer& transformer() const { return *transformer_; }

  void run(const std::vector<Piece>& pieces, TransformerScratch& scratch,
           const std::function<void()>& between_layers) const {
    std::vector<int32_t> ids;
    std::vector<size_t> lengths;
    for (const Piece& piece : pieces) {
      for (size_t i = piece.begin; i < piece.end; ++i) {
        const size_t text = piece.window->order[i];
        const size_t length = piece.window->length(text);
        if (length > 0) {
          const auto begin =
              piece.window->ids.begin() + static_cast<std::ptrdiff_t>(piece.window->begins[text]);
          ids.insert(ids.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
          lengths.push_back(length);
        }
      }
    }
    transformer_->run({ids, lengths}, scratch, between_layers);
    const float* rows = scratch.hidden.data();
    for (const Piece& piece : pieces) {
      rows = pool_piece(piece, rows);
    }
  }

 private:
  /// Returns where the next piece's rows begin.
  const float* pool_piece(const Piece& piece, const float* rows) const {
    const size_t hidden = transformer_->hidden();
    const size_t width = hidden * pooling_.modes.size();
    std::vector<float> vectors(piece.texts() * width);
    std::vector<float> results(piece.texts() * model_->dimension);
    const Window& window = *piece.window;
    for (size_t i = piece.begin; i < piece.end; ++i) {
      const size_t length = window.length(window.order[i]);
      if (length > 0) {
        pool_tokens(pooling_, rows, length, hidden, window.prompt_tokens,
                    vectors.data() + (i - piece.begin) * width);
        rows += length * hidden;
      }
    }
    head_.run(vectors, piece.texts(), width, results.data());
    for (size_t i = piece.begin; i < piece.end; ++i) {
      std::copy_n(results.data() + (i - piece.begin) * model_->dimension, model_->dimension,
                  window.out + window.order[i] * model_->dimension);
    }
    return rows;
  }

  std::shared_ptr<const model::ModelDirectory> model_;
  std::unique_ptr<const Transformer> transformer_;
  const model::PoolingModule& pooling_;
  VectorHead head_;
};

class TransformerEncoder final : public Encoder {
 public:
  TransformerEncoder(std::shared_ptr<const model::ModelDirectory> model, EncoderInfo info,
                     const CpuEncoderOptions& options,
                     std::unique_ptr<const Transformer> transformer)
      : model_(model),
        info_(std::move(info)),
        options_(options),
        runner_(std::move(model), std::move(transformer)),
        queue_(options.queue_texts_max, options.batch_tokens) {
    for (size_t i = 0; i < options_.threads; ++i) {
      workers_.emplace_back([this] { work(); });
    }
  }
  TransformerEncoder(const TransformerEncoder&) = delete;
  TransformerEncoder& operator=(const TransformerEncoder&) = delete;
  ~TransformerEncoder() override { queue_.close(); }

  const EncoderInfo& info() const override { return info_; }
  const text::Tokenizer* tokenizer() const override { return model_->tokenizer.get(); }

  Result<EncodedTexts> encode(std::span<const std::string_view> texts,
                              const EncodeOptions& options) override {
    EncodedTexts out;
    out.vectors.resize(texts.size() * info_.dimension);
    TextTokens tokens(*model_, runner_.transformer().vocabulary(), options, true);
    // Two windows: one is tokenised while the other runs.
    std::array<Window, 2> windows;
    const auto withdraw = [&] {
      for (Window& window : windows) {
        window.piece_done(queue_.withdraw(window));
      }
    };
    const std::stop_callback on_stop(options.stop, withdraw);
    std::optional<Error> error;
    size_t next = 0;
    for (size_t turn = 0; next < texts.size() && !error; turn ^= 1) {
      Window& window = windows[turn];
      error = window.wait();
      if (!error && !options.stop.stop_requested()) {
        window.out = out.vectors.data() + next * info_.dimension;
        next += fill(window, texts.subspan(next), tokens, out);
        submit(window, options);
      } else if (!error) {
        break;
      }
    }
    if (error) {
      withdraw();
    }
    for (Window& window : windows) {
      std::optional<Error> failed = window.wait();
      error = error ? error : failed;
    }
    if (!error && options.stop.stop_requested()) {
      error = Error{Code::Interrupted, "encoding was stopped before all texts were done", {}};
    }
    if (error) {
      return tl::unexpected<Error>(std::move(*error));
    }
    return out;
  }

 private:
  /// Tokenises texts into the window until it is full; returns how many.
  size_t fill(Window& window, std::span<const std::string_view> texts, TextTokens& tokens,
              EncodedTexts& out) const {
    window.clear();
    window.prompt_tokens = tokens.prompt_tokens();
    const size_t tokens_max = kWindowBatches * options_.batch_tokens * options_.threads;
    size_t count = 0;
    while (count < texts.size() && count < kWindowTexts && window.ids.size() < tokens_max) {
      const std::vector<int32_t>& ids = tokens.ids(texts[count]);
      window.begins.push_back(window.ids.size());
      window.ids.insert(window.ids.end(), ids.begin(), ids.end());
      out.truncated += tokens.truncated() ? 1 : 0;
      ++count;
    }
    window.begins.push_back(window.ids.size());
    out.tokens += window.ids.size();
    window.order.resize(count);
    std::iota(window.order.begin(), window.order.end(), size_t{0});
    std::sort(window.order.begin(), window.order.end(), [&](size_t a, size_t b) {
      const size_t length_a = window.length(a);
      const size_t length_b = window.length(b);
      return length_a != length_b ? length_a > length_b : a < b;
    });
    return count;
  }

  /// Cuts the window into pieces of about equal size, a multiple of the workers where that pays.
  std::vector<Piece> cut(Window& window) const {
    const size_t total = window.ids.size();
    size_t pieces = (total + options_.batch_tokens - 1) / options_.batch_tokens;
    pieces = (pieces + options_.threads - 1) / options_.threads * options_.threads;
    pieces = std::max<size_t>(1, pieces);
    const size_t wanted = std::max((total + pieces - 1) / pieces, kPieceTokensMin);
    std::vector<Piece> out;
    for (size_t i = 0; i < window.texts(); ++i) {
      const size_t length = window.length(window.order[i]);
      const bool fits = !out.empty() && out.back().tokens + length <= options_.batch_tokens &&
                        out.back().tokens < wanted;
      if (!fits) {
        out.push_back({&window, i, i, 0});
      }
      out.back().end = i + 1;
      out.back().tokens += length;
    }
    return out;
  }

  void submit(Window& window, const EncodeOptions& options) {
    const std::vector<Piece> pieces = cut(window);
    window.expect(pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (!queue_.push(pieces[i], options.urgency, options.stop)) {
        window.piece_done(pieces.size() - i);
        return;
      }
    }
  }

  void work() {
    use_one_thread();
    const auto documents = runner_.transformer().make_scratch();
    const auto questions = runner_.transformer().make_scratch();
    const std::function<void()> let_questions_pass = [&] {
      while (queue_.questions_wait()) {
        const std::vector<Piece> pieces = queue_.take_questions();
        if (!pieces.empty()) {
          run_batch(pieces, *questions, {});
        }
      }
    };
    while (true) {
      const std::vector<Piece> pieces = queue_.take();
      if (pieces.empty()) {
        return;
      }
      run_batch(pieces, *documents, let_questions_pass);
    }
  }

  void run_batch(const std::vector<Piece>& pieces, TransformerScratch& scratch,
                 const std::function<void()>& between_layers) {
    std::optional<Error> error;
    try {
      runner_.run(pieces, scratch, between_layers);
    } catch (const std::bad_alloc&) {
      error = Error{Code::ResourceExhausted, "not enough memory to encode a batch", {}};
    } catch (const std::exception& failure) {
      error = Error{Code::Internal, fmt::format("encoding failed: {}", failure.what()), {}};
    }
    for (const Piece& piece : pieces) {
      if (error) {
        piece.window->fail(*error);
      }
      piece.window->piece_done(1);
    }
  }

  std::shared_ptr<const model::ModelDirectory> model_;
  const EncoderInfo info_;
  const CpuEncoderOptions options_;
  BatchRunner runner_;
  BatchQueue queue_;
  std::vector<std::jthread> workers_;  ///< last: joined before the rest goes
};

}  // namespace

Result<std::shared_ptr<Encoder>> open_transformer_encoder(
    std::shared_ptr<const model::ModelDirectory> model, EncoderInfo info,
    const CpuEncoderOptions& options) {
  const auto& module = std::get<model::TransformerModule>(model->modules.front());
  auto transformer = Transformer::open(module, options.own_kernel);
  if (!transformer) {
    return pass_on(transformer, model->path);
  }
  base::log_info("encoder", "{}: {} workers, products by {}", info.reference(), options.threads,
                 (*transformer)->products().description());
  return std::make_shared<TransformerEncoder>(std::move(model), std::move(info), options,
                                              std::move(*transformer));
}

}  // namespace sibyl::encoder
