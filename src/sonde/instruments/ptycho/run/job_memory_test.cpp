// SPDX-License-Identifier: Apache-2.0
// Measured memory of whole reconstructions against their plan. Each runs in a child, so that
// nothing but the reconstruction counts; and the parent starts no threads, so that forking is safe.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "tests/support/child.h"
#include "tests/support/memory.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::status_bytes;

/// A scan of side x side patterns of n x n pixels at `step` pixels, made up block by block.
Source made_up(Index side, Index n, double step) {
  Source source;
  source.file = "made up";
  source.format = "memory";
  source.shape = Shape{side * side, n, n};
  source.dtype = DType::u16;
  for (Index j = 0; j < side * side; ++j)
    source.positions.push_back({step * static_cast<double>(j / side), step * static_cast<double>(j % side)});
  source.read_frames = [n](Index first, Index count) {
    Array frames(Device::cpu(), Shape{count, n, n}, DType::u16);
    const auto to = frames.view<std::uint16_t, 3>();
    for (Index j = 0; j < count; ++j)
      for (Index r = 0; r < n; ++r)
        for (Index c = 0; c < n; ++c)
          to(j, r, c) = static_cast<std::uint16_t>(
              std::hypot(r - n / 2, c - n / 2) < static_cast<double>(n) / 6 ? 50 + (first + j + r + 2 * c) % 7 : 0);
    return frames;
  };
  return source;
}

struct Case {
  const char* name;
  const char* engine;
  Index side, n;
  double step;
  Index modes;
};

class MemoryOfAReconstruction : public ::testing::TestWithParam<Case> {};

TEST_P(MemoryOfAReconstruction, IsThatOfThePlan) {
  const Case& given = GetParam();
  std::istringstream found(sonde::testing::text_from_child([&] {
    const Source source = made_up(given.side, given.n, given.step);
    RunFile run;
    run.parse(std::string("[geometry]\nunits = \"pixel\"\n[positions]\nunit = \"px\"\nwhole_pixels = true\n") +
                  "[probe]\ninit = \"gaussian\"\nfwhm = 20\nmodes = " + std::to_string(given.modes) +
                  "\n[stop]\nrule = \"off\"\n[[engine]]\nname = \"" + given.engine + "\"\niterations = 3\n",
              "test");
    // What any run has before it begins: threads, and the tables of the transforms.
    parallel_for(1000, 1, [](Index, Index, Worker&) {});
    (void)Fft2d<float>::prepare({.rows = given.n, .cols = given.n});
    const std::size_t before = status_bytes("VmRSS");
    JobPlan plan = plan_job(run, source);
    const std::size_t planned = plan.memory.peak_bytes;
    const std::string text = plan.memory.text();
    Job job(run, source, std::move(plan));
    while (job.reconstruction().outcome().kind == Outcome::Kind::running) (void)job.reconstruction().iterate();
    const Result result = job.result(run);
    std::ostringstream out;
    out << planned << " " << status_bytes("VmHWM") - before << "\n" << text;
    return out.str();
  }));
  std::size_t planned = 0, measured = 0;
  ASSERT_TRUE(found >> planned >> measured) << found.str();
  std::cout << given.name << ": planned " << (planned >> 20) << " MiB, measured " << (measured >> 20) << " MiB\n";
  ASSERT_GE(planned, 500'000'000u);
  EXPECT_NEAR(static_cast<double>(measured), static_cast<double>(planned), 0.05 * static_cast<double>(planned))
      << found.str();
}

// Only patterns, exit waves of three modes, and an object that is larger than the patterns.
INSTANTIATE_TEST_SUITE_P(
    Run, MemoryOfAReconstruction,
    ::testing::Values(Case{"gd, patterns", "gd", 90, 128, 6, 1}, Case{"epie, patterns", "epie", 90, 128, 6, 1},
                      Case{"gd, object", "gd", 24, 64, 200, 3}, Case{"epie, object", "epie", 24, 64, 200, 3},
                      Case{"dm, exit waves", "dm", 40, 128, 8, 3}, Case{"dm, object", "dm", 20, 64, 200, 1}),
    [](const auto& given) {
      std::string name = given.param.name;
      std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
      return name;
    });

/// What a reconstruction adds to its memory from the hundredth iteration to the thousandth.
class ThousandIterations : public ::testing::TestWithParam<const char*> {};

TEST_P(ThousandIterations, KeepNothingButTheirMetrics) {
  std::istringstream found(sonde::testing::text_from_child([&] {
    const Source source = made_up(5, 16, 3);
    RunFile run;
    run.parse(std::string("[geometry]\nunits = \"pixel\"\n[probe]\ninit = "
                          "\"gaussian\"\nfwhm = 5\nmodes = 2\n[stop]\nrule = \"off\"\n") +
                  GetParam(),
              "test");
    Job job(run, source, plan_job(run, source));
    std::size_t before = 0;
    while (job.reconstruction().outcome().kind == Outcome::Kind::running)
      if (job.reconstruction().iterate().number == 100) before = status_bytes("RssAnon");
    std::ostringstream out;
    out << before << " " << status_bytes("RssAnon") << " " << job.reconstruction().history().size();
    return out.str();
  }));
  std::size_t before = 0, after = 0, iterations = 0;
  ASSERT_TRUE(found >> before >> after >> iterations) << found.str();
  ASSERT_EQ(iterations, 1000u);
  // A vector that grows has its old elements beside the new ones, of twice the size; and what the allocator rounds up.
  // A kilobyte that stayed behind in every iteration would be seen: the probe has four, the object six.
  const std::size_t allowed = 3 * 1000 * sizeof(IterationRecord) + (std::size_t{256} << 10);
  EXPECT_LE(after, before + allowed) << before << " bytes after the hundredth iteration, " << after << " in the end";
  ASSERT_LT(allowed, std::size_t{900} << 10);  // so that the sentence above stays true
}

INSTANTIATE_TEST_SUITE_P(
    Run, ThousandIterations,
    ::testing::Values("[[engine]]\nname = \"dm\"\niterations = 500\n[[engine]]\nname = \"mpie\"\n"
                      "iterations = 500\n",
                      "[[engine]]\nname = \"lsqml\"\niterations = 1000\n[[constraint]]\nname = \"probe_power\"\n"
                      "[[constraint]]\nname = \"orthogonalise\"\n",
                      "[[engine]]\nname = \"gd\"\niterations = 1000\n[[constraint]]\nname = \"probe_power\"\n"
                      "[positions]\nmethod = \"gradient\"\n"),
    [](const auto& given) { return given.index == 0   ? "dm_mpie"
                                   : given.index == 1 ? "lsqml"
                                                      : "gd"; });

}  // namespace
}  // namespace sonde::ptycho
