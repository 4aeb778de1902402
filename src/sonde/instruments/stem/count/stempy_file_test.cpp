// SPDX-License-Identifier: Apache-2.0
// stempy's files: those that h5py writes by their description, ours read by h5py, and what is wrong with others.
#include "sonde/instruments/stem/count/stempy_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sonde/instruments/stem/count/test_events.h"
#include "sonde/instruments/stem/read/source.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::python;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file of h5py with frames of 4 x 7 pixels (Nx rows, Ny columns) of a scan of 2 rows and 3 columns (Ny and Nx);
/// `more` may change it.
void write_by_h5py(const std::string& path, const std::string& frames, const std::string& positions,
                   const std::string& more = "") {
  python("import sys, h5py, numpy as np\nlists = " + frames + "\npositions = " + positions + R"(
with h5py.File(sys.argv[1], 'w') as f:
    f.attrs['version'] = 3
    g = f.create_group('electron_events')
    p = g.create_dataset('scan_positions', data=np.array(positions))
    p.attrs['Nx'], p.attrs['Ny'] = 3, 2
    d = g.create_dataset('frames', (len(lists),), dtype=h5py.vlen_dtype(np.uint32))
    d.attrs['Nx'], d.attrs['Ny'] = 4, 7
    for i, l in enumerate(lists): d[i] = np.array(l, np.uint32)
)" + more,
         path);
}

std::string error_with(const std::string& frames, const std::string& positions, const std::string& more = "",
                       ErrorKind kind = ErrorKind::bad_file) {
  const TemporaryFolder folder;
  write_by_h5py(folder.file("x.h5"), frames, positions, more);
  return error_of(kind, [&] { (void)open_source(folder.file("x.h5"), {}); });
}

TEST(StempyFile, OfOneFrameAtEachPositionIsRead) {
  const TemporaryFolder folder;
  write_by_h5py(folder.file("x.h5"), "[[0, 27], [], [8], [9, 9], [], [6]]", "range(6)");
  const EventList list = read_event_file(folder.file("x.h5"));
  EXPECT_EQ(list.scan_rows, 2);
  EXPECT_EQ(list.scan_cols, 3);
  EXPECT_EQ(list.rows, 4);
  EXPECT_EQ(list.cols, 7);
  EXPECT_THAT(list.offsets, ElementsAre(0, 2, 2, 3, 5, 5, 6));
  EXPECT_THAT(list.index, ElementsAre(0, 27, 8, 9, 9, 6));
  EXPECT_THAT(list.frames, ElementsAre(1, 1, 1, 1, 1, 1));
  const auto source = open_source(folder.file("x.h5"), {});
  EXPECT_EQ(source->acquisition().format, "stempy");
  EXPECT_EQ(source->acquisition().scan.cols, 3);
  EXPECT_EQ(source->acquisition().rows, 4);
}

