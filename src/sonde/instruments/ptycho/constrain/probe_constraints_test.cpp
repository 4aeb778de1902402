// SPDX-License-Identifier: Apache-2.0
// What constraints on the probe promise: patterns that stay, spectra inside of the aperture, orthogonal modes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/constrain/test_constrain.h"
#include "sonde/instruments/ptycho/model/test_scene.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using testing::apply;
using testing::apply_as;
using testing::built;
using testing::elements;
using ::testing::HasSubstr;
using testing::naive_fourier;
using testing::Scene;
using testing::table;
using testing::Wave;

/// sum over modes of |far field|^2 of every frame, one after the other.
std::vector<double> patterns(const Scene& scene) {
  std::vector<double> all;
  for (Index j = 0; j < static_cast<Index>(scene.state.positions.size()); ++j) {
    std::vector<double> frame(static_cast<std::size_t>(scene.pixels()));
    for (Index m = 0; m < scene.modes; ++m) {
      const Wave wave = scene.far_field(j, m);
      for (std::size_t i = 0; i < wave.size(); ++i) frame[i] += std::norm(wave[i]);
    }
    all.insert(all.end(), frame.begin(), frame.end());
  }
  return all;
}

/// The spectrum of a mode, zero frequency at [0,0].
Wave spectrum(const Scene& scene, Index mode) {
  const auto* from = scene.state.probe.view<complex128, 3>().data + mode * scene.pixels();
  return naive_fourier(Wave(from, from + scene.pixels()), scene.rows, scene.cols, -1);
}

ConstraintContext uncalibrated(const Scene& scene, double mean_counts) {
  return {.sampling = pixel_sampling(scene.rows, scene.cols), .mean_counts = mean_counts};
}

TEST(ProbePower, GivesTheMeanCountsAndLeavesThePatterns) {
  for (const Index slices : {1, 3}) {
    SCOPED_TRACE(slices);
    Scene scene = built({.slices = slices, .modes = 2, .fractional = true});
    const auto before = patterns(scene);
    apply("probe_power", Value::object(), uncalibrated(scene, 345), scene.state);
    EXPECT_NEAR(total_power(scene.state.probe), 345, 1e-11);
    // Rounding of sums of a few hundred terms, intensities up to some hundreds.
    EXPECT_LT(testing::difference(patterns(scene), before), 1e-10);
  }
}

/// A scene whose first mode varies by one random component.
Scene varying(Scene scene) {
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  const auto random = [&](Shape shape) {
    Array array(Device::cpu(), shape, DType::c128);
    for (Index i = 0; i < array.count(); ++i)
      static_cast<complex128*>(array.data())[i] = {normal(generator), normal(generator)};
    return array;
  };
  scene.state.opr_modes = random(Shape{1, scene.rows, scene.cols});
  scene.state.opr_weights = random(Shape{5, 1});
  return scene;
}

/// The probe of a frame, all modes, less what all frames share.
complex128 own_part(const State& state, Index frame, Index pixel) {
  return static_cast<const complex128*>(state.opr_weights.data())[frame] *
         static_cast<const complex128*>(state.opr_modes.data())[pixel];
}

TEST(ProbePower, ScalesWhatVariesAlike) {
  Scene scene = varying(built({}));
  const double factor = std::sqrt(345 / total_power(scene.state.probe));
  const complex128 before = own_part(scene.state, 3, 17);
  apply("probe_power", Value::object(), uncalibrated(scene, 345), scene.state);
  EXPECT_LT(std::abs(own_part(scene.state, 3, 17) - factor * before), 1e-13 * factor);
}

TEST(Orthogonalise, CannotMixModesOfWhichOneVaries) {
  Scene scene = varying(built({.modes = 2}));
  EXPECT_THAT(error_of(ErrorKind::not_supported,
                       [&] { apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state); }),
              HasSubstr("modes cannot be mixed"));
}

