// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/ambipolar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

void classify(std::vector<AmbipolarRoot>& roots) {
  std::vector<AmbipolarRoot*> count;
  for (AmbipolarRoot& root : roots) {
    root.kind = !(root.slope > 0) ? AmbipolarRoot::Class::unstable
                : root.E_r > 0    ? AmbipolarRoot::Class::electron
                                  : AmbipolarRoot::Class::ion;
    if (root.slope > 0 && !root.doubtful()) count.push_back(&root);
  }
  if (count.size() < 2) return;
  for (AmbipolarRoot* root : count) root->kind = AmbipolarRoot::Class::ion;
  count.back()->kind = AmbipolarRoot::Class::electron;
}

/// The integral of the current from the first root to each, by trapezoids over the grid and the roots.
void add_work(std::vector<AmbipolarRoot>& roots, std::vector<CurrentSample> samples) {
  for (const AmbipolarRoot& root : roots) samples.push_back({root.E_r, 0});
  std::sort(samples.begin(), samples.end(),
            [](const CurrentSample& a, const CurrentSample& b) { return a.E_r < b.E_r; });
  double sum = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) sum += (samples[i].E_r - samples[i - 1].E_r) * (samples[i].current + samples[i - 1].current) / 2;
    for (; next < roots.size() && roots[next].E_r == samples[i].E_r; ++next) roots[next].work = sum;
  }
  for (std::size_t i = roots.size(); i-- > 0;) roots[i].work -= roots[0].work;
}

}  // namespace

double brent_root(const std::function<double(double)>& current, CurrentSample a, CurrentSample b, double tolerance) {
  if (std::abs(a.current) < std::abs(b.current)) std::swap(a, b);
  CurrentSample c = a;
  double step = b.E_r - a.E_r, before = step;
  for (int i = 0; i < 200 && b.current != 0; ++i) {
    if (std::signbit(b.current) == std::signbit(c.current)) {
      c = a;
      before = step = b.E_r - a.E_r;
    }
    if (std::abs(c.current) < std::abs(b.current)) {
      a = b;
      b = c;
      c = a;
    }
    const double least = 2 * std::numeric_limits<double>::epsilon() * std::abs(b.E_r) + tolerance / 2;
    const double half = (c.E_r - b.E_r) / 2;
    if (std::abs(half) <= least) break;
    double p = 0, q = 1;
    if (std::abs(before) >= least && std::abs(a.current) > std::abs(b.current)) {
      const double s = b.current / a.current;
      if (a.E_r == c.E_r) {
        p = 2 * half * s;
        q = 1 - s;
      } else {
        const double t = a.current / c.current, r = b.current / c.current;
        p = s * (2 * half * t * (t - r) - (b.E_r - a.E_r) * (r - 1));
        q = (t - 1) * (r - 1) * (s - 1);
      }
      if (p > 0)
        q = -q;
      else
        p = -p;
    }
    if (p > 0 && 2 * p < std::min(3 * half * q - std::abs(least * q), std::abs(before * q))) {
      before = step;
      step = p / q;
    } else {
      before = step = half;
    }
    a = b;
    b.E_r += std::abs(step) > least ? step : std::copysign(least, half);
    b.current = current(b.E_r);
  }
  return b.E_r;
}

std::vector<double> search_grid(const AmbipolarOptions& options) {
  if (!(options.highest > options.lowest) || !std::isfinite(options.highest - options.lowest) || options.points < 2)
    throw Error(ErrorKind::bad_input, fmt::format("{} fields from {} to {} V/m: no range to search for roots in",
                                                  options.points, options.lowest, options.highest));
  std::vector<double> fields;
  for (Index i = 0; i < options.points; ++i) fields.push_back(options.lowest + options.step() * static_cast<double>(i));
  return fields;
}

AmbipolarRoots roots_between(const std::vector<CurrentSample>& samples,
                             const std::function<AmbipolarRoot(const CurrentSample&, const CurrentSample&)>& refined,
                             const std::function<double(double)>& slope_at, RootChoice choice) {
  AmbipolarRoots found;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // A current that vanishes over several points (an intrinsically ambipolar plasma) has a root at each: none is one.
    const bool lone_zero = samples[i].current == 0 && (i == 0 || samples[i - 1].current != 0) &&
                           (i + 1 == samples.size() || samples[i + 1].current != 0);
    if (lone_zero) {
      found.roots.push_back({samples[i].E_r, slope_at(samples[i].E_r)});
    } else if (i + 1 < samples.size() && samples[i].current != 0 && samples[i + 1].current != 0 &&
               std::signbit(samples[i].current) != std::signbit(samples[i + 1].current)) {
      found.roots.push_back(refined(samples[i], samples[i + 1]));
    }
  }
  add_work(found.roots, samples);
  settle(found, choice);
  return found;
}

void settle(AmbipolarRoots& found, RootChoice choice) {
  std::vector<AmbipolarRoot>& roots = found.roots;
  classify(roots);
  found.chosen.reset();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (roots[i].kind == AmbipolarRoot::Class::unstable || roots[i].doubtful()) continue;
    const bool better = !found.chosen || choice == RootChoice::electron ||
                        (choice == RootChoice::least_entropy_production && roots[i].work < roots[*found.chosen].work);
    if (better) found.chosen = i;
  }
}

AmbipolarRoots ambipolar_roots(const std::function<double(double)>& current, const AmbipolarOptions& options) {
  const auto checked = [&](double field) {
    const double value = current(field);
    if (!std::isfinite(value))
      throw Error(ErrorKind::bad_input, fmt::format("the current at E_r = {} V/m is {}", field, value));
    return value;
  };
  std::vector<CurrentSample> samples;
  for (const double field : search_grid(options)) samples.push_back({field, checked(field)});
  const double aside = options.step() / 64;
  const auto slope_at = [&](double field) { return (checked(field + aside) - checked(field - aside)) / (2 * aside); };
  const auto refined = [&](const CurrentSample& a, const CurrentSample& b) {
    const double field = brent_root(checked, a, b, options.tolerance * options.step());
    return AmbipolarRoot{field, slope_at(field)};
  };
  return roots_between(samples, refined, slope_at, options.choice);
}

}  // namespace sonde::neoclassical
