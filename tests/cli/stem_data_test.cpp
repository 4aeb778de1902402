// SPDX-License-Identifier: Apache-2.0
// What the stem commands do with real detector files of every kind: those that load give the published values, the
// others are refused by name with the exit status of their kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/io/npy.h"
#include "tests/cli/stem.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::at;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using testing::TemporaryFolder;
using testing::whole_numbers;

/// Sums of the frames, in scan order, through `stem image`: with bad pixels as the program leaves them, or raw.
std::vector<std::uint64_t> frame_sums(const std::string& scan, std::vector<std::string> settings = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> words = {"stem", "image", scan, "-d", "all", "-o", folder.file("sums.npy")};
  words.insert(words.end(), settings.begin(), settings.end());
  (void)json_of(words);
  const Array image = read_npy(folder.file("sums.npy"));
  if (image.dtype() != DType::u64) {
    ADD_FAILURE() << "sums of counts are u64, not " << name(image.dtype());
    return {};
  }
  const auto* sums = static_cast<const std::uint64_t*>(image.data());
  return {sums, sums + image.count()};
}

std::uint64_t total(const std::vector<std::uint64_t>& sums) {
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all += sum;
  return all;
}

// arina-empty: a real acquisition with the beam off.

TEST(RealArinaEmpty, LoadsLosslesslyAsZeros) {
  SONDE_NEED_DATA(data);
  const Value loaded = json_of({"stem", "load", data / "stem/arina-empty/test_00_master.h5"});
  EXPECT_THAT(whole_numbers(at(loaded, {"shape"})), ElementsAre(4, 4, 192, 192));
  EXPECT_EQ(at(loaded, {"dtype"}).as_text(), "u8");
  EXPECT_EQ(at(loaded, {"total"}).as_whole(), 0);
  EXPECT_EQ(at(loaded, {"exactness", "exact"}).as_bool(), true);
  EXPECT_EQ(at(loaded, {"exactness", "largest"}).as_real(), 0);
  EXPECT_THAT(at(loaded, {"centre", "error"}).as_text(), HasSubstr("every good pixel of the pattern holds 0"));
}

TEST(RealArinaEmpty, InfoTellsTheCalibrationOfTheSidecar) {
  SONDE_NEED_DATA(data);
  const Value info = json_of({"stem", "info", data / "stem/arina-empty/test_00_master.h5"});
  const Value a = at(info, {"acquisition"});
  EXPECT_EQ(at(a, {"stored_dtype"}).as_text(), "u32");
  EXPECT_EQ(at(a, {"scan_because"}).as_text(), "the sidecar test_00.h5");
  // Half a unit of the published digits.
  EXPECT_NEAR(at(a, {"calibration", "scan_step_row_nm", "value"}).as_real(), 0.13915206, 5e-9);
  EXPECT_EQ(at(a, {"calibration", "high_tension_v", "value"}).as_real(), 300e3);
  EXPECT_EQ(at(a, {"calibration", "camera_length_m", "value"}).as_real(), 0.115);
  EXPECT_EQ(at(a, {"calibration", "camera_length_m", "from"}).as_text(), "file");
}

TEST(RealArinaEmpty, SidecarNamedAloneIsRefusedAndNamesItsMaster) {
  SONDE_NEED_DATA(data);
  const Ended ended = testing::run({"stem", "load", data / "stem/arina-empty/test_00.h5"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("test_00.h5: the microscope's sidecar of a scan, without frames"),
                               HasSubstr("test_00_master.h5, which it belongs to")));
  EXPECT_THAT(ended.out, IsEmpty());
}

TEST(RealArinaEmpty, DataFileAloneLoadsWithAScanShape) {
  SONDE_NEED_DATA(data);
  const Value loaded =
      json_of({"stem", "load", data / "stem/arina-empty/test_00_data_000001.h5", "--scan-shape", "2,8"});
  EXPECT_THAT(whole_numbers(at(loaded, {"shape"})), ElementsAre(2, 8, 192, 192));
}

// arina-binned: four sentinels were averaged into bins before masking. The values were
// derived with another reader.

