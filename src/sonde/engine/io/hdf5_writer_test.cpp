// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "sonde/engine/io/chunk_index.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Hdf5Writer, ListsOfRecordsAreReadAsWritten) {
  const testing::TemporaryFolder folder;
  const Hdf5RecordLists lists{
      .shape = {2, 2}, .fields = {"a", "b"}, .first = {0, 1, 1, 3, 3}, .values = {1, 2, 3.5, 4, 5, -6}};
  Hdf5Writer writer(folder.file("x.h5"));
  writer.record_lists("/group/lists", lists);
  writer.finish();
  const auto read = Hdf5File::open(folder.file("x.h5")).dataset("/group/lists").record_lists();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->shape, lists.shape);
  EXPECT_EQ(read->fields, lists.fields);
  EXPECT_EQ(read->first, lists.first);
  EXPECT_EQ(read->values, lists.values);
  EXPECT_EQ(testing::python(R"(
import sys, h5py
# h5py cannot hand out empty lists of records.
with h5py.File(sys.argv[1]) as f: print([[tuple(map(float, r)) for r in f['group/lists'][i, 0]] for i in (0, 1)])
)",
                            folder.file("x.h5")),
            "[[(1.0, 2.0)], [(3.5, 4.0), (5.0, -6.0)]]\n");
}

TEST(Hdf5Writer, H5pyReadsWhatWasWritten) {
  const testing::TemporaryFolder folder;
  Hdf5Writer writer(folder.file("x.h5"));
  writer.group("/entry/data");
  writer.attribute("/entry", "NX_class", "NXentry");
  writer.attribute("/entry", "count", std::int64_t{-3});
  writer.text_attribute("/entry", "title", "60 µm");
  writer.attribute("/entry/data", "scan_shape", Array::from<std::int64_t>({4, 5}, {2}));
  writer.value("/entry/instrument/frame_time", 0.5);
  writer.value("/entry/instrument/name", "ARINA µ");
  writer.texts("/entry/names", {"a", "bc"});
  writer.array("/entry/image", Array::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
  writer.soft_link("/entry/alias", "/entry/image");
  writer.external_link("/entry/data/data_000001", "other.h5", "/entry/data/data");
  writer.finish();
  EXPECT_EQ(testing::python(R"(
import os, sys
os.chdir(sys.argv[1])
import h5py
f = h5py.File('x.h5')
print(f['entry'].attrs['NX_class'].decode(), f['entry'].attrs['count'], list(f['entry/data'].attrs['scan_shape']))
print(repr(f['entry'].attrs['title']))
print(f['entry/instrument/frame_time'][()], f['entry/instrument/name'].asstr()[()], list(f['entry/names'].asstr()[:]))
print(f['entry/image'][:].tolist(), f['entry/alias'] == f['entry/image'], f['entry/image'].chunks)
link = f['entry/data'].get('data_000001', getlink=True)
print(link.filename, link.path)
)",
                            folder.path().string()),
            "NXentry -3 [4, 5]\n'60 µm'\n0.5 ARINA µ ['a', 'bc']\n[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] True None\n"
            "other.h5 /entry/data/data\n");
}

TEST(Hdf5Writer, BoxesFillADeclaredDataset) {
  const testing::TemporaryFolder folder;
  Hdf5Writer writer(folder.file("x.h5"));
  writer.declare("/a/b", {.shape = {2, 2, 3}, .dtype = DType::u16, .chunk = {}, .filters = {}, .fill = {}});
  writer.write_box("/a/b", {1, 0, 0}, Array::from<std::uint16_t>({1, 2, 3, 4, 5, 6}, {1, 2, 3}));
  writer.finish();
  const Array array = Hdf5File::open(folder.file("x.h5")).dataset("/a/b").read();
  EXPECT_EQ((array.view<std::uint16_t, 3>()(0, 1, 2)), 0);
  EXPECT_EQ((array.view<std::uint16_t, 3>()(1, 1, 2)), 6);
}

Hdf5Declaration bitshuffled(Index frames) {
  return {.shape = {frames, 2, 8},
          .dtype = DType::u16,
          .chunk = {1, 2, 8},
          .filters = {{32008, "bitshuffle", true, {0, 3, 2, 0, 2}}},
          .fill = bytes_of({0xff, 0xff})};
}

