// SPDX-License-Identifier: Apache-2.0
// Engines through several slices: lsqml and ml against their formulas written out naively in double precision, all of
// them against identities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/lsqml.h"
#include "sonde/instruments/ptycho/engines/ml.h"
#include "sonde/instruments/ptycho/engines/test_bench.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using testing::Bench;
using testing::difference;
using testing::everyone;
using testing::expect_same_bits_on_all_threads;
using testing::naive_fourier;
using testing::rounding;
using testing::Scene;
using testing::Wave;
using Complex = std::complex<double>;

/// Multiplied by a factor (or its conjugate) per frequency.
Wave filtered(const Scene& scene, const Wave& wave, Index gap, bool conjugate) {
  Wave spectrum = naive_fourier(wave, scene.rows, scene.cols, -1);
  const Complex* factor = scene.propagators.view<complex128, 3>().data + gap * scene.pixels();
  for (std::size_t i = 0; i < spectrum.size(); ++i) spectrum[i] *= conjugate ? std::conj(factor[i]) : factor[i];
  return naive_fourier(spectrum, scene.rows, scene.cols, +1);
}

/// Pixel i of the window of a frame, as an index into the object.
Index cell(const Scene& scene, Index frame, Index slice, Index i) {
  const Placement& at = scene.state.placements[static_cast<std::size_t>(frame)];
  return (slice * scene.object_rows + at.row + i / scene.cols) * scene.object_cols + at.col + i % scene.cols;
}

/// What a frame's wave does on its way, by the definition; whole pixels.
struct Walk {
  std::vector<std::vector<Wave>> incident, chi;  // [slice][mode]: the wave before it, and chi after it
  std::vector<Wave> before;                      // [mode]: chi before the first slice

  /// `factor(I, I_m)` times Psi is the residual on the detector.
  Walk(const Scene& scene, Index frame, const std::function<double(double, double)>& factor)
      : incident(static_cast<std::size_t>(scene.slices)), chi(incident.size()) {
    const Complex* object = scene.state.object.view<complex128, 3>().data;
    std::vector<Wave> far;
    std::vector<double> intensity(static_cast<std::size_t>(scene.pixels()));
    for (Index m = 0; m < scene.modes; ++m) {
      const Complex* probe = scene.state.probe.view<complex128, 3>().data + m * scene.pixels();
      Wave wave(probe, probe + scene.pixels());
      for (Index s = 0; s < scene.slices; ++s) {
        if (s > 0) wave = filtered(scene, wave, s - 1, false);
        incident[static_cast<std::size_t>(s)].push_back(wave);
        for (Index i = 0; i < scene.pixels(); ++i)
          wave[static_cast<std::size_t>(i)] *= object[cell(scene, frame, s, i)];
      }
      far.push_back(naive_fourier(wave, scene.rows, scene.cols, -1));
      for (std::size_t i = 0; i < intensity.size(); ++i) intensity[i] += std::norm(far.back()[i]);
    }
    for (Wave& wave : far) {
      for (std::size_t i = 0; i < wave.size(); ++i) {
        const double counts = scene.frames.view<double, 3>().data[frame * scene.pixels() + static_cast<Index>(i)];
        wave[i] *= scene.mask.empty() || scene.mask[i] != 0 ? factor(intensity[i], counts) : 0;
      }
      wave = naive_fourier(wave, scene.rows, scene.cols, +1);
      for (Index s = scene.slices - 1; s >= 0; --s) {
        chi[static_cast<std::size_t>(s)].push_back(wave);
        for (Index i = 0; i < scene.pixels(); ++i)
          wave[static_cast<std::size_t>(i)] *= std::conj(object[cell(scene, frame, s, i)]);
        if (s > 0) wave = filtered(scene, wave, s - 1, true);
      }
      before.push_back(wave);
    }
  }
};

/// sum_j sum_m conj(incident) chi of every slice, and sum_j conj(O) chi of every mode.
struct Sums {
  std::vector<Complex> object, probe;
  std::vector<double> object_weight, probe_weight;