TEST(RealArinaBinned, FindsTheFourBadBinsAndNoOther) {
  SONDE_NEED_DATA(data);
  const Value loaded = json_of({"stem", "load", data / "stem/arina-binned/test_arina_master.h5"});
  std::vector<std::pair<Index, Index>> bad;
  for (const Value& pixel : at(loaded, {"bad_pixels"}).items()) {
    bad.emplace_back(at(pixel, {"row"}).as_whole(), at(pixel, {"col"}).as_whole());
    EXPECT_EQ(at(pixel, {"reason"}).as_text(), "hot");
  }
  EXPECT_THAT(bad, ElementsAre(std::pair(3, 16), std::pair(9, 9), std::pair(14, 1), std::pair(19, 1)));
}

TEST(RealArinaBinned, HasItsTotalMaximumAndNarrowestType) {
  SONDE_NEED_DATA(data);
  const Value loaded =
      json_of({"stem", "load", data / "stem/arina-binned/test_arina_master.h5", "--hot-pixels", "zero"});
  EXPECT_EQ(at(loaded, {"total"}).as_whole(), 70657);
  EXPECT_EQ(at(loaded, {"exactness", "largest"}).as_real(), 966);
  EXPECT_EQ(at(loaded, {"exactness", "largest_before_correction"}).as_real(), 67108872);
  EXPECT_EQ(at(loaded, {"dtype"}).as_text(), "u16");
}

TEST(RealArinaBinned, FrameSumsAreThoseOfEveryLayout) {
  SONDE_NEED_DATA(data);
  const std::string scan = data / "stem/arina-binned/test_arina_master.h5";
  const std::vector<std::uint64_t> sums = frame_sums(scan, {"--hot-pixels", "zero"});
  ASSERT_EQ(sums.size(), 16u);
  EXPECT_THAT(std::vector(sums.begin(), sums.begin() + 4), ElementsAre(4266, 4294, 4340, 4411));
  EXPECT_EQ(total(sums), 70657u);
  for (const char* layout : {"frame", "pixel", "compressed", "file"})
    EXPECT_EQ(frame_sums(scan, {"--hot-pixels", "zero", "--layout", layout}), sums) << layout;
}

TEST(RealArinaBinned, SixteenFramesMarkTheBadBinsAndKeepTheirCounts) {
  SONDE_NEED_DATA(data);
  const std::string scan = data / "stem/arina-binned/test_arina_master.h5";
  const Value kept = json_of({"stem", "load", scan});
  EXPECT_EQ(at(kept, {"exactness", "largest"}).as_real(), 67108872);
  EXPECT_EQ(at(kept, {"ledger", "hot"}).as_whole(), 0);
  const Index stored = at(kept, {"ledger", "stored"}).as_whole(), marked = at(kept, {"ledger", "marked"}).as_whole();
  EXPECT_EQ(stored - marked, 70657);
  EXPECT_EQ(at(kept, {"ledger", "kept"}).as_whole(), stored);
  const Value zeroed = json_of({"stem", "load", scan, "--hot-pixels", "zero"});
  EXPECT_EQ(at(zeroed, {"ledger", "stored"}).as_whole(), stored);
  EXPECT_EQ(at(zeroed, {"ledger", "hot"}).as_whole(), marked);
  EXPECT_EQ(at(zeroed, {"ledger", "kept"}).as_whole(), 70657);
  EXPECT_EQ(at(zeroed, {"ledger", "unexplained"}).as_whole(), 0);
}

TEST(RealArinaBinned, ConvertsToTheSameCounts) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  for (const char* name : {"out.npy", "out.emd", "out_master.h5"})
    (void)json_of({"stem", "convert", data / "stem/arina-binned/test_arina_master.h5", folder.file(name)});
  const std::string script = std::string(R"(
import sys, h5py, numpy as np
folder = sys.argv[1]
with h5py.File(')") + (data / "stem/arina-binned/test_arina_master.h5").string() +
                             R"(', 'r') as master:
    stored = np.concatenate([master['entry/data'][name][:] for name in sorted(master['entry/data'])])
assert stored.max() == 67108872
assert np.array_equal(np.load(folder + '/out.npy').reshape(stored.shape), stored)
def largest(file):
    found = []
    file.visititems(lambda name, item: found.append(item) if getattr(item, 'ndim', 0) >= 3 else None)
    return max(found, key=lambda item: item.size)[()]
with h5py.File(folder + '/out.emd', 'r') as file:
    assert np.array_equal(largest(file).reshape(stored.shape), stored)
with h5py.File(folder + '/out_data_000001.h5', 'r') as file:
    assert np.array_equal(file['entry/data/data'][:].reshape(stored.shape), stored)
print('same')
)";
  EXPECT_EQ(testing::python(script, folder.path().string()), "same\n");
}

