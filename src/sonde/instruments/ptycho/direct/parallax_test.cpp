// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/parallax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/direct/test_direct.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {
namespace {

using std::numbers::pi;

DirectScene scene_with(double c10, double c12) {
  DirectScene scene;
  scene.sampling = electron_sampling(16, 16, 200, 4);
  scene.semiangle = 0.0203;
  scene.aberrations = aberrations_of({{"C10", c10}, {"C12", c12}, {"phi12", 0.4}});
  scene.lattice = lattice_of({.rows = 9, .cols = 8, .step_row = 0.5, .step_col = 0.4, .rotation = 0.3}, scene.sampling);
  return scene;
}

/// grad chi / 2 pi of defocus and astigmatism: lambda ((C10 - a) ky + b kx, (C10 + a) kx + b ky).
Point displacement(const DirectScene& scene, Point k) {
  const double c10 = scene.aberrations.get("C10"), c12 = scene.aberrations.get("C12");
  const double a = c12 * std::cos(2 * 0.4), b = c12 * std::sin(2 * 0.4), wavelength = scene.sampling.wavelength;
  return {wavelength * ((c10 - a) * k.row + b * k.col), wavelength * ((c10 + a) * k.col + b * k.row)};
}

TEST(Parallax, EqualsTheDefinitionAlsoOnAFinerGrid) {
  const DirectScene scene = scene_with(-70, 20);
  const Array frames = meaningless_frames(72, 16, 16);
  const BrightField field = scene.field(frames);
  for (const Index finer : {1, 2, 3}) {
    const WaveSpectrum spectrum = parallax(field, scene.lens(), finer);
    const Index rows = 9 * finer, cols = 8 * finer;
    ASSERT_EQ(spectrum.values.shape(), (Shape{rows, cols}));
    const Point u = scene.lattice.row_frequency(), v = scene.lattice.col_frequency();
    const Lens lens = scene.lens();
    double difference = 0, transfer_difference = 0, largest = 0;
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        const double a = frequency(row, rows) * static_cast<double>(rows);
        const double b = frequency(col, cols) * static_cast<double>(cols);
        const Point q{a * u.row + b * v.row, a * u.col + b * v.col};
        if (2 * row == rows || 2 * col == cols || (row == 0 && col == 0) ||
            std::hypot(q.row, q.col) >= 2 * lens.reach())
          continue;
        complex128 sum = 0, gamma = 0;
        double dc = 0, disk = 0;
        for (Index i = 0; i < field.count(); ++i) {
          const Point k = field.frequency[static_cast<std::size_t>(i)], d = displacement(scene, k);
          const auto image = field.images.view<float, 3>()[i];
          complex128 g = 0;
          for (Index y = 0; y < 9; ++y)
            for (Index x = 0; x < 8; ++x) {
              g += static_cast<double>(image(y, x)) *
                   std::polar(1.0, -2 * pi * (a * static_cast<double>(y) / 9 + b * static_cast<double>(x) / 8));
              dc += static_cast<double>(image(y, x));
            }
          // Aliases of the mean are no signal.
          if (std::fmod(std::abs(a), 9) == 0 && std::fmod(std::abs(b), 8) == 0) g = 0;
          const complex128 back = std::polar(1.0, -2 * pi * (q.row * d.row + q.col * d.col));
          sum += g * back;
          const auto aperture = [&](Point at) { return std::polar(lens.amplitude(at), -2 * pi * lens.turns(at)); };
          const complex128 here = aperture(k);
          gamma += (std::conj(here) * aperture({k.row - q.row, k.col - q.col}) -
                    here * std::conj(aperture({k.row + q.row, k.col + q.col}))) *
                   back;
          disk += std::norm(here);
        }
        const complex128 expected = complex128(0, 1) * sum / dc;
        largest = std::max(largest, std::abs(expected));
        difference = std::max(difference, std::abs(spectrum.values.view<complex128, 2>()(row, col) - expected));
        transfer_difference = std::max(transfer_difference, std::abs(spectrum.transfer.view<double, 2>()(row, col) -
                                                                     (complex128(0, 1) * gamma).real() / disk));
      }
    EXPECT_LT(difference, 1e-5 * largest);  // transforms in single precision
    EXPECT_LT(transfer_difference, 1e-6);   // phases taken in single precision
  }
}

