// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/side_bands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <numbers>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/direct/test_direct.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using std::numbers::pi;

/// A(k) and A(k) exp(-i chi(k)) by the formulas of docs/ptycho-theory.md, nothing shared with the lens of this folder.
double aperture_modulus(const DirectScene& scene, double ky, double kx) {
  const double alpha = scene.sampling.wavelength * std::hypot(ky, kx);
  if (scene.edge == ApertureEdge::hard) return alpha <= scene.semiangle ? 1 : 0;
  return std::clamp((scene.semiangle - alpha) / scene.sampling.angle_row() + 0.5, 0.0, 1.0);
}

complex128 aperture_value(const DirectScene& scene, double ky, double kx) {
  const double wavelength = scene.sampling.wavelength;
  return std::polar(aperture_modulus(scene, ky, kx),
                    -scene.aberrations.chi(wavelength * std::hypot(ky, kx), std::atan2(ky, kx), wavelength));
}

struct Reference {
  std::vector<complex128> values;
  std::vector<double> transfer;
};

/// The definition in double precision: a sum over frames for every frequency of the scan and every pixel of the disk.
Reference naive(const DirectScene& scene, const Array& frames, std::span<const std::uint8_t> mask = {}) {
  const ScanLattice& scan = scene.lattice;
  const Index ny = scene.sampling.rows, nx = scene.sampling.cols;
  const auto counts = frames.view<double, 3>();
  Reference result{std::vector<complex128>(static_cast<std::size_t>(scan.count())),
                   std::vector<double>(static_cast<std::size_t>(scan.count()))};
  double dc = 0, disk = 0;
  for (Index r = 0; r < ny; ++r)
    for (Index c = 0; c < nx; ++c) {
      if (!mask.empty() && mask[static_cast<std::size_t>(r * nx + c)] == 0) continue;
      const double ky = frequency(r, ny) / scene.sampling.pixel_row();
      const double kx = frequency(c, nx) / scene.sampling.pixel_col();
      const complex128 here = aperture_value(scene, ky, kx);
      if (here == complex128(0)) continue;
      for (Index frame = 0; frame < scan.count(); ++frame) dc += counts(frame, r, c);
      disk += std::norm(here);
      for (Index u = 0; u < scan.rows; ++u)
        for (Index v = 0; v < scan.cols; ++v) {
          if ((2 * u == scan.rows) || (2 * v == scan.cols) || (u == 0 && v == 0)) continue;
          // q from q.down = u / rows, q.across = v / cols.
          const double a = frequency(u, scan.rows), b = frequency(v, scan.cols);
          const double area = scan.down.row * scan.across.col - scan.down.col * scan.across.row;
          const double qy = (a * scan.across.col - b * scan.down.col) / area;
          const double qx = (b * scan.down.row - a * scan.across.row) / area;
          const complex128 minus = aperture_value(scene, ky - qy, kx - qx);
          const complex128 plus = aperture_value(scene, ky + qy, kx + qx);
          if ((minus != complex128(0)) == (plus != complex128(0))) continue;
          const complex128 gamma = std::conj(here) * minus - here * std::conj(plus);
          complex128 g = 0;
          for (Index i = 0; i < scan.rows; ++i)
            for (Index j = 0; j < scan.cols; ++j)
              g += counts(i * scan.cols + j, r, c) *
                   std::polar(1.0, -2 * pi * (a * static_cast<double>(i) + b * static_cast<double>(j)));
          const auto at = static_cast<std::size_t>(u * scan.cols + v);
          result.values[at] += g * std::conj(gamma) / std::abs(gamma);
          result.transfer[at] += std::abs(gamma);
        }
    }
  for (complex128& value : result.values) value /= dc;
  for (double& t : result.transfer) t /= disk;
  result.values[0] = 1;
  return result;
}

