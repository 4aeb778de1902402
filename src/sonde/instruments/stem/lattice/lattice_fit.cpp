// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/lattice_fit.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace sonde::stem {
namespace {

constexpr double loose = 0.35;  // of a lattice vector: the first disks of a strained lattice are within it
constexpr Index most_order = 64;
constexpr int most_rounds = 5;
constexpr double tukey = 4.685;  // 95 % efficient for normal errors
constexpr std::size_t least_for_outliers = 8;
constexpr double rayleigh_median = 1.1774100225154747;  // sqrt(2 ln 2): median distance in units of sigma
constexpr double least_scale = 1e-4;                    // px: below this residuals are the rounding of places in f32
constexpr double least_spread = 1e-9;  // relative determinant: indices on one line give 0 but for rounding

/// Weighted sums of one axis, about the weighted mean of the indices.
struct Normal3 {
  double weight = 0, mean_h = 0, mean_k = 0, hh = 0, hk = 0, kk = 0;
  [[nodiscard]] double determinant() const { return hh * kk - hk * hk; }
  [[nodiscard]] bool on_a_line() const { return !(determinant() > least_spread * (hh * kk + 1e-300)); }
};

double weight_of(const LatticePeak& disk, PeakWeight weights, bool along_x) {
  const double intensity = std::max(disk.intensity, 0.0);
  switch (weights) {
    case PeakWeight::intensity:
      return intensity;
    case PeakWeight::uniform:
      return 1;
    case PeakWeight::sqrt:
      return std::sqrt(intensity);
    case PeakWeight::intensity_squared:
      return intensity * intensity;
    case PeakWeight::variance:
      return 1 / (along_x ? disk.var_x : disk.var_y);
  }
  return 1;
}

/// Of the sites at one place the one with the smallest miss.
std::vector<LatticeSite> nearest_at_each(std::vector<LatticeSite> sites) {
  std::sort(sites.begin(), sites.end(), [](const LatticeSite& a, const LatticeSite& b) {
    return std::tie(a.h, a.k, a.miss, a.disk) < std::tie(b.h, b.k, b.miss, b.disk);
  });
  const auto same = [](const LatticeSite& a, const LatticeSite& b) { return a.h == b.h && a.k == b.k; };
  sites.erase(std::unique(sites.begin(), sites.end(), same), sites.end());
  return sites;
}

class Fitter {
 public:
  Fitter(std::span<const LatticePeak> disks, const LatticeFitOptions& options) : disks_(disks), options_(options) {
    weight_x_.resize(disks.size());
    weight_y_.resize(disks.size());
    double sum = 0;
    for (std::size_t i = 0; i < disks.size(); ++i) {
      weight_x_[i] = weight_of(disks[i], options.weights, true);
      weight_y_[i] = weight_of(disks[i], options.weights, false);
      sum += weight_x_[i];
    }
    // Of mean 1, so that the residual is that of a disk of mean weight; variances are absolute.
    if (options.weights == PeakWeight::variance || !(sum > 0)) return;
    const double scale = static_cast<double>(disks.size()) / sum;
    for (std::vector<double>* weights : {&weight_x_, &weight_y_})
      for (double& weight : *weights) weight *= scale;
  }

  /// The disks that lie on a lattice, up to an order, the nearest one for each site. Tolerance in px, or of the
  /// vectors.
  [[nodiscard]] std::vector<LatticeSite> index(double q0_x, double q0_y, const Basis& basis, Index order,
                                               double spacing, double share) const {
    std::vector<LatticeSite> sites;
    for (std::size_t i = 0; i < disks_.size(); ++i) {
      const double x = disks_[i].x - q0_x, y = disks_[i].y - q0_y;
      const Coordinates at = coordinates(basis, x, y);
      if (!(std::max(std::abs(at.h), std::abs(at.k)) < static_cast<double>(order) + 0.5)) continue;
      const double h = std::round(at.h), k = std::round(at.k);
      const double miss = std::hypot(x - h * basis.g1_x - k * basis.g2_x, y - h * basis.g1_y - k * basis.g2_y);
      const bool near = std::max(std::abs(at.h - h), std::abs(at.k - k)) <= share;
      if (near || miss <= spacing) sites.push_back({h, k, i, miss});
    }
    return nearest_at_each(std::move(sites));
  }