TEST(ProbePower, LeavesAPotentialAlone) {
  Scene scene = built({.type = ObjectType::potential});
  const auto before = elements<complex128>(scene.state.object);
  apply("probe_power", Value::object(), uncalibrated(scene, 7), scene.state);
  EXPECT_NEAR(total_power(scene.state.probe), 7, 1e-13);
  EXPECT_EQ(elements<complex128>(scene.state.object), before);
}

TEST(ProbePower, NeedsCounts) {
  Scene scene = built({});
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { apply("probe_power", Value::object(), uncalibrated(scene, 0), scene.state); }),
              HasSubstr("a probe cannot have 0 counts per frame"));
}

/// A probe on a few pixels about a place off the middle, so that nothing of it wraps.
Scene off_centre(ObjectType type) {
  Scene scene{.rows = 11, .cols = 12, .slices = 1, .modes = 2, .object_rows = 30, .object_cols = 28, .type = type};
  scene.build();
  const auto probe = scene.state.probe.view<complex128, 3>();
  for (Index m = 0; m < 2; ++m)
    for (Index row = 0; row < 11; ++row)
      for (Index col = 0; col < 12; ++col)
        if (row < 6 || row > 8 || col < 2 || col > 4) probe(m, row, col) = 0;
  return scene;
}

TEST(ProbeCentre, MovesProbeAndObjectSoThatPatternsStay) {
  for (const ObjectType type : {ObjectType::complex, ObjectType::potential}) {
    Scene scene = off_centre(type);
    const auto before = patterns(scene);
    apply("probe_centre", Value::object(), uncalibrated(scene, 1), scene.state);
    EXPECT_LT(testing::difference(patterns(scene), before), 1e-11);
  }
}

TEST(ProbeCentre, MovesWhatVariesAlike) {
  Scene scene = varying(off_centre(ObjectType::complex));
  // The component has the probe's own shape: so it has afterwards.
  const auto probe = scene.state.probe.view<complex128, 3>();
  std::copy_n(probe.data, scene.pixels(), static_cast<complex128*>(scene.state.opr_modes.data()));
  apply("probe_centre", Value::object(), uncalibrated(scene, 1), scene.state);
  for (Index i = 0; i < scene.pixels(); ++i)
    EXPECT_EQ(static_cast<complex128*>(scene.state.opr_modes.data())[i], probe.data[i]);
}

TEST(ProbeCentre, LeavesLessThanHalfAPixel) {
  Scene scene = off_centre(ObjectType::complex);
  apply("probe_centre", Value::object(), uncalibrated(scene, 1), scene.state);
  const auto probe = scene.state.probe.view<complex128, 3>();
  double sum = 0, rows = 0, cols = 0;
  for (Index m = 0; m < 2; ++m)
    for (Index row = 0; row < 11; ++row)
      for (Index col = 0; col < 12; ++col) {
        sum += std::norm(probe(m, row, col));
        rows += std::norm(probe(m, row, col)) * static_cast<double>(row - 5);
        cols += std::norm(probe(m, row, col)) * static_cast<double>(col - 6);
      }
  EXPECT_LE(std::abs(rows / sum), 0.5);
  EXPECT_LE(std::abs(cols / sum), 0.5);
}

TEST(ProbeCentre, FillsWhatComesInFromOutsideWithVacuum) {
  Scene scene = off_centre(ObjectType::complex);
  apply("probe_centre", Value::object(), uncalibrated(scene, 1), scene.state);
  const auto object = scene.state.object.view<complex128, 3>();
  EXPECT_EQ(object(0, 29, 10), complex128(1));  // the probe was too far down, so the object moved up ...
  EXPECT_EQ(object(0, 10, 0), complex128(1));   // ... and to the right
  EXPECT_NE(object(0, 0, 10), complex128(1));
}