  Sums(const Scene& scene, const std::vector<Walk>& walks)
      : object(static_cast<std::size_t>(scene.state.object.count())),
        probe(static_cast<std::size_t>(scene.state.probe.count())),
        object_weight(object.size()),
        probe_weight(static_cast<std::size_t>(scene.pixels())) {
    for (const Index j : everyone) {
      const Walk& walk = walks[static_cast<std::size_t>(j)];
      for (Index i = 0; i < scene.pixels(); ++i) {
        const auto p = static_cast<std::size_t>(i);
        probe_weight[p] += std::norm(scene.state.object.view<complex128, 3>().data[cell(scene, j, 0, i)]);
        for (std::size_t m = 0; m < static_cast<std::size_t>(scene.modes); ++m) {
          probe[m * probe_weight.size() + p] += walk.before[m][p];
          for (std::size_t s = 0; s < walk.chi.size(); ++s) {
            const auto o = static_cast<std::size_t>(cell(scene, j, static_cast<Index>(s), i));
            object[o] += std::conj(walk.incident[s][m][p]) * walk.chi[s][m][p];
            object_weight[o] += std::norm(walk.incident[s][m][p]);
          }
        }
      }
    }
  }
};

std::vector<Walk> walks_of(const Scene& scene, const std::function<double(double, double)>& factor) {
  std::vector<Walk> walks;
  for (const Index j : everyone) walks.emplace_back(scene, j, factor);
  return walks;
}

class ThroughSlices : public ::testing::TestWithParam<Index> {};
INSTANTIATE_TEST_SUITE_P(Engines, ThroughSlices, ::testing::Values(1, 2, 3));

TEST_P(ThroughSlices, LsqmlIsTheFormula) {
  const Index slices = GetParam();
  Scene expected{.slices = slices, .modes = 2, .masked = true};
  expected.build();
  Bench bench({.slices = slices, .modes = 2, .masked = true});
  LsqmlSettings settings;
  settings.batch.size = 5;
  Lsqml<double>(settings, bench.workbench).iterate(bench.workbench, {});

  const double eps = 1e-10 * expected.mean_counts();
  const std::vector<Walk> walks =
      walks_of(expected, [&](double model, double counts) { return std::sqrt(counts / (model + eps)) - 1; });
  Sums sums(expected, walks);
  const auto pixels = static_cast<std::size_t>(expected.pixels());
  const auto damped = [](std::vector<Complex>& direction, const std::vector<double>& weight, std::size_t from,
                         std::size_t count) {
    const double floor =
        0.1 * *std::max_element(weight.begin() + static_cast<std::ptrdiff_t>(from % weight.size()),
                                weight.begin() + static_cast<std::ptrdiff_t>(from % weight.size() + count));
    for (std::size_t i = from; i < from + count; ++i) direction[i] /= std::hypot(weight[i % weight.size()], floor);
  };
  const std::size_t plane = sums.object.size() / static_cast<std::size_t>(slices);
  for (std::size_t s = 0; s < static_cast<std::size_t>(slices); ++s)
    damped(sums.object, sums.object_weight, s * plane, plane);
  for (std::size_t m = 0; m < 2; ++m) damped(sums.probe, sums.probe_weight, m * pixels, pixels);

  auto* object = expected.state.object.view<complex128, 3>().data;
  auto* probe = expected.state.probe.view<complex128, 3>().data;
  std::vector<double> object_steps;
  double probe_step = 0;
  for (Index s = 0; s < slices; ++s) {
    std::vector<double> xx(5), yy(5), xy(5), chi_x(5), chi_y(5);
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t m = 0; m < 2; ++m)
        for (std::size_t i = 0; i < pixels; ++i) {
          const auto o = static_cast<std::size_t>(cell(expected, static_cast<Index>(j), s, static_cast<Index>(i)));
          const Complex x = sums.object[o] * walks[j].incident[static_cast<std::size_t>(s)][m][i];
          const Complex y = object[o] * sums.probe[m * pixels + i];
          const Complex chi = walks[j].chi[static_cast<std::size_t>(s)][m][i];
          xx[j] += std::norm(x);
          yy[j] += std::norm(y);
          xy[j] += std::real(x * std::conj(y));
          chi_x[j] += std::real(chi * std::conj(x));
          chi_y[j] += std::real(chi * std::conj(y));
        }
    const auto mean = [](const std::vector<double>& of) { return (of[0] + of[1] + of[2] + of[3] + of[4]) / 5; };
    double step = 0;
    const double of_xx = 0.1 * mean(xx), of_yy = 0.1 * mean(yy);
    for (std::size_t j = 0; j < 5; ++j) {
      const double a = xx[j] + of_xx, b = yy[j] + of_yy, determinant = a * b - xy[j] * xy[j];
      // Slices after the first know nothing of the probe.
      const double ao = s == 0 ? (b * chi_x[j] - xy[j] * chi_y[j]) / determinant : chi_x[j] / a;
      const double ap = (a * chi_y[j] - xy[j] * chi_x[j]) / determinant;
      step += 0.9 * std::max(0.0, ao) / 5 / static_cast<double>(2 * slices);
      if (s == 0) probe_step += 0.9 * std::max(0.0, ap) / 5;
    }
    object_steps.push_back(step);
  }
  EXPECT_GT(*std::min_element(object_steps.begin(), object_steps.end()), 0);
  for (std::size_t i = 0; i < sums.object.size(); ++i) object[i] += object_steps[i / plane] * sums.object[i];
  for (std::size_t i = 0; i < sums.probe.size(); ++i) probe[i] += probe_step * sums.probe[i];
  EXPECT_LT(difference(bench.scene.state.object, expected.state.object), rounding);
  EXPECT_LT(difference(bench.scene.state.probe, expected.state.probe), rounding);
}