void expect_equal(const WaveSpectrum& fast, const Reference& slow) {
  double largest = 0, difference = 0, transfer_difference = 0;
  const auto values = fast.values.view<complex128, 2>();
  const auto transfer = fast.transfer.view<double, 2>();
  for (std::size_t i = 1; i < slow.values.size(); ++i) {
    largest = std::max(largest, std::abs(slow.values[i]));
    difference = std::max(difference, std::abs(values.data[i] - slow.values[i]));
    transfer_difference = std::max(transfer_difference, std::abs(transfer.data[i] - slow.transfer[i]));
  }
  ASSERT_GT(largest, 0);
  EXPECT_EQ(values.data[0], complex128(1));
  // Counts and transforms are single precision: 6e-8 per number, log2 n steps of a transform, and sums that cancel.
  EXPECT_LT(difference, 1e-5 * largest);
  // Double precision throughout.
  EXPECT_LT(transfer_difference, 1e-12);
}

DirectScene scene_of(Index pixels, const Raster& raster, Aberrations aberrations, ApertureEdge edge) {
  DirectScene scene;
  scene.sampling = electron_sampling(pixels, pixels, 200, 4);
  scene.semiangle = 0.0203;  // on no pixel of any grid below
  scene.aberrations = aberrations;
  scene.edge = edge;
  scene.lattice = lattice_of(raster, scene.sampling);
  return scene;
}

struct Case {
  const char* what;
  Index pixels;
  Raster raster;
  Aberrations aberrations;
  ApertureEdge edge = ApertureEdge::pixel;
};

class SingleSideBand : public ::testing::TestWithParam<Case> {};

TEST_P(SingleSideBand, EqualsTheDefinition) {
  const Case& c = GetParam();
  const DirectScene scene = scene_of(c.pixels, c.raster, c.aberrations, c.edge);
  const Array frames = meaningless_frames(scene.lattice.count(), c.pixels, c.pixels);
  expect_equal(single_side_band(scene.field(frames), scene.lens()), naive(scene, frames));
}

INSTANTIATE_TEST_SUITE_P(
    Scans, SingleSideBand,
    ::testing::Values(
        Case{"focus", 16, {.rows = 8, .cols = 8, .step_row = 0.4, .step_col = 0.4}, {}},
        Case{"odd sizes, oblong steps",
             15,
             {.rows = 9, .cols = 7, .step_row = 0.5, .step_col = 0.3},
             aberrations_of({{"C10", -80}})},
        Case{"every kind of aberration, turned",
             16,
             {.rows = 10, .cols = 12, .step_row = 0.45, .step_col = 0.45, .rotation = 0.4},
             aberrations_of({{"C10", 50},
                             {"C12", 20},
                             {"phi12", 0.7},
                             {"C21", 700},
                             {"phi21", -1},
                             {"C23", 400},
                             {"phi23", 0.3},
                             {"C30", 3e4},
                             {"C34", 1e4},
                             {"phi34", 0.2},
                             {"C45", 1e6},
                             {"phi45", 1.1},
                             {"C50", 3e7},
                             {"C56", 2e7},
                             {"phi56", 0.1}})},
        Case{"transposed, hard edge",
             16,
             {.rows = 6, .cols = 11, .step_row = 0.6, .step_col = 0.5, .transpose = true, .rotation = -1.2},
             aberrations_of({{"C10", -40}, {"C12", 15}, {"phi12", 0.2}}),
             ApertureEdge::hard},
        Case{"frequencies beyond the side bands",
             16,
             {.rows = 12, .cols = 12, .step_row = 0.15, .step_col = 0.15},
             aberrations_of({{"C10", 30}})}),
    [](const auto& one) { return "Case" + std::to_string(one.index); });

TEST(SingleSideBandOf, LeavesOutMaskedPixels) {
  const DirectScene scene = scene_of(16, {.rows = 6, .cols = 6, .step_row = 0.4, .step_col = 0.4},
                                     aberrations_of({{"C10", -60}}), ApertureEdge::pixel);
  const Array frames = meaningless_frames(36, 16, 16);
  std::vector<std::uint8_t> mask(256, 1);
  for (const std::size_t dead : {std::size_t{1}, std::size_t{17}, std::size_t{255}}) mask[dead] = 0;
  expect_equal(single_side_band(scene.field(frames, mask), scene.lens()), naive(scene, frames, mask));
}

