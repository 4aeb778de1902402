// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/boozer/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/neoclassical/boozer/harmonic_sums.h"

namespace sonde::neoclassical {
namespace {

void check(const Wout& wout, const std::vector<double>& s, BoozerResolution resolution) {
  constexpr int most = 1000;
  if (resolution.mboz < 1 || resolution.mboz > most || resolution.nboz < 0 || resolution.nboz > most)
    throw Error(ErrorKind::bad_input, fmt::format("mboz = {}, nboz = {}: expected 1 to {} and 0 to {}", resolution.mboz,
                                                  resolution.nboz, most, most));
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (!(s[i] > 0 && s[i] <= 1))
      throw Error(ErrorKind::bad_input, fmt::format("{}: s = {} is outside of 0 < s <= 1", wout.path, s[i]));
    if (i > 0 && !(s[i] > s[i - 1]))
      throw Error(ErrorKind::bad_input, fmt::format("the radii do not increase: s = {} after {}", s[i], s[i - 1]));
  }
}

HarmonicTable table_of(Index rows, Index columns, bool even, bool asymmetric) {
  const auto size = static_cast<std::size_t>(rows * columns);
  HarmonicTable table{rows, columns, {}, {}};
  if (even || asymmetric) table.cosine.assign(size, 0.0);
  if (!even || asymmetric) table.sine.assign(size, 0.0);
  return table;
}

/// Writes row `row` of the tables.
void transform_surface(const Wout& wout, BoozerResolution resolution, Index row, HarmonicSums& sums, BoozerFile& file) {
  const auto [mboz, nboz] = resolution;
  const VmecSurface vmec = vmec_surface(wout, file.s[static_cast<std::size_t>(row)]);
  const AngleGrid grid{2 * (2 * mboz + 1), nboz == 0 && wout.ntor == 0 ? 1 : 2 * (2 * nboz + 1), wout.periods};
  const BoozerPoints points = boozer_points(vmec, grid, wout.asymmetric);
  sums.sum(points);
  const std::array<HarmonicTable*, quantities> tables{&file.b, &file.jacobian, &file.r, &file.z, &file.zeta_shift};
  for (int q = 0; q < quantities; ++q) sums.store(q, points.total, row, *tables[static_cast<std::size_t>(q)]);
  file.jacobian_defect[static_cast<std::size_t>(row)] = points.jacobian_defect;
  file.largest_defect[static_cast<std::size_t>(row)] = sums.defect(points, file.b, row) / vmec.b00;
}

}  // namespace

BoozerResolution default_resolution(const Wout& wout) { return {6 * wout.mpol, 2 * wout.ntor}; }

BoozerFile boozer_transform(const Wout& wout, std::vector<double> s, BoozerResolution resolution, Notes& notes) {
  if (s.empty()) s = wout.s;
  check(wout, s, resolution);
  BoozerFile file;
  file.path = wout.path;
  file.periods = wout.periods;
  file.sign_jacobian = wout.sign_jacobian;
  file.asymmetric = wout.asymmetric;
  file.psi_a = wout.psi_a;
  file.major_radius = wout.major_radius;
  file.minor_radius = wout.minor_radius;
  file.profile_s = wout.s;
  file.iota = wout.iota;
  file.pressure = wout.pressure;
  file.beta = wout.beta;
  for (const double node : wout.s) {
    const RadialProfile profile = profile_at(wout, node);
    file.b_theta.push_back(profile.b_theta);
    file.b_zeta.push_back(profile.b_zeta);
  }
  file.ns = wout.ns;
  file.mboz = resolution.mboz;
  file.nboz = resolution.nboz;
  file.aspect = wout.aspect;
  file.r_max = wout.r_max;
  file.r_min = wout.r_min;
  file.beta_axis = wout.beta_axis;

  file.s = s;
  file.modes = HarmonicSums::modes(resolution);
  const auto rows = static_cast<Index>(s.size()), columns = static_cast<Index>(file.modes.size());
  for (HarmonicTable* table : {&file.b, &file.r, &file.jacobian})
    *table = table_of(rows, columns, true, wout.asymmetric);
  for (HarmonicTable* table : {&file.z, &file.zeta_shift}) *table = table_of(rows, columns, false, wout.asymmetric);
  file.largest_defect.resize(s.size());
  file.jacobian_defect.resize(s.size());
  PerWorker<std::optional<HarmonicSums>> scratch;
  ProgressMeter progress("transforming", rows, "surfaces");
  parallel_for(rows, 1, [&](Index first, Index last, Worker& worker) {
    std::optional<HarmonicSums>& sums = scratch[worker];
    if (!sums) sums.emplace(wout.periods, wout.asymmetric, resolution);
    for (Index row = first; row < last; ++row) {
      check_interrupt();
      transform_surface(wout, resolution, row, *sums, file);
      progress.advance();
    }
  });

  constexpr double tolerable = 1e-4;
  const auto tell = [&](const std::vector<double>& defects, const char* what, const char* what_helps) {
    const auto worst = std::max_element(defects.begin(), defects.end());
    if (*worst > tolerable)
      notes.push_back(fmt::format("{} by {:.2g} at s = {:.6g}: {}", what, *worst,
                                  s[static_cast<std::size_t>(worst - defects.begin())], what_helps));
  };
  tell(file.largest_defect, "|B| of the Boozer harmonics differs from that of the equilibrium",
       "the command `boozer` with a higher mboz, nboz makes a file of more harmonics");
  tell(file.jacobian_defect, "sqrt(g) B^2 in Boozer angles departs from its mean",
       "the equilibrium is that far from force balance, and more harmonics do not help");
  return file;
}

std::vector<double> on_half_mesh(const Wout& wout, const std::vector<double>& s, Notes& notes) {
  std::vector<double> nodes;
  for (const double asked : s) {
    if (!(asked > 0 && asked <= 1))
      throw Error(ErrorKind::bad_input, fmt::format("{}: s = {} is outside of 0 < s <= 1", wout.path, asked));
    const double node = *std::min_element(
        wout.s.begin(), wout.s.end(), [&](double a, double b) { return std::abs(a - asked) < std::abs(b - asked); });
    constexpr double same_radius = 1e-7;
    if (std::abs(node - asked) > same_radius)
      notes.push_back(fmt::format("s = {:.6g} is taken at the nearest surface of the half mesh, {:.6g}", asked, node));
    nodes.push_back(node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace sonde::neoclassical