/// A0, A1 and A2 of the far fields along a direction, (frame, mode, pixel): the far field is a polynomial of degree
/// `slices` + 1 in t, known at that many points and one.
std::array<std::vector<Complex>, 3> along(Scene& scene, const std::vector<Complex>& object,
                                          const std::vector<Complex>& probe) {
  double largest = 0;
  for (const Complex& h : object) largest = std::max(largest, std::abs(h));
  for (const Complex& h : probe) largest = std::max(largest, std::abs(h));
  const double unit = 1 / largest;
  const std::size_t points = static_cast<std::size_t>(scene.slices) + 2;
  const Array start_object = scene.state.object.clone(), start_probe = scene.state.probe.clone();
  std::vector<double> at;
  std::vector<std::vector<Complex>> far;
  for (std::size_t k = 0; k < points; ++k) {
    at.push_back(static_cast<double>(k) - 1);
    for (std::size_t i = 0; i < object.size(); ++i)
      scene.state.object.view<complex128, 3>().data[i] =
          start_object.view<complex128, 3>().data[i] + unit * at[k] * object[i];
    for (std::size_t i = 0; i < probe.size(); ++i)
      scene.state.probe.view<complex128, 3>().data[i] =
          start_probe.view<complex128, 3>().data[i] + unit * at[k] * probe[i];
    far.emplace_back();
    for (const Index j : everyone)
      for (Index m = 0; m < scene.modes; ++m) {
        const Wave wave = scene.far_field(j, m);
        far.back().insert(far.back().end(), wave.begin(), wave.end());
      }
  }
  scene.state.object = start_object.clone();
  scene.state.probe = start_probe.clone();
  // Lagrange: the coefficients of prod_{l != k} (t - t_l) / (t_k - t_l).
  std::array<std::vector<Complex>, 3> parts;
  for (auto& part : parts) part.resize(far[0].size());
  for (std::size_t k = 0; k < points; ++k) {
    std::vector<double> polynomial{1};
    for (std::size_t l = 0; l < points; ++l) {
      if (l == k) continue;
      std::vector<double> next(polynomial.size() + 1);
      for (std::size_t d = 0; d < polynomial.size(); ++d) {
        next[d + 1] += polynomial[d] / (at[k] - at[l]);
        next[d] -= polynomial[d] * at[l] / (at[k] - at[l]);
      }
      polynomial = next;
    }
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t i = 0; i < far[k].size(); ++i)
        parts[d][i] += polynomial[d] / std::pow(unit, static_cast<double>(d)) * far[k][i];
  }
  return parts;
}