  /// Least squares; false where the sites are on one line. `keep`: weights of the robust rounds.
  bool solve(const std::vector<LatticeSite>& sites, const std::vector<double>& keep, LatticeFit& fit) const {
    return solve_axis(sites, keep, weight_x_, &LatticePeak::x, fit.q0_x, fit.basis.g1_x, fit.basis.g2_x) &&
           solve_axis(sites, keep, weight_y_, &LatticePeak::y, fit.q0_y, fit.basis.g1_y, fit.basis.g2_y);
  }

  struct Residual {
    double x = 0, y = 0;
  };
  [[nodiscard]] Residual residual(const LatticeSite& site, const LatticeFit& fit) const {
    const LatticePeak& disk = disks_[site.disk];
    return {disk.x - fit.q0_x - site.h * fit.basis.g1_x - site.k * fit.basis.g2_x,
            disk.y - fit.q0_y - site.h * fit.basis.g1_y - site.k * fit.basis.g2_y};
  }

  /// Distance in units of the noise of a disk of weight 1.
  [[nodiscard]] double distance(const LatticeSite& site, const LatticeFit& fit) const {
    const Residual r = residual(site, fit);
    return std::sqrt(weight_x_[site.disk] * r.x * r.x + weight_y_[site.disk] * r.y * r.y);
  }

  /// Leaves out sites beyond Tukey's c, as the last of five rounds sees it, and fits the rest. False where too few
  /// stay.
  bool without_outliers(std::vector<LatticeSite>& sites, LatticeFit& fit) const {
    if (!options_.robust || sites.size() < least_for_outliers) return true;
    const auto count = static_cast<double>(sites.size());
    std::vector<double> keep(sites.size(), 1), sorted(sites.size());
    double limit = 0;
    for (int round = 0; round < most_rounds; ++round) {
      for (std::size_t i = 0; i < sites.size(); ++i) sorted[i] = distance(sites[i], fit);
      const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
      std::nth_element(sorted.begin(), middle, sorted.end());
      // The fit takes three of n degrees of freedom along each axis.
      const double scale = *middle / rayleigh_median * std::sqrt(count / (count - 3));
      if (scale < least_scale) return true;
      limit = tukey * scale;
      for (std::size_t i = 0; i < sites.size(); ++i) {
        const double u = distance(sites[i], fit) / limit;
        keep[i] = u < 1 ? (1 - u * u) * (1 - u * u) : 0;
      }
      if (!solve(sites, keep, fit)) return false;
    }
    std::erase_if(sites, [&](const LatticeSite& site) { return distance(site, fit) >= limit; });
    return solve(sites, {}, fit);
  }

  void finish(const std::vector<LatticeSite>& sites, LatticeFit& fit) const {
    fit.peaks = static_cast<Index>(sites.size());
    double sum = 0, weight = 0, plain = 0, own = 0;
    bool known = true;
    for (const LatticeSite& site : sites) {
      const double d = distance(site, fit), w = (weight_x_[site.disk] + weight_y_[site.disk]) / 2;
      const Residual r = residual(site, fit);
      const LatticePeak& disk = disks_[site.disk];
      sum += d * d;
      weight += w;
      plain += w * (r.x * r.x + r.y * r.y);
      known = known && disk.var_x > 0 && disk.var_y > 0;
      if (known) own += r.x * r.x / disk.var_x + r.y * r.y / disk.var_y;
    }
    const auto count = static_cast<double>(sites.size());
    const double square = sum / (2 * count - 6);
    fit.residual = std::sqrt(plain / weight * count / (2 * count - 6));
    fit.over_sigma = known ? std::sqrt(own / (2 * count - 6)) : 0;
    covariance_of_axis(sites, weight_x_, square, fit, 0);
    covariance_of_axis(sites, weight_y_, square, fit, 1);
  }

 private:
  [[nodiscard]] Normal3 normal(const std::vector<LatticeSite>& sites, const std::vector<double>& keep,
                               const std::vector<double>& weights) const {
    Normal3 sums;
    const auto weight = [&](std::size_t i) { return weights[sites[i].disk] * (keep.empty() ? 1 : keep[i]); };
    for (std::size_t i = 0; i < sites.size(); ++i) {
      sums.weight += weight(i);
      sums.mean_h += weight(i) * sites[i].h;
      sums.mean_k += weight(i) * sites[i].k;
    }
    if (!(sums.weight > 0)) return {};
    sums.mean_h /= sums.weight;
    sums.mean_k /= sums.weight;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const double h = sites[i].h - sums.mean_h, k = sites[i].k - sums.mean_k;
      sums.hh += weight(i) * h * h;
      sums.hk += weight(i) * h * k;
      sums.kk += weight(i) * k * k;
    }
    return sums;
  }

