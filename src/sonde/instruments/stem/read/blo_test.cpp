// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/blo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frame_sums;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The sums of real files were taken with NumPy from the documented layout.

TEST(BloFiles, FirstScanHasItsShapeAndSums) {
  SONDE_NEED_DATA(data);
  const auto source = open_blo(data / "stem/other/test1.blo", {});
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.scan.rows, 3);
  EXPECT_EQ(scan.scan.cols, 2);
  EXPECT_EQ(scan.rows, 144);
  EXPECT_EQ(scan.cols, 144);
  EXPECT_EQ(scan.calibration.scan_step_row_nm->value, 12.8);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 200000);
  EXPECT_DOUBLE_EQ(scan.calibration.camera_length_m->value, 0.2);
  EXPECT_THAT(frame_sums<std::uint8_t>(*source), ElementsAre(845297, 867000, 861801, 872369, 847954, 870149));
}

TEST(BloFiles, SecondScanHasItsShapeAndSums) {
  SONDE_NEED_DATA(data);
  const auto source = open_blo(data / "stem/other/test2.blo", {});
  EXPECT_EQ(source->acquisition().scan.rows, 2);
  EXPECT_EQ(source->acquisition().scan.cols, 3);
  EXPECT_THAT(frame_sums<std::uint8_t>(*source), ElementsAre(473, 537, 534, 482, 388, 538));
}

/// A scan of 2 x 3 patterns of 2 x 2 bytes, by the published layout of the format.
std::vector<std::uint8_t> made_up_file() {
  std::vector<std::uint8_t> bytes(100);
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  };
  const std::string magic = "IMGBLO";
  std::copy(magic.begin(), magic.end(), bytes.begin());
  put(6, 0x0102, 2);
  put(12, 100, 4);  // patterns
  put(20, 2, 2);    // size
  put(24, 3, 2);    // columns
  put(26, 2, 2);    // rows
  for (std::uint8_t pattern = 0; pattern < 6; ++pattern) {
    bytes.insert(bytes.end(), {0xaa, 0x55, pattern, 0, 0, 0});
    bytes.insert(bytes.end(), {pattern, 1, 2, 3});
  }
  return bytes;
}

std::string error_of_file(const std::vector<std::uint8_t>& bytes, const ReadOptions& options = {}) {
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("a.blo"), bytes);
  return error_of(ErrorKind::bad_file, [&] {
    const auto source = open_blo(folder.file("a.blo"), options);
    (void)frame_sums<std::uint8_t>(*source);
  });
}

TEST(Blo, ReadsPatternsInOrder) {
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("a.blo"), made_up_file());
  const auto source = open_blo(folder.file("a.blo"), {});
  EXPECT_THAT(frame_sums<std::uint8_t>(*source), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_FALSE(source->acquisition().calibration.high_tension_v.has_value());  // zero was not recorded
}

TEST(Blo, MissingPatternsAreErrorsUnlessAccepted) {
  auto bytes = made_up_file();
  bytes.resize(bytes.size() - 20);
  EXPECT_THAT(error_of_file(bytes), AllOf(HasSubstr("4 frames, but the header says a scan of 2 x 3 = 6"),
                                          HasSubstr("a.blo"), HasSubstr("--allow-incomplete")));
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("a.blo"), bytes);
  ReadOptions options;
  options.allow_incomplete = true;
  EXPECT_EQ(open_blo(folder.file("a.blo"), options)->acquisition().frames, 4);
}

TEST(Blo, PatternsWithoutMarkerAreErrors) {
  auto bytes = made_up_file();
  bytes[100 + 3 * 10] = 0;
  EXPECT_THAT(error_of_file(bytes), HasSubstr("pattern 3 does not begin with its marker"));
}

TEST(Blo, ForeignAndEmptyHeadersAreErrors) {
  auto bytes = made_up_file();
  bytes[20] = 0;
  EXPECT_THAT(error_of_file(bytes), HasSubstr("a scan of 2 x 3 patterns of 0 x 0 pixels"));
  bytes[0] = 'X';
  EXPECT_THAT(error_of_file(bytes), HasSubstr("not a BLO file"));
  bytes.resize(10);
  EXPECT_THAT(error_of_file(bytes), HasSubstr("not a BLO file"));
}

TEST(Blo, BytesBehindTheLastPatternAreNoted) {
  auto bytes = made_up_file();
  bytes.resize(bytes.size() + 7);
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("a.blo"), bytes);
  EXPECT_EQ(open_blo(folder.file("a.blo"), {})->acquisition().notes.size(), 1u);
}

}  // namespace
}  // namespace sonde::stem