TEST(SingleSideBandOf, TakesTheMeanForSkippedFrames) {
  const DirectScene scene =
      scene_of(16, {.rows = 6, .cols = 6, .step_row = 0.4, .step_col = 0.4}, {}, ApertureEdge::pixel);
  Array frames = meaningless_frames(36, 16, 16);
  const std::vector<Index> skip = {7, 20};
  const WaveSpectrum spectrum = single_side_band(scene.field(frames, {}, skip), scene.lens());
  const auto f = frames.view<double, 3>();
  for (Index r = 0; r < 16; ++r)
    for (Index c = 0; c < 16; ++c) {
      double mean = 0;
      for (Index j = 0; j < 36; ++j)
        if (j != 7 && j != 20) mean += f(j, r, c) / 34;
      f(7, r, c) = f(20, r, c) = mean;
    }
  expect_equal(spectrum, naive(scene, frames));
}

TEST(SingleSideBandOf, HasTheSameBitsOnAnyNumberOfThreads) {
  const DirectScene scene = scene_of(16, {.rows = 9, .cols = 10, .step_row = 0.4, .step_col = 0.4},
                                     aberrations_of({{"C10", -60}}), ApertureEdge::pixel);
  const Array frames = meaningless_frames(90, 16, 16);
  std::vector<std::vector<complex128>> all;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    const WaveSpectrum spectrum = single_side_band(scene.field(frames), scene.lens());
    const auto* values = static_cast<const complex128*>(spectrum.values.data());
    all.emplace_back(values, values + spectrum.values.count());
  }
  set_thread_count(0);
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

TEST(BrightFieldOf, LooksWhetherToStopOncePerFrame) {
  const DirectScene scene =
      scene_of(16, {.rows = 6, .cols = 6, .step_row = 0.4, .step_col = 0.4}, {}, ApertureEdge::pixel);
  const Array frames = meaningless_frames(36, 16, 16);
  const sonde::testing::InterruptAt count;
  (void)scene.field(frames);
  EXPECT_GE(count.looks(), 36);
}

TEST(SingleSideBandOf, AnswersAnInterrupt) {
  const DirectScene scene =
      scene_of(16, {.rows = 6, .cols = 6, .step_row = 0.4, .step_col = 0.4}, {}, ApertureEdge::pixel);
  const BrightField field = scene.field(meaningless_frames(36, 16, 16));
  request_interrupt(SIGINT);
  (void)sonde::testing::error_of(ErrorKind::interrupted, [&] { (void)single_side_band(field, scene.lens()); });
  clear_interrupt();
}