  bool solve_axis(const std::vector<LatticeSite>& sites, const std::vector<double>& keep,
                  const std::vector<double>& weights, double LatticePeak::*place, double& q0, double& g1,
                  double& g2) const {
    const Normal3 sums = normal(sites, keep, weights);
    if (sums.on_a_line()) return false;
    double mean = 0, hq = 0, kq = 0;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const double w = weights[sites[i].disk] * (keep.empty() ? 1 : keep[i]);
      const double q = disks_[sites[i].disk].*place;
      mean += w * q;
      hq += w * (sites[i].h - sums.mean_h) * q;
      kq += w * (sites[i].k - sums.mean_k) * q;
    }
    mean /= sums.weight;
    const double determinant = sums.determinant();
    g1 = (sums.kk * hq - sums.hk * kq) / determinant;
    g2 = (sums.hh * kq - sums.hk * hq) / determinant;
    q0 = mean - sums.mean_h * g1 - sums.mean_k * g2;
    return true;
  }

  /// The block of (g1, g2) along one axis: the inverse of the centred sums, or the sandwich about it.
  void covariance_of_axis(const std::vector<LatticeSite>& sites, const std::vector<double>& weights, double square,
                          LatticeFit& fit, std::size_t axis) const {
    const Normal3 sums = normal(sites, {}, weights);
    const double determinant = sums.determinant();
    const double inverse[2][2] = {{sums.kk / determinant, -sums.hk / determinant},
                                  {-sums.hk / determinant, sums.hh / determinant}};
    double block[2][2] = {{square * inverse[0][0], square * inverse[0][1]},
                          {square * inverse[1][0], square * inverse[1][1]}};
    if (options_.weights == PeakWeight::intensity_squared) {
      double middle[2][2] = {};
      for (const LatticeSite& site : sites) {
        const double w = weights[site.disk];
        const double m[2] = {site.h - sums.mean_h, site.k - sums.mean_k};
        const double leverage = w * (1 / sums.weight + m[0] * (inverse[0][0] * m[0] + inverse[0][1] * m[1]) +
                                     m[1] * (inverse[1][0] * m[0] + inverse[1][1] * m[1]));
        const Residual r = residual(site, fit);
        const double free = std::max(1 - leverage, 0.05);
        const double variance = 0.5 * (r.x * r.x + r.y * r.y) / (free * free);
        for (std::size_t i = 0; i < 2; ++i)
          for (std::size_t j = 0; j < 2; ++j) middle[i][j] += w * w * variance * m[i] * m[j];
      }
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j) {
          block[i][j] = 0;
          for (std::size_t a = 0; a < 2; ++a)
            for (std::size_t b = 0; b < 2; ++b) block[i][j] += inverse[i][a] * middle[a][b] * inverse[b][j];
        }
    }
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j) fit.covariance[2 * i + axis][2 * j + axis] = block[i][j];
  }

  std::span<const LatticePeak> disks_;
  LatticeFitOptions options_;
  std::vector<double> weight_x_, weight_y_;
};

LatticeFit failed(FitOutcome outcome, std::size_t peaks = 0) {
  LatticeFit fit;
  fit.outcome = outcome;
  fit.peaks = static_cast<Index>(peaks);
  return fit;
}

/// Another lattice than that of the scan: an area of less than half or more than twice, or of the other hand.
bool is_lost(const Basis& found, const Basis& start) {
  const double ratio = found.area() / start.area();
  return !(ratio > 0.5 && ratio < 2);
}

LatticeFit finished(const Fitter& fitter, std::vector<LatticeSite> sites, std::size_t least, LatticeFit fit,
                    const Basis& start) {
  if (!fitter.without_outliers(sites, fit)) return failed(FitOutcome::collinear, sites.size());
  if (sites.size() < least) return failed(FitOutcome::few_on_lattice, sites.size());
  if (is_lost(fit.basis, start)) return failed(FitOutcome::lost, sites.size());
  fit.outcome = FitOutcome::fitted;
  fitter.finish(sites, fit);
  return fit;
}

