// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/mib.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frame_of;
using sonde::testing::frame_sums;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ReadOptions one_frame() {
  ReadOptions options;
  options.scan_rows = options.scan_cols = 1;
  return options;
}

// The sums of real files were taken with NumPy from the documented layout.

TEST(MibFiles, TwelveBitFramesHaveTheirSums) {
  SONDE_NEED_DATA(data);
  const auto source = open_mib(data / "stem/merlin/Single_9_Frame_CounterDepth_12_Rows_256.mib", {});
  EXPECT_EQ(source->acquisition().rows, 256);
  EXPECT_EQ(source->acquisition().scan.rows, 3);
  EXPECT_THAT(frame_sums<std::uint16_t>(*source),
              ElementsAre(29032, 29076, 28899, 28730, 28893, 28878, 29164, 29055, 29026));
}

TEST(MibFiles, SixBitFramesHaveTheirSums) {
  SONDE_NEED_DATA(data);
  const auto source = open_mib(data / "stem/merlin/Single_9_Frame_CounterDepth_6_Rows_256.mib", {});
  EXPECT_THAT(frame_sums<std::uint8_t>(*source),
              ElementsAre(24125, 24181, 24247, 24195, 24191, 24183, 24184, 24185, 24193));
}

TEST(MibFiles, OneBitFramesHaveTheirSetPixels) {
  SONDE_NEED_DATA(data);
  const auto source = open_mib(data / "stem/merlin/Single_9_Frame_CounterDepth_1_Rows_256RAW.mib", {});
  EXPECT_THAT(frame_sums<std::uint8_t>(*source), ElementsAre(2390, 2404, 2400, 2400, 2398, 2408, 2401, 2395, 2409));
}

TEST(MibFiles, TextFileGivesMetadataAndIsNotNeeded) {
  SONDE_NEED_DATA(data);
  const auto name = data / "stem/merlin/Quad_1_Frame_CounterDepth_1_Rows_256RAW.mib";
  EXPECT_EQ(open_mib(name, one_frame())->acquisition().original_metadata.at("HDR/Counter Depth (number)"), "1");
  const TemporaryFolder folder;
  std::filesystem::copy_file(name, folder.file("alone.mib"));
  EXPECT_EQ(open_mib(folder.file("alone.mib"), one_frame())->acquisition().rows, 512);
}

/// Correlation of two pictures of 512 x 512.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sa += a[i];
    sb += b[i];
    saa += a[i] * a[i];
    sbb += b[i] * b[i];
    sab += a[i] * b[i];
  }
  const double n = static_cast<double>(a.size());
  return (n * sab - sa * sb) / std::sqrt((n * saa - sa * sa) * (n * sbb - sb * sb));
}

TEST(MibFiles, RawQuadIsArrangedLikeTheProcessedFrame) {
  SONDE_NEED_DATA(data);
  // Both frames show the same detector in the same minute, once raw with one bit and once arranged by its own software:
  // the fixed pattern of its pixels agrees only in the right arrangement (any other one gives below 0.5 per chip).
  const auto raw = open_mib(data / "stem/merlin/Quad_1_Frame_CounterDepth_1_Rows_256RAW.mib", one_frame());
  const auto processed = open_mib(data / "stem/merlin/Quad_1_Frame_CounterDepth_24_Rows_256.mib", one_frame());
  const auto bits = frame_of<std::uint8_t>(*raw, 0);
  const auto counts = frame_of<std::uint32_t>(*processed, 0);
  ASSERT_EQ(bits.size(), counts.size());
  EXPECT_EQ(std::accumulate(bits.begin(), bits.end(), 0), 10348);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 778764u);
  const std::vector<double> a(bits.begin(), bits.end());
  for (const Index row : {0, 256})
    for (const Index col : {0, 256}) {
      SCOPED_TRACE(::testing::Message() << "chip at " << row << ", " << col);
      std::vector<double> one, other;
      for (Index r = row; r < row + 256; ++r)
        for (Index c = col; c < col + 256; ++c) {
          const auto at = static_cast<std::size_t>(512 * r + c);
          one.push_back(bits[at]);
          other.push_back(std::min(counts[at], 3u));  // a few noisy pixels shall not decide
        }
      EXPECT_GT(correlation(one, other), 0.95);
    }
}

TEST(MibFiles, ZippedScanWithRegionKeepsItsHotPixel) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  sonde::testing::python("import sys, zipfile\nzipfile.ZipFile('" +
                             (data / "stem/merlin/Merlin_navigation4x2_signalNx256_ROI.zip").string() +
                             "').extractall(sys.argv[1])\n",
                         folder.path().string());
  const auto source = open_mib(folder.file("002_merlin_test_roi_sig256x128_nav4x2_hot_pixel_52x_39y.mib"), {});
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.rows, 128);
  EXPECT_EQ(scan.cols, 256);
  EXPECT_EQ(scan.scan.rows, 2);
  EXPECT_EQ(scan.scan.cols, 4);
  EXPECT_EQ(scan.scan_because, "the .hdr file");
  std::vector<int> total(128 * 256);
  for (Index frame = 0; frame < 8; ++frame) {
    const auto counts = frame_of<std::uint16_t>(*source, frame);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += counts[i];
  }
  const auto hottest = std::max_element(total.begin(), total.end()) - total.begin();
  EXPECT_EQ(hottest / 256, 39);
  EXPECT_EQ(hottest % 256, 52);
}

