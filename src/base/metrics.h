#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sibyl::base {

using MetricLabels = std::map<std::string, std::string>;

/// Prometheus counters, gauges and histograms by name; creating one twice gives the same. Names end
/// in their unit, as `sibyl_query_seconds`. Thread-safe; the objects live as long as the registry.
class Counter {
 public:
  virtual ~Counter() = default;
  virtual void add(double amount = 1) = 0;
  virtual double value() const = 0;
};
class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void set(double value) = 0;
  virtual void add(double amount) = 0;
};
class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void observe(double value) = 0;
};

class MetricRegistry {
 public:
  MetricRegistry();
  ~MetricRegistry();
  Counter& counter(const std::string& name, const std::string& help,
                   const MetricLabels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  Histogram& histogram(const std::string& name, const std::string& help,
                       const std::vector<double>& bounds, const MetricLabels& labels = {});
  /// Text exposition format 0.0.4.
  std::string expose() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The process's registry.
MetricRegistry& metrics();

}  // namespace sibyl::base
