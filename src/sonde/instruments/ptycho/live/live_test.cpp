// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/live/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>

#include "sonde/engine/run/test_live_client.h"
#include "sonde/instruments/ptycho/live/shown_images.h"
#include "sonde/instruments/ptycho/live/shown_moves.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;
using testing::SmallScan;

TEST(ShownObject, ElementsAreMeansOfBlocks) {
  State state;
  state.object = Array(Device::cpu(), Shape{2, 6, 7}, DType::c64);
  const auto object = state.object.view<complex64, 3>();
  for (Index i = 0; i < object.count(); ++i)
    object.data[i] = std::polar(1.0f + 0.01f * static_cast<float>(i % 5), 0.1f * static_cast<float>(i % 7));
  const Box view{1, 1, 5, 6};
  const ShownObject shown = shown_object(state, view, 2);
  ASSERT_EQ(shown.phase.shape(), (Shape{3, 3}));
  std::complex<double> direction = 0, block = 0;
  std::vector<std::complex<double>> means;
  for (Index r = 0; r < 3; ++r)
    for (Index c = 0; c < 3; ++c) {
      block = 0;
      double count = 0;
      for (Index y = 2 * r; y < std::min<Index>(5, 2 * r + 2); ++y)
        for (Index x = 2 * c; x < std::min<Index>(6, 2 * c + 2); ++x, ++count)
          block += std::complex<double>(object(0, 1 + y, 1 + x)) * std::complex<double>(object(1, 1 + y, 1 + x));
      means.push_back(block / count);
      direction += means.back();
    }
  for (std::size_t i = 0; i < means.size(); ++i) {
    EXPECT_NEAR((shown.amplitude.view<float, 2>().data[i]), std::abs(means[i]), 1e-6);
    EXPECT_NEAR((shown.phase.view<float, 2>().data[i]), std::arg(means[i] * std::conj(direction)), 1e-6);
  }
}

TEST(ShownObject, NoSideIsLongerThanAllowed) {
  EXPECT_EQ(step_for({0, 0, 512, 300}, 512), 1);
  EXPECT_EQ(step_for({0, 0, 513, 300}, 512), 2);
  EXPECT_EQ(step_for({0, 0, 10, 5000}, 512), 10);
}

TEST(ShownMoves, ArrowsBeginWhereThePositionWasInPixelsOfTheImage) {
  const std::vector<Point> from = {{20, 30}, {20, 34}, {24, 30}, {24, 34}};
  std::vector<Point> to = from;
  to[1] = {20.25, 33.5};
  const Value shown = shown_moves(from, to, {.box = {16, 26, 12, 12}, .step = 2}, 4);
  // Half a step is 2, the rms of four with one of 0.559 is 0.28: seven times as long, so five.
  EXPECT_EQ(shown.find("longer")->as_real(), 5);
  EXPECT_EQ(shown.find("one_of")->as_whole(), 1);
  EXPECT_NEAR(shown.find("largest_px")->as_real(), std::hypot(0.25, 0.5), 1e-12);
  const auto& arrows = shown.find("arrows")->items();
  ASSERT_EQ(arrows.size(), 16u);
  const double expected[] = {2.25, 4.25, 0.125, -0.25};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(arrows[4 + i].as_real(), expected[i], 1e-3) << i;
}

TEST(ShownMoves, OfManyPositionsSomeAreShownEvenly) {
  std::vector<Point> from, to;
  for (int j = 0; j < 1000; ++j) {
    from.push_back({2.0 * (j / 40), 2.0 * (j % 40)});
    to.push_back({from.back().row + 0.1 * (j % 3), from.back().col});
  }
  const Value shown = shown_moves(from, to, {.box = {0, 0, 50, 80}}, 2);
  EXPECT_EQ(shown.find("one_of")->as_whole(), 3);
  EXPECT_EQ(shown.find("arrows")->items().size(), 4u * 334);
}

TEST(ShownMoves, ThereAreNoneWhileNothingMoves) {
  const std::vector<Point> points = {{0, 0}, {0, 4}, {4, 0}};
  EXPECT_TRUE(shown_moves(points, points, {.box = {0, 0, 5, 5}}, 4).is_null());
}

struct Running {
  SmallScan scan{1e5, "[probe]\nmodes = 2\n[[engine]]\nname = \"gd\"\niterations = 3\n[stop]\nrule = \"off\"\n"};
  Job job{scan.run, scan.source, plan_job(scan.run, scan.source)};
  LiveRun live{{.title = "r.h5",
                .engines = {"gd"},
                .iterations = 3,
                .floor = job.floor(),
                .sampling = job.plan().scan.sampling,
                .settings = scan.run.text()}};
  std::shared_ptr<sonde::testing::LiveClient> client = std::make_shared<sonde::testing::LiveClient>();
};