/// Three unknowns along each axis, and one disk more for a residual.
std::size_t least_disks(const LatticeFitOptions& options) {
  return static_cast<std::size_t>(std::max<Index>(options.min_num_peaks, 4));
}

}  // namespace

std::vector<LatticeSite> nearest_of_each(std::vector<LatticeSite> sites) {
  std::sort(sites.begin(), sites.end(), [](const LatticeSite& a, const LatticeSite& b) {
    return std::tie(a.disk, a.miss, a.h, a.k) < std::tie(b.disk, b.miss, b.h, b.k);
  });
  const auto same = [](const LatticeSite& a, const LatticeSite& b) { return a.disk == b.disk; };
  sites.erase(std::unique(sites.begin(), sites.end(), same), sites.end());
  return nearest_at_each(std::move(sites));
}

bool solve_sites(std::span<const LatticePeak> disks, const std::vector<LatticeSite>& sites,
                 const LatticeFitOptions& options, LatticeFit& fit) {
  return Fitter(disks, options).solve(sites, {}, fit);
}

LatticeFit fit_sites(std::span<const LatticePeak> disks, std::vector<LatticeSite> sites,
                     const LatticeFitOptions& options) {
  const std::size_t least = least_disks(options);
  if (disks.size() < least) return failed(FitOutcome::few_disks, disks.size());
  if (sites.size() < least) return failed(FitOutcome::few_on_lattice, sites.size());
  const Fitter fitter(disks, options);
  LatticeFit fit;
  if (!fitter.solve(sites, {}, fit)) return failed(FitOutcome::collinear, sites.size());
  const Basis start = fit.basis;
  return finished(fitter, std::move(sites), least, fit, start);
}

const char* reason(FitOutcome outcome) {
  switch (outcome) {
    case FitOutcome::fitted:
      return "fitted";
    case FitOutcome::no_pattern:
      return "no pattern";
    case FitOutcome::few_disks:
      return "too few disks";
    case FitOutcome::few_on_lattice:
      return "too few disks on the lattice";
    case FitOutcome::collinear:
      return "the disks on the lattice are on one line";
    case FitOutcome::lost:
      return "another lattice than that of the scan";
  }
  return "";
}

LatticeFit fit_lattice(std::span<const LatticePeak> disks, double origin_x, double origin_y, const Basis& start,
                       const LatticeFitOptions& options) {
  const std::size_t least = least_disks(options);
  if (disks.size() < least) return failed(FitOutcome::few_disks, disks.size());
  const Fitter fitter(disks, options);
  LatticeFit fit;
  fit.q0_x = origin_x;
  fit.q0_y = origin_y;
  fit.basis = start;
  // From the inside out: as long as nothing is fitted with disks near their sites, those farther off are taken.
  Index order = 1, farthest = 1;
  for (const LatticePeak& disk : disks) {
    const Coordinates at = coordinates(start, disk.x - origin_x, disk.y - origin_y);
    const double reach = std::min(std::max(std::abs(at.h), std::abs(at.k)), static_cast<double>(most_order));
    farthest = std::max(farthest, static_cast<Index>(std::ceil(reach)) + 1);
  }
  bool found = false;
  for (; order <= farthest; ++order) {
    const double spacing = options.max_peak_spacing;
    const auto better = [&](double share) {
      LatticeFit next = fit;
      const std::vector<LatticeSite> sites = fitter.index(fit.q0_x, fit.q0_y, fit.basis, order, spacing, share);
      if (sites.size() < 4 || !fitter.solve(sites, {}, next) || is_lost(next.basis, start)) return false;
      fit = next;
      return true;
    };
    found = better(0) || (!found && better(loose)) || found;
  }
  std::vector<LatticeSite> sites;
  for (int round = 0; round < most_rounds; ++round) {
    const auto before = sites.size();
    sites = fitter.index(fit.q0_x, fit.q0_y, fit.basis, farthest, options.max_peak_spacing, 0);
    if (sites.size() < least) return failed(FitOutcome::few_on_lattice, sites.size());
    if (!fitter.solve(sites, {}, fit)) return failed(FitOutcome::collinear, sites.size());
    if (round > 0 && sites.size() == before) break;
  }
  return finished(fitter, std::move(sites), least, std::move(fit), start);
}

}  // namespace sonde::stem
