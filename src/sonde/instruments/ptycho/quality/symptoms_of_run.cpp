// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>

#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/positions/affine.h"
#include "sonde/instruments/ptycho/quality/symptoms.h"

namespace sonde::ptycho::symptom {
namespace {

template <class T>
double count_not_finite(const Array& array) {
  const auto values = array.view<T, 3>();
  return static_cast<double>(std::count_if(values.data, values.data + values.count(), [](const T& value) {
    return !std::isfinite(std::real(value)) || !std::isfinite(std::imag(value));
  }));
}

double count_not_finite_of(const Array& complex) {
  return complex.dtype() == DType::c64 ? count_not_finite<complex64>(complex) : count_not_finite<complex128>(complex);
}

/// sum over the modes of |F P|^2, zero frequency at [0,0].
Image probe_power_spectrum(const Array& probe) {
  Array spectra = in_double_precision(probe);
  fourier(spectra);
  const auto values = spectra.view<complex128, 3>();
  const Index pixels = values.extent[1] * values.extent[2];
  Image sum{values.extent[1], values.extent[2], std::vector<double>(static_cast<std::size_t>(pixels))};
  for (Index i = 0; i < values.count(); ++i)
    sum.values[static_cast<std::size_t>(i % pixels)] += std::norm(values.data[i]);
  return sum;
}

/// Where the aperture, a pixel wider, lets nothing through; no value without calibration and semiangle.
std::optional<std::vector<bool>> outside(const View& view, const Window& window) {
  const Sampling& sampling = view.evidence->sampling;
  if (!sampling.calibrated() || !(view.evidence->semiangle > 0)) return std::nullopt;
  const double edge = view.evidence->semiangle + std::max(sampling.angle_row(), sampling.angle_col());
  std::vector<bool> result;
  for (Index row = 0; row < window.rows; ++row)
    for (Index col = 0; col < window.cols; ++col)
      result.push_back(
          std::hypot(frequency(row, window.rows) * static_cast<double>(window.rows) * sampling.angle_row(),
                     frequency(col, window.cols) * static_cast<double>(window.cols) * sampling.angle_col()) > edge);
  return result;
}

/// Divides by the mean of every ring, so that two spectra that both fall off do not look alike for that.
void flatten(Image& image, const Rings& rings) {
  std::vector<double> sums, members;
  for (Index row = 0; row < image.rows; ++row)
    for (Index col = 0; col < image.cols; ++col) {
      const auto ring = static_cast<std::size_t>(rings.ring_at(row, col));
      sums.resize(std::max(sums.size(), ring + 1));
      members.resize(sums.size());
      sums[ring] += image(row, col);
      ++members[ring];
    }
  for (Index row = 0; row < image.rows; ++row)
    for (Index col = 0; col < image.cols; ++col) {
      const auto ring = static_cast<std::size_t>(rings.ring_at(row, col));
      if (sums[ring] > 0) image(row, col) *= members[ring] / sums[ring];
    }
}

double correlation(const Image& a, const Image& b, const std::vector<bool>& where) {
  double n = 0, sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < where.size(); ++i) {
    if (!where[i]) continue;
    ++n;
    sum_a += a.values[i];
    sum_b += b.values[i];
    aa += a.values[i] * a.values[i];
    bb += b.values[i] * b.values[i];
    ab += a.values[i] * b.values[i];
  }
  const double spread = (n * aa - sum_a * sum_a) * (n * bb - sum_b * sum_b);
  return spread > 0 ? (n * ab - sum_a * sum_b) / std::sqrt(spread) : 0;
}

Image square_roots(Image image) {
  for (double& value : image.values) value = std::sqrt(value);
  return image;
}

}  // namespace

Symptom not_finite(const View& view) {
  return count_not_finite_of(view.state().object) + count_not_finite_of(view.state().probe);
}

Symptom missing_overlap(const View& view) {
  if (!view.evidence->acquisition) return {};
  return 1 - view.evidence->acquisition->overlap;
}

Symptom scan_distortion(const View& view) {
  const auto& from = view.evidence->initial_positions;
  if (from.empty() || from.size() != view.state().positions.size()) return {};
  const Affine map = fit_affine(from, view.state().positions);
  return std::max({std::abs(map.scale() - 1), std::abs(map.rotation()), std::abs(map.shear())});
}

Symptom low_contrast(const View& view) {
  constexpr std::size_t most = 10;  // iterations on either side, as in the stop rule
  constexpr double still = 1e-3;    // relative fall of the median: the same
  constexpr double poor = 0.15, near_floor = 2, far = 3;
  const auto& r = view.evidence->r_intensity;
  const double floor = view.evidence->r_floor;
  const std::size_t span = std::min(most, r.size() / 2);
  if (span == 0 || !(floor > 0)) return {};
  const auto end = r.end();
  const auto part = [&](std::size_t back) {
    const auto first = end - static_cast<std::ptrdiff_t>(back);
    return median({first, first + static_cast<std::ptrdiff_t>(span)});
  };
  const double before = part(2 * span), now = part(span);
  if (!(before - now > still * before)) return 0;  // it falls no more: nothing to gain by going on
  // Above 0.15 it is poor too, unless counting noise makes it that large.
  const double above_floor = now / (far * floor);
  return now > near_floor * floor ? std::max(above_floor, now / poor) : above_floor;
}

Symptom low_dose(const View& view) {
  if (!view.evidence->acquisition || !(view.evidence->acquisition->counts_per_pixel > 0)) return {};
  return 1 / view.evidence->acquisition->counts_per_pixel;
}

Symptom probe_structure(const View& view) {
  const Window window = view.state().window();
  const auto where = outside(view, window);
  const Box& box = view.box;
  if (!where || std::count(where->begin(), where->end(), true) < 64) return {};
  // The object on as many pixels as the probe, about the middle of the view, has the same frequencies.
  const Box crop{box.row + box.rows / 2 - window.rows / 2, box.col + box.cols / 2 - window.cols / 2, window.rows,
                 window.cols};
  const Shape& shape = view.state().object.shape();
  if (crop.row < 0 || crop.col < 0 || crop.row + crop.rows > shape[1] || crop.col + crop.cols > shape[2]) return {};
  Image object = square_roots(power_spectrum(phase_image(view.state(), crop)));
  Image probe = square_roots(probe_power_spectrum(view.state().probe));
  const Rings rings(window.rows, window.cols);
  flatten(object, rings);
  flatten(probe, rings);
  return correlation(probe, object, *where);
}

Symptom outside_aperture(const View& view) {
  const auto where = outside(view, view.state().window());
  if (!where) return {};
  const Image power = probe_power_spectrum(view.state().probe);
  double all = 0, out = 0;
  for (std::size_t i = 0; i < where->size(); ++i) {
    all += power.values[i];
    if ((*where)[i]) out += power.values[i];
  }
  if (!(all > 0)) return {};
  return out / all;
}

Symptom mode_collapse(const View& view) {
  if (view.state().modes() < 2) return {};
  return largest_overlap(view.state().probe);
}

}  // namespace sonde::ptycho::symptom
