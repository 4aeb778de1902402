// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/data.h"

#include "sonde/instruments/separate/run/test_runs.h"
#include "sonde/instruments/separate/weights/model.h"

namespace sonde::separate {
namespace {

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i] / n, mean_b += b[i] / n;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a), bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

// Passes deviate by little where the stems of a small drum model are close to the true ones, and by more where they are
// not: over the seconds of a piece and its four stems.
TEST(QualityOfATrainedModel, FollowsTheTrueError) {
  SONDE_NEED_DATA(data);
  const auto demo = data / "separation/demo", piece = demo / "synth0";
  const Model model = open_model({.checkpoint = (demo / "tiny_drums.ckpt").string()});
  Plan plan = Plan::prepare(model.config, model.values());
  const sonde::testing::TemporaryFolder folder;
  SeparationTask task{.input = (piece / "mixture.flac").string(), .outputs = choose_outputs(model.config.stems())};
  for (const Output& each : task.outputs) task.paths.push_back(folder.file(each.name + ".wav"));
  const Value quality = separate_file(task, {.overlap = 2, .quality = true}, model.config, plan).quality;
  std::vector<double> deviations, errors;
  for (std::size_t s = 0; s < task.outputs.size(); ++s) {
    const auto found = all_of(task.paths[s]), truth = all_of((piece / (task.outputs[s].name + ".flac")).string());
    const std::size_t count = found.size() / 2;
    const auto& over_time = quality.find("stems")->items()[s].find("deviation_db_over_time")->items();
    for (std::size_t second = 0; (second + 1) * 44100 <= count; ++second) {
      double squares = 0;
      for (std::size_t i = second * 44100; i < (second + 1) * 44100; ++i) {
        for (const std::size_t at : {i, count + i})
          squares += std::pow(static_cast<double>(found[at]) - static_cast<double>(truth[at]), 2) / (2 * 44100);
      }
      deviations.push_back(over_time.at(second).as_real());
      errors.push_back(10 * std::log10(squares));
    }
  }
  ASSERT_EQ(errors.size(), 40u);
  // 0.93 was found. Of 40 values that have nothing to do with each other, 0.5 is beyond one in a thousand.
  EXPECT_GT(correlation(deviations, errors), 0.8);
}

}  // namespace
}  // namespace sonde::separate
