#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/resource.h>

#include "base/file_system.h"
#include "base/json.h"
#include "base/json_rows.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "encoder/cpu_encoder.h"
#include "simd/distance.h"

// Tokens per second of a model by text length, and the time of one short question:
//   encode_bench MODEL_DIR [--threads N] [--own-kernel] [--texts FILE.jsonl]
// One JSON line a figure. Per CPU second beside per second, so that a busy machine shows.

namespace {

using sibyl::base::JsonWriter;
using Clock = std::chrono::steady_clock;

constexpr double kSecondsEach = 2;
constexpr int kRounds = 3;

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Bench {
  std::shared_ptr<sibyl::encoder::Encoder> encoder;
  size_t threads = 0;
  std::string kernel;

  void line(const std::string& what, const std::function<void(JsonWriter&)>& fields) const {
    std::string out;
    JsonWriter json(out);
    json.begin_object().key("bench").text("encode").key("what").text(what);
    json.key("threads").integer(static_cast<int64_t>(threads)).key("products").text(kernel);
    fields(json);
    json.key("cpu").text(cpu_name()).key("simd").text(sibyl::simd::kernel_name()).end_object();
    std::puts(out.c_str());
    std::fflush(stdout);
  }

  /// Encodes all texts in rounds and prints the best and the worst.
  void throughput(const std::string& what, const std::vector<std::string_view>& texts) const {
    std::vector<double> rates;
    double cpu_rate = 0;
    uint64_t tokens = 0;
    for (int round = 0; round < kRounds; ++round) {
      const double cpu_before = cpu_seconds();
      const auto start = Clock::now();
      const auto encoded = encoder->encode(texts, {});
      const double wall = seconds_since(start);
      if (!encoded) {
        std::fprintf(stderr, "%s\n", encoded.error().message.c_str());
        return;
      }
      tokens = encoded->tokens;
      rates.push_back(static_cast<double>(tokens) / wall);
      cpu_rate = std::max(cpu_rate, static_cast<double>(tokens) / (cpu_seconds() - cpu_before));
    }
    std::sort(rates.begin(), rates.end());
    line(what, [&](JsonWriter& json) {
      json.key("texts").integer(static_cast<int64_t>(texts.size()));
      json.key("tokens").integer(static_cast<int64_t>(tokens));
      json.key("tokens_per_s").number(rates.back()).key("lowest").number(rates.front());
      json.key("tokens_per_cpu_s").number(cpu_rate);
    });
  }

  /// One question at a time.
  void latency(const std::string& what, std::string_view text) const {
    sibyl::encoder::EncodeOptions options;
    options.kind = sibyl::encoder::TextKind::Question;
    options.urgency = sibyl::encoder::Urgency::Question;
    std::vector<double> times;
    uint64_t tokens = 0;
    for (const auto begin = Clock::now(); seconds_since(begin) < kSecondsEach;) {
      const auto start = Clock::now();
      const auto encoded = encoder->encode({&text, 1}, options);
      times.push_back(seconds_since(start) * 1e3);
      tokens = encoded ? encoded->tokens : 0;
    }
    std::sort(times.begin(), times.end());
    line(what, [&](JsonWriter& json) {
      json.key("tokens").integer(static_cast<int64_t>(tokens));
      json.key("median_ms").number(times[times.size() / 2]);
      json.key("p10_ms").number(times[times.size() / 10]);
      json.key("p99_ms").number(times[times.size() * 99 / 100]);
    });
  }
};

/// A text of about `tokens` tokens: words that are one token each in English vocabularies.
std::string text_of(size_t tokens, sibyl::base::Random& random) {
  static const std::vector<std::string> words = {
      "the",   "water", "city", "people", "first", "time",  "house", "number", "year", "world",
      "small", "music", "book", "family", "game",  "state", "work",  "night",  "red",  "river"};
  std::string out;
  for (size_t i = 2; i < tokens; ++i) {
    out += words[random.below(words.size())] + " ";
  }
  return out;
}

std::vector<std::string> read_texts(const std::string& path) {
  std::vector<std::string> out;
  const auto body = sibyl::base::read_file(path);
  if (!body) {
    std::fprintf(stderr, "%s\n", body.error().message.c_str());
    return out;
  }
  const auto rows = sibyl::base::split_json_rows(*body, 1'000'000);
  if (!rows) {
    std::fprintf(stderr, "%s\n", rows.error().message.c_str());
    return out;
  }
  for (const auto& row : *rows) {
    const auto json = sibyl::base::parse_json(row.text);
    if (json && json->is_object() && json->contains("text") && (*json)["text"].is_string()) {
      out.push_back((*json)["text"].get<std::string>());
    }
  }
  return out;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

void run(const Bench& bench, const std::string& text_file) {
  sibyl::base::Random random(1);
  // Enough texts for some seconds: a short trial tells how many.
  const std::string trial = text_of(64, random);
  const std::vector<std::string_view> trials(64, trial);
  const auto start = Clock::now();
  const auto tried = bench.encoder->encode(trials, {});
  const double rate = tried ? static_cast<double>(tried->tokens) / seconds_since(start) : 1e4;
  for (const size_t tokens : {8, 16, 32, 64, 128, 256}) {
    const auto count = static_cast<size_t>(rate * kSecondsEach) / tokens + 1;
    std::vector<std::string> texts;
    for (size_t i = 0; i < std::min<size_t>(count, 500'000); ++i) {
      texts.push_back(text_of(tokens, random));
    }
    bench.throughput("texts of " + std::to_string(tokens) + " tokens", views(texts));
  }
  for (const size_t tokens : {16, 64}) {
    bench.latency("one question of " + std::to_string(tokens) + " tokens", text_of(tokens, random));
  }
  if (!text_file.empty()) {
    const std::vector<std::string> texts = read_texts(text_file);
    bench.throughput("texts of the file", views(texts));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  sibyl::encoder::CpuEncoderOptions options;
  std::string model_path;
  std::string text_file;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--own-kernel") {
      options.own_kernel = true;
    } else if (arguments[i] == "--threads" && has_value) {
      options.threads = std::strtoul(arguments[++i].c_str(), nullptr, 10);
    } else if (arguments[i] == "--texts" && has_value) {
      text_file = arguments[++i];
    } else {
      model_path = arguments[i];
    }
  }
  if (model_path.empty()) {
    std::fputs("usage: encode_bench MODEL_DIR [--threads N] [--own-kernel] [--texts FILE.jsonl]\n",
               stderr);
    return 64;
  }
  const auto start = Clock::now();
  auto model = sibyl::model::read_model_directory(model_path);
  auto encoder = model ? sibyl::encoder::open_cpu_encoder(*model, "bench", options)
                       : sibyl::Result<std::shared_ptr<sibyl::encoder::Encoder>>(
                             tl::unexpected<sibyl::Error>(model.error()));
  if (!encoder) {
    std::fprintf(stderr, "%s\n", encoder.error().message.c_str());
    return sibyl::exit_status(encoder.error().code);
  }
  const double opened_s = seconds_since(start);
  const size_t threads = options.threads == 0 ? sibyl::base::usable_cores() : options.threads;
  const Bench bench{*encoder, threads, options.own_kernel ? "own" : "oneDNN where it agrees"};
  bench.line("open", [&](JsonWriter& json) { json.key("seconds").number(opened_s); });
  run(bench, text_file);
  return 0;
}
