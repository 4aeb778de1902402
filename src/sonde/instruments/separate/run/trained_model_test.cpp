// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "tests/support/data.h"
#include "tests/support/files.h"

#include "sonde/engine/base/small_float.h"
#include "sonde/instruments/separate/events/stem_events.h"
#include "sonde/instruments/separate/run/separation.h"
#include "sonde/instruments/separate/weights/model.h"

namespace sonde::separate {
namespace {

std::vector<float> all_samples(const std::string& path) {
  AudioReader reader(path, {});
  return reader.read(reader.frames());
}

/// 10 log10(|truth|^2 / |truth - estimate|^2).
double ratio_db(const std::vector<float>& truth, const std::vector<float>& estimate) {
  double size = 1e-8, difference = 1e-8;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto x = static_cast<double>(truth[i]);
    size += x * x;
    difference += std::pow(x - static_cast<double>(estimate[i]), 2);
  }
  return 10 * std::log10(size / difference);
}

/// Numbers of half precision, which end an NPY file.
std::vector<float> stored_halves(const std::string& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint16_t> halves(count);
  file.seekg(-static_cast<std::streamoff>(2 * count), std::ios::end);
  file.read(reinterpret_cast<char*>(halves.data()), static_cast<std::streamsize>(2 * count));
  std::vector<float> values;
  for (const std::uint16_t each : halves) values.push_back(from_fp16(each));
  return values;
}

struct Piece {
  std::string name;
  std::map<std::string, double> sdr_db;  ///< of scores.json: what the reference program's stems reach
  double f_of_drums;                     ///< at least: kick, snare and hi-hat within 50 ms
};

void PrintTo(const Piece& each, std::ostream* out) { *out << each.name; }

class TrainedModelOn : public ::testing::TestWithParam<Piece> {};

// A small drum model, and what PyTorch makes of two pieces with it.
TEST_P(TrainedModelOn, SeparatesAsPyTorchDoes) {
  SONDE_NEED_DATA(data);
  const auto demo = data / "separation/demo", piece = demo / GetParam().name;
  const Model model = open_model({.checkpoint = (demo / "tiny_drums.ckpt").string()});
  Plan plan = Plan::prepare(model.config, model.values());
  const testing::TemporaryFolder folder;
  SeparationTask task{.input = (piece / "mixture.flac").string(), .outputs = choose_outputs(model.config.stems())};
  for (const Output& each : task.outputs) task.paths.push_back(folder.file(each.name + ".wav"));
  (void)separate_file(task, {.overlap = 4}, model.config, plan);

  std::vector<float> part;  // (stems, channels, 44100) from 4 s on
  for (const Output& each : task.outputs) {
    const auto got = all_samples(folder.file(each.name + ".wav"));
    const auto truth = all_samples((piece / (each.name + ".flac")).string());
    EXPECT_NEAR(ratio_db(truth, got), GetParam().sdr_db.at(each.name), 0.02) << each.name;
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const auto* from = got.data() + channel * got.size() / 2 + 176400;
      part.insert(part.end(), from, from + 44100);
    }
  }
  std::vector<StemEvents> drums;
  for (const StemFile& each : stems_among({folder.path().string()})) drums.push_back(read_events(each, {}));
  const auto played = read_reference((piece / "events.csv").string());
  EXPECT_GE(pooled(score_drums(drums, played, {}, 0.05, Counted::merged)).f_measure(), GetParam().f_of_drums);

  EXPECT_GT(ratio_db(stored_halves((piece / "expected_4s_f16.npy").string(), part.size()), part),
            60);  // half precision by itself gives 73
}

INSTANTIATE_TEST_SUITE_P(
    Piece, TrainedModelOn,
    ::testing::Values(Piece{"synth0", {{"kick", 9.816}, {"snare", 8.347}, {"hihat", 4.094}, {"other", 8.414}}, 0.90},
                      Piece{"groove", {{"kick", 10.825}, {"snare", 4.531}, {"hihat", 1.436}, {"other", 4.513}}, 0.70}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sonde::separate
