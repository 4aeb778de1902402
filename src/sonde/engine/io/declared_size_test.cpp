// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/declared_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

constexpr Index many = Index{1} << 27;

std::string refusal(const DeclaredSize& declared) {
  return error_of(ErrorKind::bad_file, [&] { require_believable("x.h5, /data", declared); });
}

TEST(DeclaredSize, FramesThatNoCodecPacksIntoTheFileAreRefused) {
  const std::string text = refusal({.items = many, .item_bytes = 128, .file_bytes = 3400, .name = "frames"});
  EXPECT_THAT(text,
              HasSubstr("x.h5, /data: declares 134217728 frames, 16.0 GiB together, but a file of 3.32 KiB cannot "
                        "hold them"));
  EXPECT_THAT(text, HasSubstr("write it with the frames it has"));
}

TEST(DeclaredSize, PlainFramesOfWhichNearlyNoneWasWrittenAreRefused) {
  const DeclaredSize packed{.items = many, .item_bytes = 128, .file_bytes = 1 << 20, .name = "frames"};
  EXPECT_NO_THROW(require_believable("x", packed));
  DeclaredSize plain = packed;
  plain.packed = false;
  EXPECT_THAT(refusal(plain), HasSubstr("a file of 1.00 MiB cannot hold them"));
}

TEST(DeclaredSize, ChunksWithoutRoomForTheirAddressesAreRefused) {
  EXPECT_THAT(refusal({.items = many, .item_bytes = 1, .chunks = many, .file_bytes = 1 << 20, .name = "frames"}),
              HasSubstr("declares 134217728 frames in 134217728 chunks"));
}

TEST(DeclaredSize, WhatAFileMayHoldIsBelieved) {
  EXPECT_NO_THROW(require_believable("x", {.items = many, .item_bytes = 128, .file_bytes = std::uint64_t{1} << 20}));
  EXPECT_NO_THROW(
      require_believable("x", {.items = 1 << 20, .item_bytes = 1 << 17, .chunks = 1 << 20, .file_bytes = 0}));
}

TEST(DeclaredSize, AListBeyondTheBudgetIsRefused) {
  EXPECT_NO_THROW(require_list_fits("x", "chunks", 1000, 16, 16000));
  EXPECT_THAT(error_of(ErrorKind::budget, [] { require_list_fits("x.h5", "chunks", many, 16, 1 << 20); }),
              HasSubstr("x.h5: the list of its 134217728 chunks takes 2.00 GiB, the budget is 1.00 MiB"));
}

}  // namespace
}  // namespace sonde
