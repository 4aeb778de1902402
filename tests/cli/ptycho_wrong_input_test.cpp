// SPDX-License-Identifier: Apache-2.0
// What `sonde ptycho run` says of wrong measurements and settings, and that it leaves them as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::OnSmallScan;
using testing::run;

using PtychoWrongInput = OnSmallScan;

TEST_F(PtychoWrongInput, EveryProblemOfARunFileIsToldWithItsLine) {
  write();
  const Ended ended = reconstruct(run_file("[stpo]\n[stop]\nrule = \"of\"\n"));
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("unknown table [stpo]"), HasSubstr("did you mean \"stop\""),
                               HasSubstr("unknown word \"of\"; did you mean \"off\"")));
}

TEST_F(PtychoWrongInput, ATextFileThatIsCalledHdf5IsABadFile) {
  const std::string path = file("notes.h5");
  std::ofstream(path) << "not the patterns";
  const Ended ended = run({"ptycho", "run", path});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("notes.h5: not an HDF5 file"));
}

TEST_F(PtychoWrongInput, AnArrayThatIsMissingIsABadFile) {
  const Ended ended = run({"ptycho", "run", file("gone.npy")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("gone.npy"));
}

TEST_F(PtychoWrongInput, FramesWithoutCountsAreListedAndCanBeLeftOut) {
  write("frames[3] = 0; frames[17] = 0");
  const Ended refused = reconstruct(run_file());
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("2 frames have no count: 3 and 17"), HasSubstr("--skip-empty")));
  EXPECT_EQ(reconstruct(run_file(), {"--skip-empty"}).status, 0);
}

TEST_F(PtychoWrongInput, NegativeCountsAreNamedAndCanBeClipped) {
  write("frames = frames.astype('f4'); frames[5, 6, 7] = -1");
  const Ended refused = reconstruct(run_file());
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("first frame 5, row 6, column 7"), HasSubstr("--clip-negative")));
  EXPECT_EQ(reconstruct(run_file(), {"--clip-negative"}).status, 0);
}

TEST_F(PtychoWrongInput, MaskedPixelsMayHoldAnything) {
  write("frames = frames.astype('f4'); frames[5, 6, 7] = np.nan; mask[6, 7] = 0");
  EXPECT_EQ(reconstruct(run_file()).status, 3);
  EXPECT_EQ(reconstruct(run_file("", "mask = \"mask\"\n")).status, 0);
}

TEST_F(PtychoWrongInput, FramesThatComeLastAreSuspected) {
  write("frames = np.moveaxis(frames, 0, -1)");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("shape (24, 24, 64) with 64 positions"), HasSubstr("in another order")));
}

TEST_F(PtychoWrongInput, PositionsOfTheWrongShapeNumberOrValueAreNamed) {
  write("positions = positions.T");
  EXPECT_THAT(reconstruct(run_file()).err,
              AllOf(HasSubstr("shape (2, 64), expected (frames, 2)"), HasSubstr("exchanged")));
  write("positions = positions[:60]");
  EXPECT_THAT(reconstruct(run_file()).err, HasSubstr("60 positions for 64 frames"));
  write("positions[7, 1] = np.nan");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("position 7"));
}

TEST_F(PtychoWrongInput, MissingDataSetsNameWhatIsThere) {
  write();
  const Ended ended = reconstruct(run_file(), {"--set", "data.patterns=dta"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("no data set \"dta\""), HasSubstr("/data")));
}

TEST_F(PtychoWrongInput, SamplingThatContradictsItselfNamesTheNumbers) {
  write();
  const Ended ended =
      reconstruct(run_file(), {"--set", "geometry.units=A", "--set", "geometry.energy_keV=200", "--set",
                               "geometry.detector_mrad_per_px=1", "--set", "geometry.object_pixel_A=2"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("the sampling is inconsistent"), HasSubstr("1.045 A"),
                               HasSubstr("object_pixel_A = 2 of the run file")));
}

TEST_F(PtychoWrongInput, TooLittleOverlapWarnsWithTheNumber) {
  write("positions *= 6");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("warning: neighbours overlap by"), HasSubstr("below 60 %")));
  // Before any work too.
  EXPECT_THAT(reconstruct(run_file(), {"--dry-run"}).err, HasSubstr("warning: neighbours overlap by"));
}

