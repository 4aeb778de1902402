// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/hdf5_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "sonde/instruments/stem/read/hdf5_source.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

constexpr Index frames = 12, rows = 7, cols = 9;

/// One file per way that frames can be stored, all with value(n, r, c) = 1000 n + 9 r + c; written by h5py and the
/// packaged bitshuffle plugin.
struct Storage {
  const char* name;
  const char* python;  ///< arguments of create_dataset beside the data
  Hdf5Frames::Way way;
  const char* prepare = "";
};

class StoredFrames : public ::testing::TestWithParam<Storage> {};

TEST_P(StoredFrames, AreTheFramesThatWereWritten) {
  const sonde::testing::TemporaryFolder folder;
  const Storage& storage = GetParam();
  sonde::testing::python(std::string(R"(
import os, sys, h5py, hdf5plugin, numpy as np
os.chdir(sys.argv[1])
data = (1000 * np.arange(12)[:, None, None] + np.arange(63).reshape(7, 9)).astype('u4')
libver = None
)") + storage.prepare + "\nwith h5py.File('x.h5', 'w', libver=libver) as f: f.create_dataset('d', data=data, " +
                             storage.python + ")\n",
                         folder.path().string());
  const Hdf5File file = Hdf5File::open(folder.file("x.h5"));
  EXPECT_EQ(Hdf5Frames(file.dataset("/d")).way(), storage.way);
  ReadOptions options;
  options.scan_rows = 3;
  const auto source = open_hdf5_generic(file, options);
  ASSERT_EQ(source->acquisition().frames, frames);
  for (const Index batch : {1, 5, 12}) {
    const auto elements = sonde::testing::frames_of(*source, batch);
    ASSERT_EQ(elements.size(), static_cast<std::size_t>(frames * rows * cols));
    for (std::size_t i = 0; i < elements.size(); ++i)
      ASSERT_EQ(elements[i], 1000 * (i / 63) + i % 63) << "element " << i << " in batches of " << batch;
  }
}

using Way = Hdf5Frames::Way;
INSTANTIATE_TEST_SUITE_P(
    , StoredFrames,
    ::testing::Values(
        Storage{"contiguous", "chunks=None", Way::block}, Storage{"big_endian", "dtype='>u4'", Way::block},
        Storage{"plain_chunks", "chunks=(1, 7, 9)", Way::chunks},
        Storage{"bitshuffled", "chunks=(1, 7, 9), **hdf5plugin.Bitshuffle()", Way::chunks},
        Storage{"bitshuffled_big_endian", "dtype='>u4', chunks=(1, 7, 9), **hdf5plugin.Bitshuffle()", Way::chunks},
        Storage{"bitshuffled_small_blocks", "chunks=(1, 7, 9), **hdf5plugin.Bitshuffle(nelems=16)", Way::chunks},
        Storage{"bit_transposed_only", "chunks=(1, 7, 9), **hdf5plugin.Bitshuffle(lz4=False)", Way::chunks},
        Storage{"newer_layout", "chunks=(1, 7, 9), **hdf5plugin.Bitshuffle()", Way::chunks, "libver = 'latest'"},
        Storage{"several_frames_per_chunk", "chunks=(5, 7, 9), **hdf5plugin.Bitshuffle()", Way::assembled},
        Storage{"parts_of_frames", "chunks=(1, 4, 5), **hdf5plugin.Bitshuffle()", Way::assembled},
        Storage{"boxes", "chunks=(5, 4, 5), **hdf5plugin.Bitshuffle()", Way::assembled},
        Storage{"boxes_big_endian", "dtype='>u4', chunks=(5, 4, 5), **hdf5plugin.Bitshuffle()", Way::assembled},
        Storage{"scan", "chunks=(1, 1, 7, 9), **hdf5plugin.Bitshuffle()", Way::chunks,
                "data = data.reshape(3, 4, 7, 9)"},
        Storage{"scan_boxes", "chunks=(2, 3, 4, 5), **hdf5plugin.Bitshuffle()", Way::assembled,
                "data = data.reshape(3, 4, 7, 9)"},
        Storage{"scan_boxes_newer_layout", "chunks=(2, 3, 4, 5), **hdf5plugin.Bitshuffle()", Way::assembled,
                "data = data.reshape(3, 4, 7, 9); libver = 'latest'"},
        Storage{"deflated", "chunks=(1, 7, 9), compression='gzip'", Way::chunks},
        Storage{"deflated_scan", "chunks=(1, 2, 7, 9), compression='gzip', shuffle=True", Way::assembled,
                "data = data.reshape(3, 4, 7, 9)"},
        Storage{"plain_boxes", "chunks=(5, 4, 5)", Way::assembled},
        Storage{"deflated_big_endian", "dtype='>u4', chunks=(1, 7, 9), compression='gzip', shuffle=True", Way::chunks},
        Storage{"deflated_boxes_newer_layout", "chunks=(5, 4, 5), compression='gzip', fletcher32=True", Way::assembled,
                "libver = 'latest'"},
        Storage{"lzf", "chunks=(1, 7, 9), compression='lzf', shuffle=True", Way::chunks}),
    [](const auto& each) { return each.param.name; });

TEST(Hdf5Frames, ABrokenChunkIsNamedWithFrameAndPlace) {
  const sonde::testing::TemporaryFolder folder;
  sonde::testing::python(R"(
import os, sys, h5py, hdf5plugin, numpy as np
os.chdir(sys.argv[1])
with h5py.File('x.h5', 'w') as f:
    d = f.create_dataset('d', (4, 16, 16), 'u2', chunks=(1, 16, 16), **hdf5plugin.Bitshuffle())
    for i in range(4): d[i] = i
    mask, chunk = d.id.read_direct_chunk((2, 0, 0))
    d.id.write_direct_chunk((2, 0, 0), chunk[:14], mask)
)",
                         folder.path().string());
  const auto source = open_hdf5_generic(Hdf5File::open(folder.file("x.h5")), {});
  const std::string text =
      sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)sonde::testing::frames_of(*source); });
  EXPECT_THAT(text, HasSubstr("while: decoding frame 2 of "));
  EXPECT_THAT(text, HasSubstr("x.h5, /d, at byte "));
}

