// SPDX-License-Identifier: Apache-2.0
// Engines against their formulas written out naively in double precision, and against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/ptycho/engines/adam.h"
#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/gd.h"
#include "sonde/instruments/ptycho/engines/ml.h"
#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/engines/projections.h"
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

/// chi_m = F^-1[ Psi' - Psi ] of every mode of a frame, by the definition.
std::vector<Wave> naive_chi(const Scene& scene, Index frame) {
  std::vector<Wave> waves;
  std::vector<double> intensity(static_cast<std::size_t>(scene.pixels()));
  for (Index m = 0; m < scene.modes; ++m) {
    waves.push_back(scene.far_field(frame, m));
    for (std::size_t i = 0; i < intensity.size(); ++i) intensity[i] += std::norm(waves.back()[i]);
  }
  const double eps = 1e-10 * scene.mean_counts();
  for (Wave& wave : waves) {
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const double counts = scene.frames.view<double, 3>().data[frame * scene.pixels() + static_cast<Index>(i)];
      const bool measured = scene.mask.empty() || scene.mask[i] != 0;
      wave[i] *= measured ? std::sqrt(counts / (intensity[i] + eps)) - 1 : 0;
    }
    wave = naive_fourier(wave, scene.rows, scene.cols, +1);
  }
  return waves;
}

/// Element (r, c) of the object under a frame.
std::complex<double>& under(Scene& scene, Index frame, Index i) {
  const Placement& at = scene.state.placements[static_cast<std::size_t>(frame)];
  return scene.state.object.view<complex128, 3>()(0, at.row + i / scene.cols, at.col + i % scene.cols);
}

/// What all frames say of object and probe: minus the gradients of the amplitude loss, and the weights of 4.4.
struct NaiveSums {
  std::vector<std::complex<double>> object, probe;
  std::vector<double> object_weight, probe_weight;

  explicit NaiveSums(Scene& scene)
      : object(static_cast<std::size_t>(scene.state.object.count())),
        probe(static_cast<std::size_t>(scene.state.probe.count())),
        object_weight(object.size()),
        probe_weight(static_cast<std::size_t>(scene.pixels())) {
    const Index pixels = scene.pixels();
    for (const Index j : everyone) {
      const std::vector<Wave> chi = naive_chi(scene, j);
      const Placement& at = scene.state.placements[static_cast<std::size_t>(j)];
      for (Index i = 0; i < pixels; ++i) {
        const auto cell =
            static_cast<std::size_t>((at.row + i / scene.cols) * scene.object_cols + at.col + i % scene.cols);
        const auto o = under(scene, j, i);
        probe_weight[static_cast<std::size_t>(i)] += std::norm(o);
        for (Index m = 0; m < scene.modes; ++m) {
          const auto p = scene.state.probe.view<complex128, 3>().data[m * pixels + i];
          const auto x = chi[static_cast<std::size_t>(m)][static_cast<std::size_t>(i)];
          object[cell] += std::conj(p) * x;
          object_weight[cell] += std::norm(p);
          probe[static_cast<std::size_t>(m * pixels + i)] += std::conj(o) * x;
        }
      }
    }
  }
};

TEST(Gd, AFullBatchIsTheFormula) {
  for (const double g : {0.1, 1.0}) {
    Scene expected{.modes = 2, .masked = true};
    expected.build();
    Bench bench({.modes = 2, .masked = true});
    GdSettings settings;
    settings.g = g;
    settings.batch.size = 5;
    Gd<double>(settings, bench.workbench).iterate(bench.workbench, {});

    const NaiveSums sums(expected);
    const double most = *std::max_element(sums.object_weight.begin(), sums.object_weight.end());
    const double probe_most = *std::max_element(sums.probe_weight.begin(), sums.probe_weight.end());
    const auto divisor = [&](double w, double largest) {
      return std::sqrt(1e-16 + std::pow((1 - g) * w, 2) + std::pow(g * largest, 2));
    };
    for (std::size_t i = 0; i < sums.object.size(); ++i)
      expected.state.object.view<complex128, 3>().data[i] +=
          0.5 * sums.object[i] / divisor(sums.object_weight[i], most);
    for (std::size_t i = 0; i < sums.probe.size(); ++i)
      expected.state.probe.view<complex128, 3>().data[i] +=
          0.5 * sums.probe[i] / divisor(sums.probe_weight[i % sums.probe_weight.size()], probe_most);

    EXPECT_LT(difference(bench.scene.state.object, expected.state.object), rounding);
    EXPECT_LT(difference(bench.scene.state.probe, expected.state.probe), rounding);
  }
}