TEST_P(ThroughSlices, MlIsTheFormula) {
  const Index slices = GetParam();
  Scene expected{.slices = slices, .modes = 2, .masked = true};
  expected.build();
  Bench bench({.slices = slices, .modes = 2, .masked = true}, Loss::intensity);
  Ml<double> engine({}, bench.workbench);
  std::vector<Complex> object_direction, probe_direction, object_before, probe_before;
  const auto norm = [](const std::vector<Complex>& a, const std::vector<Complex>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::real(a[i] * std::conj(b[i]));
    return sum;
  };
  for (Index number = 1; number <= 2; ++number) {
    SCOPED_TRACE(number);
    engine.iterate(bench.workbench, {.number = number});
    const std::vector<Walk> walks =
        walks_of(expected, [](double model, double counts) { return 2 * (counts - model) / (counts + 1); });
    const Sums sums(expected, walks);
    if (number == 1) {
      object_direction.resize(sums.object.size());
      probe_direction.resize(sums.probe.size());
      object_before = object_direction;
      probe_before = probe_direction;
    }
    const double scale = norm(sums.object, sums.object) / norm(sums.probe, sums.probe);
    const double before = norm(object_before, object_before) + scale * norm(probe_before, probe_before);
    const double now = norm(sums.object, sums.object) + scale * norm(sums.probe, sums.probe);
    const double turned = norm(sums.object, object_before) + scale * norm(sums.probe, probe_before);
    const double beta = before > 0 ? std::max(0.0, (now - turned) / before) : 0;
    for (std::size_t i = 0; i < object_direction.size(); ++i)
      object_direction[i] = beta * object_direction[i] + sums.object[i];
    for (std::size_t i = 0; i < probe_direction.size(); ++i)
      probe_direction[i] = beta * probe_direction[i] + scale * sums.probe[i];
    object_before = sums.object;
    probe_before = sums.probe;

    const auto [a0, a1, a2] = along(expected, object_direction, probe_direction);
    double b1 = 0, b2 = 0;
    const auto pixels = static_cast<std::size_t>(expected.pixels());
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t i = 0; i < pixels; ++i) {
        if (expected.mask[i] == 0) continue;
        const double counts = expected.frames.view<double, 3>().data[j * pixels + i];
        double r0 = -counts, r1 = 0, r2 = 0;
        for (std::size_t m = 0; m < 2; ++m) {
          const std::size_t at = (j * 2 + m) * pixels + i;
          r0 += std::norm(a0[at]);
          r1 += 2 * std::real(a0[at] * std::conj(a1[at]));
          r2 += std::norm(a1[at]) + 2 * std::real(a0[at] * std::conj(a2[at]));
        }
        b1 += 2 * r0 * r1 / (counts + 1);
        b2 += (r1 * r1 + 2 * r0 * r2) / (counts + 1);
      }
    const double step = -b1 / (2 * b2);
    ASSERT_GT(step, 0);
    for (std::size_t i = 0; i < object_direction.size(); ++i)
      expected.state.object.view<complex128, 3>().data[i] += step * object_direction[i];
    for (std::size_t i = 0; i < probe_direction.size(); ++i)
      expected.state.probe.view<complex128, 3>().data[i] += step * probe_direction[i];
    // The interpolation loses two or three digits.
    EXPECT_LT(difference(bench.scene.state.object, expected.state.object), 1e3 * rounding);
    EXPECT_LT(difference(bench.scene.state.probe, expected.state.probe), 1e3 * rounding);
  }
}

bool knows_slices(std::string_view engine) { return engine_kind(engine).setup()->traits().knows_slices; }

