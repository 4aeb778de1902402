// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "sonde/instruments/separate/network/estimate.h"
#include "sonde/instruments/separate/verbs/measured.h"

namespace sonde::separate {
namespace {

constexpr const char* layer_section = "layer_s";

Value value_of(const std::vector<MethodTimes>& times) {
  Value told;
  for (const MethodTimes& each : times) {
    told["direct"].push_back(each.direct_s);
    told["winograd"].push_back(each.winograd_s);
  }
  return told;
}

/// Nothing where that is not what value_of() makes of so many layers.
std::vector<MethodTimes> times_of(const Value& told, std::size_t layers) {
  const Value *const direct = told.is_object() ? told.find("direct") : nullptr, *const winograd =
                                                                                    told.is_object()
                                                                                        ? told.find("winograd")
                                                                                        : nullptr;
  std::vector<MethodTimes> times;
  for (const Value* each : {direct, winograd}) {
    if (each == nullptr || !each->is_list() || each->size() != layers) return {};
  }
  for (std::size_t i = 0; i < layers; ++i) {
    const Value &a = direct->items()[i], &b = winograd->items()[i];
    if (!a.is_number() || !b.is_number() || !(a.as_real() >= 0) || !(b.as_real() >= 0)) return {};
    times.push_back({.direct_s = a.as_real(), .winograd_s = b.as_real()});
  }
  return times;
}

}  // namespace

std::vector<ConvolutionMethod> choose_methods(const Config& config, std::size_t bytes, bool tune, Run& run,
                                              const std::string& whose) {
  const std::string key = key_of(network_text(config));
  std::vector<MethodTimes> times;
  std::string because = "where a layer has 256 tiles or more";
  if (tune) {
    times = times_of(measured_before(layer_section, key), layer_list(config).layers.size());
    because = "the faster, measured before";
    if (times.empty() && run.dry_run()) {
      because = "where a layer has 256 tiles or more, until it is measured";
    } else if (times.empty()) {
      const auto measuring = run.report().phase("tune");
      const Reservation room = run.host_budget().reserve(tuning_bytes(config), "measuring layers");
      times = measure_methods(config);
      keep_measured(layer_section, key, value_of(times));
      because = "the faster, measured now";
    }
  }
  std::vector<ConvolutionMethod> methods = methods_within(config, bytes, times);
  const auto tiled = [](const std::vector<ConvolutionMethod>& of) {
    return std::count(of.begin(), of.end(), ConvolutionMethod::winograd);
  };
  const auto lost = tiled(methods_within(config, std::numeric_limits<std::size_t>::max(), times)) - tiled(methods);
  if (lost > 0) because = fmt::format("{} more would not fit the memory that may be held", lost);
  run.report().add_choice("convolutions" + whose,
                          fmt::format("{} of {} layers by Winograd's transforms", tiled(methods), methods.size()),
                          because);
  return methods;
}

}  // namespace sonde::separate