TEST_F(PtychoWrongInput, AStepThatIsWrongByATenthShowsAtTheEnd) {
  write();
  EXPECT_THAT(reconstruct(run_file("", "", 40)).err, ::testing::Not(HasSubstr("times its floor")));
  write("positions = 12 + (positions - 12) / 10");
  const Ended ended = reconstruct(run_file("", "", 40));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("times its floor: more iterations are needed, or step, energy"));
}

TEST_F(PtychoWrongInput, ADefocusBesideAProbeOfAFileIsSaidToHaveNoEffect) {
  write();
  const Ended ended = reconstruct(run_file(), {"--set", "probe.defocus_A=150"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err,
              HasSubstr("warning: [probe] defocus_A = 150 has no effect: the first probe comes from a file"));
}

TEST_F(PtychoWrongInput, AFarPositionIsNamedBeforeTheMemoryThatItsObjectNeeds) {
  write("positions[9] = (4000, 4000)");
  const Ended ended = reconstruct(run_file(), {"--memory", "64M"});
  EXPECT_EQ(ended.status, 4);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("warning: frame 9 is "), HasSubstr("most is for object")));
  EXPECT_FALSE(has_result());
}

TEST_F(PtychoWrongInput, PositionsThatAreKeptAtTheirLimitAreSaidOnce) {
  write("positions[20] += 3");
  const Ended ended = reconstruct(run_file("[positions]\nmethod = \"gradient\"\nstart = 1\nmax_move_px = 0.01\n"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  const std::string warning = "positions are at their limit at iteration 1: 0.01 px from where they began";
  EXPECT_THAT(ended.err, HasSubstr(warning));
  EXPECT_EQ(ended.err.find("are at their limit"), ended.err.rfind("are at their limit"));
}

TEST_F(PtychoWrongInput, FramesAtOnePlaceAreRefused) {
  write("positions[:] = 12");
  const Ended ended = reconstruct(run_file());
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("all 64 frames are at one place, (12, 12)"));
}

TEST_F(PtychoWrongInput, ScanAxesThatComeLastAreSuspectedByTheCounts) {
  write("frames = np.moveaxis(frames.reshape(8, 8, n, n), (0, 1), (2, 3))");
  const Ended positioned = reconstruct(run_file());
  EXPECT_EQ(positioned.status, 3);
  EXPECT_THAT(positioned.err,
              HasSubstr("shape (24, 24, 8, 8) with 64 positions: the axes seem to be in another order"));
  std::ofstream(file("raster.toml")) << "[data]\nfile = \"scan.h5\"\npatterns = \"data\"\nskip_empty = true\n"
                                     << "[geometry]\nunits = \"pixel\"\nscan_step_px = 2\n[probe]\nfwhm = 4\n"
                                     << "[[engine]]\nname = \"epie\"\niterations = 1\n";
  const Ended listed = run({"ptycho", "run", file("raster.toml"), "-o", file("result.h5")});
  EXPECT_EQ(listed.status, 3);
  EXPECT_THAT(listed.err, HasSubstr("the axes of the patterns seem to be in another order"));
  write("frames = np.moveaxis(frames.reshape(8, 8, n, n), (0, 1), (2, 3)); positions = [1.0]");  // no list
  const Ended ended = run({"ptycho", "run", file("raster.toml"), "-o", file("result.h5")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the mean pattern is flat as a scan is: the axes seem to be in another order"));
}

TEST_F(PtychoWrongInput, TheOtherZeroFrequencyIsSuspected) {
  write();
  EXPECT_THAT(reconstruct(run_file("", "zero_frequency = \"corner\"\n")).err,
              HasSubstr("most counts are at the centre of the patterns, but zero_frequency is \"corner\""));
}

TEST_F(PtychoWrongInput, TheMeasurementIsNeverReplaced) {
  write();
  const Ended ended = run({"ptycho", "run", run_file(), "-o", file("scan.h5")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("the output would replace a file that this run reads"));
}

}  // namespace
}  // namespace sonde
