// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/strain_sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/report/spread.h"
#include "sonde/instruments/stem/bragg/bragg_calibration.h"
#include "sonde/instruments/stem/dose/study_sites.h"

namespace sonde::stem {
namespace {

constexpr Index fewest_compared = 4;
constexpr std::array<double Strain::*, 4> parts_of_strain = {&Strain::xx, &Strain::yy, &Strain::xy, &Strain::theta};
constexpr std::array part_names = {"e_xx", "e_yy", "e_xy", "theta"};

/// The changes and errors of the patterns that are compared.
class Comparison {
 public:
  void add(const Strain& plain, const Strain& other, const Strain& plain_sigma, const Strain& other_sigma) {
    for (std::size_t c = 0; c < parts_of_strain.size(); ++c) {
      const auto part = parts_of_strain[c];
      changes_[c].push_back(std::abs(other.*part - plain.*part));
      plain_sigmas_[c].push_back(plain_sigma.*part);
      other_sigmas_[c].push_back(other_sigma.*part);
    }
  }

  [[nodiscard]] StrainVariant variant(std::string group, std::string what) const {
    StrainVariant made{.group = std::move(group), .what = std::move(what)};
    made.compared = static_cast<Index>(changes_[0].size());
    for (std::size_t c = 0; made.compared > 0 && c < parts_of_strain.size(); ++c) {
      made.change.*parts_of_strain[c] = median(changes_[c]);
      const double sigma = std::max(median(plain_sigmas_[c]), median(other_sigmas_[c]));
      made.over_sigma.*parts_of_strain[c] = sigma > 0 ? made.change.*parts_of_strain[c] / sigma : 0;
    }
    return made;
  }

