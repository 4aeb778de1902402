// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/read_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

/// byte(i) = hash of i, so that a shift by any distance shows.
std::uint8_t expected(std::uint64_t i) { return static_cast<std::uint8_t>((i * 2654435761u) >> 13); }

class ReadPieces : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::uint8_t> bytes(1 << 20);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = expected(i);
    testing::write_bytes(folder_.file("x"), bytes);
  }
  testing::TemporaryFolder folder_;
};

TEST_F(ReadPieces, PiecesOfAnyOrderAndDistanceArrive) {
  const File file(folder_.file("x"));
  std::vector<std::byte> memory(400000, std::byte{0});
  std::vector<FilePiece> pieces;
  std::size_t used = 0;
  // adjacent, overlapping, 1 byte apart, just below and at the largest gap, far, empty, backwards
  for (const auto& [offset, size] : std::vector<std::pair<std::uint64_t, std::size_t>>{{500000, 10},
                                                                                       {0, 100},
                                                                                       {100, 50},
                                                                                       {120, 10},
                                                                                       {151, 9},
                                                                                       {160 + 65535, 5},
                                                                                       {65700 + 65536, 7},
                                                                                       {1000000, 300},
                                                                                       {5, 0},
                                                                                       {1 << 19, 100000},
                                                                                       {3, 4}}) {
    pieces.push_back({offset, std::span(memory).subspan(used, size)});
    used += size;
  }
  const std::vector<FilePiece> wanted = pieces;
  read_pieces(file, pieces);
  for (const FilePiece& piece : wanted)
    for (std::size_t i = 0; i < piece.into.size(); ++i)
      ASSERT_EQ(std::to_integer<unsigned>(piece.into[i]), expected(piece.offset + i)) << piece.offset << " + " << i;
}

TEST_F(ReadPieces, MorePiecesThanOneCallTakesArrive) {
  const File file(folder_.file("x"));
  std::vector<std::byte> memory(5000);
  std::vector<FilePiece> pieces;
  for (std::size_t i = 0; i < memory.size(); ++i) pieces.push_back({200 * i, std::span(memory).subspan(i, 1)});
  read_pieces(file, pieces);
  for (std::size_t i = 0; i < memory.size(); ++i) ASSERT_EQ(std::to_integer<unsigned>(memory[i]), expected(200 * i));
}

TEST_F(ReadPieces, TheEndOfTheFileIsAnErrorWithItsPlace) {
  const File file(folder_.file("x"));
  std::vector<std::byte> memory(200);
  std::vector<FilePiece> pieces = {{(1 << 20) - 100, memory}};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { read_pieces(file, pieces); }),
              ::testing::HasSubstr("100 bytes were expected at offset 1048576"));
}

}  // namespace
}  // namespace sonde
