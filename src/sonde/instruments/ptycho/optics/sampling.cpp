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
#include "sonde/instruments/ptycho/optics/wavelength.h"

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
  std::string keys, short_keys;
  double pixel;
  std::vector<std::string> (*alternatives)(const SamplingClaims&, double pixel);
};

double energy_of_wavelength(double wavelength) {
  // lambda falls with the energy, so bisection between 1 eV and 10 GeV finds it.
  double low = 1e-3, high = 1e7;
  for (int round = 0; round < 200; ++round) {
    const double middle = std::sqrt(low * high);
    (electron_wavelength(middle) > wavelength ? low : high) = middle;
  }
  return low;
}

std::vector<Route> routes_of(const SamplingClaims& claims) {
  std::vector<Route> routes;
  if (claims.energy_kev && claims.mrad_per_px)
    routes.push_back(
        {fmt::format("energy_keV = {} and detector_mrad_per_px = {}", *claims.energy_kev, *claims.mrad_per_px),
         "the energy or the angle of a detector pixel",
         1000 * electron_wavelength(*claims.energy_kev) / (static_cast<double>(claims.n) * *claims.mrad_per_px),
         [](const SamplingClaims& said, double pixel) -> std::vector<std::string> {
           const double span = static_cast<double>(said.n) * *said.mrad_per_px / 1000;
           return {fmt::format("energy_keV = {:.4g}", energy_of_wavelength(pixel * span)),
                   fmt::format("detector_mrad_per_px = {:.4g}",
                               1000 * electron_wavelength(*said.energy_kev) / (static_cast<double>(said.n) * pixel))};
         }});
  if (claims.pixel_a)
    routes.push_back({fmt::format("pixel_A = {}", *claims.pixel_a), "the object pixel", *claims.pixel_a,
                      [](const SamplingClaims&, double pixel) -> std::vector<std::string> {
                        return {fmt::format("pixel_A = {:.4g}", pixel)};
                      }});
  if (claims.step_a && claims.step_px)
    routes.push_back({fmt::format("scan_step_A = {} and a step of {} px", *claims.step_a, *claims.step_px),
                      "the scan step", *claims.step_a / *claims.step_px,
                      [](const SamplingClaims& said, double pixel) -> std::vector<std::string> {
                        return {fmt::format("scan_step_A = {:.4g}", pixel * *said.step_px),
                                fmt::format("a step of {:.4g} px", *said.step_a / pixel)};
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
        .hint("give energy_keV and detector_mrad_per_px");
}

void require_consistent(const SamplingClaims& claims, double tolerance) {
  const auto check = [](const char* name, const std::optional<double>& value) {
    if (value) require_positive(name, *value);
  };
  check("energy_keV", claims.energy_kev);
  check("detector_mrad_per_px", claims.mrad_per_px);
  check("pixel_A", claims.pixel_a);
  check("scan_step_A", claims.step_a);
  check("step_px", claims.step_px);
  if (claims.energy_kev && claims.mrad_per_px) require_size(claims.n, claims.n);

  const std::vector<Route> routes = routes_of(claims);
  const auto agree = [&](std::size_t i, std::size_t k) {
    return std::abs(routes[i].pixel / routes[k].pixel - 1) <= tolerance;
  };
  std::string message;
  for (std::size_t i = 0; i < routes.size(); ++i)
    for (std::size_t k = i + 1; k < routes.size(); ++k)
      if (!agree(i, k))
        message += fmt::format("{}{} give an object pixel of {:.4g} A, but {} one of {:.4g} A, {:.3g} times as much",
                               message.empty() ? "the sampling is inconsistent: " : "; ", routes[i].keys,
                               routes[i].pixel, routes[k].keys, routes[k].pixel, routes[k].pixel / routes[i].pixel);
  if (message.empty()) return;

  // The odd one out, where there is one: what it would have to be. Otherwise every number, each alone.
  std::string hint;
  const auto fitting = [&](std::size_t odd, std::size_t right) {
    return join_words(routes[odd].alternatives(claims, routes[right].pixel), " or ");
  };
  for (std::size_t odd = 0; odd < routes.size() && routes.size() == 3; ++odd) {
    const std::size_t one = (odd + 1) % 3, other = (odd + 2) % 3;
    if (agree(one, other) && !agree(odd, one) && !agree(odd, other))
      hint = fmt::format("the other two agree, so look at {}: {} would fit", routes[odd].short_keys, fitting(odd, one));
  }
  if (hint.empty())
    hint = fmt::format("{} would fit, or {}", fitting(0, routes.size() - 1), fitting(routes.size() - 1, 0));
  throw Error(ErrorKind::bad_input, message).hint(hint);
}

}  // namespace sonde::ptycho
