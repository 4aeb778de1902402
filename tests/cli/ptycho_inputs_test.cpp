// SPDX-License-Identifier: Apache-2.0
// What a measurement may look like, and what is said of one that is not right: files that the stem instrument opens,
// stacks with a list beside them, damaged files, checkpoints of another measurement.
#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "tests/cli/ptycho_scan.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The same patterns as a raster (8, 8, 24, 24) that nothing but the stem instrument knows.
class PtychoStemFile : public OnSmallScan {
 protected:
  void write_raster(const std::string& change = "", const std::string& more = "") const {
    write();
    python(
        "import sys, h5py, numpy as np\n"
        "with h5py.File(sys.argv[1]) as f: frames = f['data'][()].reshape(8, 8, 24, 24); positions = "
        "f['positions'][()]\n"
        "mask = np.ones((24, 24), 'u1')\n" +
            change + "\nwith h5py.File(sys.argv[2], 'w') as f:\n  " + (more.empty() ? "f['data'] = frames" : more) +
            "\nnp.save(sys.argv[3], mask)\n",
        file("scan.h5") + "' '" + file("raster.h5") + "' '" + file("mask.npy"));
  }
  [[nodiscard]] Ended reconstruct_raster(std::vector<std::string> more = {}) const {
    std::ofstream(file("raster.toml"))
        << "[data]\nfile = \"raster.h5\"\n[geometry]\nunits = \"pixel\"\nscan_step_px = 2\n"
        << "[probe]\nfile = \"scan.h5:probe\"\n[[engine]]\nname = \"gd\"\n"
        << "iterations = 2\n[output]\nreport = false\npictures = false\n";
    return reconstruct(file("raster.toml"), std::move(more));
  }
};

TEST_F(PtychoStemFile, IsPlannedBeforeItIsReadAndForADryRunAlike) {
  write_raster();
  const Ended dry = reconstruct_raster({"--dry-run"}), run = reconstruct_raster();
  ASSERT_EQ(run.status, 0) << run.err;
  const std::size_t memory = run.err.find("memory\n"), loaded = run.err.find("\nloaded ");
  ASSERT_NE(loaded, std::string::npos) << run.err;
  EXPECT_LT(memory, loaded);
  const std::string plan = run.err.substr(memory, run.err.find('\n', run.err.find("  peak")) - memory);
  EXPECT_THAT(dry.err, AllOf(HasSubstr(plan), Not(HasSubstr("\nloaded "))));
}

TEST_F(PtychoStemFile, IsNotReadForSettingsThatCannotBe) {
  write_raster();
  const Ended ended = reconstruct_raster({"--set", "geometry.units=A"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("energy_keV"), Not(HasSubstr("\nloaded "))));
}

TEST_F(PtychoStemFile, PixelsWithoutAValueAreAnErrorUnlessTheyAreMasked) {
  write_raster(
      "frames = frames.astype('f4'); frames[1, 2, 3, 4] = np.nan; frames[6, 2, 3, 4] = np.nan; mask[3, 4] = 0");
  const Ended refused = reconstruct_raster();
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("raster.h5: 2 measured pixels have no value (not finite), first frame 10, row 3, "
                                     "column 4\nhint: name a mask"));
  EXPECT_FALSE(has_result());
  const Ended masked = reconstruct_raster({"--set", "data.mask=" + file("mask.npy")});
  EXPECT_EQ(masked.status, 0) << masked.err;
}

TEST_F(PtychoStemFile, NegativeAndInfiniteCountsAreThoseOfOwnReaders) {
  write_raster("frames = frames.astype('f4'); frames[0, 5, 6, 7] = -1");
  EXPECT_THAT(reconstruct_raster().err,
              AllOf(HasSubstr("1 measured pixels are negative or not finite, first frame 5, row 6, column 7"),
                    HasSubstr("data.clip_negative = true")));
  EXPECT_EQ(reconstruct_raster({"--clip-negative"}).status, 0);
  write_raster("frames = frames.astype('f4'); frames[0, 5, 6, 7] = np.inf");
  const Ended infinite = reconstruct_raster({"--clip-negative"});
  EXPECT_EQ(infinite.status, 3);
  EXPECT_THAT(infinite.err, HasSubstr("first frame 5, row 6, column 7"));
}