TEST(RealArinaBinned, WithoutCorrectionTheSentinelsStay) {
  SONDE_NEED_DATA(data);
  const Value loaded =
      json_of({"stem", "load", data / "stem/arina-binned/test_arina_master.h5", "--hot-pixels", "none"});
  EXPECT_EQ(at(loaded, {"dtype"}).as_text(), "u32");
  EXPECT_EQ(at(loaded, {"exactness", "largest"}).as_real(), 67108872);
  EXPECT_THAT(at(loaded, {"bad_pixels"}).items(), IsEmpty());
}

// quantem-fixture

TEST(RealFixture, MasterAndLoneDataFileLoad) {
  SONDE_NEED_DATA(data);
  const Value master = json_of({"stem", "load", data / "stem/quantem-fixture/fixture_master.h5"});
  EXPECT_THAT(whole_numbers(at(master, {"shape"})), ElementsAre(1, 1, 64, 64));
  const Value alone = json_of({"stem", "load", data / "stem/quantem-fixture/fixture_u8_data_000001.h5"});
  EXPECT_THAT(whole_numbers(at(alone, {"shape"})), ElementsAre(1, 1, 192, 192));
}

// Merlin. Frame sums were derived with another reader.

TEST(RealMerlin, TwelveBitFramesHaveTheirSums) {
  SONDE_NEED_DATA(data);
  EXPECT_THAT(frame_sums(data / "stem/merlin/Single_9_Frame_CounterDepth_12_Rows_256.mib",
                         {"--scan-shape", "3,3", "--hot-pixels", "none"}),
              ElementsAre(29032, 29076, 28899, 28730, 28893, 28878, 29164, 29055, 29026));
}

TEST(RealMerlin, SixBitFramesHaveTheirSums) {
  SONDE_NEED_DATA(data);
  const auto sums = frame_sums(data / "stem/merlin/Single_9_Frame_CounterDepth_6_Rows_256.mib",
                               {"--scan-shape", "1,9", "--hot-pixels", "none"});
  ASSERT_EQ(sums.size(), 9u);
  EXPECT_THAT(std::vector(sums.begin(), sums.begin() + 3), ElementsAre(24125, 24181, 24247));
}

TEST(RealMerlin, OneBitRawFramesHaveTheirSetPixels) {
  SONDE_NEED_DATA(data);
  const auto sums = frame_sums(data / "stem/merlin/Single_9_Frame_CounterDepth_1_Rows_256RAW.mib",
                               {"--scan-shape", "9,1", "--hot-pixels", "none"});
  ASSERT_EQ(sums.size(), 9u);
  EXPECT_THAT(std::vector(sums.begin(), sums.begin() + 3), ElementsAre(2390, 2404, 2400));
}

TEST(RealMerlin, SingleQuadFramesLoadAsOnePosition) {
  SONDE_NEED_DATA(data);
  for (const char* name :
       {"Quad_1_Frame_CounterDepth_24_Rows_256.mib", "Quad_1_Frame_CounterDepth_1_Rows_256RAW.mib"}) {
    const Value loaded = json_of({"stem", "load", data / "stem/merlin" / name});
    EXPECT_THAT(whole_numbers(at(loaded, {"shape"})), ElementsAre(1, 1, 512, 512)) << name;
  }
}

TEST(RealMerlin, FramesAreTheSameWithoutTheTextHeader) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const std::filesystem::path original = data / "stem/merlin/Single_9_Frame_CounterDepth_12_Rows_256.mib";
  std::filesystem::copy_file(original, folder.file("alone.mib"));
  EXPECT_EQ(frame_sums(folder.file("alone.mib"), {"--scan-shape", "3,3"}),
            frame_sums(original, {"--scan-shape", "3,3"}));
}

// Others

TEST(RealBlockfiles, LoadWithTheirScans) {
  SONDE_NEED_DATA(data);
  // NX = 2, NY = 3: three rows of two.
  EXPECT_THAT(whole_numbers(at(json_of({"stem", "load", data / "stem/other/test1.blo"}), {"shape"})),
              ElementsAre(3, 2, 144, 144));
  EXPECT_THAT(whole_numbers(at(json_of({"stem", "load", data / "stem/other/test2.blo"}), {"shape"})),
              ElementsAre(2, 3, 5, 5));
}

