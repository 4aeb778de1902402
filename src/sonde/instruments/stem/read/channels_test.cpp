// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/stem/read/source.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

/// x_master.h5 as NXmx v2024.2 has it: a virtual data set of 12 frames and two channels over a data file. `describe`
/// says what the channels are; `d` is the group of the data, `i` that of the detector.
void write_master(const TemporaryFolder& folder, const std::string& describe) {
  sonde::testing::python(R"(
import sys, h5py, numpy as np
folder = sys.argv[1]
with h5py.File(folder + '/x_000001.h5', 'w') as f:
    f['entry/data/data'] = np.arange(12 * 2 * 6 * 5, dtype='u2').reshape(12, 2, 6, 5)
layout = h5py.VirtualLayout((12, 2, 6, 5), 'u2')
layout[:] = h5py.VirtualSource('x_000001.h5', 'entry/data/data', (12, 2, 6, 5))
with h5py.File(folder + '/x_master.h5', 'w') as f:
    d = f.create_group('entry/data')
    i = f.create_group('entry/instrument/detector')
    d.create_virtual_dataset('data', layout)
)" + ("    " + describe + "\n"),
                         folder.path().string());
}

std::string refusal(const TemporaryFolder& folder) {
  return error_of(ErrorKind::not_supported, [&] { (void)open_source(folder.file("x_master.h5"), {}); });
}

TEST(Channels, AListBesideTheDataNamesThem) {
  const TemporaryFolder folder;
  write_master(folder, "d['channel'] = ['threshold_1', 'threshold_2']");
  const std::string text = refusal(folder);
  EXPECT_THAT(text,
              HasSubstr("x_master.h5, /entry/data/data: shape (12, 2, 6, 5) is (frames, channels, rows, cols), with "
                        "the channels threshold_1 and threshold_2; a scan of one channel is read"));
  EXPECT_THAT(text, HasSubstr("copy one channel to a file of its own"));
}

TEST(Channels, AnAxisOfThatNameIsOne) {
  const TemporaryFolder folder;
  write_master(folder, "d.attrs['axes'] = ['.', 'channel', '.', '.']");
  EXPECT_THAT(refusal(folder), HasSubstr("is (frames, channels, rows, cols); a scan"));
}

TEST(Channels, GroupsOfTheDetectorNameThem) {
  const TemporaryFolder folder;
  write_master(folder, "i.create_group('low_channel'), i.create_group('high_channel')");
  EXPECT_THAT(refusal(folder), HasSubstr("with the channels high and low"));
}

TEST(Channels, OneTextMayNameAllAxes) {
  const TemporaryFolder folder;
  write_master(folder, "d.attrs['axes'] = 'image_id:channel:y:x'");
  EXPECT_THAT(refusal(folder), HasSubstr("is (frames, channels, rows, cols); a scan"));
}

// The file of the frames without its master: it names no channel, but numbers its images.
TEST(Channels, ADataFileWhoseImagesAreNumberedHasThem) {
  const TemporaryFolder folder;
  write_master(folder, "d['channel'] = ['threshold_1', 'threshold_2']");
  const std::string data = folder.file("x_000001.h5");
  EXPECT_EQ(open_source(data, {})->acquisition().scan.cols, 2);  // nothing says what the second axis is
  sonde::testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'r+') as f: f['entry/data/data'].attrs.update(image_nr_low=25, image_nr_high=36)
)",
                         data);
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)open_source(data, {}); }),
              HasSubstr("shape (12, 2, 6, 5) is (frames, channels, rows, cols); a scan of one channel is read"));
}

TEST(Channels, AScanOfFourDimensionsWithoutThemIsRead) {
  const TemporaryFolder folder;
  write_master(folder, "d.attrs['signal'] = 'data'");
  const auto source = open_source(folder.file("x_master.h5"), {});
  EXPECT_EQ(source->acquisition().scan.rows, 12);
  EXPECT_EQ(source->acquisition().scan.cols, 2);
}

}  // namespace
}  // namespace sonde::stem
