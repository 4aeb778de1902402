// SPDX-License-Identifier: Apache-2.0
// Every diagnosis on a scene that has its fault, and on one that has not.
#include "sonde/instruments/ptycho/quality/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/start_modes.h"

namespace sonde::ptycho {
namespace {

constexpr Index n = 64, size = 128, margin = 32;
constexpr double pi = std::numbers::pi;

/// A rough potential under a raster of 22 x 22 positions 3 pixels apart, seen with a clean probe of two modes.
struct Symptoms : ::testing::Test {
  State state;
  Evidence evidence;
  std::vector<double> r;

  Symptoms() {
    std::mt19937 generator(11);
    std::normal_distribution<double> normal(0, 0.05);
    state.type = ObjectType::complex;
    state.object = Array(Device::cpu(), {1, size, size}, DType::c128);
    for (Index i = 0; i < size * size; ++i) values().data[i] = std::polar(1.0, normal(generator));
    evidence.sampling = electron_sampling(n, n, 200, 1.9);
    evidence.semiangle = 0.02;  // 10.5 pixels of the detector
    state.probe = start_modes(aperture_probe(evidence.sampling, {.semiangle = 0.02, .aberrations = {}}), 2);
    for (int row = 0; row < 22; ++row)
      for (int col = 0; col < 22; ++col)
        state.positions.push_back({static_cast<double>(margin + 3 * row), static_cast<double>(margin + 3 * col)});
    evidence.state = &state;
    evidence.acquisition = Acquisition{.counts_per_pixel = 5, .overlap = 0.8};
    evidence.r_floor = 0.02;
    r.assign(40, 0.021);
    evidence.r_intensity = r;
  }

  View<complex128, 3> values() { return state.object.view<complex128, 3>(); }

  /// Multiplies the object by exp(i phase(row, col)).
  template <class Phase>
  void add(const Phase& phase) {
    for (Index row = 0; row < size; ++row)
      for (Index col = 0; col < size; ++col)
        values()(0, row, col) *= std::polar(1.0, phase(static_cast<double>(row), static_cast<double>(col)));
  }

