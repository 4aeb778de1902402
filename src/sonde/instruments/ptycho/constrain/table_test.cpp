// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/constrain/test_constrain.h"
#include "sonde/instruments/ptycho/model/test_scene.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using testing::apply;
using testing::apply_as;
using testing::built;
using testing::difference;
using testing::elements;
using testing::Scene;
using testing::table;

TEST(ConstraintTable, ObjectsComeFirstThenProbes) {
  std::vector<std::string> names;
  for (const ConstraintKind& kind : constraint_kinds()) names.emplace_back(kind.name);
  EXPECT_THAT(names, ::testing::ElementsAre("tv", "gaussian", "butterworth", "kz", "slice_equal", "tikhonov", "support",
                                            "bounds", "probe_fourier_support", "probe_support", "probe_centre",
                                            "orthogonalise", "probe_aberrations", "probe_power"));
}

TEST(ConstraintTable, AnUnknownNameNamesTheNearest) {
  const std::string text = error_of(ErrorKind::usage, [] { (void)constraint_kind("gausian"); });
  EXPECT_THAT(text, ::testing::HasSubstr("\"gausian\" is not a constraint; did you mean \"gaussian\"?"));
  EXPECT_THAT(text, ::testing::HasSubstr("known: tv, gaussian"));
}

TEST(ConstraintTable, AnUnknownKeyNamesTheNearest) {
  const std::string text = error_of(ErrorKind::usage, [] {
    (void)chosen_constraint("tv", table({{"wieght", Value(0.1)}}), "constraint 1");
  });
  EXPECT_THAT(text, ::testing::HasSubstr("\"weight\""));
}

TEST(When, ActsEveryNthIterationFromTheStartToTheStop) {
  const When when{.start = 3, .every = 2, .stop = 8};
  std::vector<Index> due;
  for (Index i = 1; i <= 12; ++i)
    if (when.due(i)) due.push_back(i);
  EXPECT_THAT(due, ::testing::ElementsAre(3, 5, 7));
}

struct ManyConstraints : ::testing::Test {
  Scene scene = built({.object_rows = 20, .object_cols = 22, .type = ObjectType::potential});
  ConstraintContext context{.sampling = pixel_sampling(6, 8), .mean_counts = 100};
};

TEST_F(ManyConstraints, ActInTheOrderOfTheTableNotOfTheFile) {
  // After the support comes nothing that smears the object: outside it is exactly zero.
  const std::vector<ChosenConstraint> chosen{chosen_constraint("support", Value::object(), "1"),
                                             chosen_constraint("gaussian", table({{"sigma", Value(1.5)}}), "2")};
  Constraints<double>(chosen, context, scene.state).apply(scene.state, context, 1);
  EXPECT_EQ((scene.state.phase.view<double, 3>()(0, 0, 0)), 0);
  const Box seen = field_of_view(scene.state.positions);
  EXPECT_NE((scene.state.phase.view<double, 3>()(0, seen.row, seen.col)), 0);
}

TEST_F(ManyConstraints, TellWhatTheyMayHaveChanged) {
  const std::vector<ChosenConstraint> chosen{
      chosen_constraint("tikhonov", table({{"start", Value(5)}}), "1"),
      chosen_constraint("orthogonalise", table({{"every", Value(2)}}), "2"),
      chosen_constraint("probe_power", table({{"start", Value(7)}, {"stop", Value(7)}}), "3")};
  Constraints<double> constraints(chosen, context, scene.state);
  const auto changed = [&](Index iteration) {
    const auto what = constraints.apply(scene.state, context, iteration);
    return std::string(what.object ? "O" : "") + (what.probe ? "P" : "");
  };
  EXPECT_EQ(changed(1), "P");
  EXPECT_EQ(changed(2), "");
  EXPECT_EQ(changed(6), "O");
  EXPECT_EQ(changed(7), "OP");
}

TEST_F(ManyConstraints, AllThatCannotBeImposedIsToldAtOnce) {
  const std::vector<ChosenConstraint> chosen{chosen_constraint("gaussian", Value::object(), "1"),
                                             chosen_constraint("kz", Value::object(), "2")};
  const std::string text = error_of(ErrorKind::bad_input, [&] { Constraints<double>(chosen, context, scene.state); });
  EXPECT_THAT(text, ::testing::HasSubstr("gaussian: sigma is 0"));
  EXPECT_THAT(text, ::testing::HasSubstr("several slices"));
}

/// Every constraint of the table, with settings that make it act on a scene.
struct Example {
  const char* name;
  Value settings = Value::object();
  ObjectType type = ObjectType::complex;
};

void PrintTo(const Example& example, std::ostream* to) { *to << example.name; }

struct EveryConstraint : ::testing::TestWithParam<Example> {
  // The object is larger than the pieces that parallel loops are cut into.
  Scene scene = built(
      {.rows = 16, .cols = 12, .slices = 3, .modes = 3, .object_rows = 70, .object_cols = 60, .type = GetParam().type});
  ConstraintContext context;