// A grating exp(i epsilon cos(2 pi q.r)), epsilon -> 0, through the aperture A:
//   I(R,k) = |A(k) + (i epsilon / 2) (A(k-q) e^(2 pi i q.R) + A(k+q) e^(-2 pi i q.R))|^2.
// Beyond |q| = radius the side bands do not overlap each other, and each overlaps the disk in a lens of area
// 2 r^2 arccos(q / 2r) - q/2 sqrt(4 r^2 - q^2).
TEST(SingleSideBandOf, SeesAGratingWithTwiceTheOverlapArea) {
  for (const double defocus : {0.0, -120.0}) {
    DirectScene scene;
    scene.sampling = electron_sampling(96, 96, 200, 1);
    scene.semiangle = 0.0203;
    scene.aberrations.set("C10", defocus);
    scene.lattice = lattice_of({.rows = 12, .cols = 12, .step_row = 0.25, .step_col = 0.25}, scene.sampling);
    // Three periods in 12 steps: q = 1 / A along columns, and a bit along rows.
    const Index u = 1, v = 3;
    const double qy = 1 / (12 * 0.25), qx = 3 / (12 * 0.25), epsilon = 1e-4;
    Array frames(Device::cpu(), Shape{144, 96, 96}, DType::f64);
    const auto f = frames.view<double, 3>();
    for (Index r = 0; r < 96; ++r)
      for (Index c = 0; c < 96; ++c) {
        const double ky = frequency(r, 96) / scene.sampling.pixel_row();
        const double kx = frequency(c, 96) / scene.sampling.pixel_col();
        const complex128 here = aperture_value(scene, ky, kx);
        const complex128 minus = aperture_value(scene, ky - qy, kx - qx),
                         plus = aperture_value(scene, ky + qy, kx + qx);
        for (Index j = 0; j < 144; ++j) {
          const double turn =
              2 * pi * (qy * 0.25 * static_cast<double>(j / 12) + qx * 0.25 * static_cast<double>(j % 12));
          f(j, r, c) = std::norm(here + complex128(0, epsilon / 2) *
                                            (minus * std::polar(1.0, turn) + plus * std::polar(1.0, -turn)));
        }
      }
    const WaveSpectrum spectrum = single_side_band(scene.field(frames), scene.lens());
    const double radius = scene.semiangle / scene.sampling.wavelength, q = std::hypot(qy, qx);
    ASSERT_GT(q, radius);
    const double overlap =
        2 * radius * radius * std::acos(q / (2 * radius)) - q / 2 * std::sqrt(4 * radius * radius - q * q);
    const double transfer = 2 * overlap / (pi * radius * radius);
    const complex128 expected = complex128(0, epsilon / 2) * transfer;
    const auto values = spectrum.values.view<complex128, 2>();
    // Areas counted in pixels, 20 across the radius, with an edge over one pixel: sum A^2 and sum A A' fall short of
    // them by up to about one part in the radius.
    EXPECT_NEAR((spectrum.transfer.view<double, 2>()(u, v) / transfer), 1, 0.04);
    EXPECT_LT(std::abs(values(u, v) - expected), 0.04 * std::abs(expected));
    // The same against the counted areas: what is left is of second order in epsilon and the rounding of counts.
    EXPECT_LT(std::abs(values(u, v) / (complex128(0, epsilon / 2) * spectrum.transfer.view<double, 2>()(u, v)) - 1.0),
              1e-2);
    EXPECT_LT(std::abs(values(12 - u, 12 - v) + std::conj(values(u, v))), 1e-12);
    // Nothing else is in the picture, but for the second order.
    EXPECT_LT(std::abs(values(2, 0)), 1e-3 * epsilon);
  }
}

