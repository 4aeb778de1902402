// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/side_bands.h"

#include <algorithm>
#include <vector>

#include "sonde/instruments/ptycho/direct/aperture_rows.h"
#include "sonde/instruments/ptycho/direct/phased_sum.h"
#include "sonde/instruments/ptycho/direct/spectra.h"

namespace sonde::ptycho {
namespace {

/// Both side bands of one image, where they do not overlap each other. Scratch of one thread.
class SideBandsOfImage {
 public:
  SideBandsOfImage(const BrightField& field, const Lens& lens, const HalfPlane& plane)
      : field_(field), lens_(lens), plane_(plane), real_(static_cast<std::size_t>(plane.width())), imaginary_(real_) {}

  void add(const SpectrumPair& spectra, Index in_pair, Index image, Sums& sums) {
    const Point k = field_.frequency[static_cast<std::size_t>(image)];
    const Point u = field_.lattice.row_frequency(), v = field_.lattice.col_frequency();
    const double turns = lens_.turns(k), amplitude = field_.amplitude[static_cast<std::size_t>(image)];
    for (Index row = 0; row < plane_.rows; ++row) {
      const auto r = static_cast<double>(row);
      const FrequencyLine minus{{k.row - r * u.row, k.col - r * u.col}, {-v.row, -v.col}};
      const FrequencyLine plus{{k.row + r * u.row, k.col + r * u.col}, v};
      const Span below = columns_lit(lens_, minus, plane_.most), above = columns_lit(lens_, plus, plane_.most);
      if (below.empty() && above.empty()) continue;
      loaded_ = below.empty() ? above.first : above.empty() ? below.first : std::min(below.first, above.first);
      spectra.row(in_pair, row, loaded_, std::max(below.last, above.last), real_.data(), imaginary_.data());
      // conj(Gamma) / |Gamma| = exp(i chi(k-q) - i chi(k)), or -exp(i chi(k) - i chi(k+q)).
      add_band(below, above, minus, 1, turns, amplitude, row, sums);
      add_band(above, below, plus, -1, turns, amplitude, row, sums);
    }
  }

 private:
  /// The columns of `band` that are not in `other`.
  void add_band(Span band, Span other, const FrequencyLine& where, double sign, double turns, double amplitude,
                Index row, Sums& sums) const {
    if (other.empty()) other = {band.last, band.last};
    const Span parts[2] = {{band.first, std::min(band.last, other.first)},
                           {std::max(band.first, other.last), band.last}};
    if (parts[0].empty() && parts[1].empty()) return;
    Lens::Line line = lens_.along(where.from, where.step);
    line[0] -= turns;
    for (double& power : line) power *= sign;
    for (const Span& part : parts) {
      if (part.empty()) continue;
      const Index to = plane_.at(row, part.first), from = part.first - loaded_;
      cpu::add_phased(line, sign, part.first, part.last, real_.data() + from, imaginary_.data() + from,
                      sums.real.data() + to, sums.imaginary.data() + to);
      double* overlap = sums.transfer.data() + to;
      for (Index v = part.first; v < part.last; ++v) *overlap++ += amplitude * lens_.amplitude(where[v]);
    }
  }

  const BrightField& field_;
  const Lens& lens_;
  HalfPlane plane_;
  std::vector<float> real_, imaginary_;
  Index loaded_ = 0;  // the column at index 0 of them
};

}  // namespace

std::size_t side_band_bytes(const ScanLattice& lattice, Index images) {
  return sums_bytes(HalfPlane(lattice.rows, lattice.cols), lattice, images) +
         static_cast<std::size_t>(lattice.count()) * (sizeof(complex128) + sizeof(double));
}

WaveSpectrum single_side_band(const BrightField& field, const Lens& lens) {
  const HalfPlane plane(field.lattice.rows, field.lattice.cols);
  const Sums sums = sum_over_images(
      field, plane, "single side band", [&] { return SideBandsOfImage(field, lens, plane); },
      [](SideBandsOfImage& image, const SpectrumPair& spectra, Index in_pair, Index number, Sums& to) {
        image.add(spectra, in_pair, number, to);
      });
  return wave_spectrum(field, field.lattice.rows, field.lattice.cols, sums);
}

}  // namespace sonde::ptycho
