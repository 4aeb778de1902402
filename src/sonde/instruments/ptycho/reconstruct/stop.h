// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"

namespace sonde::ptycho {

/// relative: medians of R_I, the default. absolute: single differences, as older programs do it. off: run all
/// iterations.
enum class StopRule { relative, absolute, off };

struct StopSettings {
  StopRule rule = StopRule::relative;
  double delta = 1e-3;   ///< relative: change of the median that counts as none
  bool require = false;  ///< reaching the last iteration without convergence is an error

  void describe(Fields& fields);
};

/// Decides after every iteration whether a run is over (docs/ptycho-theory.md#stop-rules). Looks at R_I and the power.
class StopJudge {
 public:
  enum class Verdict { go_on, converged, diverged };

  explicit StopJudge(StopSettings settings) : settings_(settings) {}

  /// The next engine begins, or something becomes free: what was seen until now says nothing of what comes.
  void begin_window();
  /// `power_ratio`: of sum |P|^2 over this iteration, before the power constraint; `power_total`: since the start.
  Verdict judge(double r_intensity, double power_ratio, double power_total);
  /// In words, once in a window and after iteration 20, when ten iterations have changed the probe's power by more than
  /// 5 %; else empty.
  [[nodiscard]] std::string power_warning(Index number);
  /// Why, in words, after converged or diverged.
  [[nodiscard]] const std::string& because() const { return because_; }

 private:
  /// What the last ten iterations of this window have made of the power.
  [[nodiscard]] double power_of_ten() const;
  Verdict relative(double power_total);
  Verdict absolute();

  StopSettings settings_;
  std::vector<double> r_, power_;  // of this window
  std::vector<double> medians_;    // of five iterations
  double best_median_ = 0;
  Index above_ = 0;       // iterations in a row with the median above the best
  Index since_best_ = 0;  // iterations since R_I had a new best
  bool warned_ = false;   // of the power
  std::string because_;
};

}  // namespace sonde::ptycho