/// A header as the detector writes it, for frames that a test makes up.
std::string header_text(int cols, int rows, const std::string& depth, const std::string& layout, int counter_depth,
                        int header_bytes = 384, int chips = 1) {
  char text[200];
  std::snprintf(text, sizeof text, "MQ1,000001,%05d,%02d,%04d,%04d,%s,   %s,01,2021-04-15 15:01:38,0.001,",
                header_bytes, chips, cols, rows, depth.c_str(), layout.c_str());
  std::string header = text;
  if (counter_depth > 0) header += "MQ1A,2021-04-15T14:01:38Z,1000000ns," + std::to_string(counter_depth) + ",";
  header.resize(static_cast<std::size_t>(header_bytes), '\0');
  return header;
}

MibHeader parse(const std::string& text, const std::map<std::string, std::string>& sidecar = {}) {
  return parse_mib_header(std::as_bytes(std::span(text)), sidecar, "a.mib");
}

TEST(Mib, RawDepthsUndoTheReversalOfTheirWords) {
  // One row of 64 pixels 0, 1, 2, ...: six bits keep the number, twelve hold it times 60.
  const MibHeader six = parse(header_text(64, 1, "R64", "1x1", 6)),
                  twelve = parse(header_text(64, 1, "R64", "1x1", 12));
  std::vector<std::byte> bytes(64), pairs(128), out(64), out_pairs(128);
  for (std::size_t k = 0; k < 64; ++k) {
    bytes[k / 8 * 8 + (7 - k % 8)] = static_cast<std::byte>(k);
    const std::size_t at = 2 * (k / 4 * 4 + (3 - k % 4));
    pairs[at] = static_cast<std::byte>(60 * k >> 8);
    pairs[at + 1] = static_cast<std::byte>(60 * k & 0xff);
  }
  decode_mib(six, bytes, out);
  decode_mib(twelve, pairs, out_pairs);
  for (std::size_t k = 0; k < 64; ++k) {
    EXPECT_EQ(static_cast<std::size_t>(out[k]), k);
    std::uint16_t value;
    std::memcpy(&value, &out_pairs[2 * k], 2);
    EXPECT_EQ(value, 60 * k);
  }
}

TEST(Mib, CounterDepthMayComeFromTheTextFile) {
  const std::string text = header_text(64, 1, "R64", "1x1", 0);
  EXPECT_EQ(parse(text, {{"Counter Depth (number)", "12"}}).packing, MibPacking::half_words);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)parse(text); }),
              AllOf(HasSubstr("counter depth is not recorded"), HasSubstr("hint: put the .hdr file")));
}

TEST(Mib, HeadersThatMakeNoSenseAreErrors) {
  const auto error = [](const std::string& text) { return error_of(ErrorKind::bad_file, [&] { (void)parse(text); }); };
  EXPECT_THAT(error("MQ2,000001"), HasSubstr("a.mib: not a MIB file"));
  EXPECT_THAT(error("MQ1,000001,00384"), HasSubstr("first MIB header is too short"));
  EXPECT_THAT(error(header_text(0, 256, "U08", "1x1", 6)), HasSubstr("the number of columns is \"0000\""));
  EXPECT_THAT(error(header_text(100, 256, "R64", "1x1", 6)), HasSubstr("raw rows of 100 pixels"));
  EXPECT_THAT(error(header_text(512, 256, "R64", "2x2", 1, 768, 4)), HasSubstr("raw rows of 512 pixels"));
}

TEST(Mib, WhatIsNotReadIsNamed) {
  const auto error = [](const std::string& text) {
    return error_of(ErrorKind::not_supported, [&] { (void)parse(text); });
  };
  EXPECT_THAT(error(header_text(256, 256, "R64", "1x1", 24)), HasSubstr("counter depth 24 in layout 1x1"));
  EXPECT_THAT(error(header_text(1024, 256, "R64", "Nx1", 12, 768, 4)), HasSubstr("layout Nx1"));
  EXPECT_THAT(error(header_text(256, 256, "F32", "1x1", 12)), HasSubstr("type \"F32\""));
}

/// Two frames of 4 x 2 bytes.
std::string two_frames() {
  const std::string header = header_text(4, 2, "U08", "1x1", 6);
  return header + "abcdefgh" + header + "ijklmnop";
}

void write(const std::string& path, const std::string& text) {
  sonde::testing::write_bytes(path, {text.begin(), text.end()});
}

TEST(Mib, FilesThatEndInsideAFrameAreErrors) {
  const TemporaryFolder folder;
  write(folder.file("a.mib"), two_frames().substr(0, 780));
  ReadOptions options;
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)open_mib(folder.file("a.mib"), options); }),
              AllOf(HasSubstr("ends inside a frame: frame 1 has 388 of 392 bytes"), HasSubstr("--drop-extra")));
  options.drop_extra = true;
  const auto source = open_mib(folder.file("a.mib"), options);
  EXPECT_EQ(source->acquisition().frames, 1);
  EXPECT_EQ(source->acquisition().notes.size(), 1u);
}

TEST(Mib, FramesWithoutHeaderAreFoundWhenDecoded) {
  const TemporaryFolder folder;
  std::string text = two_frames();
  text[392] = 'X';
  write(folder.file("a.mib"), text);
  ReadOptions options;
  options.scan_rows = 1;
  const auto source = open_mib(folder.file("a.mib"), options);
  EXPECT_THAT(frame_of<std::uint8_t>(*source, 0), ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)frame_of<std::uint8_t>(*source, 1); }),
              HasSubstr("frame 1 does not begin with a MIB header"));
}

TEST(Mib, ScanThatIsNoSquareAsksForItsShape) {
  const TemporaryFolder folder;
  write(folder.file("a.mib"), two_frames());
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)open_mib(folder.file("a.mib"), {}); }),
              AllOf(HasSubstr("2 frames"), HasSubstr("a.mib"), HasSubstr("--scan-shape")));
}

}  // namespace
}  // namespace sonde::stem
