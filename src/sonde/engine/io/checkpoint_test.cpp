// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include "sonde/engine/base/interrupt.h"
#include "tests/support/child.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const CheckpointKind kind{"ptycho", 2};

Array object() { return Array::from<complex64>({{1, 2}, {3, -4}, {0.1f, 1e-30f}, {5, 6}, {7, 8}, {9, 0}}, {2, 3}); }

void write(const std::string& path, Index iteration = 17) {
  CheckpointWriter writer(path, kind, iteration, "steps = 3\n");
  writer.array("object", object());
  writer.array("positions", Array::from<double>({0.25, 1e300}, {2, 1}));
  writer.text("wisdom", "(fftw \xc2\xb5)\nline");
  writer.random("order", {~std::uint64_t{0}, 5, 1234567890123});
  writer.finish();
}

TEST(Checkpoint, GivesBackEveryBitOfTheState) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("run.ckpt");
  write(path);
  const CheckpointReader reader(path, kind);
  EXPECT_EQ(reader.iteration(), 17);
  EXPECT_EQ(reader.schema(), 2);
  EXPECT_EQ(reader.options(), "steps = 3\n");
  EXPECT_EQ(reader.text("wisdom"), "(fftw \xc2\xb5)\nline");
  EXPECT_EQ(reader.random("order"), (Random::State{~std::uint64_t{0}, 5, 1234567890123}));
  const Array back = reader.array("object", DType::c64, {2, 3}), expected = object();
  EXPECT_EQ(std::memcmp(back.data(), expected.data(), 6 * sizeof(complex64)), 0);
  EXPECT_EQ((reader.array("positions").view<double, 2>()(1, 0)), 1e300);
  EXPECT_TRUE(reader.has("object"));
  EXPECT_FALSE(reader.has("probe"));
}

TEST(Checkpoint, H5pyReadsComplexNumbersAndMore) {
  const testing::TemporaryFolder folder;
  write(folder.file("x.h5"));
  EXPECT_EQ(testing::python(R"(
import sys, h5py
f = h5py.File(sys.argv[1])
s = f['state']
print(s.attrs['kind'].decode(), s.attrs['schema'], s.attrs['iteration'], s['object'].dtype, s['object'][0, 1])
print(s['options'].asstr()[()].strip(), s['order'][:].tolist())
)",
                            folder.file("x.h5")),
            "ptycho 2 17 complex64 (3-4j)\nsteps = 3 [18446744073709551615, 5, 1234567890123]\n");
}

class CheckpointOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(CheckpointOnEachDevice);

TEST_P(CheckpointOnEachDevice, ArraysComeFromAnyDevice) {
  const testing::TemporaryFolder folder;
  Stream stream(device());
  CheckpointWriter writer(folder.file("x"), kind, 1, "");
  writer.array("object", object().copy_to(device(), stream));
  writer.finish();
  const Array back = CheckpointReader(folder.file("x"), kind).array("object"), expected = object();
  EXPECT_EQ(std::memcmp(back.data(), expected.data(), 6 * sizeof(complex64)), 0);
}

TEST(Checkpoint, AnUnfinishedOneLeavesTheOlderOne) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("run.ckpt");
  write(path, 10);
  {
    CheckpointWriter writer(path, kind, 20, "");
    writer.array("object", object());
  }
  EXPECT_EQ(CheckpointReader(path, kind).iteration(), 10);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  write(path, 20);
  EXPECT_EQ(CheckpointReader(path, kind).iteration(), 20);
}

TEST(Checkpoint, AFullDiskLeavesTheOlderOne) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("run.ckpt");
  write(path, 10);
  EXPECT_THAT(testing::text_from_child([&]() -> std::string {
                testing::limit_file_size(20000);
                CheckpointWriter writer(path, kind, 20, "");
                writer.array("object", Array::zeros(Device::cpu(), {100000}, DType::f32));
                writer.finish();
                return "written";
              }),
              HasSubstr("File too large"));
  EXPECT_EQ(CheckpointReader(path, kind).iteration(), 10);
}

