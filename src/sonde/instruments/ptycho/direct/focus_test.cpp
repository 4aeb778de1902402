// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/focus.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/direct/agreement.h"
#include "sonde/instruments/ptycho/direct/test_direct.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"

namespace sonde::ptycho {
namespace {

constexpr double degree = std::numbers::pi / 180;

/// A simulated scan as it would be measured, its raster read without the rotation that it has.
struct Simulation {
  SimulateOptions options;
  Truth truth;
  BrightField field;

  explicit Simulation(const SimulateOptions& made) : options(made), truth(truth_of(made)) {
    const Array frames = draw_frames(truth, 1, 0, truth.scan_rows * truth.scan_cols, DType::u32);
    const Measurement measurement(frames, ZeroFrequency::centre, {}, AmplitudeStorage::f32);
    const ScanLattice lattice = lattice_of(
        {.rows = truth.scan_rows, .cols = truth.scan_cols, .step_row = made.scan_step_A, .step_col = made.scan_step_A},
        truth.sampling);
    const Lens lens(truth.sampling, made.semiangle_mrad / 1000, ApertureEdge::pixel, {});
    field = bright_field(measurement, truth.sampling, lens, lattice);
  }
  [[nodiscard]] FocusSearch search() const { return {.semiangle = options.semiangle_mrad / 1000}; }
  [[nodiscard]] FocusFit fit(FocusModel model, const FocusSearch& search) const {
    return fit_focus(field, truth.sampling, model, search);
  }
};

/// 24 x 24 positions, 0.42 A apart, of atoms that turn the phase by 0.3 rad; 200 keV, 20 mrad, 360 bright-field pixels.
SimulateOptions weak_scan() {
  SimulateOptions options;
  options.detector_px = 48;
  options.detector_mrad = 45;
  options.scan_shape = "24,24";
  options.peak_rad = 0.3;
  options.second_peak_rad = 0.2;
  options.amorphous_rad = 0.1;
  options.step_rad = 0;
  return options;
}

TEST(Focus, ParallaxFindsTheDefocusWithinFivePercent) {
  for (const double defocus : {300.0, 150.0, -250.0}) {
    SCOPED_TRACE(defocus);
    SimulateOptions options = weak_scan();
    options.defocus_A = defocus;
    const Simulation scan(options);
    FocusSearch search = scan.search();
    search.rotation = false;
    const FocusFit fit = scan.fit(FocusModel::parallax, search);
    // Five percent; the shortest frequency of a scan of 10 A limits what can be known.
    EXPECT_NEAR(fit.aberrations.get("defocus"), defocus, 0.05 * std::abs(defocus));
    EXPECT_LT(fit.aberrations.get("C12"), 0.05 * std::abs(defocus));
    EXPECT_GT(fit.agreement, 10);
  }
}

TEST(Focus, ParallaxFindsAstigmatismAndRotationInNoise) {
  SimulateOptions options = weak_scan();
  options.defocus_A = 300;
  options.C12_A = 60;
  options.phi12_deg = 30;
  options.scan_rotation_deg = 20;
  options.counts_per_frame = 3000;  // eight in a pixel of the disk
  const Simulation scan(options);
  const FocusFit fit = scan.fit(FocusModel::parallax, scan.search());
  EXPECT_NEAR(fit.aberrations.get("defocus"), 300, 15);
  EXPECT_NEAR(fit.aberrations.get("C12"), 60, 20);  // a twentieth of the defocus and noise
  EXPECT_NEAR(fit.aberrations.get("phi12"), 30 * degree, 10 * degree);
  EXPECT_NEAR(fit.rotation, 20 * degree, 3 * degree);
}

TEST(Focus, SideBandsFindSmallAberrations) {
  SimulateOptions options = weak_scan();
  options.defocus_A = 30;
  options.C12_A = 20;
  options.phi12_deg = -40;
  options.scan_rotation_deg = -15;
  options.counts_per_frame = 2e4;
  const Simulation scan(options);
  const FocusFit fit = scan.fit(FocusModel::side_bands, scan.search());
  // A tenth of the depth of field, wavelength / semiangle^2 = 63 A.
  EXPECT_NEAR(fit.aberrations.get("defocus"), 30, 6);
  EXPECT_NEAR(fit.aberrations.get("C12"), 20, 6);
  EXPECT_NEAR(fit.aberrations.get("phi12"), -40 * degree, 12 * degree);
  EXPECT_NEAR(fit.rotation, -15 * degree, 3 * degree);
}

TEST(Focus, KnownAberrationsAreKept) {
  SimulateOptions options = weak_scan();
  options.defocus_A = 200;
  options.C30_A = 2e5;  // as much as 40 A of defocus at the edge of the disk
  const Simulation scan(options);
  FocusSearch search = scan.search();
  search.rotation = false;
  search.aberrations.set("C30", 2e5);
  const FocusFit fit = scan.fit(FocusModel::side_bands, search);
  EXPECT_EQ(fit.aberrations.get("C30"), 2e5);
  // Without it the answer is off by a good part of those 40 A.
  EXPECT_NEAR(fit.aberrations.get("defocus"), 200, 10);
}

TEST(Focus, NoiseAloneDoesNotAgree) {
  SimulateOptions options = weak_scan();
  options.peak_rad = options.second_peak_rad = options.amorphous_rad = 0;
  options.counts_per_frame = 1000;
  const Simulation scan(options);
  // 1 on average; the best of some thousand tries is somewhat more.
  EXPECT_LT(scan.fit(FocusModel::parallax, scan.search()).agreement, 2);
}

TEST(Focus, HasTheSameBitsOnAnyNumberOfThreads) {
  SimulateOptions options = weak_scan();
  options.scan_shape = "12,12";
  const Simulation scan(options);
  FocusSearch search = scan.search();
  search.rotation = false;
  std::vector<std::tuple<double, double, double>> found;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    const FocusFit fit = scan.fit(FocusModel::side_bands, search);
    found.emplace_back(fit.aberrations.get("C10"), fit.aberrations.get("C12"), fit.agreement);
  }
  set_thread_count(0);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

/// A few images and frequencies with spectra without meaning.
struct SmallProblem {
  Sampling sampling = electron_sampling(16, 16, 200, 4);
  BrightField field;
  ChosenSpectra spectra;
  Lens lens{sampling, 0.0203, ApertureEdge::pixel, aberrations_of({{"C30", 2e4}, {"C21", 300}, {"phi21", 0.4}})};

