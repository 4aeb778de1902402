// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {
namespace {

/// Angle to the axis and direction of a transform index.
struct Ray {
  double alpha, phi;
};

Ray ray_at(const Sampling& sampling, Index row, Index col) {
  const double ky = frequency(row, sampling.rows) / sampling.pixel_row();
  const double kx = frequency(col, sampling.cols) / sampling.pixel_col();
  return {sampling.wavelength * std::hypot(ky, kx), std::atan2(ky, kx)};
}

/// From the wave in the aperture, amplitude exp(-i chi), to a centred probe of power one.
Array probe_of(const Sampling& sampling, View<const double, 2> amplitude, const Aberrations& aberrations) {
  Array wave(Device::cpu(), {1, sampling.rows, sampling.cols}, DType::c128);
  const View<complex128, 2> psi = wave.view<complex128, 3>()[0];
  const bool flat = aberrations == Aberrations();
  for (Index row = 0; row < sampling.rows; ++row)
    for (Index col = 0; col < sampling.cols; ++col) {
      const Ray ray = ray_at(sampling, row, col);
      const double chi = flat ? 0 : aberrations.chi(ray.alpha, ray.phi, sampling.wavelength);
      psi(row, col) = std::polar(amplitude(row, col), -chi);
    }
  inverse_fourier(wave);
  Array probe = corner_to_centre(wave);
  scale_to_counts(probe, 1);
  return probe;
}

}  // namespace

Array aperture(const Sampling& sampling, double semiangle, ApertureEdge edge) {
  require_calibrated(sampling, "the aperture probe");
  require_semiangle(sampling, semiangle);
  Array result(Device::cpu(), {sampling.rows, sampling.cols}, DType::f64);
  const View<double, 2> a = result.view<double, 2>();
  for (Index row = 0; row < sampling.rows; ++row)
    for (Index col = 0; col < sampling.cols; ++col) {
      const Ray ray = ray_at(sampling, row, col);
      // Across the edge; the same in all directions unless detector pixels are oblong.
      const double pixel =
          std::hypot(sampling.angle_row() * std::sin(ray.phi), sampling.angle_col() * std::cos(ray.phi));
      const double inside = std::clamp((semiangle - ray.alpha) / pixel + 0.5, 0.0, 1.0);
      a(row, col) = edge == ApertureEdge::pixel ? inside : (ray.alpha <= semiangle ? 1 : 0);
    }
  return result;
}

Array aperture_probe(const Sampling& sampling, const ApertureOptics& optics) {
  const Array amplitude = aperture(sampling, optics.semiangle, optics.edge);
  return probe_of(sampling, amplitude.view<double, 2>(), optics.aberrations);
}

Array gaussian_probe(const Sampling& sampling, double fwhm) {
  if (!(fwhm > 0) || !std::isfinite(fwhm))
    throw Error(ErrorKind::bad_input, fmt::format("a Gaussian probe of width {}", fwhm));
  Array probe(Device::cpu(), {1, sampling.rows, sampling.cols}, DType::c128);
  const View<complex128, 2> p = probe.view<complex128, 3>()[0];
  for (Index row = 0; row < sampling.rows; ++row)
    for (Index col = 0; col < sampling.cols; ++col) {
      const double y = static_cast<double>(row - sampling.rows / 2) * sampling.pixel_row();
      const double x = static_cast<double>(col - sampling.cols / 2) * sampling.pixel_col();
      // The square of this amplitude is 1/2 at a distance of fwhm / 2.
      p(row, col) = std::exp(-2 * std::numbers::ln2 * (y * y + x * x) / (fwhm * fwhm));
    }
  scale_to_counts(probe, 1);
  return probe;
}

Array measured_probe(const Sampling& sampling, View<const double, 2> intensity, const Aberrations& aberrations,
                     double cut) {
  if (intensity.extent[0] != sampling.rows || intensity.extent[1] != sampling.cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("a vacuum pattern of {} x {} pixels for patterns of {} x {}", intensity.extent[0],
                            intensity.extent[1], sampling.rows, sampling.cols));
  if (!(aberrations == Aberrations())) require_calibrated(sampling, "a probe with aberrations");
  double sum = 0, squares = 0;
  for (Index row = 0; row < sampling.rows; ++row)
    for (Index col = 0; col < sampling.cols; ++col) {
      const double value = intensity(row, col);
      if (!std::isfinite(value))
        throw Error(ErrorKind::bad_input, fmt::format("the vacuum pattern holds {} at [{}, {}]", value, row, col));
      sum += std::max(value, 0.0);
      squares += value > 0 ? value * value : 0;
    }
  const double threshold = sum > 0 ? cut * squares / sum : 0;
  double kept = 0;
  Array amplitude(Device::cpu(), {sampling.rows, sampling.cols}, DType::f64);
  const View<double, 2> a = amplitude.view<double, 2>();
  for (Index row = 0; row < sampling.rows; ++row)
    for (Index col = 0; col < sampling.cols; ++col) {
      const double value = intensity(row, col);
      a(row, col) = value > 0 && value >= threshold ? std::sqrt(value) : 0;
      kept += a(row, col);
    }
  if (!(kept > 0))
    throw Error(ErrorKind::bad_input, fmt::format("the vacuum pattern has no counts above {:.4g}", threshold));
  return probe_of(sampling, amplitude.view<double, 2>(), aberrations);
}

double power(const Array& probe) {
  const View<const complex128, 3> p = probe.view<complex128, 3>();
  double sum = 0;
  for (Index i = 0; i < p.count(); ++i) sum += std::norm(p.data[i]);
  return sum;
}

void scale_to_counts(Array& probe, double counts) {
  const double now = power(probe);
  if (!(now > 0) || !std::isfinite(now))
    throw Error(ErrorKind::bad_input, fmt::format("a probe of power {} cannot be scaled", now));
  if (!(counts > 0) || !std::isfinite(counts))
    throw Error(ErrorKind::bad_input, fmt::format("a probe cannot have {} counts per frame", counts));
  const View<complex128, 3> p = probe.view<complex128, 3>();
  const double factor = std::sqrt(counts / now);
  for (Index i = 0; i < p.count(); ++i) p.data[i] *= factor;
}

}  // namespace sonde::ptycho