TEST(Parallax, HasTheSameBitsOnAnyNumberOfThreads) {
  const DirectScene scene = scene_with(-70, 20);
  const Array frames = meaningless_frames(72, 16, 16);
  std::vector<std::vector<complex128>> all;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    const WaveSpectrum spectrum = parallax(scene.field(frames), scene.lens(), 2);
    const auto* values = static_cast<const complex128*>(spectrum.values.data());
    all.emplace_back(values, values + spectrum.values.count());
  }
  set_thread_count(0);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(Parallax, WeakPhaseObjectComesBackThroughItsTransfer) {
  DirectScene scene;
  scene.sampling = electron_sampling(64, 64, 200, 2);
  scene.semiangle = 0.0207;
  scene.aberrations = aberrations_of({{"C10", -250}, {"C12", 40}, {"phi12", 0.5}});
  const double pixel = scene.sampling.pixel_row();
  scene.lattice = lattice_of({.rows = 32, .cols = 32, .step_row = 2 * pixel, .step_col = 2 * pixel}, scene.sampling);
  Array phase = band_limited_noise({64, 64, pixel, pixel}, 1.2, 3);
  double largest = 0;
  for (Index i = 0; i < phase.count(); ++i) largest = std::max(largest, std::abs(phase.view<double, 2>().data[i]));
  for (Index i = 0; i < phase.count(); ++i) phase.view<double, 2>().data[i] *= 0.02 / largest;
  const Array frames = frames_of_periodic(scene, std::as_const(phase).view<double, 2>(), 2, 1e6);
  const WaveSpectrum spectrum = parallax(scene.field(frames), scene.lens());

  Array truth(Device::cpu(), Shape{1, 64, 64}, DType::c128);
  for (Index i = 0; i < phase.count(); ++i)
    static_cast<complex128*>(truth.data())[i] = phase.view<double, 2>().data[i] / 64.0;
  fourier(truth);
  double squares = 0, errors = 0, focus = 0;
  Index seen = 0;
  for (Index row = -15; row <= 15; ++row)
    for (Index col = -15; col <= 15; ++col) {
      if (row == 0 && col == 0) continue;
      const Index r = (row + 32) % 32, c = (col + 32) % 32;
      const double t = spectrum.transfer.view<double, 2>()(r, c);
      const complex128 expected = complex128(0, t) * truth.view<complex128, 3>()(0, (row + 64) % 64, (col + 64) % 64);
      squares += std::norm(expected);
      errors += std::norm(spectrum.values.view<complex128, 2>()(r, c) - expected);
      // Where the disks overlap nearly entirely it is the contrast transfer of a plane wave, 2 sin chi(q).
      const double ky = static_cast<double>(row) / (64 * pixel), kx = static_cast<double>(col) / (64 * pixel);
      if (std::hypot(ky, kx) > 0.25 * scene.semiangle / scene.sampling.wavelength) continue;
      const double chi = scene.aberrations.chi(scene.sampling.wavelength * std::hypot(ky, kx), std::atan2(ky, kx),
                                               scene.sampling.wavelength);
      focus = std::max(focus, std::abs(t - 2 * std::sin(chi)));
      ++seen;
    }
  EXPECT_LT(std::sqrt(errors / squares), 0.03);  // second order of the phase, and edges sampled by pixels
  EXPECT_GT(seen, 8);
  EXPECT_LT(focus, 0.35);  // the disk of side bands beyond the edge: 2 q / (pi radius) of 2
}

}  // namespace
}  // namespace sonde::ptycho