  SmallProblem() {
    const DirectScene scene{sampling,
                            0.0203,
                            {},
                            ApertureEdge::pixel,
                            lattice_of({.rows = 8, .cols = 8, .step_row = 0.5, .step_col = 0.5}, sampling)};
    field = scene.field(meaningless_frames(64, 16, 16));
    Random random(3, 0);
    for (const Point q : {Point{0.25, 0.1}, Point{0.1, -0.4}, Point{0.5, 0.3}}) {
      spectra.frequency.push_back(q);
      std::vector<complex64> values;
      for (Index i = 0; i < field.count(); ++i)
        values.emplace_back(static_cast<float>(random.uniform() - 0.4), static_cast<float>(random.uniform() - 0.5));
      spectra.of.push_back(values);
    }
  }
};

/// |sum over k|^2 / n written out plainly, in double precision.
double naive_agreement(const SmallProblem& problem, const FocusPoint& at, FocusModel model) {
  Aberrations all = aberrations_of({{"C30", 2e4}, {"C21", 300}, {"phi21", 0.4}});
  all.set("C10", at[0]);
  all.set("C12", std::hypot(at[1], at[2]));
  all.set("phi12", std::atan2(at[2], at[1]) / 2);
  const double wavelength = problem.sampling.wavelength;
  const auto chi = [&](Point k) {
    return all.chi(wavelength * std::hypot(k.row, k.col), std::atan2(k.row, k.col), wavelength);
  };
  const auto amplitude = [&](Point k) {
    return std::clamp((0.0203 - wavelength * std::hypot(k.row, k.col)) / problem.sampling.angle_row() + 0.5, 0.0, 1.0);
  };
  double total = 0;
  for (std::size_t f = 0; f < problem.spectra.frequency.size(); ++f) {
    const Point given = problem.spectra.frequency[f];
    const double c = std::cos(at[3]), s = std::sin(at[3]);
    const Point q{given.row * c - given.col * s, given.col * c + given.row * s};
    complex128 sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < problem.field.frequency.size(); ++i) {
      const Point k = problem.field.frequency[i], below{k.row - q.row, k.col - q.col},
                  above{k.row + q.row, k.col + q.col};
      if (amplitude(k) < 0.5) continue;
      const bool minus = amplitude(below) >= 0.5, plus = amplitude(above) >= 0.5;
      const complex128 g(problem.spectra.of[f][i]);
      if (model == FocusModel::side_bands) {
        if (minus == plus) continue;
        sum += minus ? g * std::polar(1.0, chi(below) - chi(k)) : -g * std::polar(1.0, chi(k) - chi(above));
      } else {
        if (!minus || !plus) continue;
        constexpr double h = 1e-5;
        const double along_row = (chi({k.row + h, k.col}) - chi({k.row - h, k.col})) / (2 * h);
        const double along_col = (chi({k.row, k.col + h}) - chi({k.row, k.col - h})) / (2 * h);
        sum += g * std::polar(1.0, -(q.row * along_row + q.col * along_col));
      }
      ++count;
    }
    total += count > 0 ? std::norm(sum) / count : 0;
  }
  return total;
}

TEST(Agreement, EqualsItsFormulaAndItsGradientTheDifferences) {
  const SmallProblem problem;
  for (const FocusModel model : {FocusModel::parallax, FocusModel::side_bands}) {
    Agreement agreement(problem.field, problem.spectra, problem.lens, model);
    const FocusPoint at{-35, 12, -7, 0.2};
    agreement.turn(at[3], 3);
    const Agreement::Slope slope = agreement.slope(at);
    const double expected = naive_agreement(problem, at, model);
    // Phases are kept in single precision: 6e-8 of some ten turns.
    EXPECT_NEAR(slope.value, expected, 1e-5 * expected);
    EXPECT_NEAR(agreement.value(at), expected, 1e-5 * expected);
    const FocusPoint steps{1e-3, 1e-3, 1e-3, 1e-6};
    for (std::size_t i = 0; i < 4; ++i) {
      FocusPoint before = at, after = at;
      before[i] -= steps[i];
      after[i] += steps[i];
      const double difference =
          (naive_agreement(problem, after, model) - naive_agreement(problem, before, model)) / (2 * steps[i]);
      // Central differences of a naive gradient: 1e-4 of the largest that a unit of phase makes.
      EXPECT_NEAR(slope.gradient[i], difference, 1e-3 * std::abs(difference) + 1e-4 * expected * (i < 3 ? 0.1 : 10))
          << i;
    }
  }
}

}  // namespace
}  // namespace sonde::ptycho