TEST(Orthogonalise, LeavesOrthogonalModesInTheOrderOfTheirPower) {
  Scene scene = built({.modes = 4});
  apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state);
  const auto gram = mode_products(scene.state.probe);
  for (std::size_t m = 0; m < 4; ++m)
    for (std::size_t n = 0; n < m; ++n) EXPECT_LT(std::abs(gram[4 * m + n]), 1e-12 * gram[0].real());
  for (std::size_t m = 1; m < 4; ++m) EXPECT_GE(gram[5 * (m - 1)].real(), gram[5 * m].real());
}

TEST(Orthogonalise, LeavesThePatterns) {
  Scene scene = built({.slices = 2, .modes = 3, .fractional = true});
  const auto before = patterns(scene);
  apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state);
  EXPECT_LT(testing::difference(patterns(scene), before), 1e-10);
}

TEST(Orthogonalise, KeepsTheTotalIntensityInSinglePrecision) {
  Scene scene = built({.modes = 5});
  State low = testing::single(scene.state);
  const auto intensities = [&](const State& state) {
    std::vector<double> sums(static_cast<std::size_t>(scene.pixels()));
    const auto values = elements<complex64>(state.probe);
    for (std::size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += std::norm(complex128(values[i]));
    return sums;
  };
  const auto before = intensities(low);
  apply_as<float>("orthogonalise", Value::object(), uncalibrated(scene, 1), low);
  const auto after = intensities(low);
  EXPECT_NEAR(std::accumulate(after.begin(), after.end(), 0.0) / std::accumulate(before.begin(), before.end(), 0.0), 1,
              1e-6);
  // Pixel by pixel: ten single-precision roundings of 6e-8 on intensities of about 10.
  EXPECT_LT(testing::difference(after, before), 1e-5);
}

TEST(Orthogonalise, LeavesModesThatAreOrthogonalAlready) {
  Scene scene = built({.modes = 3});
  apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state);
  const auto before = elements<complex128>(scene.state.probe);
  apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state);
  EXPECT_LT(testing::difference(elements<complex128>(scene.state.probe), before), 1e-12);
}

TEST(Orthogonalise, BringsBackModesThatWereMixed) {
  // Two orthogonal modes of unlike power, mixed by a unitary matrix with phases.
  Scene scene = built({.modes = 2});
  apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state);
  const auto pure = elements<complex128>(scene.state.probe);
  const auto probe = scene.state.probe.view<complex128, 3>();
  const complex128 a = std::polar(0.8, 0.3), b = std::polar(0.6, -1.1);
  for (Index i = 0; i < 48; ++i) {
    const complex128 p = probe.data[i], q = probe.data[48 + i];
    probe.data[i] = a * p + b * q;
    probe.data[48 + i] = -std::conj(b) * p + std::conj(a) * q;
  }
  apply("orthogonalise", Value::object(), uncalibrated(scene, 1), scene.state);
  for (Index m = 0; m < 2; ++m) {
    complex128 product = 0;
    double power = 0;
    for (Index i = m * 48; i < (m + 1) * 48; ++i) {
      product += std::conj(pure[static_cast<std::size_t>(i)]) * probe.data[i];
      power += std::norm(pure[static_cast<std::size_t>(i)]);
    }
    EXPECT_NEAR(std::abs(product) / power, 1, 1e-12);  // the same but for a phase
  }
}

TEST(ProbeSupport, IsZeroOutsideOfACircle) {
  Scene scene = built({.rows = 16, .cols = 12, .object_rows = 20, .object_cols = 20});
  ConstraintContext context = uncalibrated(scene, 1);
  context.sampling.dk_col = 1 / (12 * 0.5);  // pixels of 1 x 0.5
  const auto before = elements<complex128>(scene.state.probe);
  apply("probe_support", table({{"radius", Value(2.5)}}), context, scene.state);
  const auto after = elements<complex128>(scene.state.probe);
  const double half_edge = std::sqrt(0.5) / 2;
  int partly = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double distance = std::hypot(static_cast<double>(i / 12) - 8, 0.5 * (static_cast<double>(i % 12) - 6));
    if (distance < 2.5 - half_edge)
      EXPECT_EQ(after[i], before[i]);
    else if (distance > 2.5 + half_edge)
      EXPECT_EQ(after[i], complex128(0));
    else
      ++partly;
  }
  EXPECT_GT(partly, 0);
}