TEST_F(PtychoStemFile, ABrokenChunkIsAnErrorInWordsOfTheRunFile) {
  write_raster("",
               "d = f.create_dataset('data', data=frames, chunks=(1, 1, 24, 24), compression='gzip'); "
               "d.id.write_direct_chunk((2, 3, 0, 0), b'no deflate stream')");
  const Ended ended = reconstruct_raster();
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("raster.h5"), Not(HasSubstr("hint: --on-error"))));
  EXPECT_FALSE(has_result());
}

TEST_F(PtychoStemFile, HintsNameKeysOfTheRunFile) {
  write_raster("", "f['data'] = frames.reshape(64, 24, 24)[:63]");
  const Ended ended = reconstruct_raster({"--set", "data.scan_shape=8,8"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("data.scan_shape"), Not(HasSubstr("--scan-shape"))));
}

TEST_F(PtychoStemFile, AListOfPositionsBesideThePatternsIsTaken) {
  write_raster("positions[3] += 5", "f['data'] = frames; f['positions'] = positions");
  const Ended taken = reconstruct_raster();
  EXPECT_EQ(taken.status, 0) << taken.err;
  EXPECT_THAT(taken.err, HasSubstr("positions are those of " + file("raster.h5") + ":/positions"));
}

TEST_F(PtychoStemFile, AListThatIsNotOneOfTheFramesIsAnError) {
  // It is the user's: a raster in its place would be another scan.
  for (const auto& [list, shape, help] :
       {std::tuple("positions[:63]", "shape (63, 2) for 64 frames", "each frame its row and column"),
        std::tuple("positions.T", "shape (2, 64) for 64 frames", "store the transpose"),
        std::tuple("positions.reshape(8, 8, 2)", "shape (8, 8, 2) for 64 frames", "reshaped to (-1, 2)")}) {
    SCOPED_TRACE(list);
    for (const char* data : {"frames", "frames.reshape(64, 24, 24)"}) {
      write_raster("", "f['data'] = " + std::string(data) + "; f['positions'] = " + list);
      const Ended ended = reconstruct_raster({"--set", "data.scan_shape=8,8"});
      EXPECT_EQ(ended.status, 3);
      EXPECT_THAT(ended.err, AllOf(HasSubstr(":/positions: " + std::string(shape)), HasSubstr(help)));
      EXPECT_FALSE(has_result());
    }
  }
  write_raster("", "f['data'] = frames; f['positions'] = [1.0, 2.0, 3.0]");  // of a stage, say
  EXPECT_EQ(reconstruct_raster().status, 0);
}

TEST_F(PtychoStemFile, AListOfAnotherNameIsNamed) {
  write_raster("", "f['data'] = frames.reshape(64, 24, 24); f['scan'] = positions");
  const Ended ended = reconstruct_raster();
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("64 frames without positions, but /scan of shape (64, 2)"),
                               HasSubstr("data.positions = \"/scan\"")));
  EXPECT_EQ(reconstruct_raster({"--set", "data.positions=/scan"}).status, 0);
}

// Old layouts keep all of a scan in memory beside the patterns: a third of this plan.
TEST_F(PtychoStemFile, NeedsTheMemoryOfThePlan) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitisers hold memory of their own";
#endif
  const auto peak_and_plan = [&](const std::string& change) {
    write_raster(change);
    python(
        "import numpy as np, sys\nnp.save(sys.argv[1], np.exp(-np.add.outer(np.arange(-64, 64) ** 2, "
        "np.arange(-64, 64) ** 2) / 200))",
        file("probe.npy"));
    const bool large = !change.empty();
    const Ended ended = reconstruct_raster({"--report", file("report.json"), "--set",
                                            "probe.file=" + (large ? file("probe.npy") : file("scan.h5:probe")),
                                            "--set", "stop.rule=off"});
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.err;
  };
  const auto reported = [&] {
    std::ifstream report(file("report.json"));
    const std::string text{std::istreambuf_iterator<char>(report), {}};
    const std::size_t at = text.find("\"peak_rss_bytes\":");
    return std::stod(text.substr(at + 17));
  };
  (void)peak_and_plan("");
  const double begun = reported();
  const std::string said =
      peak_and_plan("frames = np.tile(np.pad(frames, ((0, 0), (0, 0), (52, 52), (52, 52))), (5, 5, 1, 1))");
  const double used = reported() - begun;
  const double planned = std::stod(said.substr(said.find("  peak") + 6)) * 1048576;
  ASSERT_GT(planned, 120e6) << said;
  EXPECT_LT(used, 1.05 * planned) << said;
  // What is read at a time is planned as if all patterns were there already, and more of them than the last time has.
  EXPECT_GT(used, planned - 64 * 1048576.0) << said;
}