TEST(LiveRun, ShowsObjectProbeAndCurvesToWhoLooks) {
  Running run;
  const panel::Page page = run.live.page();
  const auto session = page.open(run.client);
  while (run.job.reconstruction().outcome().kind == Outcome::Kind::running) {
    (void)run.job.reconstruction().iterate();
    run.live.update(run.job.reconstruction());
  }
  ASSERT_GE(run.client->frames.size(), 4u);  // the last state is always shown: phase, amplitude, two modes
  const panel::Frame& mode = run.client->frames.back();
  EXPECT_EQ(mode.kind, probe_frame);
  EXPECT_EQ(mode.channel, 1);
  EXPECT_EQ(mode.rows, 32u);
  const panel::Frame& phase = run.client->frames[run.client->frames.size() - 4];
  const State& state = run.job.reconstruction().state();
  const ShownObject expected = shown_object(state, field_of_view(state.positions), 1);
  ASSERT_EQ(phase.payload.size(), expected.phase.allocated_bytes());
  EXPECT_EQ(std::memcmp(phase.payload.data(), expected.phase.data(), phase.payload.size()), 0);
  EXPECT_EQ(run.client->panel("run").find("state")->as_text(), "finished");
  EXPECT_TRUE(run.client->panel("run").find("over")->as_bool());
  const Value errors = run.client->panel("errors");
  ASSERT_EQ(errors.find("curves")->size(), 3u);
  EXPECT_EQ(errors.find("curves")->items()[0].find("name")->as_text(), "R_I");
  EXPECT_EQ(errors.find("curves")->items()[0].find("y")->size(), 3u);
  EXPECT_EQ(errors.find("curves")->items()[0].find("y")->items()[2],
            Value(run.job.reconstruction().history().back().fit.r_intensity));
  EXPECT_EQ(page.state().find("panels")->find("run")->find("done")->as_whole(), 3);
  EXPECT_EQ(run.client->panel("probe").find("frames")->size(), 2u);
}

TEST(LiveRun, TakesNothingWhileNobodyLooks) {
  Running run;
  (void)run.job.reconstruction().iterate();
  run.live.update(run.job.reconstruction());
  EXPECT_EQ(run.live.page().state().find("panels")->find("run")->find("done"), nullptr);
}

panel::Command set_to(const char* setting, Value value) {
  panel::Command command{.id = 1, .name = "set"};
  command.arguments["setting"] = setting;
  command.arguments["value"] = std::move(value);
  return command;
}

TEST(LiveRun, RequestsAreCheckedAtOnceAndWaitForWhoIterates) {
  Running run;
  const auto session = run.live.page().open(run.client);
  session->run(set_to("engine.0.step", Value(0.3)));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { session->run(set_to("engine.0.step", Value(3.0))); }),
              HasSubstr("step in engine.0: 3 is above"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { session->run(set_to("probe.modes", Value(3.0))); }),
              HasSubstr("cannot change while the work runs"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { session->run({.id = 1, .name = "set"}); }),
              HasSubstr("needs a setting and a value"));
  // Everybody sees what will be; the run's own are as they were.
  EXPECT_EQ(*run.client->panel("settings").find("settings")->items()[0].find("value"), Value(0.3));
  const std::vector<ChangeRequest> requests = run.live.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_TRUE(run.live.requests().empty());
  run.job.change(run.scan.run, requests[0].setting, requests[0].value);
  run.live.tell_settings(run.scan.run, run.job.changes());
  EXPECT_EQ(run.live.page().state().find("panels")->find("settings")->find("changes")->items().size(), 1u);
}

TEST(LiveRun, ARefusedRequestIsTakenBackBeforeEverybody) {
  Running run;
  const auto session = run.live.page().open(run.client);
  session->run(set_to("engine.0.step", Value(0.3)));
  (void)run.live.requests();
  run.live.refuse(Error(ErrorKind::bad_input, "it does not fit"));
  run.live.tell_settings(run.scan.run, run.job.changes());
  EXPECT_EQ(run.client->newest("notice").find("message")->as_text(), "it does not fit");
  EXPECT_EQ(*run.client->panel("settings").find("settings")->items()[0].find("value"), Value(0.5));
}

}  // namespace
}  // namespace sonde::ptycho