  EveryConstraint() {
    context.sampling = electron_sampling(16, 12, 200, 4);
    context.mean_counts = 1000;
    context.semiangle = 0.012;
    context.slice_distances = {10, 10};
    // Off its centre.
    const auto probe = scene.state.probe.view<complex128, 3>();
    for (Index m = 0; m < 3; ++m)
      for (Index row = 0; row < 16; ++row)
        for (Index col = 0; col < 12; ++col)
          probe(m, row, col) *=
              std::exp(-0.1 * (std::pow(static_cast<double>(row - 11), 2) + std::pow(static_cast<double>(col - 4), 2)));
  }
  void impose(State& state) const {
    if (state.probe.dtype() == DType::c64)
      apply_as<float>(GetParam().name, GetParam().settings, context, state);
    else
      apply(GetParam().name, GetParam().settings, context, state);
  }
};

TEST_P(EveryConstraint, ChangesTheSceneAndKeepsPhaseAndObjectTogether) {
  State state = scene.state.clone();
  impose(state);
  EXPECT_GT(difference(elements<complex128>(state.object), elements<complex128>(scene.state.object)) +
                difference(elements<complex128>(state.probe), elements<complex128>(scene.state.probe)),
            1e-6);
  if (state.type == ObjectType::complex) return;
  const auto phase = elements<double>(state.phase);
  const auto object = elements<complex128>(state.object);
  for (std::size_t i = 0; i < phase.size(); ++i) EXPECT_LT(std::abs(object[i] - std::polar(1.0, phase[i])), 1e-14);
}

TEST_P(EveryConstraint, SinglePrecisionFollowsDouble) {
  State state = scene.state.clone();
  State low = testing::single(scene.state);
  impose(state);
  impose(low);
  const double tolerance = 3e-5;  // a few hundred roundings of 6e-8 on values up to about 4
  EXPECT_LT(difference(elements<complex64>(low.object), elements<complex128>(state.object)), tolerance);
  EXPECT_LT(difference(elements<complex64>(low.probe), elements<complex128>(state.probe)), 10 * tolerance);
}

TEST_P(EveryConstraint, HasTheSameBitsWhateverTheThreads) {
  const int before = thread_count();
  std::vector<State> results;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    State& state = results.emplace_back(testing::single(scene.state));
    impose(state);
  }
  set_thread_count(before);
  const auto same = [](const Array& a, const Array& b) {
    return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * sizeof(complex64)) == 0;
  };
  for (const std::size_t other : {1u, 2u}) {
    EXPECT_TRUE(same(results[0].object, results[other].object));
    EXPECT_TRUE(same(results[0].probe, results[other].probe));
  }
}

struct EveryProjection : EveryConstraint {};

TEST_P(EveryProjection, AppliedAgainChangesNothing) {
  State once = scene.state.clone();
  impose(once);
  State twice = once.clone();
  impose(twice);
  // Rounding of values up to 4 and, in the probe, of the order of sqrt(1000).
  EXPECT_LT(difference(elements<complex128>(once.object), elements<complex128>(twice.object)), 1e-13);
  EXPECT_LT(difference(elements<complex128>(once.probe), elements<complex128>(twice.probe)), 1e-12);
}

std::string name_of(const ::testing::TestParamInfo<Example>& each) {
  return std::string(each.param.name) + std::to_string(each.index);
}

INSTANTIATE_TEST_SUITE_P(
    Smoothing, EveryConstraint,
    ::testing::Values(Example{"tv", table({{"weight", Value(0.1)}})},
                      Example{"tv", table({{"weight", Value(0.1)}}), ObjectType::potential},
                      Example{"gaussian", table({{"sigma", Value(0.3)}})},
                      Example{"gaussian", table({{"sigma", Value(0.3)}}), ObjectType::potential},
                      Example{"butterworth", table({{"low_pass", Value(0.8)}})},
                      Example{"butterworth", table({{"high_pass", Value(0.1)}}), ObjectType::potential}, Example{"kz"},
                      Example{"kz", table({{"padding", Value(2)}}), ObjectType::potential},
                      Example{"tikhonov", table({{"weight", Value(0.1)}})}, Example{"probe_fourier_support"},
                      Example{"probe_support"}),
    name_of);

const auto projections = ::testing::Values(
    Example{"slice_equal"}, Example{"slice_equal", Value::object(), ObjectType::potential}, Example{"support"},
    Example{"bounds", table({{"amplitude_max", Value(1.0)}, {"phase_max", Value(0.2)}})},
    Example{"bounds", table({{"positivity", Value(true)}}), ObjectType::potential}, Example{"probe_centre"},
    Example{"orthogonalise"}, Example{"probe_power"});

INSTANTIATE_TEST_SUITE_P(Projecting, EveryConstraint, projections, name_of);
INSTANTIATE_TEST_SUITE_P(Projecting, EveryProjection, projections, name_of);

}  // namespace
}  // namespace sonde::ptycho
