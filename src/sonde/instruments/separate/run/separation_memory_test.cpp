// SPDX-License-Identifier: Apache-2.0
// Memory of whole runs, in children so that nothing else counts.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <sstream>
#include <utility>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/run/memory.h"
#include "sonde/instruments/separate/run/separation.h"
#include "tests/support/child.h"
#include "tests/support/files.h"
#include "tests/support/memory.h"

namespace sonde::separate {
namespace {

constexpr std::size_t mega = std::size_t{1} << 20;

/// A network as small as there is, with one stem.
Config smallest() {
  return {.n_fft = 2048, .hop = 1024, .dim_f = 8, .chunk = 63 * 1024, .channels = 1, .target = "kick"};
}

/// The peak while so many seconds of noise are separated.
std::size_t peak_of(double seconds) {
  return std::stoull(sonde::testing::text_from_child([&] {
    set_thread_count(1);
    const sonde::testing::TemporaryFolder folder;
    const Config config = smallest();
    {
      AudioWriter writer(folder.file("song.wav"), {.type = SampleType::pcm16, .dither = Dither::off});
      std::vector<float> piece(2 * 44100);
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = 0.2F * std::sin(0.01F * static_cast<float>(i));
      for (double s = 0; s < seconds; ++s) writer.write({piece.data(), 2, 44100});
      writer.commit();
    }
    SeparationTask task{.input = folder.file("song.wav"), .outputs = choose_outputs(config.stems())};
    task.paths = {folder.file("kick.wav")};
    Plan plan = Plan::prepare(config, formula_values(config, 1));
    (void)separate_file(task, {.overlap = 1}, config, plan);
    return std::to_string(sonde::testing::peak_anonymous());
  }));
}

TEST(MemoryOfASeparation, DoesNotDependOnTheLengthOfTheFile) {
  const std::size_t brief = peak_of(10), hour = peak_of(3600);
  std::cout << "10 s: " << brief / mega << " MiB, an hour: " << hour / mega << " MiB\n";
  EXPECT_LT(hour, brief + 8 * mega);
}

/// The peak that is planned for one chunk through a network of 100 MB, and the one that is measured.
std::pair<std::size_t, std::size_t> planned_and_measured() {
  const std::string both = sonde::testing::text_from_child([&] {
    set_thread_count(1);
    const sonde::testing::TemporaryFolder folder;
    const Config config{.n_fft = 2048,
                        .hop = 512,
                        .dim_f = 1024,
                        .chunk = 1023 * 512,
                        .subbands = 4,
                        .scales = 3,
                        .channels = 8,
                        .growth = 8,
                        .target = "kick"};
    const SeparationSettings settings{.overlap = 1};
    const MemoryPlan plan_of_run = memory_of(config, settings, Plan::bytes_for(config));
    std::size_t planned = plan_of_run.peak_bytes;
    for (const MemoryPlan::Line& each : plan_of_run.lines) planned -= each.what == "libraries" ? each.bytes : 0;
    {
      AudioWriter writer(folder.file("song.wav"), {.type = SampleType::pcm16, .dither = Dither::off});
      const std::vector<float> silence(2 * 44100);
      writer.write({silence.data(), 2, 44100});
      writer.commit();
    }
    SeparationTask task{.input = folder.file("song.wav"), .outputs = choose_outputs(config.stems())};
    task.paths = {folder.file("kick.wav")};
    Plan plan = Plan::prepare(config, formula_values(config, 1));
    (void)separate_file(task, settings, config, plan);
    return std::to_string(planned) + " " + std::to_string(sonde::testing::peak_anonymous());
  });
  std::istringstream text(both);
  std::pair<std::size_t, std::size_t> found;
  text >> found.first >> found.second;
  return found;
}

TEST(MemoryOfASeparation, IsWhatIsPlanned) {
  const auto [planned, measured] = planned_and_measured();
  std::cout << "planned " << planned / mega << " MiB, measured " << measured / mega << " MiB\n";
  // What --dry-run promises. Program and libraries are pages of files, which are not measured.
  EXPECT_NEAR(static_cast<double>(measured), static_cast<double>(planned), 0.1 * static_cast<double>(planned));
}

}  // namespace
}  // namespace sonde::separate