TEST(ProbeSupport, ApodisationFallsAsHalfACosineInsideOfTheRadius) {
  Scene scene = built({.rows = 16, .cols = 12, .object_rows = 20, .object_cols = 20});
  const auto before = elements<complex128>(scene.state.probe);
  apply("probe_support", table({{"radius", Value(5.0)}, {"apodisation", Value(4.0)}}), uncalibrated(scene, 1),
        scene.state);
  const auto after = elements<complex128>(scene.state.probe);
  const auto share = [&](Index row, Index col) {
    const auto at = static_cast<std::size_t>(row * 12 + col);
    return std::abs(after[at] / before[at]);
  };
  EXPECT_DOUBLE_EQ(share(8, 6), 1);
  EXPECT_DOUBLE_EQ(share(8, 7), 1);              // 4 inside of the edge
  EXPECT_NEAR(share(8, 9), 0.5, 1e-15);          // half of it: cos(pi / 2)
  EXPECT_NEAR(share(12, 6), 0.146446609, 1e-9);  // a quarter: (1 - cos(pi / 4)) / 2
  EXPECT_EQ(share(3, 6), 0);                     // the edge
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         apply("probe_support", table({{"radius", Value(3.0)}, {"apodisation", Value(4.0)}}),
                               uncalibrated(scene, 1), scene.state);
                       }),
              HasSubstr("an apodisation over 4 inside of a radius of 3"));
}

TEST(ProbeSupport, OfLessThanAPixelIsRefused) {
  Scene scene = built({});
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         apply("probe_support", table({{"radius", Value(0.5)}}), uncalibrated(scene, 1), scene.state);
                       }),
              HasSubstr("a probe support of radius 0.5 is smaller than a pixel of 1"));
}

struct ProbeFourierSupport : ::testing::Test {
  Scene scene = built({.rows = 16, .cols = 20, .modes = 2, .object_rows = 24, .object_cols = 28});
  ConstraintContext context{.sampling = electron_sampling(16, 20, 200, 2), .mean_counts = 1, .semiangle = 0.007};

  void impose(const Value& settings) { apply("probe_fourier_support", settings, context, scene.state); }
  std::string refused(const Value& settings) {
    return error_of(ErrorKind::bad_input, [&] { impose(settings); });
  }
};

TEST_F(ProbeFourierSupport, TakesAwayWhatIsOutsideOfTheDilatedAperture) {
  const Wave before = spectrum(scene, 1);
  impose(table({{"dilation", Value(1.5)}}));
  const Wave after = spectrum(scene, 1);
  int inside = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto k = static_cast<double>(i / 20), l = static_cast<double>(i % 20);
    const double angle = 2 * std::hypot(k < 8 ? k : k - 16, l < 10 ? l : l - 20);  // mrad
    if (angle < 1.5 * 7 - 1) {
      EXPECT_LT(std::abs(after[i] - before[i]), 1e-12);
      ++inside;
    } else if (angle > 1.5 * 7 + 1) {
      EXPECT_LT(std::abs(after[i]), 1e-12);
    }
  }
  EXPECT_GT(inside, 50);
}

TEST_F(ProbeFourierSupport, OfAnApertureNearTheEdgeEndsAtTheEdge) {
  context.semiangle = 0.0155;  // the detector reaches to 16 mrad
  EXPECT_NO_THROW(impose(table({{"dilation", Value(1.5)}})));
}