/// Kingma and Ba 2015, algorithm 1, with one mean square for a complex number; `gradient` is minus the gradient.
struct NaiveAdam {
  double rate;
  int step = 0;
  std::vector<std::complex<double>> mean{};
  std::vector<double> square{};

  std::complex<double> change(std::size_t i, std::complex<double> gradient) {
    mean[i] = 0.9 * mean[i] + 0.1 * gradient;
    square[i] = 0.999 * square[i] + 0.001 * std::norm(gradient);
    const auto unbiased_mean = mean[i] / (1 - std::pow(0.9, step));
    const double unbiased_square = square[i] / (1 - std::pow(0.999, step));
    return rate * unbiased_mean / (std::sqrt(unbiased_square) + 1e-8);
  }
  void next(std::size_t count) {
    ++step;
    mean.resize(count);
    square.resize(count);
  }
};

TEST(Adam, ThreeStepsOfAFullBatchAreTheFormula) {
  for (const ObjectType type : {ObjectType::complex, ObjectType::potential}) {
    Scene expected{.modes = 2, .masked = true, .type = type};
    expected.build();
    Bench bench({.modes = 2, .masked = true, .type = type});
    AdamSettings settings;
    settings.batch.size = 5;
    Adam<double> engine(settings, bench.workbench);

    // The probe's rate is in units of sqrt(mean counts / lit pixels of its far field).
    double first = 0, second = 0;
    std::vector<double> far(static_cast<std::size_t>(expected.pixels()));
    for (Index m = 0; m < expected.modes; ++m) {
      const auto* p = expected.state.probe.view<complex128, 3>().data + m * expected.pixels();
      const Wave wave = naive_fourier(Wave(p, p + expected.pixels()), expected.rows, expected.cols, -1);
      for (std::size_t i = 0; i < far.size(); ++i) far[i] += std::norm(wave[i]);
    }
    for (const double intensity : far) {
      first += intensity;
      second += intensity * intensity;
    }
    NaiveAdam of_object{.rate = 5e-3}, of_probe{.rate = 1e-3 * std::sqrt(expected.mean_counts() * second) / first};

    for (Index number = 1; number <= 3; ++number) {
      engine.iterate(bench.workbench, {.number = number});
      const NaiveSums sums(expected);
      auto* object = expected.state.object.view<complex128, 3>().data;
      auto* probe = expected.state.probe.view<complex128, 3>().data;
      of_object.next(sums.object.size());
      of_probe.next(sums.probe.size());
      for (std::size_t i = 0; i < sums.object.size(); ++i)
        if (type == ObjectType::potential)  // minus dL/dphi = 2 Im(conj(O) down)
          expected.state.phase.view<double, 3>().data[i] +=
              of_object.change(i, 2 * std::imag(std::conj(object[i]) * sums.object[i])).real();
        else
          object[i] += of_object.change(i, sums.object[i]);
      for (std::size_t i = 0; i < sums.probe.size(); ++i) probe[i] += of_probe.change(i, sums.probe[i]);
      if (type == ObjectType::potential) expected.state.follow_phase();
    }
    // Where a gradient vanishes but for rounding, the first steps divide it by itself: such places are left to the
    // rounding of 1e-8 over which epsilon holds them.
    EXPECT_LT(difference(bench.scene.state.object, expected.state.object), 1e-9);
    EXPECT_LT(difference(bench.scene.state.probe, expected.state.probe), 1e-9);
  }
}

/// One frame of ePIE or rPIE by the formulas 4.1 and 4.2, on whole pixels.
void naive_pie(Scene& scene, Index frame, const PieSettings& by, bool with_probe) {
  const Index pixels = scene.pixels();
  const std::vector<Wave> chi = naive_chi(scene, frame);
  auto* probe = scene.state.probe.view<complex128, 3>().data;
  double most_o = 0, most_p = 0;
  std::vector<double> norm_p(static_cast<std::size_t>(pixels));
  for (Index i = 0; i < pixels; ++i) {
    most_o = std::max(most_o, std::norm(under(scene, frame, i)));
    for (Index m = 0; m < scene.modes; ++m) norm_p[static_cast<std::size_t>(i)] += std::norm(probe[m * pixels + i]);
    most_p = std::max(most_p, norm_p[static_cast<std::size_t>(i)]);
  }
  for (Index i = 0; i < pixels; ++i) {
    std::complex<double>& o = under(scene, frame, i);
    const std::complex<double> old = o;
    for (Index m = 0; m < scene.modes; ++m) {
      const auto x = chi[static_cast<std::size_t>(m)][static_cast<std::size_t>(i)];
      std::complex<double>& p = probe[m * pixels + i];
      o += by.step_object * std::conj(p) * x /
           ((1 - by.alpha_object) * norm_p[static_cast<std::size_t>(i)] + by.alpha_object * most_p);
      if (with_probe)
        p += by.step_probe * std::conj(old) * x / ((1 - by.alpha_probe) * std::norm(old) + by.alpha_probe * most_o);
    }
  }
}