TEST(Slices, EnginesThatKnowOneSliceSaySo) {
  for (const EngineKind& kind : engine_kinds()) {
    SCOPED_TRACE(kind.name);
    const auto ask = [&] { require_knows(kind.name, *kind.setup(), ObjectType::complex, 2); };
    static const std::set<std::string_view> one{"dm", "raar", "rrr", "ap", "projections"};
    EXPECT_EQ(knows_slices(kind.name), !one.contains(kind.name));
    if (knows_slices(kind.name))
      EXPECT_NO_THROW(ask());
    else
      EXPECT_THAT(::sonde::testing::error_of(ErrorKind::not_supported, ask),
                  ::testing::AllOf(::testing::HasSubstr("supports only objects of one slice"),
                                   ::testing::HasSubstr("epie, rpie, mpie, gd, adam, lsqml, ml know several")));
  }
}

TEST(Slices, EnginesHaveTheSameBitsOnEveryNumberOfThreads) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!knows_slices(kind.name)) continue;
    SCOPED_TRACE(kind.name);
    expect_same_bits_on_all_threads(kind, [] { return Scene{.slices = 3, .modes = 2, .fractional = true}; });
  }
}

TEST(Slices, EnginesStayAtAPerfectAnswer) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!knows_slices(kind.name) || kind.name == "adam") continue;  // adam's steps do not shrink with the gradient
    SCOPED_TRACE(kind.name);
    Scene scene{.slices = 2, .modes = 2, .fractional = true};
    scene.build();
    std::fill_n(scene.frames.view<double, 3>().data, scene.frames.count(), 0.0);
    for (const Index j : everyone)
      for (Index m = 0; m < 2; ++m) {
        const Wave wave = scene.far_field(j, m);
        for (Index i = 0; i < scene.pixels(); ++i)
          scene.frames.view<double, 3>().data[j * scene.pixels() + i] += std::norm(wave[static_cast<std::size_t>(i)]);
      }
    const Array object = scene.state.object.clone();
    const auto setup = kind.setup();
    Bench bench(std::move(scene), setup->loss());
    const auto engine = setup->make(bench.workbench);
    for (Index n = 1; n <= 3; ++n) engine->iterate(bench.workbench, {.number = n});
    // eps, 1e-10 of the counts per frame, is all that pushes; where there is little light it pushes a little harder.
    EXPECT_LT(difference(bench.scene.state.object, object), 1e-5);
  }
}

/// A phase phi in one slice, or phi / slices in each of several with nothing between them.
Scene thin(Index slices, ObjectType type) {
  Scene scene{.modes = 2, .fractional = true, .masked = true, .type = ObjectType::potential};
  scene.build();
  const Array phase = scene.state.phase.clone();
  scene.slices = slices;
  scene.state.phase = Array(Device::cpu(), Shape{slices, scene.object_rows, scene.object_cols}, DType::f64);
  scene.state.object = Array(Device::cpu(), scene.state.phase.shape(), DType::c128);
  for (Index i = 0; i < scene.state.phase.count(); ++i)
    scene.state.phase.view<double, 3>().data[i] =
        phase.view<double, 3>().data[i % phase.count()] / static_cast<double>(slices);
  scene.state.follow_phase();
  scene.state.type = scene.type = type;
  if (type == ObjectType::complex) scene.state.phase = {};
  scene.propagators = Array(Device::cpu(), Shape{std::max<Index>(slices - 1, 1), scene.rows, scene.cols}, DType::c128);
  std::fill_n(scene.propagators.view<complex128, 3>().data, scene.propagators.count(), complex128(1));
  return scene;
}

/// While the object is fixed, slices with nothing between them are one slice: for the fit and for what the probe does.
TEST(Slices, WithoutThicknessTheProbeMovesAsWithOneSlice) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!knows_slices(kind.name)) continue;
    SCOPED_TRACE(kind.name);
    std::vector<Array> probes;
    std::vector<double> fits;
    for (const Index slices : {1, 3}) {
      const auto setup = kind.setup();
      Bench bench(thin(slices, ObjectType::complex), setup->loss());
      const auto engine = setup->make(bench.workbench);
      for (Index n = 1; n <= 2; ++n) engine->iterate(bench.workbench, {.number = n, .object_free = false});
      probes.push_back(bench.scene.state.probe.clone());
      double sum = 0;
      for (const FrameSums& fit : bench.workbench.fit()) sum += fit.loss;
      fits.push_back(sum);
    }
    EXPECT_LT(difference(probes[1], probes[0]), 10 * rounding);
    EXPECT_NEAR(fits[1] / fits[0], 1, 10 * rounding);
    EXPECT_GT(difference(probes[0], thin(1, ObjectType::complex).state.probe), 1e-3) << "nothing moved";
  }
}