TEST(Hdf5Frames, ChunksOfManyFramesAreDecodedOnceWhereTheCacheHoldsThem) {
  const sonde::testing::TemporaryFolder folder;
  sonde::testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w') as f:
    f.create_dataset('d', data=np.arange(4 * 6 * 16 * 16, dtype='u2').reshape(4, 6, 16, 16), chunks=(2, 3, 16, 16),
                     compression='gzip')
)",
                         folder.file("x.h5"));
  const auto source = open_hdf5_generic(Hdf5File::open(folder.file("x.h5")), {});
  constexpr std::size_t chunk = 2 * 3 * 16 * 16 * 2;
  EXPECT_EQ(source->useful_cache_bytes(), 2 * chunk);  // two rows of the scan are in as many chunks
  EXPECT_GE(source->reading_bytes(3), 3 * chunk);
  source->set_cache_bytes(2 * chunk);
  RawBatch batch;
  source->read(0, 6, batch);
  sonde::testing::write_bytes(folder.file("x.h5"),
                              std::vector<std::uint8_t>(std::filesystem::file_size(folder.file("x.h5"))));
  source->read(6, 12, batch);  // from what is kept: nothing is in the file any more
  std::uint16_t first = 0;
  std::memcpy(&first, batch.frame_bytes(6).data(), sizeof first);
  EXPECT_EQ(first, 6 * 256);
  // Chunks 2 and 3 are decoded side by side: either can be the first to fail.
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [&] { source->read(12, 18, batch); }),
              ::testing::ContainsRegex("while: decoding chunk [23] of "));
}

TEST(Hdf5Frames, PlainChunksOfAnotherSizeAreReported) {
  const sonde::testing::TemporaryFolder folder;
  sonde::testing::python(R"(
import os, sys, h5py, numpy as np
os.chdir(sys.argv[1])
with h5py.File('x.h5', 'w') as f:
    d = f.create_dataset('d', data=np.zeros((4, 3, 5), 'u2'), chunks=(1, 3, 5))
    d.id.write_direct_chunk((1, 0, 0), bytes(20))
)",
                         folder.path().string());
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file,
                                       [&] { (void)open_hdf5_generic(Hdf5File::open(folder.file("x.h5")), {}); }),
              HasSubstr("x.h5, /d: chunk 1 has 20 bytes, its frame 30"));
}

TEST(Hdf5Frames, VirtualPartsThatAreMissingAreReported) {
  const sonde::testing::TemporaryFolder folder;
  sonde::testing::python(R"(
import os, sys, h5py, numpy as np
os.chdir(sys.argv[1])
with h5py.File('part.h5', 'w') as f: f['d'] = np.ones((2, 3, 5), 'u2')
with h5py.File('x.h5', 'w') as f:
    layout = h5py.VirtualLayout((4, 3, 5), 'u2')
    layout[0:2] = h5py.VirtualSource('part.h5', 'd', (2, 3, 5))
    layout[2:4] = h5py.VirtualSource('gone.h5', 'd', (2, 3, 5))
    f.create_virtual_dataset('d', layout)
)",
                         folder.path().string());
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file,
                                       [&] { (void)open_hdf5_generic(Hdf5File::open(folder.file("x.h5")), {}); }),
              HasSubstr("gone.h5: no such file"));
}

}  // namespace
}  // namespace sonde::stem