TEST(Checkpoint, ACutOffFileIsABadFile) {
  const testing::TemporaryFolder folder;
  write(folder.file("whole"));
  const std::vector<std::uint8_t> bytes = testing::read_bytes(folder.file("whole"));
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    SCOPED_TRACE(size);
    testing::write_bytes(folder.file("cut"), {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)CheckpointReader(folder.file("cut"), kind); }),
                HasSubstr("cut"));
  }
}

std::string refusal(const std::string& path, const CheckpointKind& wanted = kind) {
  return testing::error_of(ErrorKind::bad_file, [&] { (void)CheckpointReader(path, wanted); });
}

TEST(Checkpoint, ForeignFilesAreRefused) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.file("missing")), HasSubstr("missing"));
  testing::write_bytes(folder.file("text"), {'h', 'e', 'l', 'l', 'o'});
  EXPECT_THAT(refusal(folder.file("text")), HasSubstr("text"));
  Hdf5Writer other(folder.file("other"));
  other.array("/state/object", object());
  other.finish();
  EXPECT_THAT(refusal(folder.file("other")), HasSubstr("other: is not a checkpoint of sonde"));
  Hdf5Writer empty(folder.file("empty"));
  empty.finish();
  EXPECT_THAT(refusal(folder.file("empty")), HasSubstr("empty: is not a checkpoint of sonde"));
  write(folder.file("good"));
  EXPECT_THAT(refusal(folder.file("good"), {"maxwell", 2}), HasSubstr("is a checkpoint of ptycho, not of maxwell"));
  EXPECT_THAT(refusal(folder.file("good"), {"ptycho", 1}),
              AllOf(HasSubstr("has schema 2 and was written by sonde "), HasSubstr("schemas up to 1 are read")));
  EXPECT_EQ(CheckpointReader(folder.file("good"), {"ptycho", 3}).schema(), 2) << "older schemas are read";
}

TEST(Checkpoint, NamesTypesAndShapesAreChecked) {
  const testing::TemporaryFolder folder;
  write(folder.file("x"));
  const CheckpointReader reader(folder.file("x"), kind);
  const auto error = [](auto&& body) { return testing::error_of(ErrorKind::bad_file, body); };
  EXPECT_THAT(error([&] { (void)reader.array("objekt"); }),
              HasSubstr("the checkpoint has no \"objekt\"; did you mean \"object\"?"));
  EXPECT_THAT(error([&] {
                (void)reader.array("object", DType::c64, {3, 2});
              }),
              HasSubstr("object is c64 (2, 3) in the checkpoint, expected c64 (3, 2)"));
  EXPECT_THAT(error([&] { (void)reader.array("object", DType::c128, {2, 3}); }), HasSubstr("expected c128 (2, 3)"));
  EXPECT_THAT(error([&] { (void)reader.text("object"); }), HasSubstr("object"));
  EXPECT_THAT(error([&] { (void)reader.random("object"); }), HasSubstr("expected u64 (3,)"));
}

TEST(CheckpointTimer, IsDueWhenTheTimeHasPassed) {
  double now = 100;
  CheckpointTimer timer(60, [&] { return now; });
  EXPECT_FALSE(timer.due());
  now = 159.9;
  EXPECT_FALSE(timer.due());
  now = 160;
  EXPECT_TRUE(timer.due());
  EXPECT_TRUE(timer.due()) << "until it is written";
  timer.restart();
  EXPECT_FALSE(timer.due());
  now = 220;
  EXPECT_TRUE(timer.due());
}

TEST(CheckpointTimer, IsDueWhenTheProgramIsAskedToStop) {
  const CheckpointTimer timer(0, [] { return 1e9; });
  EXPECT_FALSE(timer.due());
  request_interrupt(SIGTERM);
  EXPECT_TRUE(timer.due());
  clear_interrupt();
  EXPECT_FALSE(timer.due());
}

}  // namespace
}  // namespace sonde
