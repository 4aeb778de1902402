// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/focus.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/direct/agreement.h"
#include "sonde/instruments/ptycho/direct/aperture_rows.h"
#include "sonde/instruments/ptycho/direct/spectra.h"

namespace sonde::ptycho {
namespace {

// Terms (frequency, pixel) that a fit looks at; more frequencies hardly add to what the strongest ones tell.
constexpr Index most_terms = 1'500'000, most_frequencies = 256, least_frequencies = 48;

Index frequencies_of(Index images) { return std::clamp(most_terms / images, least_frequencies, most_frequencies); }

/// How far out frequencies are of use, in radii of the aperture: where both, or at least one side band reaches the
/// disk.
double outermost(FocusModel model) { return model == FocusModel::parallax ? 0.9 : 1.8; }

/// The strongest frequencies by the sum over all images of |G|^2, lowest first, and the spectra at them.
ChosenSpectra strongest(const BrightField& field, double limit) {
  const ScanLattice& scan = field.lattice;
  const HalfPlane plane(scan.rows, scan.cols);
  const Point u = scan.row_frequency(), v = scan.col_frequency();
  const auto at = [&](Index row, Index col) {
    const auto a = static_cast<double>(row), b = static_cast<double>(col);
    return Point{a * u.row + b * v.row, a * u.col + b * v.col};
  };
  struct Room {
    std::vector<float> real, imaginary;
  };
  const auto make_room = [&] {
    return Room{std::vector<float>(static_cast<std::size_t>(plane.width())),
                std::vector<float>(static_cast<std::size_t>(plane.width()))};
  };
  const Sums power = sum_over_images(
      field, plane, "strongest frequencies", make_room,
      [&](Room& room, const SpectrumPair& spectra, Index in_pair, Index, Sums& sums) {
        for (Index row = 0; row < plane.rows; ++row) {
          const Span span = columns_inside({at(row, 0), v}, limit, plane.most,
                                           [&](Point q) { return std::hypot(q.row, q.col) < limit; });
          if (span.empty()) continue;
          spectra.row(in_pair, row, span.first, span.last, room.real.data(), room.imaginary.data());
          double* to = sums.real.data() + plane.at(row, span.first);
          for (std::size_t i = 0; i < static_cast<std::size_t>(span.last - span.first); ++i)
            to[i] += static_cast<double>(room.real[i] * room.real[i] + room.imaginary[i] * room.imaginary[i]);
        }
      });

  struct Found {
    Index row, col;
    double power, size;
  };
  std::vector<Found> found;
  for (Index row = 0; row < plane.rows; ++row)
    for (Index col = row == 0 ? 1 : -plane.most; col <= plane.most; ++col) {
      const double here = power.real[static_cast<std::size_t>(plane.at(row, col))];
      const Point q = at(row, col);
      if (here > 0) found.push_back({row, col, here, std::hypot(q.row, q.col)});
    }
  const auto keep = std::min(found.size(), static_cast<std::size_t>(frequencies_of(field.count())));
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.power > b.power; });
  found.resize(keep);
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.size < b.size; });

  ChosenSpectra chosen;
  for (const Found& one : found) chosen.frequency.push_back(at(one.row, one.col));
  chosen.of.assign(found.size(), std::vector<complex64>(field.frequency.size()));
  (void)sum_over_images(field, HalfPlane(1, 1), "their spectra", make_room,
                        [&](Room& room, const SpectrumPair& spectra, Index in_pair, Index image, Sums&) {
                          for (std::size_t f = 0; f < found.size(); ++f) {
                            spectra.row(in_pair, found[f].row, found[f].col, found[f].col + 1, room.real.data(),
                                        room.imaginary.data());
                            chosen.of[f][static_cast<std::size_t>(image)] = {room.real[0], room.imaginary[0]};
                          }
                        });
  return chosen;
}

struct Candidate {
  FocusPoint point{};
  double value = 0;
};

/// Solves a x = b for the free numbers by elimination without pivoting: a is positive definite.
FocusPoint solved(std::array<std::array<double, 4>, 4> a, FocusPoint b, const std::array<bool, 4>& free) {
  for (std::size_t i = 0; i < 4; ++i) {
    if (!free[i]) continue;
    for (std::size_t j = i + 1; j < 4; ++j) {
      if (!free[j] || a[i][i] == 0) continue;
      const double factor = a[j][i] / a[i][i];
      for (std::size_t l = i; l < 4; ++l) a[j][l] -= factor * a[i][l];
      b[j] -= factor * b[i];
    }
  }
  FocusPoint x{};
  for (std::size_t i = 4; i-- > 0;) {
    if (!free[i] || a[i][i] == 0) continue;
    double rest = b[i];
    for (std::size_t l = i + 1; l < 4; ++l)
      if (free[l]) rest -= a[i][l] * x[l];
    x[i] = rest / a[i][i];
  }
  return x;
}