TEST(StempyFile, MayHaveSeveralFramesAtAPosition) {
  const TemporaryFolder folder;
  write_by_h5py(folder.file("x.h5"), "[[1], [2, 3]] + [[i] for i in range(10, 20)]", "range(6)");
  const EventList list = read_event_file(folder.file("x.h5"));
  EXPECT_THAT(list.offsets, ElementsAre(0, 3, 5, 7, 9, 11, 13));
  EXPECT_THAT(list.index, ElementsAre(1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
  EXPECT_THAT(list.frames, ElementsAre(2, 2, 2, 2, 2, 2));
}

TEST(StempyFile, PlacesFramesAsTheirPositionsSay) {
  const TemporaryFolder folder;
  write_by_h5py(folder.file("x.h5"), "[[5], [1, 2], [7], [], [4]]", "[4, 0, 4, 1, 0]");
  const EventList list = read_event_file(folder.file("x.h5"));
  EXPECT_THAT(list.offsets, ElementsAre(0, 3, 3, 3, 3, 5, 5));
  EXPECT_THAT(list.index, ElementsAre(1, 2, 4, 5, 7));
  EXPECT_THAT(list.frames, ElementsAre(2, 1, 0, 0, 2, 0));
  const auto source = open_source(folder.file("x.h5"), {});
  EXPECT_TRUE(source->has_frame(1));
  EXPECT_FALSE(source->has_frame(2));
  // A part that begins within the scan.
  RawBatch batch;
  source->read(1, 6, batch);
  EXPECT_THAT(source->events(batch, 4), ElementsAre(5, 7));
}

TEST(StempyFile, OfOursIsReadByH5pyAndByUs) {
  const TemporaryFolder folder;
  const EventList list = stem::testing::few_events();
  write_stempy(folder.file("x.h5"), event_contents(std::make_shared<const EventList>(list), "sonde stem count"),
               "sonde stem count");
  EXPECT_EQ(python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1]) as f:
    d, p = f['electron_events/frames'], f['electron_events/scan_positions']
    scan = [int(p.attrs[x]) for x in ['Nx', 'Ny']][::-1]       # as stempy reads them
    frame = [int(d.attrs[x]) for x in ['Nx', 'Ny']]
    print(int(f.attrs['version']), scan, frame, p[()].tolist(), d.dtype, h5py.check_vlen_dtype(d.dtype))
    print([l.tolist() for l in d])
)",
                   folder.file("x.h5")),
            "3 [3, 2] [40, 52] [0, 1, 2, 3, 4, 5] object uint32\n[[0, 2079, 1040], [], [], [7, 51], [], []]\n");
  const EventList read = read_event_file(folder.file("x.h5"));
  EXPECT_EQ(read.offsets, list.offsets);
  EXPECT_EQ(read.index, list.index);
  EXPECT_EQ(read.scan_rows, 3);
  EXPECT_EQ(read.cols, 52);
}

TEST(StempyFile, ThatContradictsItselfIsRefused) {
  const std::string six = "[[1]] * 6";
  EXPECT_THAT(error_with("[[1]] * 7", "range(6)"), HasSubstr("x.h5: damaged: 7 frames, but 6 scan positions of 2 x 3"));
  EXPECT_THAT(error_with(six, "[0, 1, 2, 3, 4, 6]"),
              HasSubstr("x.h5: damaged: frame 5 is of position 6 of a scan of 2 x 3"));
  EXPECT_THAT(error_with(six, "range(6)", "    del d.attrs['Ny']\n"),
              HasSubstr("damaged: /electron_events/frames: Ny is not a whole number from 1 to 65536"));
  EXPECT_THAT(error_with(six, "range(6)", "    p.attrs['Nx'] = -3\n"),
              HasSubstr("damaged: /electron_events/scan_positions: Nx is not a whole number from 1 to 16777216"));
  EXPECT_THAT(error_with(six, "range(6)", "    p.attrs['Nx'] = p.attrs['Ny'] = 2**23\n"),
              HasSubstr("damaged: a scan of 8388608 x 8388608 positions; expected at most 16777216"));
  EXPECT_THAT(error_with(six, "range(6)", "    p.attrs['Nx'] = p.attrs['Ny'] = 2000\n"),
              HasSubstr("damaged: a scan of 2000 x 2000 positions, but 6 frames"));
  EXPECT_THAT(error_with(six, "range(6)", "    del g['frames']; g['frames'] = np.zeros(6)\n"),
              HasSubstr("damaged: /electron_events/frames is f64; expected lists of integers"));
  EXPECT_THAT(error_with(six, "range(6)", "    f.attrs['version'] = 4\n", ErrorKind::not_supported),
              HasSubstr("x.h5: version 4 of stempy's files; 1 to 3 are read"));
}

TEST(StempyFile, WithAnElectronOutsideOfTheFrameIsRefused) {
  const TemporaryFolder folder;
  write_by_h5py(folder.file("x.h5"), "[[1]] * 5 + [[28]]", "range(6)");
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_event_file(folder.file("x.h5")); }),
              HasSubstr("damaged: an event of position 5 is in pixel 28 of a frame of 4 x 7"));
}

}  // namespace
}  // namespace sonde::stem