TEST(RealEmd, PrismaticAndPy4dstemLoadWithTheirAxes) {
  SONDE_NEED_DATA(data);
  EXPECT_THAT(whole_numbers(at(json_of({"stem", "load", data / "stem/other/Si100_4D.emd"}), {"shape"})),
              ElementsAre(11, 11, 8, 8));
  const Value datacube = json_of({"stem", "load", data / "stem/other/py4DSTEM_size2x3x4x5.h5"});
  EXPECT_THAT(whole_numbers(at(datacube, {"shape"})), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(at(datacube, {"dtype"}).as_text(), "f32");
}

TEST(RealFiles, FilesOfMicroscopesHaveTheirShapesAndTotals) {
  SONDE_NEED_DATA(data);
  // Totals by NumPy from the documented layouts.
  const auto loaded = [&](const char* file, std::vector<std::string> more) {
    std::vector<std::string> words = {"stem", "load", data / "stem/other" / file, "--hot-pixels", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return json_of(words);
  };
  const Value mrc = loaded("ROI_Random_Scan_movie.mrc", {});
  EXPECT_THAT(whole_numbers(at(mrc, {"shape"})), ElementsAre(29, 12, 16, 16));
  EXPECT_EQ(at(mrc, {"total"}).as_whole(), 104477835);
  const Value dm3 = loaded("test_diffraction_pattern.dm3", {});
  EXPECT_THAT(whole_numbers(at(dm3, {"shape"})), ElementsAre(1, 1, 87, 87));
  EXPECT_EQ(at(dm3, {"total"}).as_whole(), 9459771);
  const Value tvips = loaded("test_tvips_2345_000.tvips", {"--scan-shape", "2,3"});
  EXPECT_THAT(whole_numbers(at(tvips, {"shape"})), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(at(tvips, {"total"}).as_whole(), 7140);
}

struct Refused {
  const char* file;
  int status;
  const char* what;    // of the message
  const char* remedy;  // of the hint
};

TEST(RealFiles, WhatIsNotReadIsNamedWithARemedy) {
  SONDE_NEED_DATA(data);
  for (const Refused& each :
       {Refused{"bitshuffle/regression_0.1.3.h5", 3, "no scan found", "--dataset"},
        {"bitshuffle/regression_0.4.0.h5", 3, "no scan found", "--dataset"},
        {"merlin/Merlin_navigation4x2_ROI.zip", 8, "is a ZIP archive", "unpack it"},
        {"merlin/Merlin_navigation4x2_signalNx256_ROI.zip", 8, "is a ZIP archive", "unpack it"},
        {"other/Custom_movie.mrc", 3, "30 frames at positions that do not fill a grid once", "--scan-shape 1,30"},
        {"other/test_tvips_2345_000.tvips", 3, "6 frames: nothing says the shape", "--scan-shape, for instance 2,3"},
        {"other/map4x4.xml", 8, "is an EMPAD header, but its raw data scan_x4_y4.raw are not beside it", "same folder"},
        {"other/EMPAD_v1.2.2_x32_y64_size0.8.xml", 8, "scan_x32_y64.raw are not beside it", "same folder"},
        {"merlin/Single_9_Frame_CounterDepth_6_Rows_256.hdr", 3, "is the text header of a Merlin scan", ".mib"},
        {"other/Custom_info.txt", 3, "unknown file format", "--raw-shape"}}) {
    SCOPED_TRACE(each.file);
    const Ended ended = testing::run({"stem", "load", data / "stem" / each.file});
    EXPECT_EQ(ended.status, each.status);
    EXPECT_THAT(ended.err, AllOf(HasSubstr(std::filesystem::path(each.file).filename().string()), HasSubstr(each.what),
                                 HasSubstr("hint: "), HasSubstr(each.remedy)));
    EXPECT_THAT(ended.out, IsEmpty());
  }
}

TEST(RealFiles, ValidateChecksWithoutLoading) {
  SONDE_NEED_DATA(data);
  const Value checked = json_of({"stem", "validate", data / "stem/arina-binned/test_arina_master.h5",
                                 data / "stem/arina-empty/test_00_master.h5", data / "stem/other/test1.blo"});
  ASSERT_EQ(at(checked, {"scans"}).size(), 3u);
  for (const Value& scan : at(checked, {"scans"}).items()) EXPECT_EQ(at(scan, {"status"}).as_text(), "ok");
  EXPECT_THAT(at(checked, {"problems"}).items(), IsEmpty());
}

}  // namespace
}  // namespace sonde