class PtychoDamaged : public OnSmallScan {
 protected:
  [[nodiscard]] std::string checkpointed() const {
    write();
    const Ended ended = reconstruct(run_file("[output]\ncheckpoint_every = 3\nreport = false\npictures = false\n"));
    EXPECT_EQ(ended.status, 0) << ended.err;
    return file("result.ckpt.h5");
  }
};

TEST_F(PtychoDamaged, ACutOffFileSaysSo) {
  python(
      "import sys, h5py, numpy as np\n"
      "with h5py.File(sys.argv[1], 'w') as f:\n"
      "  f['entry_1/data_1/data'] = np.ones((64, 24, 24), 'u2')\n"
      "  f['entry_1/data_1/translation'] = np.zeros((64, 3))\n",
      file("whole.cxi"));
  std::filesystem::resize_file(file("whole.cxi"), std::filesystem::file_size(file("whole.cxi")) / 2);
  const Ended ended = run({"ptycho", "run", file("whole.cxi"), "-o", file("result.h5")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("whole.cxi: damaged: the file is cut off"), HasSubstr("incomplete")));
}

TEST_F(PtychoDamaged, ACheckpointOfAnotherMeasurementIsRefused) {
  const std::string checkpoint = checkpointed();
  std::filesystem::rename(file("scan.h5"), file("moved.h5"));
  write("frames = frames[::-1].copy()");
  const Ended refused = run({"ptycho", "resume", checkpoint, "-o", file("again.h5")});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("scan.h5 is not the measurement that " + checkpoint + " was written of"));
  EXPECT_FALSE(std::filesystem::exists(file("again.h5")));
  const Ended moved =
      run({"ptycho", "resume", checkpoint, "-o", file("again.h5"), "--set", "data.file=" + file("moved.h5")});
  EXPECT_EQ(moved.status, 0) << moved.err;
}

TEST_F(PtychoDamaged, ACheckpointWithAFlippedBitIsRefusedWhereverItIs) {
  const std::string checkpoint = checkpointed();
  const std::vector<std::uint8_t> whole = read_bytes(checkpoint);
  for (const std::size_t at : {std::size_t{40}, whole.size() / 3, whole.size() / 2, whole.size() - 30}) {
    SCOPED_TRACE(at);
    std::vector<std::uint8_t> flipped = whole;
    flipped[at] ^= 4;
    write_bytes(checkpoint, flipped);
    const Ended ended = run({"ptycho", "resume", checkpoint, "-o", file("again.h5")});
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.err, HasSubstr("the checkpoint is damaged"));
  }
}

TEST_F(PtychoDamaged, APatternInVacuumThatIsNotNamedIsAskedFor) {
  write();
  const Ended ended = reconstruct(run_file(), {"--set", "probe.init=vacuum", "--set", "probe.file="});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("probe.init is vacuum, but probe.file is missing"));
}

TEST_F(PtychoDamaged, TheResultTellsWhatTheDataFileSaid) {
  ASSERT_EQ(run({"ptycho", "simulate", "-o", file("sim.h5"), "--scan-shape", "6,6", "--detector-px", "32"}).status, 0);
  const Ended ended = run({"ptycho", "run", file("sim.h5"), "-o", file("result.h5"), "--set", "engine.0.iterations=2"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  ASSERT_EQ(run({"ptycho", "export", file("result.h5"), "--to", "cxi", "-o", file("result.cxi")}).status, 0);
  EXPECT_EQ(python("import sys, h5py\n"
                   "s = h5py.File(sys.argv[1] + '/result.h5')['settings'][()].decode()\n"
                   "for key in ('energy_keV', 'semiangle_mrad', 'detector_mrad_per_px', 'holdout', 'probe_type'):\n"
                   "  assert '\\n' + key + ' = ' in s, (key, s)\n"
                   "e = h5py.File(sys.argv[1] + '/result.cxi')['entry_1/instrument_1/source_1/energy'][()]\n"
                   "print(round(e / 1.602176634e-16))\n",
                   file("")),
            "200\n");
}

}  // namespace
}  // namespace sonde::testing
