// SPDX-License-Identifier: Apache-2.0
// An engine that no other file names, added as docs/ptycho-reference.md describes: what stands here before the tests
// would be its file, and `kinds` is the table with its row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sonde/instruments/ptycho/engines/preconditioned_step.h"
#include "sonde/instruments/ptycho/run/device_plan.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;

struct HeavyBallSettings {
  double step = 0.3, friction = 0.6;

  static constexpr EngineTraits traits{.can_be_shared = true, .knows_potentials = false};
  void describe(Fields& fields) {
    fields.add("step", step, {.help = "step along the gradient", .min = 0});
    fields.add("friction", friction, {.help = "share of its last step that the object keeps", .min = 0, .max = 1});
  }
  [[nodiscard]] Passes passes() const { return {.together = Together::all, .sums_of_scan = true}; }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& scan) const {
    return {sums_bytes(sizes, scan) + 2 * sizes.object_pixels() * sizes.complex_bytes(), "sums, the last step"};
  }
};

/// Only the object moves along the gradient of all frames, and a little further as it moved before.
template <class Real>
class HeavyBall final : public Engine<Real> {
 public:
  HeavyBall(const HeavyBallSettings& settings, Workbench<Real>& bench) : settings_(settings) {
    before_ = bench.state().object.clone();
  }
  void take(const HeavyBallSettings& settings, Workbench<Real>&) { settings_ = settings; }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override {
    State& state = bench.state();
    bench.check_interrupt();
    bench.pass().run(state, bench.spectrum(), bench.active(), {.object = true, .probe = false}, sums_, bench.fit());
    if (!iteration.object_free) return;
    const Array now = state.object.clone();
    step_object<Real>(sums_, {.keep = 0, .floor = 1}, settings_.step, state);
    using Complex = std::complex<Real>;
    auto* object = state.object.view<Complex, 3>().data;
    auto* before = before_.view<Complex, 3>().data;
    const auto* here = static_cast<const Complex*>(now.data());
    for (Index i = 0; i < now.count(); ++i) {
      object[i] += static_cast<Real>(settings_.friction) * (here[i] - before[i]);
      before[i] = here[i];
    }
  }
  std::vector<EngineMemory> memory() override { return {{"before", &before_}}; }

 private:
  HeavyBallSettings settings_;
  BatchSums sums_;
  Array before_;
};

std::vector<EngineKind> kinds_with_it() {
  std::vector<EngineKind> kinds(engine_kinds().begin(), engine_kinds().end());
  kinds.push_back({"heavy_ball", "gradient of all frames with momentum", [] {
                     return std::unique_ptr<EngineSetup>(std::make_unique<SetupOf<HeavyBall, HeavyBallSettings>>());
                   }});
  return kinds;
}

// ---- What follows from the row
// ---------------------------------------------------------------------------------------

const std::vector<EngineKind> kinds = kinds_with_it();

testing::SmallScan scan_with(const std::string& more, Index iterations = 6) {
  return testing::SmallScan(
      1e6,
      "[[engine]]\nname = \"heavy_ball\"\nfriction = 0.5\niterations = " + std::to_string(iterations) + "\n" + more,
      kinds);
}

TEST(AnAddedEngine, IsKnownToRunFiles) {
  const testing::SmallScan scan = scan_with("");
  EXPECT_THAT(scan.run.text(), HasSubstr("name = \"heavy_ball\""));
  EXPECT_THAT(scan.run.text(), HasSubstr("friction = 0.5"));
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::bad_file,
                                         [] { RunFile().parse("[[engine]]\nname = \"heavy_ball\"\n", "run.toml"); }),
              HasSubstr("heavy_ball"));
}

TEST(AnAddedEngine, IsPlannedByItsOwnFormula) {
  const testing::SmallScan scan = scan_with("");
  const JobPlan plan = plan_job(scan.run, scan.source);
  ASSERT_EQ(plan.sizes.engines.size(), 1u);
  const EngineSize& engine = plan.sizes.engines[0];
  EXPECT_GT(engine.tiles, 0) << "of the sums over all frames";
  const MemoryNeed need = HeavyBallSettings().memory(plan.sizes, {100, engine.tiles, engine.tile_pixels});
  const auto line = std::find_if(plan.memory.lines.begin(), plan.memory.lines.end(),
                                 [](const MemoryPlan::Line& one) { return one.what == "engine heavy_ball"; });
  ASSERT_NE(line, plan.memory.lines.end()) << plan.memory.text();
  EXPECT_EQ(line->bytes, need.bytes);
  EXPECT_EQ(line->how, "sums, the last step");
}

TEST(AnAddedEngine, ReconstructsAndGoesOnFromACheckpointWithTheSameBits) {
  const testing::SmallScan scan = scan_with("");
  Job through(scan.run, scan.measured(), plan_job(scan.run, scan.source));
  while (through.reconstruction().outcome().kind == Outcome::Kind::running) through.reconstruction().iterate();
  const auto& history = through.reconstruction().history();
  ASSERT_EQ(history.size(), 6u);
  EXPECT_LT(history.back().fit.r_intensity, 0.5 * history.front().fit.r_intensity);

  const ::sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("half.h5");
  {
    Job half(scan.run, scan.measured(), plan_job(scan.run, scan.source));
    for (int n = 0; n < 3; ++n) half.reconstruction().iterate();
    CheckpointWriter writer(path, checkpoint_kind(), 3, scan.run.text());
    half.reconstruction().save(writer);
    writer.finish();
  }
  const CheckpointReader from(path, checkpoint_kind());
  Job rest(scan.run, scan.measured(), plan_job(scan.run, scan.source), &from);
  while (rest.reconstruction().outcome().kind == Outcome::Kind::running) rest.reconstruction().iterate();
  const Array &a = rest.reconstruction().state().object, &b = through.reconstruction().state().object;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), b.allocated_bytes()), 0);
}

TEST(AnAddedEngine, IsRefusedByItsNameWhereItSaysSo) {
  const testing::SmallScan scan = scan_with("[object]\ntype = \"potential\"\n");
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::not_supported, [&] { (void)plan_job(scan.run, scan.source); }),
              HasSubstr("the engine heavy_ball supports only complex objects"));
  EXPECT_THAT(why_no_kernels(scan_with("").run.schedule()),
              HasSubstr("the engine heavy_ball has no kernels for a GPU"));
  EXPECT_NO_THROW(require_shareable(scan_with("").run.schedule()));
}

}  // namespace
}  // namespace sonde::ptycho
