// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"
#include "sonde/instruments/maxwell/verify/wave_trial.h"

namespace sonde::maxwell {
namespace {

/// <J v, r> - <v, J' r> over |J v| |r|.
double asymmetry(const WaveCase& which, Precision precision) {
  WaveTrial trial(which, precision);
  const Direction v = trial.direction(8);
  const std::vector<double> r = trial.residual(10), jv = trial.record_change(v);
  return std::abs(dot(jv, r) - dot(v, trial.transposed(r))) / (norm(jv) * norm(r));
}

/// Of J v, to central differences of the record.
double difference_from_limit(const WaveCase& which) {
  WaveTrial trial(which);
  const Direction v = trial.direction(8);
  const std::vector<double> jv = trial.record_change(v);
  // The error of a central difference of this width is of the order of h^2, its rounding eps / h.
  constexpr double h = 1e-5;
  trial.move(v, h);
  std::vector<double> slope = trial.record();
  trial.move(v, -h);
  const std::vector<double> low = trial.record();
  for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = (slope[i] - low[i]) / (2 * h);
  return largest_difference(slope, jv) / largest(jv);
}

}  // namespace

std::vector<VerifyRow> check_transpose(VerifySize size) {
  std::vector<VerifyRow> rows;
  for (const WaveCase& which : wave_cases(size)) {
    const std::string id = "transpose." + id_of(which);
    const std::string what = "<J v, r> - <v, J' r> over |J v| |r|, ";
    // Rounding in fields of some thousand nodes.
    rows.push_back({id, what + "float64", asymmetry(which, Precision::f64), 1e-12});
    rows.push_back({id + "_f32", what + "float32", asymmetry(which, Precision::f32), 1e-4});
    // A transpose may share the mistakes of its derivative.
    rows.push_back({id + "_limit", "J v and central differences of the record, largest difference over largest value",
                    difference_from_limit(which), 1e-8});
  }
  return rows;
}

}  // namespace sonde::maxwell