  [[nodiscard]] Diagnosis found(std::string_view name) const {
    for (const Diagnosis& diagnosis : diagnose(evidence))
      if (diagnosis.name == name) return diagnosis;
    ADD_FAILURE() << "no diagnosis " << name;
    return {};
  }
  [[nodiscard]] Verdict verdict(std::string_view name) const { return found(name).verdict; }
};

TEST_F(Symptoms, OfASoundResultAreNone) {
  const State before = [&] {
    State copy;
    copy.object = state.object.clone();
    return copy;
  }();
  evidence.earlier = &before;
  evidence.initial_positions = state.positions;
  for (const Diagnosis& diagnosis : diagnose(evidence))
    EXPECT_EQ(diagnosis.verdict, Verdict::good) << diagnosis.name << " " << diagnosis.value;
}

TEST_F(Symptoms, QuickOnesSayTheSame) {
  evidence.acquisition->overlap = 0.5;
  const std::vector<Diagnosis> quick = diagnose_quickly(evidence);
  std::vector<std::string_view> names;
  for (const Diagnosis& diagnosis : quick) {
    names.push_back(diagnosis.name);
    EXPECT_EQ(diagnosis.value, found(diagnosis.name).value) << diagnosis.name;
    EXPECT_EQ(diagnosis.verdict, verdict(diagnosis.name)) << diagnosis.name;
  }
  EXPECT_THAT(names, ::testing::ElementsAre("missing_overlap", "scan_distortion", "outside_aperture", "mode_collapse",
                                            "low_dose"));
}

TEST_F(Symptoms, RingingIsARingBeyondTheAperture) {
  std::mt19937 generator(12);
  std::uniform_real_distribution<double> uniform(0, 2 * pi);
  for (int wave = 0; wave < 60; ++wave) {
    const double angle = pi * wave / 60, offset = uniform(generator);
    add([&](double row, double col) {
      return 0.03 * std::cos(2 * pi * 18 / n * (std::cos(angle) * row + std::sin(angle) * col) + offset);
    });
  }
  EXPECT_EQ(verdict("ringing"), Verdict::suspect);
}

TEST_F(Symptoms, SpotsOfALatticeAreNoRinging) {
  add([](double row, double col) { return 0.3 * std::cos(2 * pi * 18 / n * row) * std::cos(2 * pi * 15 / n * col); });
  EXPECT_EQ(verdict("ringing"), Verdict::good);
}

TEST_F(Symptoms, RingingNeedsTheAperture) {
  evidence.semiangle = 0;
  EXPECT_EQ(verdict("ringing"), Verdict::unknown);
  EXPECT_EQ(verdict("outside_aperture"), Verdict::unknown);
  EXPECT_EQ(verdict("probe_structure"), Verdict::unknown);
}

TEST_F(Symptoms, OverlapBelowSixtyPercentIsTooSmall) {
  evidence.acquisition->overlap = 0.55;
  EXPECT_EQ(verdict("missing_overlap"), Verdict::suspect);
  EXPECT_NEAR(found("missing_overlap").value, 0.45, 1e-12);
  evidence.acquisition = {};
  EXPECT_EQ(verdict("missing_overlap"), Verdict::unknown);
}

TEST_F(Symptoms, AScanThatWasStretchedByItsCorrectionIsTold) {
  // The mean of so many jitters has no stretch of a half per cent; 1.01 has.
  std::vector<Point> initial = state.positions, jittered = initial, stretched = initial, turned = initial;
  std::mt19937 generator(14);
  std::normal_distribution<double> normal(0, 0.5);
  for (std::size_t j = 0; j < initial.size(); ++j) {
    const Point at = initial[j];
    jittered[j] = {at.row + normal(generator), at.col + normal(generator)};
    stretched[j] = {1.01 * at.row, 1.01 * at.col};
    turned[j] = {at.row - 0.01 * at.col, at.col + 0.01 * at.row};
  }
  EXPECT_EQ(verdict("scan_distortion"), Verdict::unknown);
  evidence.initial_positions = initial;
  EXPECT_EQ(verdict("scan_distortion"), Verdict::good);
  state.positions = jittered;
  EXPECT_EQ(verdict("scan_distortion"), Verdict::good);
  state.positions = stretched;
  EXPECT_EQ(verdict("scan_distortion"), Verdict::suspect);
  EXPECT_NEAR(found("scan_distortion").value, 0.01, 1e-9);
  state.positions = turned;
  EXPECT_NEAR(found("scan_distortion").value, 0.01, 1e-4);
}

TEST_F(Symptoms, LinesOfTheScanThatAreDisplacedAreStreaks) {
  std::mt19937 generator(13);
  std::normal_distribution<double> normal(0, 0.1);
  std::vector<double> offsets;
  for (Index row = 0; row < size; ++row) offsets.push_back(normal(generator));
  add([&](double row, double) { return offsets[static_cast<std::size_t>(row)]; });
  EXPECT_EQ(verdict("streaking"), Verdict::suspect);
  EXPECT_EQ(verdict("spectral_line"), Verdict::suspect);
}

TEST_F(Symptoms, AFitThatIsFarAndFallsHasLowContrast) {
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = 0.1 - 0.0005 * static_cast<double>(i);
  EXPECT_EQ(verdict("low_contrast"), Verdict::suspect);
  std::fill(r.begin(), r.end(), 0.1);  // it falls no more
  EXPECT_EQ(verdict("low_contrast"), Verdict::good);
}

TEST_F(Symptoms, AFitAboveFifteenPercentIsPoorUnlessCountingMakesIt) {
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = 0.22 - 0.0005 * static_cast<double>(i);
  evidence.r_floor = 0.09;
  EXPECT_EQ(verdict("low_contrast"), Verdict::suspect);
  evidence.r_floor = 0.184;
  EXPECT_EQ(verdict("low_contrast"), Verdict::good);
  evidence.r_intensity = {};
  EXPECT_EQ(verdict("low_contrast"), Verdict::unknown);
}

TEST_F(Symptoms, NumbersThatAreNoneAreCountedAndHideTheRest) {
  values()(0, 60, 60) = {0, std::numeric_limits<double>::quiet_NaN()};
  values()(0, 3, 3) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(found("not_finite").value, 2);
  EXPECT_EQ(verdict("not_finite"), Verdict::suspect);
  for (const std::string_view name :
       {"ringing", "streaking", "spectral_line", "checkerboard", "raster_grid", "phase_wrap"})
    EXPECT_EQ(verdict(name), Verdict::unknown) << name;
}

TEST_F(Symptoms, NeighboursThatAlternateAreACheckerboard) {
  add([](double row, double col) { return 0.03 * std::cos(pi * (row + col)); });
  EXPECT_EQ(verdict("checkerboard"), Verdict::suspect);
}

TEST_F(Symptoms, APeakAtTheInverseStepIsTheRaster) {
  add([](double row, double) { return 0.05 * std::cos(2 * pi * row / 3); });
  EXPECT_EQ(verdict("raster_grid"), Verdict::suspect);
}

TEST_F(Symptoms, ACrystalWithDetailOfThatSizeIsNoRaster) {
  // Reflections in six directions at nearly the frequency of the raster, one of them close to its own.
  for (int i = 0; i < 6; ++i) {
    const double angle = 0.1 + pi * i / 6, period = 3.05;
    add([&](double row, double col) {
      return 0.1 * std::cos(2 * pi / period * (std::cos(angle) * row + std::sin(angle) * col));
    });
  }
  EXPECT_EQ(verdict("raster_grid"), Verdict::good);
  // A raster of a hundredth of the phase is there in many a good result; one of a fifth is the raster.
  add([](double row, double) { return 0.002 * std::cos(2 * pi * row / 3); });
  EXPECT_EQ(verdict("raster_grid"), Verdict::good);
  add([](double row, double) { return 0.15 * std::cos(2 * pi * row / 3); });
  EXPECT_EQ(verdict("raster_grid"), Verdict::suspect);
  EXPECT_NEAR(found("raster_grid").value, 0.5, 0.15);  // 0.106 rad rms of all 0.21
}

TEST_F(Symptoms, APeakElsewhereIsNot) {
  add([](double row, double) { return 0.05 * std::cos(2 * pi * row / 4.3); });
  EXPECT_EQ(verdict("raster_grid"), Verdict::good);
}

TEST_F(Symptoms, PositionsWithoutOrderHaveNoRaster) {
  std::mt19937 generator(14);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  for (Point& at : state.positions) at = {at.row + uniform(generator), at.col + uniform(generator)};
  EXPECT_EQ(verdict("raster_grid"), Verdict::unknown);
}

TEST_F(Symptoms, AnAngleThatJumpsIsWrapped) {
  add([](double row, double) { return 0.2 * row; });
  EXPECT_EQ(verdict("phase_wrap"), Verdict::suspect);
}

TEST_F(Symptoms, APotentialOfManyTurnsIsNotWrapped) {
  state.type = ObjectType::potential;
  state.phase = Array(Device::cpu(), {1, size, size}, DType::f64);
  for (Index i = 0; i < size * size; ++i) state.phase.view<double, 3>().data[i] = 0.2 * static_cast<double>(i / size);
  EXPECT_EQ(verdict("phase_wrap"), Verdict::good);
  EXPECT_NEAR(found("phase_wrap").value, 0.2, 1e-12);
}

TEST_F(Symptoms, LosingHighFrequenciesIsBlurring) {
  EXPECT_EQ(verdict("blurring"), Verdict::unknown);
  State before;
  before.object = state.object.clone();
  evidence.earlier = &before;
  const auto from = before.object.view<complex128, 3>();
  for (Index row = 1; row + 1 < size; ++row)
    for (Index col = 1; col + 1 < size; ++col)
      values()(0, row, col) = (from(0, row, col) + from(0, row + 1, col) + from(0, row, col + 1)) / 3.0;
  EXPECT_EQ(verdict("blurring"), Verdict::suspect);
}

TEST_F(Symptoms, AProbeWithTheSpectrumOfTheObjectHasItsStructure) {
  // Some of the object's own window, put into the probe.
  Array window(Device::cpu(), {1, n, n}, DType::c128);
  const Box box = field_of_view(state.positions);
  const Index row0 = box.row + box.rows / 2 - n / 2, col0 = box.col + box.cols / 2 - n / 2;
  for (Index row = 0; row < n; ++row)
    for (Index col = 0; col < n; ++col) {
      const double s =
          std::sin(pi * (static_cast<double>(row) + 0.5) / n) * std::sin(pi * (static_cast<double>(col) + 0.5) / n);
      window.view<complex128, 3>()(0, row, col) = s * s * (values()(0, row0 + row, col0 + col) - 1.0);
    }
  const auto probe = state.probe.view<complex128, 3>();
  for (Index i = 0; i < n * n; ++i) probe.data[i] += 0.05 * window.view<complex128, 3>().data[i];
  EXPECT_EQ(verdict("probe_structure"), Verdict::suspect);
  EXPECT_EQ(verdict("outside_aperture"), Verdict::good);  // too little power for that
}

TEST_F(Symptoms, AProbeOfNoiseHasPowerOutsideButNoStructure) {
  std::mt19937 generator(15);
  std::normal_distribution<double> normal(0, 0.3 / n);
  const auto probe = state.probe.view<complex128, 3>();
  for (Index i = 0; i < n * n; ++i) probe.data[i] += complex128(normal(generator), normal(generator));
  EXPECT_EQ(verdict("outside_aperture"), Verdict::suspect);
  EXPECT_EQ(verdict("probe_structure"), Verdict::good);
}

TEST_F(Symptoms, TwoModesThatAreOneHaveCollapsed) {
  const auto probe = state.probe.view<complex128, 3>();
  for (Index i = 0; i < n * n; ++i) probe.data[n * n + i] = complex128(0, 0.5) * probe.data[i];
  EXPECT_EQ(verdict("mode_collapse"), Verdict::suspect);
  state.probe = aperture_probe(evidence.sampling, {.semiangle = 0.02, .aberrations = {}});
  EXPECT_EQ(verdict("mode_collapse"), Verdict::unknown);
}

TEST_F(Symptoms, LessThanACountPerPixelIsALowDose) {
  evidence.acquisition->counts_per_pixel = 0.5;
  EXPECT_EQ(verdict("low_dose"), Verdict::suspect);
}

TEST_F(Symptoms, GoIntoAReport) {
  evidence.acquisition->overlap = 0.5;
  const Value list = to_value(diagnose(evidence));
  EXPECT_EQ(list.size(), 15u);
  for (const Value& item : list.items()) {
    if (item.find("name")->as_text() == "missing_overlap") {
      EXPECT_EQ(item.find("verdict")->as_text(), "suspect");
      EXPECT_EQ(item.find("value")->as_real(), 0.5);
      EXPECT_THAT(item.find("fix")->as_text(), ::testing::HasSubstr("smaller steps"));
    }
    if (item.find("name")->as_text() == "blurring") {
      EXPECT_EQ(item.find("verdict")->as_text(), "unknown");
      EXPECT_EQ(item.find("value"), nullptr);
      EXPECT_EQ(item.find("cause"), nullptr);
    }
  }
}

}  // namespace
}  // namespace sonde::ptycho