TEST(Pie, IsTheFormulaInTheOrderOfTheFrames) {
  for (const PieSettings& settings : {PieSettings{}, PieSettings::regularised()}) {
    Scene expected{.modes = 2, .masked = true};
    expected.build();
    Bench bench({.modes = 2, .masked = true});
    Pie<double>(settings, bench.workbench).iterate(bench.workbench, {.number = 4});
    for (const Index frame : sequential_batches(everyone, {3, 4}).members) naive_pie(expected, frame, settings, true);
    EXPECT_LT(difference(bench.scene.state.object, expected.state.object), rounding);
    EXPECT_LT(difference(bench.scene.state.probe, expected.state.probe), rounding);
  }
}

/// mPIE with a kick every second update, two iterations; `meanwhile` is done to the object between them.
void expect_momentum(std::complex<double> meanwhile) {
  PieSettings settings = PieSettings::momentum();
  settings.momentum_every = 2;
  Scene expected;
  expected.build();
  Bench bench(Scene{});
  Pie<double> engine(settings, bench.workbench);
  Array before = expected.state.object.clone();
  const auto add_to = [&](Array& array) {
    for (Index i = 0; i < array.count(); ++i) array.view<complex128, 3>().data[i] += meanwhile;
  };
  std::vector<std::complex<double>> velocity(static_cast<std::size_t>(before.count()));
  Index updates = 0;
  for (Index number = 1; number <= 2; ++number) {
    engine.iterate(bench.workbench, {.number = number});
    for (const Index frame : sequential_batches(everyone, {3, static_cast<std::uint64_t>(number)}).members) {
      naive_pie(expected, frame, settings, true);
      if (++updates % 2 != 0) continue;
      auto* object = expected.state.object.view<complex128, 3>().data;
      auto* old = before.view<complex128, 3>().data;
      for (std::size_t i = 0; i < velocity.size(); ++i) {
        velocity[i] = 0.9 * velocity[i] + (object[i] - old[i]);
        object[i] += 0.2 * velocity[i];
        old[i] = object[i];
      }
    }
    if (number == 2) break;
    ASSERT_EQ(updates % 2, 1) << "an update that no kick has followed yet";
    for (Array* array : {&bench.scene.state.object, &expected.state.object, &before}) add_to(*array);
  }
  EXPECT_LT(difference(bench.scene.state.object, expected.state.object), rounding);
  EXPECT_LT(difference(bench.scene.state.probe, expected.state.probe), rounding);
}

TEST(Pie, MomentumIsTheFormula) { expect_momentum(0); }

TEST(Pie, WhatHappensToTheObjectBetweenIterationsIsNoMovement) { expect_momentum({0.5, -0.2}); }

TEST(Pie, DisjointGroupsAreTheSequenceOfTheirFramesWhileTheProbeIsFrozen) {
  const Scene wide{.object_rows = 30, .object_cols = 41};  // so that some windows lie apart
  Scene expected{.object_rows = 30, .object_cols = 41};
  expected.build();
  Bench bench({.object_rows = wide.object_rows, .object_cols = wide.object_cols});
  PieSettings settings;
  settings.order = PieOrder::disjoint;
  settings.support = 1;  // the whole window
  Pie<double>(settings, bench.workbench).iterate(bench.workbench, {.number = 2, .probe_free = false});
  const DisjointGroups groups(everyone, expected.state.placements, {0, 0, expected.rows, expected.cols});
  ASSERT_LT(groups.groups().count(), 5) << "no two windows lie apart: the test would say nothing";
  for (const Index frame : groups.batches({3, 2}).members) naive_pie(expected, frame, settings, false);
  EXPECT_LT(difference(bench.scene.state.object, expected.state.object), rounding);
}