/// While the probe is fixed, every one of them turns its phase as one slice would, and lsqml shares that out. Of
/// engines that see all frames from the same estimate.
TEST(Slices, WithoutThicknessPhasesMoveAsThatOfOneSlice) {
  for (const auto& [name, share] : {std::pair("gd", 1.0), std::pair("adam", 1.0), std::pair("lsqml", 1.0 / 3)}) {
    SCOPED_TRACE(name);
    std::vector<Array> phases;
    for (const Index slices : {1, 3}) {
      const auto setup = engine_kind(name).setup();
      Bench bench(thin(slices, ObjectType::potential), setup->loss());
      setup->make(bench.workbench)->iterate(bench.workbench, {.probe_free = false});
      phases.push_back(bench.scene.state.phase.clone());
    }
    const Array start = thin(1, ObjectType::potential).state.phase;
    const Index count = start.count();
    double moved = 0;
    const auto several = phases[1].view<double, 3>();
    for (Index i = 0; i < count; ++i) {
      const double from = start.view<double, 3>().data[i];
      const double alone = phases[0].view<double, 3>().data[i] - from;
      moved = std::max(moved, std::abs(alone));
      for (Index s = 0; s < 3; ++s)
        EXPECT_NEAR(several.data[s * count + i] - from / 3, share * alone, 10 * rounding) << i;
    }
    EXPECT_GT(moved, 1e-3);
  }
}

/// A tilt that moves the wave by one pixel between two slices is the second slice moved by one pixel the other way.
TEST(Slices, ATiltIsAShiftOfWhatComesLater) {
  const auto scene_of = [](bool tilted) {
    Scene scene{.slices = 2, .modes = 2, .masked = true};
    scene.build();
    const auto object = scene.state.object.view<complex128, 3>();
    // The wave comes round at the window's edge, so the second slice repeats itself after a window.
    for (Index row = 0; row < scene.object_rows; ++row)
      for (Index col = scene.cols; col < scene.object_cols; ++col)
        object(1, row, col) = object(1, row, col - scene.cols);
    if (tilted) {
      // H exp(-2 pi i dz kx tan t) with dz tan t = 1 pixel: kx in cycles per pixel.
      for (Index i = 0; i < scene.pixels(); ++i) {
        const Index k = i % scene.cols;
        const double kx =
            static_cast<double>(k < (scene.cols + 1) / 2 ? k : k - scene.cols) / static_cast<double>(scene.cols);
        scene.propagators.view<complex128, 3>().data[i] *= std::polar(1.0, -2 * std::numbers::pi * kx);
      }
      return scene;
    }
    const Array whole = scene.state.object.clone();
    for (Index row = 0; row < scene.object_rows; ++row)
      for (Index col = 0; col < scene.object_cols; ++col)
        object(1, row, col) = whole.view<complex128, 3>()(1, row, (col + 1) % scene.cols);
    return scene;
  };
  for (const EngineKind& kind : engine_kinds()) {
    if (!knows_slices(kind.name)) continue;
    SCOPED_TRACE(kind.name);
    std::vector<Array> probes;
    for (const bool tilted : {true, false}) {
      const auto setup = kind.setup();
      Bench bench(scene_of(tilted), setup->loss());
      const auto engine = setup->make(bench.workbench);
      engine->iterate(bench.workbench, {.object_free = false});
      probes.push_back(bench.scene.state.probe.clone());
    }
    EXPECT_LT(difference(probes[1], probes[0]), 10 * rounding);
  }
}

}  // namespace
}  // namespace sonde::ptycho
