// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/live_inversion.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sonde/instruments/maxwell/invert/test_waves.h"

namespace sonde::maxwell {
namespace {

using testing::ConvolvedWaves;

constexpr std::size_t cells = ConvolvedWaves::cell_count;

Model even(double eps_r) {
  return {.eps_r = std::vector<double>(cells, eps_r), .sigma = std::vector<double>(cells, 0.01)};
}

GridSpec line_of_cells() {
  return {.mode = Mode::tm2d, .cells = {1, 1, ConvolvedWaves::cell_count}, .spacing = {1, 1, 0.1}};
}

/// An inversion after so many steps, as it is shown; the first begins the stage.
LiveState shown_after(int steps, Model* model = nullptr) {
  ConvolvedWaves waves;
  Measurements measured;
  for (Index s = 0; s < ConvolvedWaves::shot_count; ++s)
    measured.amplitudes.push_back(testing::random_numbers(ConvolvedWaves::step_count, 31 + static_cast<unsigned>(s)));
  for (Gather& gather : waves.measured(even(4), measured.amplitudes)) measured.shots.push_back({std::move(gather)});
  const ParameterSettings unknowns{.eps_r_bounds = {1, 10}};
  Inversion inversion(waves, measured, {waves.grid(), unknowns, even(5), {}}, {.stages = {{.iterations = 2}}});
  LiveInversion live(line_of_cells(), unknowns);
  for (int i = 0; i < steps; ++i) {
    (void)inversion.step();
    live.take(inversion);
  }
  if (model != nullptr) *model = inversion.model();
  return live.state();
}

TEST(LiveInversion, ShowsTheUnknownsOfItsModel) {
  Model model;
  const LiveState state = shown_after(2, &model);
  ASSERT_EQ(state.frames.size(), 1u);  // sigma is known
  ASSERT_EQ(state.frames[0].cols, cells);
  std::vector<float> shown(cells);
  std::memcpy(shown.data(), state.frames[0].payload.data(), cells * sizeof(float));
  for (std::size_t i = 0; i < cells; ++i) EXPECT_EQ(shown[i], static_cast<float>(model.eps_r[i]));
  EXPECT_NE(model.eps_r, even(5).eps_r);  // it has moved
  EXPECT_EQ(state.panels.find("model")->find("frames")->items().front().find("label")->as_text(), "eps_r");
}

TEST(LiveInversion, ShowsTheObjectiveOfEachStepAndHowAStageHasEnded) {
  const LiveState state = shown_after(3);
  const Value& curve = state.panels.find("misfit")->find("curves")->items().front();
  ASSERT_EQ(curve.find("y")->size(), 3u);
  EXPECT_EQ(curve.find("y")->items()[0].as_real(), 1);
  EXPECT_LT(curve.find("y")->items()[2].as_real(), 1);
  EXPECT_EQ(state.panels.find("stages")->find("rows")->size(), 1u);
}

TEST(LiveInversion, HasNoPictureBeforeItsFirstStep) { EXPECT_TRUE(shown_after(0).frames.empty()); }

}  // namespace
}  // namespace sonde::maxwell
