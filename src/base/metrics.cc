#include "base/metrics.h"

#include <mutex>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace sibyl::base {
namespace {

class PrometheusCounter final : public Counter {
 public:
  explicit PrometheusCounter(prometheus::Counter& inner) : inner_(inner) {}
  void add(double amount) override { inner_.Increment(amount); }
  double value() const override { return inner_.Value(); }

 private:
  prometheus::Counter& inner_;
};

class PrometheusGauge final : public Gauge {
 public:
  explicit PrometheusGauge(prometheus::Gauge& inner) : inner_(inner) {}
  void set(double value) override { inner_.Set(value); }
  void add(double amount) override { inner_.Increment(amount); }

 private:
  prometheus::Gauge& inner_;
};

class PrometheusHistogram final : public Histogram {
 public:
  explicit PrometheusHistogram(prometheus::Histogram& inner) : inner_(inner) {}
  void observe(double value) override { inner_.Observe(value); }

 private:
  prometheus::Histogram& inner_;
};

template <class Interface>
using Named = std::map<std::pair<std::string, MetricLabels>, std::unique_ptr<Interface>>;

}  // namespace

struct MetricRegistry::State {
  std::mutex mutex;
  prometheus::Registry registry;
  Named<Counter> counters;
  Named<Gauge> gauges;
  Named<Histogram> histograms;
};

MetricRegistry::MetricRegistry() : state_(std::make_unique<State>()) {}
MetricRegistry::~MetricRegistry() = default;

Counter& MetricRegistry::counter(const std::string& name, const std::string& help,
                                 const MetricLabels& labels) {
  const std::lock_guard lock(state_->mutex);
  auto& slot = state_->counters[{name, labels}];
  if (slot == nullptr) {
    auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(state_->registry);
    slot = std::make_unique<PrometheusCounter>(family.Add(labels));
  }
  return *slot;
}

Gauge& MetricRegistry::gauge(const std::string& name, const std::string& help,
                             const MetricLabels& labels) {
  const std::lock_guard lock(state_->mutex);
  auto& slot = state_->gauges[{name, labels}];
  if (slot == nullptr) {
    auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(state_->registry);
    slot = std::make_unique<PrometheusGauge>(family.Add(labels));
  }
  return *slot;
}

Histogram& MetricRegistry::histogram(const std::string& name, const std::string& help,
                                     const std::vector<double>& bounds,
                                     const MetricLabels& labels) {
  const std::lock_guard lock(state_->mutex);
  auto& slot = state_->histograms[{name, labels}];
  if (slot == nullptr) {
    auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(state_->registry);
    slot = std::make_unique<PrometheusHistogram>(family.Add(labels, bounds));
  }
  return *slot;
}

std::string MetricRegistry::expose() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

MetricRegistry& metrics() {
  static MetricRegistry* const registry = new MetricRegistry;  // outlives every thread
  return *registry;
}

}  // namespace sibyl::base