/// Climbs by damped Gauss-Newton steps (Levenberg, Marquardt) over the first `frequencies`.
Candidate climbed(Agreement& agreement, Candidate from, const std::array<bool, 4>& free, Index frequencies, int steps) {
  agreement.turn(from.point[3], frequencies);
  Agreement::Slope slope = agreement.slope(from.point);
  from.value = slope.value;
  double damping = 1e-2;
  for (int step = 0; step < steps && damping < 1e6; ++step) {
    check_interrupt();
    auto matrix = slope.curvature;
    for (std::size_t i = 0; i < 4; ++i) matrix[i][i] *= 1 + damping;
    const FocusPoint move = solved(matrix, slope.gradient, free);
    FocusPoint next = from.point;
    for (std::size_t i = 0; i < 4; ++i) next[i] += move[i];
    if (next[3] != from.point[3]) agreement.turn(next[3], frequencies);
    const Agreement::Slope there = agreement.slope(next);
    if (there.value > from.value) {
      const bool settled = there.value - from.value < 1e-8 * from.value;
      from = {next, there.value};
      slope = there;
      damping = std::max(damping / 5, 1e-8);
      if (settled) break;
    } else {
      damping *= 4;
    }
  }
  return from;
}

}  // namespace

std::size_t focus_bytes(const ScanLattice& lattice, Index images) {
  // Spectra, and of every term sign G, four phases and four derivatives.
  const auto terms = static_cast<std::size_t>(frequencies_of(images) * images);
  return terms * (sizeof(complex64) + 10 * sizeof(float)) * 3 / 2 +
         sums_bytes(HalfPlane(lattice.rows, lattice.cols), lattice, images);
}

FocusFit fit_focus(const BrightField& field, const Sampling& sampling, FocusModel model, const FocusSearch& search) {
  Aberrations rest = search.aberrations;
  for (const char* fitted : {"C10", "C12", "phi12"}) rest.set(fitted, 0);
  const Lens lens(sampling, search.semiangle, search.edge, rest);
  const ChosenSpectra spectra = strongest(field, outermost(model) * lens.radius());
  if (spectra.frequency.size() < 4)
    throw Error(ErrorKind::not_converged, "the scan has no frequencies that the aperture lets through")
        .hint(
            "the scan step must be smaller than wavelength / (2 semiangle); or give the aberrations and leave the fit "
            "out with " +
            setting("fit", "none"));
  Agreement agreement(field, spectra, lens, model);
  const auto all = static_cast<Index>(spectra.frequency.size()), low = std::max<Index>(4, all / 2);

  const double wavelength = lens.wavelength(), alpha = search.semiangle;
  const double c12 = search.aberrations.get("C12"), phi12 = search.aberrations.get("phi12");
  const FocusPoint start{search.aberrations.get("C10"), c12 * std::cos(2 * phi12), c12 * std::sin(2 * phi12), 0};
  // A step changes the phase at the edge of the disk by one radian at the highest of the low frequencies.
  const Point q = spectra.frequency[static_cast<std::size_t>(low - 1)];
  const double range = search.range.value_or(16 * wavelength / (alpha * alpha));
  const double step = std::max(1 / (2 * std::numbers::pi * alpha * std::hypot(q.row, q.col)), range / 250);
  const auto reach = static_cast<Index>(std::ceil(range / step));
  std::vector<double> rotations{0};
  if (search.rotation)
    for (int degrees = 10; degrees <= 90; degrees += 10)
      for (const int turned : {degrees, -degrees})
        if (turned != -90) rotations.push_back(turned * std::numbers::pi / 180);

  std::vector<Candidate> candidates;
  ProgressMeter meter("looking for the focus", static_cast<Index>(rotations.size()), "rotations");
  for (const double rotation : rotations) {
    agreement.turn(rotation, low);
    std::vector<Candidate> curve;
    for (Index i = -reach; i <= reach; ++i) {
      check_interrupt();
      FocusPoint at = start;
      at[0] += static_cast<double>(i) * step;
      at[3] = rotation;
      curve.push_back({at, agreement.value(at)});
    }
    for (std::size_t i = 0; i < curve.size(); ++i)
      if ((i == 0 || curve[i].value >= curve[i - 1].value) &&
          (i + 1 == curve.size() || curve[i].value >= curve[i + 1].value))
        candidates.push_back(curve[i]);
    meter.advance();
  }
  const auto best_first = [](const Candidate& a, const Candidate& b) { return a.value > b.value; };
  std::stable_sort(candidates.begin(), candidates.end(), best_first);
  candidates.resize(std::min<std::size_t>(candidates.size(), 8));
  const std::array<bool, 4> free{true, search.astigmatism, search.astigmatism, search.rotation};
  for (Candidate& candidate : candidates) candidate = climbed(agreement, candidate, free, low, 15);
  for (Candidate& candidate : candidates) candidate = climbed(agreement, candidate, free, all, 40);
  std::stable_sort(candidates.begin(), candidates.end(), best_first);
  Candidate best = candidates.front();

  // Half a turn and opposite aberrations are the same but for the contrast.
  agreement.turn(best.point[3], all);
  const double gain = best.value / agreement.noise();
  constexpr double pi = std::numbers::pi;
  double halves = std::round(best.point[3] / pi);
  best.point[3] -= halves * pi;
  if (std::fmod(std::abs(halves), 2) == 1)
    for (std::size_t i = 0; i < 3; ++i) best.point[i] = -best.point[i];

  FocusFit fit{search.aberrations, best.point[3], gain, all};
  fit.aberrations.set("C10", best.point[0]);
  if (search.astigmatism) {
    fit.aberrations.set("C12", std::hypot(best.point[1], best.point[2]));
    fit.aberrations.set("phi12", std::atan2(best.point[2], best.point[1]) / 2);
  }
  return fit;
}

}  // namespace sonde::ptycho
