// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "sonde/instruments/ptycho/quality/image.h"

namespace sonde::ptycho {
namespace {

/// Relative squared changes below that of one rounding in single precision are those of what is not free; on a
/// logarithmic axis they would leave no room for the others.
constexpr double rounding = 1.4e-14;

/// Not there when no value is finite and at least `least`, for instance R_free without held-out frames.
void add_curve(const Result& result, const std::string& metric, const std::string& name, Facet& facet,
               double least = -std::numeric_limits<double>::infinity()) {
  const auto found = result.metrics.find(metric);
  if (found == result.metrics.end()) return;
  std::vector<double> values = found->second;
  for (double& value : values)
    if (value < least) value = std::numeric_limits<double>::quiet_NaN();
  if (std::none_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) return;
  Series series{.name = name, .y = values, .mark = values.size() > 1 ? Mark::lines : Mark::points};
  for (std::size_t i = 0; i < values.size(); ++i) series.x.push_back(static_cast<double>(i) + 1);
  facet.series.push_back(std::move(series));
}

/// An upright line where an engine gives way to the next.
void add_engines(const Result& result, const Findings& findings, Facet& facet) {
  const auto found = result.metrics.find("engine");
  if (found == result.metrics.end() || findings.engines.size() < 2) return;
  for (std::size_t i = 1; i < found->second.size(); ++i) {
    if (found->second[i] == found->second[i - 1]) continue;
    const auto which = static_cast<std::size_t>(found->second[i]);
    facet.references.push_back({.value = static_cast<double>(i) + 0.5,
                                .label = which < findings.engines.size() ? findings.engines[which] : "",
                                .upright = true});
  }
}

}  // namespace

Chart error_curves(const Result& result, const Findings& findings) {
  Facet facet{.x = {.title = "iteration"}, .y = {.title = "error", .log = true}};
  add_curve(result, "R_I", "R_I", facet);
  add_curve(result, "R_A", "R_A", facet);
  add_curve(result, "R_free", "R_free", facet);
  if (findings.floor > 0)
    facet.references.push_back({.value = findings.floor, .label = fmt::format("floor of R_I, {:.4f}", findings.floor)});
  add_engines(result, findings, facet);
  return {.facets = {std::move(facet)}, .width = 620, .height = 420};
}

Chart change_curves(const Result& result) {
  Facet changes{
      .title = "Change per iteration", .x = {.title = "iteration"}, .y = {.title = "relative, squared", .log = true}};
  add_curve(result, "dO", "object", changes, rounding);
  add_curve(result, "dP", "probe", changes, rounding);
  Facet power{.title = "Power of the probe since the start", .x = {.title = "iteration"}, .y = {.title = "factor"}};
  add_curve(result, "power_total", "", power);
  return {.facets = {std::move(changes), std::move(power)}, .columns = 1, .width = 440, .height = 480};
}

Chart variation_curves(const Result& result) {
  Facet facet{.x = {.title = "pattern"}, .y = {.title = "weight", .low = 0.0}};
  const Shape& shape = result.opr_weights.shape();
  const Array weights = in_double_precision(result.opr_weights.clone().reshaped({1, shape[0], shape[1]}));
  const auto of = weights.view<complex128, 3>()[0];
  for (Index l = 0; l < of.extent[1]; ++l) {
    Series series{.name = fmt::format("variation {}", l + 1), .mark = Mark::points};
    for (Index j = 0; j < of.extent[0]; ++j) {
      series.x.push_back(static_cast<double>(j));
      series.y.push_back(std::abs(of(j, l)));
    }
    facet.series.push_back(std::move(series));
  }
  return {.facets = {std::move(facet)}, .width = 900, .height = 260};
}

Chart half_data_curve(const RingCorrelation& rings, bool calibrated) {
  Facet facet{.x = {.title = "spatial frequency", .unit = calibrated ? "1/Å" : "1/px"},
              .y = {.title = "correlation", .low = 0.0, .high = 1.05}};
  facet.series = {{.name = "two halves", .x = rings.frequency, .y = rings.correlation, .mark = Mark::lines},
                  {.name = "half-bit threshold", .x = rings.frequency, .y = rings.half_bit, .mark = Mark::lines}};
  if (const auto at = rings.crossing())
    facet.references.push_back(
        {.value = *at, .label = fmt::format("{:.3g} {}", 1 / *at, calibrated ? "Å" : "px"), .upright = true});
  return {.facets = {std::move(facet)}, .width = 640, .height = 400};
}

}  // namespace sonde::ptycho