TEST_F(ProbeFourierSupport, OfAVacuumPatternGivesItsShapeAndKeepsPhasesAndPower) {
  context.vacuum_intensity = Array::zeros(Device::cpu(), {16, 20}, DType::f64);
  const auto vacuum = context.vacuum_intensity.view<double, 2>();
  double sum = 0;
  for (Index row = 0; row < 3; ++row)
    for (Index col = 0; col < 4; ++col) sum += vacuum(row, col) = static_cast<double>(7 + row * col);
  const Wave first = spectrum(scene, 0), second = spectrum(scene, 1);
  const double power = total_power(scene.state.probe);
  impose(table({{"modulus", Value("vacuum")}}));
  EXPECT_NEAR(total_power(scene.state.probe), power, 1e-10);
  const Wave after_first = spectrum(scene, 0), after_second = spectrum(scene, 1);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(std::norm(after_first[i]) + std::norm(after_second[i]), vacuum.data[i] * power / sum, 1e-10);
    // Both modes by one real factor.
    EXPECT_LT(std::abs(after_first[i] * second[i] - after_second[i] * first[i]), 1e-10);
    EXPECT_GE((after_first[i] * std::conj(first[i])).real(), -1e-10);
  }
}

TEST_F(ProbeFourierSupport, SaysWhatItNeeds) {
  EXPECT_THAT(refused(table({{"modulus", Value("vacuum")}})), HasSubstr("needs a pattern without specimen"));
  context.vacuum_intensity = Array::zeros(Device::cpu(), {20, 16}, DType::f64);
  EXPECT_THAT(refused(table({{"modulus", Value("vacuum")}})),
              HasSubstr("a vacuum pattern of (20, 16) for a probe of 16 x 20 pixels"));
  context.vacuum_intensity = Array::zeros(Device::cpu(), {16, 20}, DType::f64);
  EXPECT_THAT(refused(table({{"modulus", Value("vacuum")}})), HasSubstr("the vacuum pattern is empty"));
  context.semiangle = 0;
  EXPECT_THAT(refused(Value::object()), HasSubstr("needs the aperture\nhint: give semiangle_mrad"));
}

/// A probe of 200 kV and 20 mrad in 32 x 32 pixels and what is known about it, its spectrum (zero frequency in the
/// middle) as the lens made it, and as random phases of `noise` rad left it.
struct Lens {
  static constexpr Index size = 32, pixels = size * size;
  ConstraintContext context{.sampling = electron_sampling(size, size, 200, 1.875), .semiangle = 0.020};
  Wave truth, spoilt;
  State state;

  explicit Lens(double noise) {
    ApertureOptics optics;
    optics.semiangle = context.semiangle;
    for (const auto& [name, value] : {std::pair("defocus", 150.0),
                                      {"C12", 40.0},
                                      {"phi12", 0.3},
                                      {"C21", 2000.0},
                                      {"phi21", 1.2},
                                      {"C30", 1e5},
                                      {"C34", 4e4},
                                      {"phi34", 0.2}})
      optics.aberrations.set(name, value);
    const Array probe = aperture_probe(context.sampling, optics);
    truth = spectrum(elements<complex128>(probe));
    spoilt = truth;
    std::mt19937 generator(7);
    std::normal_distribution<double> normal(0, noise);
    for (complex128& value : spoilt) value *= std::polar(1.0, normal(generator));
    Wave corner(truth.size());
    for (Index i = 0; i < pixels; ++i) corner[turned(i)] = spoilt[static_cast<std::size_t>(i)];
    const Wave wave = naive_fourier(corner, size, size, +1);
    state.object = Array::zeros(Device::cpu(), Shape{1, size, size}, DType::c128);
    state.probe = Array(Device::cpu(), Shape{1, size, size}, DType::c128);
    for (Index i = 0; i < pixels; ++i) state.probe.view<complex128, 3>().data[i] = wave[turned(i)];
  }