TEST(Projections, DifferenceMapReflectionsAndRrrMeet) {
  std::vector<Array> objects;
  const auto run = [&](auto settings) {
    Bench bench({.modes = 2});
    settings.relax = 0;
    Projections<double> engine(settings, bench.workbench);
    for (Index n = 1; n <= 3; ++n) engine.iterate(bench.workbench, {.number = n});
    objects.push_back(bench.scene.state.object.clone());
  };
  run(DmSettings{});
  RaarSettings raar;
  raar.beta = 1;
  run(raar);
  run(RrrSettings{});
  EXPECT_LT(difference(objects[1], objects[0]), rounding);
  EXPECT_LT(difference(objects[2], objects[0]), rounding);
}

/// One iteration of 4.5 with the probe fixed and no power bound, by the definition: psi in the plane of the object.
TEST(Projections, AnIterationIsTheFormula) {
  Scene expected{.masked = true};
  expected.build();
  Bench bench({.masked = true});
  ProjectionSettings settings;
  settings.a = -0.5;
  settings.b = 0.75;
  settings.c = 1.7;
  settings.relax = 0;
  Projections<double> engine(settings, bench.workbench);
  const Index pixels = expected.pixels(), rows = expected.rows, cols = expected.cols;
  const auto* probe = expected.state.probe.view<complex128, 3>().data;
  std::vector<Wave> psi(5, Wave(static_cast<std::size_t>(pixels)));
  const auto object_wave = [&](Index j) {
    Wave wave(static_cast<std::size_t>(pixels));
    for (Index i = 0; i < pixels; ++i) wave[static_cast<std::size_t>(i)] = probe[i] * under(expected, j, i);
    return wave;
  };
  for (const Index j : everyone) psi[static_cast<std::size_t>(j)] = object_wave(j);
  const double eps = 1e-10 * expected.mean_counts();
  for (Index n = 1; n <= 2; ++n) {
    engine.iterate(bench.workbench, {.number = n, .probe_free = false});
    // O = (d W_mean O_old + sum conj(P) psi) / (d W_mean + sum |P|^2).
    const Index cells = expected.state.object.count();
    std::vector<std::complex<double>> numerator(static_cast<std::size_t>(cells));
    std::vector<double> weight(static_cast<std::size_t>(cells));
    double mean = 0;
    for (const Index j : everyone)
      for (Index i = 0; i < pixels; ++i) {
        const Placement& at = expected.state.placements[static_cast<std::size_t>(j)];
        const auto cell = static_cast<std::size_t>((at.row + i / cols) * expected.object_cols + at.col + i % cols);
        numerator[cell] += std::conj(probe[i]) * psi[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
        weight[cell] += std::norm(probe[i]);
        mean += std::norm(probe[i]) / static_cast<double>(cells);
      }
    auto* object = expected.state.object.view<complex128, 3>().data;
    for (Index i = 0; i < cells; ++i) {
      const auto at = static_cast<std::size_t>(i);
      object[i] = (1e-4 * mean * object[i] + numerator[at]) / (1e-4 * mean + weight[at]);
    }
    for (const Index j : everyone) {
      Wave& old = psi[static_cast<std::size_t>(j)];
      const Wave meets = object_wave(j);
      Wave moved(old.size());
      for (std::size_t i = 0; i < old.size(); ++i) moved[i] = settings.c * meets[i] + (1 - settings.c) * old[i];
      Wave far = naive_fourier(moved, rows, cols, -1);
      for (std::size_t i = 0; i < far.size(); ++i)
        if (expected.mask[i] != 0)
          far[i] *= std::sqrt(expected.frames.view<double, 3>().data[j * pixels + static_cast<Index>(i)] /
                              (std::norm(far[i]) + eps));
      const Wave projected = naive_fourier(far, rows, cols, +1);
      for (std::size_t i = 0; i < old.size(); ++i)
        old[i] = (1 - settings.a - settings.b) * old[i] + settings.a * meets[i] + settings.b * projected[i];
    }
  }
  EXPECT_LT(difference(bench.scene.state.object, expected.state.object), rounding);
}

/// Where there is nothing but vacuum, the exit wave of a frame is the probe at its place: one that has moved there is
/// the one that is made there.
TEST(Engines, KeptWavesGoWithTheirProbes) {
  for (const EngineKind& kind : engine_kinds()) {
    const auto setup = kind.setup();
    if (!setup->traits().keeps_waves) continue;
    SCOPED_TRACE(kind.name);
    const auto bench_in_vacuum = [] {
      Scene scene{.modes = 2, .fractional = true};
      scene.build();
      std::fill_n(scene.state.object.view<complex128, 3>().data, scene.state.object.count(), complex128(1));
      return Bench(std::move(scene));
    };
    Bench moving = bench_in_vacuum(), there = bench_in_vacuum(), left = bench_in_vacuum();
    const auto engine = setup->make(moving.workbench);
    for (Bench* bench : {&moving, &there}) testing::move_positions(bench->scene.state);
    engine->positions_changed(moving.workbench, left.scene.state.placements);
    const auto made_there = setup->make(there.workbench), unmoved = setup->make(left.workbench);
    for (Index n = 1; n <= 2; ++n) {
      engine->iterate(moving.workbench, {.number = n});
      made_there->iterate(there.workbench, {.number = n});
      unmoved->iterate(left.workbench, {.number = n});
    }
    EXPECT_LT(difference(moving.scene.state.object, there.scene.state.object), rounding);
    EXPECT_LT(difference(moving.scene.state.probe, there.scene.state.probe), rounding);
    EXPECT_GT(difference(left.scene.state.object, there.scene.state.object), 1e-3) << "places make no difference here";
  }
}

/// Every engine there is, on every number of threads, between pixels and with two modes.
TEST(Engines, HaveTheSameBitsOnEveryNumberOfThreads) {
  for (const EngineKind& kind : engine_kinds()) {
    SCOPED_TRACE(kind.name);
    expect_same_bits_on_all_threads(kind, [] { return Scene{.modes = 2, .fractional = true}; });
  }
}

/// Counts that the scene's own object and probe explain exactly: nothing may move.
TEST(Engines, StayAtAPerfectAnswer) {
  for (const EngineKind& kind : engine_kinds()) {
    SCOPED_TRACE(kind.name);
    Scene scene{.modes = 2, .fractional = true};
    scene.build();
    for (const Index j : everyone) {
      for (Index i = 0; i < scene.pixels(); ++i) scene.frames.view<double, 3>().data[j * scene.pixels() + i] = 0;
      for (Index m = 0; m < 2; ++m) {
        const Wave wave = scene.far_field(j, m);
        for (Index i = 0; i < scene.pixels(); ++i)
          scene.frames.view<double, 3>().data[j * scene.pixels() + i] += std::norm(wave[static_cast<std::size_t>(i)]);
      }
    }
    const Array object = scene.state.object.clone();
    const Measurement measurement(scene.frames, ZeroFrequency::corner, {}, AmplitudeStorage::f64);
    const auto setup = kind.setup();
    const Model<double> model(measurement, 1, 2, {}, setup->loss(), FftEffort::quick);
    Workbench<double> workbench(model, scene.state, everyone, 1);
    const auto engine = setup->make(workbench);
    if (kind.name == "adam") continue;  // its steps do not shrink with the gradient
    for (Index n = 1; n <= 3; ++n) engine->iterate(workbench, {.number = n});
    // eps, 1e-10 of the counts per frame, is all that pushes; where there is little light it pushes a little harder.
    EXPECT_LT(difference(scene.state.object, object), 1e-5);
  }
}

TEST(Engines, UnknownNamesListTheKnownOnes) {
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::usage, [] { (void)engine_kind("epi"); }),
              ::testing::AllOf(::testing::HasSubstr("\"epi\" is not an engine"), ::testing::HasSubstr("epie, rpie")));
}

TEST(Ml, StaysFiniteOnPatternsThatNoObjectExplains) {
  // Not by intensities: of their quartic the line search sees the second order only.
  for (const Loss loss : {Loss::amplitude, Loss::poisson})
    for (unsigned seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE(::testing::Message() << name(loss) << ", seed " << seed);
      Bench bench({.modes = 1 + seed % 2, .fractional = seed % 3 == 0, .seed = seed}, loss);
      Ml<double> engine({}, bench.workbench);
      double first = 0, last = 0;
      for (Index number = 1; number <= 200; ++number) {
        engine.iterate(bench.workbench, {.number = number});
        last = 0;
        for (const FrameSums& frame : bench.workbench.fit()) last += frame.loss;
        if (number == 1) first = last;
      }
      EXPECT_LE(last, first);  // false for what is no number
    }
}

}  // namespace
}  // namespace sonde::ptycho
