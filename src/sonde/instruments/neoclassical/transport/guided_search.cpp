// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/guided_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

using Current = std::function<double(double)>;

constexpr std::size_t neighbourhood = 3;  // points of the grid: a difference that happens to vanish does not count

/// The largest of each value and its neighbours.
std::vector<double> widened(const std::vector<double>& values) {
  std::vector<double> made;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t first = i - std::min(i, neighbourhood), last = std::min(values.size(), i + neighbourhood + 1);
    made.push_back(*std::max_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                     values.begin() + static_cast<std::ptrdiff_t>(last)));
  }
  return made;
}

class Search {
 public:
  Search(const Current& current, const CurrentGuide& guide, const AmbipolarOptions& options)
      : current_(current), guide_(guide), options_(options), fields_(search_grid(options)) {}

  GuidedRoots run() {
    coarse_ = on_grid(guide_.make(0));
    next_level(1);
    while (made_.level + 1 < guide_.levels && static_cast<double>(doubtful().size()) > guide_.cost(made_.level + 1)) {
      coarse_ = fine_;
      next_level(made_.level + 1);
    }
    for (std::vector<std::size_t> open = doubtful(); !open.empty(); open = doubtful())
      for (const std::size_t i : open) {
        const double found = exact(fields_[i]), off = std::abs(found - fine_[i]);
        if (off > doubt_[i]) distrust_ = std::max(distrust_, 2 * off / doubt_[i]);
      }
    std::vector<CurrentSample> samples;
    double largest = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto known = known_.find(fields_[i]);
      samples.push_back({fields_[i], known == known_.end() ? fine_[i] : known->second});
      largest = std::max(largest, std::abs(samples.back().current));
    }
    made_.found = roots_between(
        samples, [&](const CurrentSample& a, const CurrentSample& b) { return refined(a, b); },
        [&](double field) { return guide_slope(field); }, options_.choice);
    made_.asked = static_cast<Index>(known_.size());
    for (const auto& [field, value] : known_)
      made_.error = std::max(made_.error, largest == 0 ? 0 : std::abs(value - guide_of_level_(field)) / largest);
    return made_;
  }

 private:
  double checked(const Current& of, double field) const {
    const double value = of(field);
    if (!std::isfinite(value))
      throw Error(ErrorKind::bad_input, fmt::format("the current at E_r = {} V/m is {}", field, value));
    return value;
  }

  double exact(double field) {
    const auto known = known_.find(field);
    return known != known_.end() ? known->second : known_[field] = checked(current_, field);
  }

  std::vector<double> on_grid(const Current& of) const {
    std::vector<double> made;
    for (const double field : fields_) made.push_back(checked(of, field));
    return made;
  }

  void next_level(int level) {
    made_.level = level;
    guide_of_level_ = guide_.make(level);
    fine_ = on_grid(guide_of_level_);
    std::vector<double> difference;
    for (std::size_t i = 0; i < fine_.size(); ++i) difference.push_back(std::abs(fine_[i] - coarse_[i]));
    doubt_ = widened(difference);
  }

  /// Points of the grid whose sign is not known.
  [[nodiscard]] std::vector<std::size_t> doubtful() const {
    std::vector<std::size_t> made;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (std::abs(fine_[i]) <= distrust_ * doubt_[i] && doubt_[i] > 0 && !known_.contains(fields_[i]))
        made.push_back(i);
    return made;
  }

  [[nodiscard]] double guide_slope(double field) const {
    const double aside = options_.step() / 64;
    return (checked(guide_of_level_, field + aside) - checked(guide_of_level_, field - aside)) / (2 * aside);
  }

  /// The root between two samples of opposite sign: where the guide, shifted by what the last two currents proper say,
  /// has its own.
  AmbipolarRoot refined(CurrentSample a, CurrentSample b) {
    const double tolerance = options_.tolerance * options_.step(), rise = b.current - a.current;
    double shift = 0, tilt = 0, at = 0, last = 0;
    const auto shifted = [&](double field) { return checked(guide_of_level_, field) + shift + tilt * (field - at); };
    bool first = true;
    for (int i = 0; i < 60; ++i) {
      const CurrentSample left{a.E_r, shifted(a.E_r)}, right{b.E_r, shifted(b.E_r)};
      const bool crosses = left.current * right.current < 0;
      const double next = crosses ? brent_root(shifted, left, right, tolerance / 4) : a.E_r + (b.E_r - a.E_r) / 2;
      if (!first && std::abs(next - last) <= tolerance) {
        last = next;
        break;
      }
      const double found = exact(next), off = found - checked(guide_of_level_, next);
      tilt = first || next == at ? 0 : (off - shift) / (next - at);
      shift = off;
      last = at = next;
      first = false;
      if (found == 0) break;
      (std::signbit(found) == std::signbit(a.current) ? a : b) = {next, found};
      if (b.E_r - a.E_r <= tolerance) break;
    }
    const double slope = guide_slope(last) + tilt;
    return {last, slope * rise > 0 ? slope : rise / options_.step()};
  }

  const Current& current_;
  const CurrentGuide& guide_;
  const AmbipolarOptions& options_;
  std::vector<double> fields_, coarse_, fine_, doubt_;
  Current guide_of_level_;
  std::map<double, double> known_;
  double distrust_ = 1;
  GuidedRoots made_;
};

}  // namespace

GuidedRoots guided_roots(const std::function<double(double)>& current, const CurrentGuide& guide,
                         const AmbipolarOptions& options) {
  return Search(current, guide, options).run();
}

}  // namespace sonde::neoclassical