 private:
  std::array<std::vector<double>, 4> changes_, plain_sigmas_, other_sigmas_;
};

std::string as_text(const Basis& basis) {
  return fmt::format("{},{},{},{}", basis.g1_x, basis.g1_y, basis.g2_x, basis.g2_y);
}

/// Those of the sample: its positions are no raster, and have the lattice and the axes of the scan.
StrainOptions sample_options(const StrainOptions& options, const StrainResult& result) {
  StrainOptions of_sample = options;
  of_sample.origin_fit = OriginFit::none;
  of_sample.basis = as_text(result.basis);
  of_sample.max_peak_spacing = result.max_peak_spacing;
  of_sample.reference_region.clear();
  return of_sample;
}

StrainVariant compare(const StrainResult& plain, const StrainResult& other, std::string group, std::string what) {
  Comparison comparison;
  for (std::size_t i = 0; i < plain.fits.size(); ++i)
    if (plain.fits[i].outcome == FitOutcome::fitted && other.fits[i].outcome == FitOutcome::fitted)
      comparison.add(plain.strain[i], other.strain[i], plain.sigma[i], other.sigma[i]);
  return comparison.variant(std::move(group), std::move(what));
}

/// The disks that are nearer to the direct one than half of them, or the others.
BraggVectors half_of(const BraggVectors& all, const StrainResult& lattices, bool nearer) {
  BraggVectors some = all;
  some.qy.clear();
  some.qx.clear();
  some.intensity.clear();
  some.var_y.clear();
  some.var_x.clear();
  for (Index position = 0; position < all.positions(); ++position) {
    const auto first = static_cast<std::size_t>(all.first(position)),
               last = static_cast<std::size_t>(all.last(position));
    const LatticeFit& fit = lattices.fits[static_cast<std::size_t>(position)];
    std::vector<double> distances;
    for (std::size_t i = first; i < last; ++i)
      distances.push_back(
          std::hypot(static_cast<double>(all.qy[i]) - fit.q0_y, static_cast<double>(all.qx[i]) - fit.q0_x));
    const double middle = distances.empty() ? 0 : median(distances);
    for (std::size_t i = first; i < last; ++i) {
      // The direct disk is in both: it is the origin.
      const double distance = distances[i - first];
      if (distance > lattices.max_peak_spacing && (distance <= middle) != nearer) continue;
      some.qy.push_back(all.qy[i]);
      some.qx.push_back(all.qx[i]);
      some.intensity.push_back(all.intensity[i]);
      if (!all.has_variance()) continue;
      some.var_y.push_back(all.var_y[i]);
      some.var_x.push_back(all.var_x[i]);
    }
    some.offsets[static_cast<std::size_t>(position) + 1] = some.qy.size();
  }
  return some;
}

/// The kernels that the plain one is compared with.
std::vector<std::pair<std::string, StudySearch>> other_kernels(const StudySearch& plain, const Probe& probe) {
  std::vector<std::pair<std::string, StudySearch>> others;
  const double inner = plain.kernel.inner > 0 ? plain.kernel.inner : probe.radius;
  for (const double outer : {inner + std::max(1.0, probe.radius / 4), inner + std::max(1.0, probe.radius)}) {
    StudySearch other = plain;
    other.kernel.outer = outer;
    others.emplace_back(fmt::format("trench to {:.2f} px", outer), other);
  }
  StudySearch other = plain;
  other.kernel.shape = plain.kernel.shape == KernelShape::poisson ? KernelShape::ring : KernelShape::poisson;
  others.emplace_back(std::string(name(other.kernel.shape)), other);
  return others;
}

/// Strain of the sample relative to the median of a part of the scan: rows and columns, the last ones exclusive.
void add_reference(const StrainResult& result, const std::vector<Index>& positions, const std::array<Index, 4>& region,
                   const char* what, StrainSensitivity& found) {
  const auto middle = median_lattice(result, region);
  if (!middle) return;
  const Basis reference = turned(middle->basis, result.frame.rotation, result.frame.transpose);
  Comparison comparison;
  for (const Index position : positions) {
    const auto i = static_cast<std::size_t>(position);
    if (result.fits[i].outcome != FitOutcome::fitted) continue;
    const Basis here = turned(result.fits[i].basis, result.frame.rotation, result.frame.transpose);
    comparison.add(result.strain[i], strain_of(here, reference, result.measure), result.sigma[i], result.sigma[i]);
  }
  found.variants.push_back(comparison.variant("reference", what));
}

void vary_reference(const StrainResult& result, const std::vector<Index>& positions, StrainSensitivity& found) {
  const Index rows = result.scan_rows, cols = result.scan_cols;
  const auto add = [&](const std::array<Index, 4>& region, const char* what) {
    add_reference(result, positions, region, what, found);
  };
  if (result.reference_given) return add({0, rows, 0, cols}, "median of the scan");
  if (rows > 1) {
    add({0, rows / 2, 0, cols}, "upper half of the scan");
    add({rows / 2, rows, 0, cols}, "lower half of the scan");
  } else if (cols > 1) {
    add({0, 1, 0, cols / 2}, "left half of the scan");
    add({0, 1, cols / 2, cols}, "right half of the scan");
  }
}

const char* advice(const std::string& group) {
  if (group == "kernel")
    return "contrast within disks or neighbours decide about places, not the counts; stated errors are too small";
  if (group == "mask")
    return "disks are not on one lattice: they may be distorted, or pulled by contrast and neighbours";
  return "strain is relative to what is taken as unstrained";
}

/// The ratio of a median change to a standard error that changes by noise of this size may reach: the median of a
/// normal deviate, and three standard errors of a median of so many.
double by_chance(Index compared) {
  constexpr double middle = 0.6744897501960817, error_of_one = 0.7866;  // 1 / (2 p), p the density of |x| there
  return std::max(1.0, middle + 3 * error_of_one / std::sqrt(static_cast<double>(compared)));
}

/// Of each group the variant that changes most.
void doubt_sensitivity(StrainSensitivity& found) {
  for (const char* group : {"kernel", "mask", "reference"}) {
    const StrainVariant* worst = nullptr;
    for (const StrainVariant& variant : found.variants)
      if (variant.group == group && variant.compared >= fewest_compared &&
          variant.most() > by_chance(variant.compared) && (worst == nullptr || variant.most() > worst->most()))
        worst = &variant;
    if (worst == nullptr) continue;
    std::size_t part = 0;
    while (worst->over_sigma.*parts_of_strain[part] < worst->most()) ++part;
    std::string warning =
        fmt::format("{} ({}) moves {} by {:.1e}, {:.1f} times its stated error: {}", group, worst->what,
                    part_names[part], worst->change.*parts_of_strain[part], worst->most(), advice(worst->group));
    if (worst->group == "reference") warning += "; give " + setting("reference_region");
    found.warnings.push_back(std::move(warning));
  }
}

}  // namespace

double StrainVariant::most() const { return std::max({over_sigma.xx, over_sigma.yy, over_sigma.xy, over_sigma.theta}); }

StrainSensitivity find_sensitivity(const Dataset& dataset, const Probe& probe, const BraggOptions& bragg,
                                   const StrainOptions& options, const StrainResult& result, Index patterns,
                                   Budget budget) {
  StrainSensitivity found;
  if (result.fitted() == 0) return found;
  const std::vector<Index> positions = sample_positions(dataset, patterns);
  found.patterns = static_cast<Index>(positions.size());
  const BraggSearch search = choose_search(dataset, probe, bragg);
  std::vector<StudySearch> searches{{search.kernel, search.disks}};
  found.plain = fmt::format("{}, trench to {:.2f} px", name(search.kernel.shape), search.kernel.outer);
  const auto others = other_kernels(searches[0], probe);
  for (const auto& [what, other] : others) searches.push_back(other);
  const Reservation room =
      budget.reserve(searches.size() * BraggDisks::most_bytes(found.patterns, search.disks.max_num_peaks),
                     "patterns of the sensitivity", "give fewer, " + setting("sensitivity", "N"));
  std::vector<BraggVectors> disks =
      find_in_sample(dataset, probe, searches, positions, "sensitivity of strain", nullptr);
  for (BraggVectors& each : disks) {
    each.calibration = calibration_of(dataset);
    each.calibration.origin_y.clear();  // of all positions, not of these
    each.calibration.origin_x.clear();
  }
  const StrainOptions of_sample = sample_options(options, result);
  const StrainResult plain = make_strain(disks[0], of_sample, budget);
  for (std::size_t i = 0; i < others.size(); ++i)
    found.variants.push_back(
        compare(plain, make_strain(std::move(disks[i + 1]), of_sample, budget), "kernel", others[i].first));
  for (const bool nearer : {true, false})
    found.variants.push_back(compare(plain, make_strain(half_of(disks[0], plain, nearer), of_sample, budget), "mask",
                                     nearer ? "nearer half of the disks" : "farther half of the disks"));
  vary_reference(result, positions, found);
  doubt_sensitivity(found);
  return found;
}

std::vector<std::string> StrainSensitivity::lines() const {
  std::vector<std::string> lines;
  if (variants.empty()) return lines;
  lines.push_back(
      fmt::format("sensitivity of strain to how it is found: {} patterns, compared with {}", patterns, plain));
  lines.emplace_back("median change, over the stated error     e_xx          e_yy          e_xy          theta");
  for (const StrainVariant& variant : variants) {
    std::string line = fmt::format("  {:<9} {:<25}", variant.group, variant.what);
    for (const auto part : parts_of_strain)
      line += variant.compared > 0 ? fmt::format("  {:.1e} {:>4.2f}", variant.change.*part, variant.over_sigma.*part)
                                   : fmt::format("  {:>12}", "-");
    lines.push_back(std::move(line));
  }
  return lines;
}

Value StrainSensitivity::to_value() const {
  Value value;
  value["patterns"] = patterns;
  value["compared_with"] = plain;
  for (const StrainVariant& variant : variants) {
    Value& one = value[variant.group][variant.what];
    one["patterns"] = variant.compared;
    if (variant.compared == 0) continue;
    for (std::size_t c = 0; c < parts_of_strain.size(); ++c) {
      one[part_names[c]]["change"] = variant.change.*parts_of_strain[c];
      one[part_names[c]]["over_sigma"] = variant.over_sigma.*parts_of_strain[c];
    }
  }
  value["warnings"] = warnings;
  return value;
}

}  // namespace sonde::stem
