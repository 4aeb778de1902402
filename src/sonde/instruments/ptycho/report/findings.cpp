// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/findings.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"
#include "sonde/instruments/ptycho/results/diagnosis.h"
#include "sonde/instruments/ptycho/run/run_file.h"

namespace sonde::ptycho {
namespace {

const std::vector<double>& metric(const Result& result, const char* name) {
  static const std::vector<double> none;
  const auto found = result.metrics.find(name);
  return found == result.metrics.end() ? none : found->second;
}

/// The value of an iteration (from 1), or not-a-number.
double at(const std::vector<double>& values, Index iteration) {
  return iteration >= 1 && iteration <= static_cast<Index>(values.size())
             ? values[static_cast<std::size_t>(iteration - 1)]
             : std::numeric_limits<double>::quiet_NaN();
}

double median_of_last(const std::vector<double>& values, std::size_t back, std::size_t count) {
  const auto end = values.end() - static_cast<std::ptrdiff_t>(back);
  return median(std::vector<double>(end - static_cast<std::ptrdiff_t>(count), end));
}

std::vector<double> numbers_at(const Value& object, std::string_view key) {
  std::vector<double> numbers;
  if (const Value* list = object.find(key); list != nullptr && list->is_list())
    for (const Value& item : list->items()) numbers.push_back(item.is_number() ? item.as_real() : 0);
  return numbers;
}

std::optional<RingCorrelation> half_data_of(const Value& diagnostics) {
  const Value* stored = diagnostics.find("half_data");
  if (stored == nullptr || stored->find("correlation") == nullptr) return std::nullopt;
  RingCorrelation rings;
  rings.frequency = numbers_at(*stored, "frequency");
  rings.correlation = numbers_at(*stored, "correlation");
  rings.half_bit = numbers_at(*stored, "half_bit");
  for (const double pixels : numbers_at(*stored, "pixels")) rings.pixels.push_back(static_cast<Index>(pixels));
  if (rings.frequency.size() != rings.correlation.size() || rings.frequency.size() != rings.half_bit.size())
    return std::nullopt;
  return rings;
}

void read_settings(const Result& result, Findings& findings) {
  RunFile run;
  try {
    run.parse(result.settings, "settings");
  } catch (const Error&) {
    return;  // of another version: what only they contain is left out
  }
  for (const Tables::Item& item : run.tables().find("engine")->items) findings.engines.push_back(item.kind);
  for (const Tables::Item& item : run.tables().find("constraint")->items) findings.constraints.push_back(item.kind);
  if (const Field* method = run.tables().find("positions")->items.front().fields.find("method"))
    findings.position_method = method->text();
  if (run.geometry.semiangle_mrad) findings.semiangle = *run.geometry.semiangle_mrad / 1000;
}

}  // namespace

Fit judge_fit(double r_intensity, double floor) {
  if (!(floor > 0) || !std::isfinite(r_intensity)) return Fit::unknown;
  const double ratio = r_intensity / floor;
  return ratio < over_fitted_ratio ? Fit::below_floor
         : ratio <= 1.3            ? Fit::excellent
         : ratio < 2               ? Fit::good
                                   : Fit::poor;
}

std::string_view words_of(Fit fit) {
  switch (fit) {
    case Fit::below_floor:
      return "below the floor: over-fitted";
    case Fit::excellent:
      return "excellent";
    case Fit::good:
      return "good";
    case Fit::poor:
      return "far from the floor";
    case Fit::unknown:
      break;
  }
  return "not judged";
}

Findings findings_of(const Result& result) {
  Findings findings;
  const Value& told = result.diagnostics;
  findings.outcome = text_at(told, "outcome");
  findings.because = text_at(told, "because");
  findings.floor = number_at(told, "R_I_floor");
  findings.best_iteration = static_cast<Index>(number_at(told, "best_iteration"));
  if (const Value* warnings = told.find("warnings"); warnings != nullptr && warnings->is_list())
    for (const Value& warning : warnings->items())
      if (warning.is_text()) findings.warnings.push_back(warning.as_text());

  const std::vector<double>& r = metric(result, "R_I");
  findings.iterations = static_cast<Index>(r.size());
  const Index shown =
      findings.outcome == "diverged" && findings.best_iteration > 0 ? findings.best_iteration : findings.iterations;
  findings.r_intensity = at(r, shown);
  findings.r_amplitude = at(metric(result, "R_A"), shown);
  findings.fit = judge_fit(findings.r_intensity, findings.floor);
  if (const double power = at(metric(result, "power_total"), findings.iterations); std::isfinite(power))
    findings.power_total = power;
  const std::vector<double>& free = metric(result, "R_free");
  if (const double value = at(free, shown); std::isfinite(value)) findings.r_free = value;
  // That of the estimate itself, which an engine may have begun its best iteration with.
  if (const Value* of_estimate = told.find("R_free"); of_estimate != nullptr && of_estimate->is_number())
    findings.r_free = of_estimate->as_real();
  for (std::size_t i = 0; i < free.size(); ++i)
    if (std::isfinite(free[i]) && (!findings.lowest_r_free || free[i] < *findings.lowest_r_free)) {
      findings.lowest_r_free = free[i];
      findings.lowest_r_free_at = static_cast<Index>(i) + 1;
    }
  if (r.size() >= 20) findings.still_falls = median_of_last(r, 0, 10) < 0.99 * median_of_last(r, 10, 10);

  findings.movement = movement_of(result.initial_positions, result.positions);
  findings.occupancy = occupancies(result.probe);
  findings.half_data = half_data_of(told);
  findings.acquisition = acquisition_of(result);
  read_settings(result, findings);
  if (const double mrad = number_at(told, "semiangle_mrad"); mrad > 0) findings.semiangle = mrad / 1000;
  findings.diagnoses = diagnose(result, nullptr, findings.semiangle);
  return findings;
}

}  // namespace sonde::ptycho