  /// Where a pixel lies when the middle of an even size becomes its corner, and the other way round.
  static std::size_t turned(Index i) {
    const Index row = (i / size + size / 2) % size, col = (i + size / 2) % size;
    return static_cast<std::size_t>(row * size + col);
  }
  static Wave spectrum(const std::vector<complex128>& centred) {
    Wave corner(centred.size()), middle(centred.size());
    for (Index i = 0; i < pixels; ++i) corner[turned(i)] = centred[static_cast<std::size_t>(i)];
    const Wave wave = naive_fourier(corner, size, size, -1);
    for (Index i = 0; i < pixels; ++i) middle[turned(i)] = wave[static_cast<std::size_t>(i)];
    return middle;
  }
  [[nodiscard]] Wave now() const { return spectrum(elements<complex128>(state.probe)); }
  [[nodiscard]] bool inside(Index i) const {
    const double radius =
        std::hypot(static_cast<double>(i / size - size / 2), static_cast<double>(i % size - size / 2));
    return radius * 1.875e-3 <= context.semiangle;
  }
  /// rms of the phase against the truth inside of the aperture, a common phase taken out.
  [[nodiscard]] double phase_error(const Wave& wave) const {
    complex128 common = 0;
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < wave.size(); ++i)
      if (inside(static_cast<Index>(i))) common += wave[i] * std::conj(truth[i]);
    for (std::size_t i = 0; i < wave.size(); ++i)
      if (inside(static_cast<Index>(i))) {
        sum += std::pow(std::arg(wave[i] * std::conj(truth[i] * common)), 2);
        ++count;
      }
    return std::sqrt(sum / count);
  }
};

TEST(ProbeAberrations, LeaveALensAlone) {
  Lens lens(0);
  apply("probe_aberrations", Value::object(), lens.context, lens.state);
  // Naive transforms of 1024 terms, and a fit of 14 coefficients.
  EXPECT_LT(lens.phase_error(lens.now()), 1e-9);
}

/// 15 of some 350 numbers are left free: white noise would fall to a fifth. The fit of differences is not the best
/// one for such noise.
TEST(ProbeAberrations, TakeNoiseOutOfThePhaseAndNothingOutOfTheModulus) {
  Lens lens(0.2);
  apply("probe_aberrations", Value::object(), lens.context, lens.state);
  const Wave after = lens.now();
  EXPECT_LT(lens.phase_error(after), 0.35 * lens.phase_error(lens.spoilt));
  for (Index i = 0; i < Lens::pixels; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_NEAR(std::abs(after[at]), std::abs(lens.spoilt[at]), 1e-12);
    if (!lens.inside(i)) {
      EXPECT_LT(std::abs(after[at] - lens.spoilt[at]), 1e-12);
    }
  }
}

TEST(ProbeAberrations, OfTooLowAnOrderDoNotFollow) {
  Lens lens(0);
  apply("probe_aberrations", table({{"order", Value(1)}}), lens.context, lens.state);
  EXPECT_GT(lens.phase_error(lens.now()), 0.05);
}

TEST(ProbeAberrations, DrawThePhaseByTheirWeight) {
  Lens whole(0.2), part(0.2);
  apply("probe_aberrations", Value::object(), whole.context, whole.state);
  apply("probe_aberrations", table({{"weight", Value(0.25)}}), part.context, part.state);
  const Wave full = whole.now(), some = part.now();
  for (std::size_t i = 0; i < full.size(); ++i)
    EXPECT_LT(std::abs(some[i] - (0.75 * part.spoilt[i] + 0.25 * full[i])), 1e-12);
}

TEST(ProbeAberrations, NeedTheAperture) {
  Lens lens(0);
  lens.context.semiangle = 0;
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [&] { apply("probe_aberrations", Value::object(), lens.context, lens.state); }),
      HasSubstr("a fit of the probe's aberrations needs the aperture"));
}

}  // namespace
}  // namespace sonde::ptycho