TEST(SingleSideBandOf, WeakPhaseObjectComesBackThroughItsTransfer) {
  // The object repeats after the detector's width, so that all its frequencies are frequencies of scan and detector.
  DirectScene scene;
  scene.sampling = electron_sampling(64, 64, 200, 2);
  scene.semiangle = 0.0207;
  scene.aberrations = aberrations_of({{"C10", -100}, {"C12", 20}, {"phi12", 0.5}, {"C30", 5e4}});
  const double pixel = scene.sampling.pixel_row();
  scene.lattice = lattice_of({.rows = 32, .cols = 32, .step_row = 2 * pixel, .step_col = 2 * pixel}, scene.sampling);
  Array phase = band_limited_noise({64, 64, pixel, pixel}, 1.5, 3);
  double largest = 0;
  for (Index i = 0; i < phase.count(); ++i) largest = std::max(largest, std::abs(phase.view<double, 2>().data[i]));
  for (Index i = 0; i < phase.count(); ++i) phase.view<double, 2>().data[i] *= 0.05 / largest;

  const Array frames = frames_of_periodic(scene, std::as_const(phase).view<double, 2>(), 2, 1e6);
  const WaveSpectrum spectrum = single_side_band(scene.field(frames), scene.lens());

  Array truth(Device::cpu(), Shape{1, 64, 64}, DType::c128);
  for (Index i = 0; i < phase.count(); ++i)
    static_cast<complex128*>(truth.data())[i] = phase.view<double, 2>().data[i] / 64.0;  // a sum over q gives phi back
  fourier(truth);
  const auto phi = truth.view<complex128, 3>()[0];
  // The aperture at frequencies (r - 32) / width, also beyond the detector.
  std::vector<double> moduli;
  for (Index r = -16; r < 80; ++r)
    for (Index c = -16; c < 80; ++c)
      moduli.push_back(aperture_modulus(scene, static_cast<double>(r - 32) / (64 * pixel),
                                        static_cast<double>(c - 32) / (64 * pixel)));
  const auto disk_at = [&](Index r, Index c) { return moduli[static_cast<std::size_t>((r + 16) * 96 + c + 16)]; };
  double squares = 0, errors = 0;
  Index seen = 0;
  for (Index u = -15; u <= 15; ++u)
    for (Index v = -15; v <= 15; ++v) {
      if (u == 0 && v == 0) continue;
      // Twice the overlap area, counted here: pixels of the disk with exactly one side band.
      double area = 0, disk = 0;
      for (Index r = 0; r < 64; ++r)
        for (Index c = 0; c < 64; ++c) {
          const double here = disk_at(r, c), minus = disk_at(r - u, c - v), plus = disk_at(r + u, c + v);
          disk += here * here;
          if ((minus > 0) != (plus > 0)) area += here * (minus + plus);
        }
      const complex128 expected = complex128(0, 1) * phi((u + 64) % 64, (v + 64) % 64) * (area / disk);
      const complex128 found = spectrum.values.view<complex128, 2>()((u + 32) % 32, (v + 32) % 32);
      squares += std::norm(expected);
      errors += std::norm(found - expected);
      seen += area > 0 ? 1 : 0;
    }
  EXPECT_GT(seen, 400);
  // The second order of exp(i phi): half the peak.
  EXPECT_LT(std::sqrt(errors / squares), 0.025);
}

TEST(WaveSpectrum, CorrectionDividesByTheTransferWhereItIsLarge) {
  WaveSpectrum spectrum{Array(Device::cpu(), Shape{2, 2}, DType::c128), Array(Device::cpu(), Shape{2, 2}, DType::f64)};
  const complex128 values[] = {1, {0, 0.2}, {0.01, 0}, 0};
  const double transfer[] = {0, 0.5, 0.01, 0};
  std::copy_n(values, 4, spectrum.values.view<complex128, 2>().data);
  std::copy_n(transfer, 4, spectrum.transfer.view<double, 2>().data);
  const WaveSpectrum corrected = spectrum.corrected(0.1);
  const auto found = corrected.values.view<complex128, 2>();
  EXPECT_EQ(found(0, 0), complex128(1));
  // t / (t^2 + 0.05^2)
  EXPECT_LT(std::abs(found(0, 1) - complex128(0, 0.2) * 0.5 / 0.2525), 1e-12);
  EXPECT_LT(std::abs(found(1, 0) - complex128(0.01) * 0.01 / 0.0026), 1e-12);
  EXPECT_EQ(found(1, 1), complex128(0));
}

TEST(WaveSpectrum, WaveIsTheSumOverItsFrequencies) {
  WaveSpectrum spectrum{Array::zeros(Device::cpu(), Shape{3, 4}, DType::c128),
                        Array::zeros(Device::cpu(), Shape{3, 4}, DType::f64)};
  spectrum.values.view<complex128, 2>()(0, 0) = 1;
  spectrum.values.view<complex128, 2>()(1, 3) = {0, 0.1};
  const Array wave = spectrum.wave();
  for (Index r = 0; r < 3; ++r)
    for (Index c = 0; c < 4; ++c)
      EXPECT_LT(std::abs(wave.view<complex128, 2>()(r, c) - 1.0 -
                         complex128(0, 0.1) *
                             std::polar(1.0, 2 * pi * (static_cast<double>(r) / 3 + 3 * static_cast<double>(c) / 4))),
                1e-12);
}

}  // namespace
}  // namespace sonde::ptycho
