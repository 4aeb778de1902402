// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/math/wavelength.h"

namespace sonde::ptycho {
namespace {

void require_size(Index rows, Index cols) {
  if (rows < 1 || cols < 1)
    throw Error(ErrorKind::bad_input, fmt::format("patterns of {} x {} pixels have no sampling", rows, cols));
}

void require_positive(const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw Error(ErrorKind::bad_input, fmt::format("{} = {}: expected a number above zero", name, value));
}

/// One way to the object pixel, and what its numbers would have to be to give another one.
struct Route {
  std::string said, topic;
  double pixel;
  std::vector<std::string> (*alternatives)(const SamplingClaims&, double pixel);
};

/// "energy_keV = 200 of scan.h5".
std::string told(const char* key, const Claim& claim) {
  return fmt::format("{} = {:.6g}{}{}", key, claim.value, claim.by.empty() ? "" : " of ", claim.by);
}

double energy_of_wavelength(double wavelength) {
  // lambda falls with the energy, so bisection between 1 eV and 10 GeV finds it.
  double low = 1e-3, high = 1e7;
  for (int round = 0; round < 200; ++round) {
    const double middle = std::sqrt(low * high);
    (electron_wavelength(middle) > wavelength ? low : high) = middle;
  }
  return low;
}

double wavelength_of(const SamplingClaims& claims) {
  return claims.photons ? photon_wavelength(claims.energy_kev->value) : electron_wavelength(claims.energy_kev->value);
}

/// Electrons: energy and angle.
Route by_angle(const SamplingClaims& claims) {
  return {told("energy_keV", *claims.energy_kev) + " and " + told("detector_mrad_per_px", *claims.mrad_per_px),
          "the energy or the angle of a detector pixel",
          1000 * wavelength_of(claims) / (static_cast<double>(claims.n) * claims.mrad_per_px->value),
          [](const SamplingClaims& said, double pixel) -> std::vector<std::string> {
            const auto n = static_cast<double>(said.n);
            return {
                fmt::format("energy_keV = {:.4g}", energy_of_wavelength(pixel * n * said.mrad_per_px->value / 1000)),
                fmt::format("detector_mrad_per_px = {:.4g}", 1000 * wavelength_of(said) / (n * pixel))};
          }};
}

/// Photons: energy, detector pixel and distance.
Route by_distance(const SamplingClaims& claims) {
  return {fmt::format("{}, {} and {}", told("energy_keV", *claims.energy_kev),
                      told("detector_pixel_m", *claims.detector_pixel_m), told("distance_m", *claims.distance_m)),
          "the energy, the detector pixel or the distance",
          wavelength_of(claims) * claims.distance_m->value /
              (static_cast<double>(claims.n) * claims.detector_pixel_m->value),
          [](const SamplingClaims& said, double pixel) -> std::vector<std::string> {
            const double now = by_distance(said).pixel;
            return {fmt::format("energy_keV = {:.4g}", said.energy_kev->value * now / pixel),
                    fmt::format("detector_pixel_m = {:.4g}", said.detector_pixel_m->value * now / pixel),
                    fmt::format("distance_m = {:.4g}", said.distance_m->value * pixel / now)};
          }};
}

std::vector<Route> routes_of(const SamplingClaims& claims) {
  std::vector<Route> routes;
  if (!claims.photons && claims.energy_kev && claims.mrad_per_px) routes.push_back(by_angle(claims));
  if (claims.photons && claims.energy_kev && claims.detector_pixel_m && claims.distance_m)
    routes.push_back(by_distance(claims));
  if (claims.inv_a_per_px)
    routes.push_back({told("detector_inv_A_per_px", *claims.inv_a_per_px), "the reciprocal size of a detector pixel",
                      1 / (static_cast<double>(claims.n) * claims.inv_a_per_px->value),
                      [](const SamplingClaims& said, double pixel) -> std::vector<std::string> {
                        return {
                            fmt::format("detector_inv_A_per_px = {:.4g}", 1 / (static_cast<double>(said.n) * pixel))};
                      }});
  if (claims.object_pixel_a)
    routes.push_back({told("object_pixel_A", *claims.object_pixel_a), "the object pixel", claims.object_pixel_a->value,
                      [](const SamplingClaims&, double pixel) -> std::vector<std::string> {
                        return {fmt::format("object_pixel_A = {:.4g}", pixel)};
                      }});
  if (claims.step_a && claims.step_px)
    routes.push_back({told("scan_step_A", *claims.step_a) + " and " + told("scan_step_px", *claims.step_px),
                      "the scan step", claims.step_a->value / claims.step_px->value,
                      [](const SamplingClaims& said, double pixel) -> std::vector<std::string> {
                        return {fmt::format("scan_step_A = {:.4g}", pixel * said.step_px->value),
                                fmt::format("scan_step_px = {:.4g}", said.step_a->value / pixel)};
                      }});
  return routes;
}

}  // namespace

Sampling electron_sampling(Index rows, Index cols, double energy_kev, double mrad_per_px) {
  require_size(rows, cols);
  require_positive("detector_mrad_per_px", mrad_per_px);
  const double wavelength = electron_wavelength(energy_kev), dk = mrad_per_px / 1000 / wavelength;
  return {rows, cols, wavelength, dk, dk};
}

Sampling photon_sampling(Index rows, Index cols, double energy_kev, double detector_pixel_m, double distance_m) {
  require_size(rows, cols);
  require_positive("detector_pixel_m", detector_pixel_m);
  require_positive("distance_m", distance_m);
  const double wavelength = photon_wavelength(energy_kev), dk = detector_pixel_m / distance_m / wavelength;
  return {rows, cols, wavelength, dk, dk};
}

Sampling pixel_sampling(Index rows, Index cols) {
  require_size(rows, cols);
  return {rows, cols, 0, 1 / static_cast<double>(rows), 1 / static_cast<double>(cols)};
}

void require_calibrated(const Sampling& sampling, const char* what) {
  if (!sampling.calibrated())
    throw Error(ErrorKind::not_supported, fmt::format("{} needs a wavelength, but the geometry is in pixels", what))
        .hint("give energy_keV and detector_mrad_per_px, and no units = \"pixel\"");
}

void require_semiangle(const Sampling& sampling, double semiangle) {
  const double edge = std::min(sampling.angle_row() * static_cast<double>(sampling.rows) / 2,
                               sampling.angle_col() * static_cast<double>(sampling.cols) / 2);
  const double pixel = std::max(sampling.angle_row(), sampling.angle_col());
  if (!(semiangle > 0) || semiangle > edge) {
    Error error(ErrorKind::bad_input,
                fmt::format("a semiangle of {:.4g} mrad on a detector that reaches to {:.4g} mrad", 1000 * semiangle,
                            1000 * edge));
    const bool in_rad = semiangle > 10 * edge && semiangle < 1000 * edge;
    throw error.hint(
        "check semiangle_mrad and detector_mrad_per_px" +
        (in_rad ? fmt::format("; {:.4g} rad would be detector_mrad_per_px = {:.4g}", 1000 * pixel, 1e6 * pixel)
                : std::string()));
  }
  if (semiangle < pixel / 2)
    throw Error(ErrorKind::bad_input,
                fmt::format("a semiangle of {:.4g} mrad is within one detector pixel of {:.4g} mrad: the probe would "
                            "be wider than its window",
                            1000 * semiangle, 1000 * pixel))
        .hint(fmt::format("check semiangle_mrad and detector_mrad_per_px; {:.4g} rad would be semiangle_mrad = {:.4g}",
                          1000 * semiangle, 1e6 * semiangle));
}

void require_consistent(const SamplingClaims& claims, double tolerance) {
  const auto check = [](const char* name, const std::optional<Claim>& claim) {
    if (claim) require_positive(name, claim->value);
  };
  check("energy_keV", claims.energy_kev);
  check("detector_mrad_per_px", claims.mrad_per_px);
  check("detector_pixel_m", claims.detector_pixel_m);
  check("distance_m", claims.distance_m);
  check("detector_inv_A_per_px", claims.inv_a_per_px);
  check("object_pixel_A", claims.object_pixel_a);
  check("scan_step_A", claims.step_a);
  check("scan_step_px", claims.step_px);
  if ((claims.energy_kev && claims.mrad_per_px) || claims.inv_a_per_px) require_size(claims.n, claims.n);

  const std::vector<Route> routes = routes_of(claims);
  const auto agree = [&](std::size_t i, std::size_t k) {
    return std::abs(routes[i].pixel / routes[k].pixel - 1) <= tolerance;
  };
  std::string message;
  for (std::size_t i = 0; i < routes.size(); ++i)
    for (std::size_t k = i + 1; k < routes.size(); ++k)
      if (!agree(i, k))
        message += fmt::format("{}{} give an object pixel of {:.4g} A, but {} one of {:.4g} A, {:.3g} times as much",
                               message.empty() ? "the sampling is inconsistent: " : "; ", routes[i].said,
                               routes[i].pixel, routes[k].said, routes[k].pixel, routes[k].pixel / routes[i].pixel);
  if (message.empty()) return;

  // The odd one out, where there is one: what it would have to be. Otherwise every number, each by itself.
  std::string hint;
  const auto fitting = [&](std::size_t odd, std::size_t right) {
    return join_words(routes[odd].alternatives(claims, routes[right].pixel), " or ");
  };
  /// Whether all but `odd` agree among themselves, and none of them with it.
  const auto stands_alone = [&](std::size_t odd) {
    for (std::size_t i = 0; i < routes.size(); ++i)
      for (std::size_t k = i + 1; k < routes.size(); ++k)
        if (agree(i, k) == (i == odd || k == odd)) return false;
    return true;
  };
  for (std::size_t odd = 0; odd < routes.size() && routes.size() > 2; ++odd)
    if (stands_alone(odd))
      hint = fmt::format("the others agree, so look at {}: {} would fit", routes[odd].topic,
                         fitting(odd, odd == 0 ? 1 : 0));
  if (hint.empty())
    hint = fmt::format("{} would fit, or {}", fitting(0, routes.size() - 1), fitting(routes.size() - 1, 0));
  throw Error(ErrorKind::bad_input, message).hint(hint);
}

}  // namespace sonde::ptycho
