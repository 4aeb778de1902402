// SPDX-License-Identifier: Apache-2.0
// Private to the room: transforms of bright-field images, two at a time, row by row, and sums over all of them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/direct/bright_field.h"
#include "sonde/instruments/ptycho/direct/wave_spectrum.h"

namespace sonde::ptycho {

/// The largest frequency index of an axis that has its negative: the Nyquist line is left out.
[[nodiscard]] inline Index highest_frequency(Index n) { return (n - 1) / 2; }

/// The frequencies that a real image is known by: rows u = 0, ..., columns v of both signs.
struct HalfPlane {
  Index rows = 0, most = 0;  ///< v = -most, ..., most

  HalfPlane(Index scan_rows, Index scan_cols)
      : rows(highest_frequency(scan_rows) + 1), most(highest_frequency(scan_cols)) {}
  [[nodiscard]] Index width() const { return 2 * most + 1; }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(rows * width()); }
  [[nodiscard]] Index at(Index row, Index v) const { return row * width() + most + v; }
};

/// G(q,k) of two images at once: two real images are the parts of a complex one, and their spectra its parts of even
/// and odd symmetry. Scratch of one thread.
class SpectrumPair {
 public:
  SpectrumPair(const BrightField& field, const Fft2d<float>& fft);

  /// Transforms images 2 pair and, if there is one, 2 pair + 1, each without its mean.
  void transform(Index pair);
  [[nodiscard]] Index images() const { return images_; }

  /// Row of the spectrum of one of them (0, 1) as real and imaginary parts of frequency first, ..., last - 1; both
  /// signs, counted through the period.
  void row(Index image, Index row, Index first, Index last, float* real, float* imaginary) const;

 private:
  const BrightField& field_;
  const Fft2d<float>& fft_;
  Array wave_;
  Index images_ = 0;
};

/// What images add to, over a half plane: a complex sum and a real one, or what stands for them.
struct Sums {
  std::vector<double> real, imaginary, transfer;
};

/// Pieces that a sum over images is cut into, added up in their order: the same on any number of threads.
[[nodiscard]] inline Index pieces_of(Index images) { return std::min<Index>(16, (images + 1) / 2); }

[[nodiscard]] inline std::size_t sums_bytes(const HalfPlane& plane, const ScanLattice& lattice, Index images) {
  return static_cast<std::size_t>(pieces_of(images)) * plane.count() * 3 * sizeof(double) +
         static_cast<std::size_t>(worker_limit() * lattice.count()) * sizeof(complex64);
}

/// Calls add(room, spectra, 0 or 1 in the pair, number of the image, sums) for every image on all threads and adds up
/// the sums. Rooms are the scratch of a thread, made by make_room().
template <class MakeRoom, class Add>
[[nodiscard]] Sums sum_over_images(const BrightField& field, const HalfPlane& plane, const std::string& stage,
                                   MakeRoom&& make_room, Add&& add) {
  const auto fft = Fft2d<float>::prepare({.rows = field.lattice.rows, .cols = field.lattice.cols});
  const Index pairs = (field.count() + 1) / 2, pieces = pieces_of(field.count());
  PerWorker<SpectrumPair> all_spectra([&] { return SpectrumPair(field, fft); });
  PerWorker<decltype(make_room())> rooms(make_room);
  std::vector<Sums> sums(static_cast<std::size_t>(pieces));
  ProgressMeter meter(stage, pairs, "pairs of images");
  parallel_for(pieces, 1, [&](Index first, Index last, Worker& worker) {
    SpectrumPair& spectra = all_spectra[worker];
    for (Index p = first; p < last; ++p) {
      Sums& here = sums[static_cast<std::size_t>(p)];
      here.real.assign(plane.count(), 0);
      here.imaginary = here.transfer = here.real;
      for (Index pair = p * pairs / pieces; pair < (p + 1) * pairs / pieces; ++pair) {
        check_interrupt();
        spectra.transform(pair);
        for (Index image = 0; image < spectra.images(); ++image)
          add(rooms[worker], spectra, image, 2 * pair + image, here);
        meter.advance();
      }
    }
  });
  for (std::size_t p = 1; p < sums.size(); ++p)
    for (std::size_t i = 0; i < plane.count(); ++i) {
      sums[0].real[i] += sums[p].real[i];
      sums[0].imaginary[i] += sums[p].imaginary[i];
      sums[0].transfer[i] += sums[p].transfer[i];
    }
  return std::move(sums[0]);
}

/// The sums over the counts of the disk and over its area, as a spectrum of rows x cols frequencies, both halves.
[[nodiscard]] WaveSpectrum wave_spectrum(const BrightField& field, Index rows, Index cols, const Sums& sums);

}  // namespace sonde::ptycho
