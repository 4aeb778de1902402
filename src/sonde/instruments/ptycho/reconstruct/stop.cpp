// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "sonde/engine/report/spread.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"

namespace sonde::ptycho {
namespace {

/// Of the `count` values that end `skip` before the end.
double median(const std::vector<double>& values, std::size_t count, std::size_t skip = 0) {
  const auto last = values.end() - static_cast<std::ptrdiff_t>(skip);
  return sonde::median({last - static_cast<std::ptrdiff_t>(count), last});
}

}  // namespace

void StopSettings::describe(Fields& fields) {
  fields.choice("rule", rule,
                {{"relative", StopRule::relative}, {"absolute", StopRule::absolute}, {"off", StopRule::off}},
                {.help = "when a run counts as converged or diverged"});
  fields.add("delta", delta, {.help = "relative: change of the median R_I that counts as none", .min = 0, .max = 1});
  fields.add("require", require, {.help = "ending without convergence is an error"});
}

void StopJudge::begin_window() {
  r_.clear();
  power_.clear();
  medians_.clear();
  above_ = since_best_ = 0;
  warned_ = false;
}

StopJudge::Verdict StopJudge::judge(double r_intensity, double power_ratio, double power_total) {
  since_best_ = r_.empty() || r_intensity < *std::min_element(r_.begin(), r_.end()) ? 0 : since_best_ + 1;
  r_.push_back(r_intensity);
  power_.push_back(power_ratio);
  if (!std::isfinite(r_intensity)) {
    because_ = "R_I is not finite";
    return Verdict::diverged;
  }
  switch (settings_.rule) {
    case StopRule::relative:
      return relative(power_total);
    case StopRule::absolute:
      return absolute();
    default:
      return Verdict::go_on;
  }
}

double StopJudge::power_of_ten() const {
  return std::accumulate(power_.end() - 10, power_.end(), 1.0, std::multiplies<>());
}

std::string StopJudge::power_warning(Index number) {
  if (warned_ || number <= 20 || power_.size() < 10) return "";
  const double power = power_of_ten();
  if (std::abs(power - 1) <= 0.05) return "";
  warned_ = true;
  return fmt::format("ten iterations have changed the probe's power {:.3g}-fold, at iteration {}: {}", power, number,
                     divergence_hint);
}

StopJudge::Verdict StopJudge::relative(double power_total) {
  if (r_.size() >= 5) {
    const double now = median(r_, 5);
    best_median_ = medians_.empty() ? now : std::min(best_median_, now);
    medians_.push_back(now);
    above_ = now > 1.02 * best_median_ ? above_ + 1 : 0;
    if (above_ >= 5) {
      because_ = fmt::format("the median R_I {:.4g} has been more than 2 % above its best {:.4g} for 5 iterations", now,
                             best_median_);
      return Verdict::diverged;
    }
  }
  if (power_total > 2 && since_best_ >= 10) {
    because_ = fmt::format("the probe's power has grown {:.3g}-fold and R_I has had no new best for 10 iterations",
                           power_total);
    return Verdict::diverged;
  }
  if (r_.size() < 20) return Verdict::go_on;
  const double power = power_of_ten();
  const double now = median(r_, 10), before = median(r_, 10, 10);
  if (std::abs(now - before) < settings_.delta * before && std::abs(power - 1) <= 0.05) {
    because_ =
        fmt::format("the median R_I has changed by {:.2g} of itself in 10 iterations", std::abs(now / before - 1));
    return Verdict::converged;
  }
  return Verdict::go_on;
}

StopJudge::Verdict StopJudge::absolute() {
  const auto change = [&](std::size_t back) { return r_[r_.size() - back] - r_[r_.size() - back - 1]; };
  if (r_.size() > 6) {
    bool rises = true;
    for (std::size_t back = 1; back <= 3; ++back) rises = rises && change(back) > 1e-4 * r_[r_.size() - back - 1];
    if (rises) {
      because_ = "R_I has risen three iterations in a row";
      return Verdict::diverged;
    }
  }
  if (r_.size() > 10) {
    bool still = true;
    for (std::size_t back = 1; back <= 10; ++back) still = still && std::abs(change(back)) < 0.001;
    if (still) {
      because_ = "R_I has changed by less than 0.001 ten iterations in a row";
      return Verdict::converged;
    }
  }
  return Verdict::go_on;
}

}  // namespace sonde::ptycho
