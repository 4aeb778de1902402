// SPDX-License-Identifier: Apache-2.0
// Memory of whole runs, in children so that nothing else counts.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/test_cases.h"
#include "sonde/instruments/separate/run/separation.h"
#include "tests/support/child.h"
#include "tests/support/files.h"
#include "tests/support/memory.h"

namespace sonde::separate {
namespace {

constexpr std::size_t mega = std::size_t{1} << 20;

/// A network as small as there is, with one stem.
Config smallest() { return {.n_fft = 256, .hop = 128, .dim_f = 8, .chunk = 8064, .channels = 1, .target = "kick"}; }

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

}  // namespace
}  // namespace sonde::separate