TEST(Hdf5Writer, ChunksKeepTheirBytesAndTheFilterItsClientData) {
  const testing::TemporaryFolder folder;
  Hdf5Writer writer(folder.file("x.h5"));
  writer.declare("/data", bitshuffled(3));
  writer.write_chunk("/data", {0, 0, 0}, bytes_of({1, 2, 3, 4, 5}));
  writer.write_chunk("/data", {2, 0, 0}, bytes_of({9}), 1);
  writer.finish();
  const Hdf5Dataset dataset = Hdf5File::open(folder.file("x.h5")).dataset("/data");
  ASSERT_EQ(dataset.info().filters.size(), 1u);
  EXPECT_EQ(dataset.info().filters[0].id, 32008);
  EXPECT_TRUE(dataset.info().filters[0].optional);
  EXPECT_THAT(dataset.info().filters[0].client_data, ::testing::ElementsAre(0u, 3u, 2u, 0u, 2u));
  EXPECT_EQ(dataset.info().fill, bytes_of({0xff, 0xff}));
  const ChunkIndex index = read_chunk_index(dataset);
  EXPECT_EQ(index[0].stored_bytes, 5u);
  EXPECT_TRUE(index[1].absent());
  EXPECT_EQ(index[2].stored_bytes, 1u);
  EXPECT_EQ(index[2].filter_mask, 1u);
}

TEST(Hdf5Writer, ClientDataSurviveAPluginThatWasLoadedBefore) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import os, sys
os.chdir(sys.argv[1])
import h5py, hdf5plugin, numpy as np
h5py.File('first.h5', 'w').create_dataset('data', data=np.arange(16, dtype='u2'), **hdf5plugin.Bitshuffle())
)",
                  folder.path().string());
  try {
    (void)Hdf5File::open(folder.file("first.h5")).dataset("/data").read();  // loads the plugin where there is one
  } catch (const Error&) {
  }
  Hdf5Writer writer(folder.file("x.h5"));
  writer.declare("/data", bitshuffled(1));
  writer.finish();
  EXPECT_THAT(Hdf5File::open(folder.file("x.h5")).dataset("/data").info().filters[0].client_data,
              ::testing::ElementsAre(0u, 3u, 2u, 0u, 2u));
}

TEST(Hdf5Writer, NothingAppearsBeforeFinish) {
  const testing::TemporaryFolder folder;
  {
    Hdf5Writer writer(folder.file("x.h5"));
    writer.array("/x", Array::from<float>({1}, {1}));
    EXPECT_FALSE(std::filesystem::exists(folder.file("x.h5")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// In a child, because the limit (it stands for a full disk) cannot be lifted again.
int write_beyond_limit(const std::string& path, bool chunks) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    int status = 2;
    try {
      Hdf5Writer writer(path);
      writer.declare("/d", {.shape = {64, 65536}, .dtype = DType::u8, .chunk = {1, 65536}, .filters = {}, .fill = {}});
      const std::vector<std::byte> chunk(65536, std::byte{1});
      if (!chunks) writer.array("/a", Array::zeros(Device::cpu(), {1 << 22}, DType::u8));
      for (Index i = 0; chunks && i < 64; ++i) writer.write_chunk("/d", {i, 0}, chunk);
      writer.finish();
    } catch (const Error& error) {
      const std::string text = error.message();
      status = error.kind() == ErrorKind::io && text.find("x.h5") != std::string::npos &&
                       text.find("File too large") != std::string::npos
                   ? 0
                   : 1;
      if (status != 0) std::fprintf(stderr, "%s\n", error.what());
    }
    {  // the library still works, and the process ends without a crash
      Hdf5Writer second(path + ".second");
      second.value("/x", 1.5);
      second.finish();
      if (Hdf5File::open(path + ".second").value("/x")->number() != 1.5) status = 3;
      std::filesystem::remove(path + ".second");
    }
    std::exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Hdf5Writer, AFullDiskIsAnErrorAndLeavesNothing) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(write_beyond_limit(folder.file("x.h5"), true), 0);
  EXPECT_EQ(write_beyond_limit(folder.file("x.h5"), false), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Hdf5Writer, AMissingFolderIsAnInputOutputError) {
  EXPECT_THAT(testing::error_of(ErrorKind::io, [] { Hdf5Writer writer("/nowhere/x.h5"); }), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace sonde
