// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/part_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using sonde::testing::read_bytes;
using sonde::testing::TemporaryFolder;
using sonde::testing::write_bytes;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

FinishedPoint point(Index i) {
  const auto x = static_cast<double>(i);
  return {i, 2 * i, 3 * i, 0.1 * x, -0.2 * x, 0.3 * x, 4 * x, 5 * x, 1e-13, -1e-12, 60, 2, 0, 0.5, 1};
}

TEST(PartFile, PointsOfAnEarlierRunAreThereBitForBit) {
  const TemporaryFolder folder;
  {
    PartFile part(folder.file("d.part"), "key");
    EXPECT_THAT(part.earlier(), IsEmpty());
    part.append(point(1));
    part.append(point(2));
  }
  PartFile part(folder.file("d.part"), "key");
  EXPECT_THAT(part.earlier(), ElementsAre(point(1), point(2)));
  EXPECT_THAT(part.left_out(), IsEmpty());
  part.append(point(3));
}

TEST(PartFile, AnotherKeyIsRefusedByNameAndLosesNothing) {
  const TemporaryFolder folder;
  { PartFile(folder.file("d.part"), "grid = 25x25x60\nnu_v = 1e-3,1e-2").append(point(1)); }
  const std::vector<std::uint8_t> before = read_bytes(folder.file("d.part"));
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [&] { PartFile(folder.file("d.part"), "grid = 25x25x64\nnu_v = 1e-3,1e-2"); }),
      AllOf(HasSubstr("grid is 25x25x60 there and 25x25x64 now"), Not(HasSubstr("nu_v"))));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { PartFile(folder.file("d.part"), "grid = 25x25x60"); }),
              HasSubstr("nu_v is 1e-3,1e-2 there"));
  EXPECT_EQ(read_bytes(folder.file("d.part")), before);
}

TEST(PartFile, SettingsThatCannotBeReadAreNoReasonToBeginAnew) {
  const TemporaryFolder folder;
  { PartFile(folder.file("d.part"), "grid = 25x25x60").append(point(1)); }
  std::vector<std::uint8_t> bytes = read_bytes(folder.file("d.part"));
  for (const std::size_t at : {std::size_t{26}, std::size_t{40}}) {  // the length of the key, the key
    SCOPED_TRACE(at);
    std::vector<std::uint8_t> bad = bytes;
    bad[at] ^= 1;
    write_bytes(folder.file("bad.part"), bad);
    EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { PartFile(folder.file("bad.part"), "grid = 25x25x60"); }),
                HasSubstr("are damaged"));
    EXPECT_EQ(read_bytes(folder.file("bad.part")), bad);
  }
}

TEST(PartFile, CutAtAnyByteItKeepsTheWholeRecords) {
  const TemporaryFolder folder;
  {
    PartFile part(folder.file("d.part"), "key");
    part.append(point(1));
    part.append(point(2));
  }
  const std::vector<std::uint8_t> bytes = read_bytes(folder.file("d.part"));
  const std::size_t header = bytes.size() - 256;
  // Every byte of the header's edge and of a record's would do no more than these.
  for (std::size_t length = 0; length <= bytes.size(); length += length < header ? 7 : 32) {
    SCOPED_TRACE(length);
    write_bytes(folder.file("cut.part"), {bytes.begin(), bytes.begin() + static_cast<long>(length)});
    {
      PartFile part(folder.file("cut.part"), "key");
      EXPECT_EQ(part.earlier().size(), length < header ? 0 : (length - header) / 128);
      part.append(point(3));
    }
    EXPECT_EQ(PartFile(folder.file("cut.part"), "key").earlier().back(), point(3));
  }
}

TEST(PartFile, ARecordGoneBadEndsTheList) {
  const TemporaryFolder folder;
  {
    PartFile part(folder.file("d.part"), "key");
    for (const Index i : {1, 2, 3}) part.append(point(i));
  }
  std::vector<std::uint8_t> bytes = read_bytes(folder.file("d.part"));
  bytes[bytes.size() - 200] ^= 1;  // in the second record
  write_bytes(folder.file("d.part"), bytes);
  const PartFile part(folder.file("d.part"), "key");
  EXPECT_THAT(part.earlier(), ElementsAre(point(1)));
  EXPECT_THAT(part.left_out(), HasSubstr("256 bytes"));
}

TEST(PartFile, APlaceCountsOnceAsItWasSolvedLast) {
  const TemporaryFolder folder;
  {
    PartFile part(folder.file("d.part"), "key");
    FinishedPoint before = point(1);
    before.residual = 1e-6;
    part.append(before);
    part.append(point(2));
    part.append(point(1));
  }
  EXPECT_THAT(PartFile(folder.file("d.part"), "key").earlier(), ElementsAre(point(1), point(2)));
}

TEST(PartFile, AForeignFileIsLeftAsItIs) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("d.part")) << "somebody's notes";
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { PartFile(folder.file("d.part"), "key"); }),
              HasSubstr("is not a file of finished points"));
  EXPECT_EQ(read_bytes(folder.file("d.part")).size(), 16);
}

TEST(PartFile, AKilledWriterLosesNothingItHadAppended) {
  const TemporaryFolder folder;
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    PartFile part(folder.file("d.part"), "key");
    for (Index i = 0;; ++i) {
      part.append(point(i));
      if (i == 100) static_cast<void>(::write(pipe_ends[1], "x", 1) == 1);
    }
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe_ends[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const PartFile part(folder.file("d.part"), "key");
  ASSERT_GT(part.earlier().size(), 100);
  for (std::size_t i = 0; i < part.earlier().size(); ++i) ASSERT_EQ(part.earlier()[i], point(static_cast<Index>(i)));
}

TEST(PartFile, ThreadsMayAppendAtOnce) {
  const TemporaryFolder folder;
  {
    PartFile part(folder.file("d.part"), "key");
    std::thread other([&] {
      for (Index i = 0; i < 200; ++i) part.append(point(2 * i));
    });
    for (Index i = 0; i < 200; ++i) part.append(point(2 * i + 1));
    other.join();
  }
  EXPECT_EQ(PartFile(folder.file("d.part"), "key").earlier().size(), 400);
}

TEST(PartFile, TwoWritersAreAnErrorAndRemoveEndsIt) {
  const TemporaryFolder folder;
  PartFile part(folder.file("d.part"), "key");
  EXPECT_THAT(error_of(ErrorKind::io, [&] { PartFile(folder.file("d.part"), "key"); }), HasSubstr("another process"));
  part.remove();
  EXPECT_FALSE(std::filesystem::exists(folder.file("d.part")));
  error_of(ErrorKind::io, [&] { PartFile(folder.file("none/d.part"), "key"); });
}

}  // namespace
}  // namespace sonde::neoclassical
