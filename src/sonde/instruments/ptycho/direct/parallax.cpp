// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/parallax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/direct/aperture_rows.h"
#include "sonde/instruments/ptycho/direct/phased_sum.h"
#include "sonde/instruments/ptycho/direct/spectra.h"

namespace sonde::ptycho {
namespace {

/// One displaced image, and what a weak phase would give there. Scratch of one thread.
class DisplacedImage {
 public:
  DisplacedImage(const BrightField& field, const Lens& lens, const HalfPlane& plane)
      : field_(field),
        lens_(lens),
        plane_(plane),
        real_(static_cast<std::size_t>(plane.width())),
        imaginary_(real_),
        none_(real_),
        gamma_real_(real_.size()),
        gamma_imaginary_(real_.size()) {}

  void add(const SpectrumPair& spectra, Index in_pair, Index image, Sums& sums) {
    const Point k = field_.frequency[static_cast<std::size_t>(image)];
    const double amplitude = field_.amplitude[static_cast<std::size_t>(image)];
    const Point u = field_.lattice.row_frequency(), v = field_.lattice.col_frequency();
    const Point shift = lens_.gradient(k);
    const double turns = lens_.turns(k), limit = 2 * lens_.reach();
    for (Index row = 0; row < plane_.rows; ++row) {
      const auto r = static_cast<double>(row);
      const Point q0{r * u.row, r * u.col};
      const Span span =
          columns_inside({q0, v}, limit, plane_.most, [&](Point q) { return std::hypot(q.row, q.col) < limit; });
      if (span.empty()) continue;
      spectra.row(in_pair, row, span.first, span.last, real_.data(), imaginary_.data());
      Lens::Line displaced{};
      displaced[0] = -(q0.row * shift.row + q0.col * shift.col);
      displaced[1] = -(v.row * shift.row + v.col * shift.col);
      const Index to = plane_.at(row, span.first);
      cpu::add_phased(displaced, 1, span.first, span.last, real_.data(), imaginary_.data(), sums.real.data() + to,
                      sums.imaginary.data() + to);

      // Gamma exp(-i q.grad chi): a a' exp(i chi(k) - i chi(k-q)) and -a a' exp(i chi(k+q) - i chi(k)).
      std::fill(gamma_real_.begin(), gamma_real_.end(), 0);
      std::fill(gamma_imaginary_.begin(), gamma_imaginary_.end(), 0);
      add_gamma({{k.row - q0.row, k.col - q0.col}, {-v.row, -v.col}}, 1, turns, amplitude, displaced);
      add_gamma({{k.row + q0.row, k.col + q0.col}, v}, -1, turns, amplitude, displaced);
      for (Index c = span.first; c < span.last; ++c)
        sums.transfer[static_cast<std::size_t>(plane_.at(row, c))] -=
            gamma_imaginary_[static_cast<std::size_t>(plane_.most + c)];
    }
  }

 private:
  void add_gamma(const FrequencyLine& where, double sign, double turns, double amplitude, const Lens::Line& displaced) {
    const Span span = columns_lit(lens_, where, plane_.most);
    if (span.empty()) return;
    Lens::Line line = lens_.along(where.from, where.step);
    line[0] -= turns;
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = displaced[i] - sign * line[i];
    for (Index c = span.first; c < span.last; ++c)
      real_[static_cast<std::size_t>(c - span.first)] = static_cast<float>(amplitude * lens_.amplitude(where[c]));
    cpu::add_phased(line, sign, span.first, span.last, real_.data(), none_.data(),
                    gamma_real_.data() + plane_.most + span.first, gamma_imaginary_.data() + plane_.most + span.first);
  }

  const BrightField& field_;
  const Lens& lens_;
  HalfPlane plane_;
  std::vector<float> real_, imaginary_, none_;
  std::vector<double> gamma_real_, gamma_imaginary_;
};

}  // namespace

std::size_t parallax_bytes(const ScanLattice& lattice, Index images, Index upsample) {
  return sums_bytes(HalfPlane(lattice.rows * upsample, lattice.cols * upsample), lattice, images) +
         static_cast<std::size_t>(lattice.count() * upsample * upsample) * (sizeof(complex128) + sizeof(double));
}

WaveSpectrum parallax(const BrightField& field, const Lens& lens, Index upsample) {
  if (upsample < 1) throw Error(ErrorKind::bad_input, fmt::format("an image {} times as fine as the scan", upsample));
  const Index rows = field.lattice.rows * upsample, cols = field.lattice.cols * upsample;
  const HalfPlane plane(rows, cols);
  Sums sums = sum_over_images(
      field, plane, "aligned images", [&] { return DisplacedImage(field, lens, plane); },
      [](DisplacedImage& image, const SpectrumPair& spectra, Index in_pair, Index number, Sums& to) {
        image.add(spectra, in_pair, number, to);
      });
  for (std::size_t i = 0; i < plane.count(); ++i) {  // times i
    const double real = sums.real[i];
    sums.real[i] = -sums.imaginary[i];
    sums.imaginary[i] = real;
  }
  return wave_spectrum(field, rows, cols, sums);
}

}  // namespace sonde::ptycho
