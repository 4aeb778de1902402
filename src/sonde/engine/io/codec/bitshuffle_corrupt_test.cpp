// SPDX-License-Identifier: Apache-2.0
// Chunks that are not what they should be: an Error that says where, and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "sonde/engine/io/codec/bitshuffle.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

constexpr BitshuffleFormat format{2, 64, BitshuffleCodec::lz4};
constexpr std::size_t logical_bytes = 2 * (2 * 64 + 16 + 3);  // two full blocks, one of 16 elements, three loose ones

Bytes good_chunk(BitshuffleCodec codec = BitshuffleCodec::lz4) {
  Bytes elements(logical_bytes);
  for (std::size_t i = 0; i < elements.size(); i += 2) elements[i] = static_cast<std::byte>(i * i % 7);
  return encode_bitshuffle(elements, {2, 64, codec});
}

void put_big_endian(Bytes& chunk, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) chunk[at + i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

// Offset of the length of a block.
std::size_t block_start(const Bytes& chunk, int block) {
  std::size_t at = 12;
  for (; block > 0; --block) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | std::to_integer<std::size_t>(chunk[at + i]);
    at += 4 + size;
  }
  return at;
}

std::string fault(const Bytes& chunk, const BitshuffleFormat& how = format, std::size_t bytes = logical_bytes,
                  ErrorKind kind = ErrorKind::bad_file) {
  BitshuffleScratch scratch;
  Bytes out(bytes);
  return testing::error_of(kind, [&] { decode_bitshuffle(chunk, how, scratch, out); });
}

TEST(BitshuffleFault, TheGoodChunkDecodes) {
  BitshuffleScratch scratch;
  Bytes out(logical_bytes);
  EXPECT_NO_THROW(decode_bitshuffle(good_chunk(), format, scratch, out));
}

TEST(BitshuffleFault, ShortHeader) {
  Bytes chunk = good_chunk();
  chunk.resize(11);
  EXPECT_THAT(fault(chunk), HasSubstr("the chunk has 11 bytes, its header takes 12"));
  EXPECT_THAT(fault({}), HasSubstr("the chunk has 0 bytes"));
}

TEST(BitshuffleFault, AnotherDecodedSize) {
  EXPECT_THAT(fault(good_chunk(), format, logical_bytes + 2),
              HasSubstr("byte 0: the chunk says that it holds 294 bytes, expected 296"));
}

TEST(BitshuffleFault, ADecodedSizeBeyond32Bits) {
  Bytes chunk = good_chunk();
  chunk[0] = std::byte{0xff};
  EXPECT_THAT(fault(chunk), HasSubstr("holds 18374686479671623974 bytes, expected 294"));
}

TEST(BitshuffleFault, BlocksThatAreNoMultipleOfEightElements) {
  Bytes chunk = good_chunk();
  put_big_endian(chunk, 8, 2 * 60);
  EXPECT_THAT(fault(chunk), HasSubstr("byte 8: blocks of 120 bytes are not a multiple of eight elements of 2 bytes"));
  put_big_endian(chunk, 8, 127);
  EXPECT_THAT(fault(chunk), HasSubstr("byte 8: blocks of 127 bytes"));
}

TEST(BitshuffleFault, ABlockLongerThanTheChunk) {
  Bytes chunk = good_chunk();
  const std::size_t at = block_start(chunk, 1);
  put_big_endian(chunk, at, 0xffffffff);
  const std::string left = std::to_string(chunk.size() - at - 4);
  EXPECT_THAT(fault(chunk), HasSubstr("block 1 at byte " + std::to_string(at) +
                                      ": 4294967295 compressed bytes announced, " + left + " are left"));
}

TEST(BitshuffleFault, AChunkThatEndsInTheLengthOfABlock) {
  Bytes chunk = good_chunk();
  const std::size_t at = block_start(chunk, 2);
  chunk.resize(at + 3);
  EXPECT_THAT(fault(chunk),
              HasSubstr("block 2 at byte " + std::to_string(at) + ": the chunk ends 3 bytes into its length"));
}

TEST(BitshuffleFault, ABlockThatIsNoLz4) {
  Bytes chunk = good_chunk();
  const std::size_t at = block_start(chunk, 0);
  chunk[at + 4] = std::byte{0xff};  // literals without end
  chunk[at + 5] = std::byte{0xff};
  EXPECT_THAT(fault(chunk), HasSubstr("block 0 at byte 12: not valid LZ4 data"));
}

TEST(BitshuffleFault, ABlockThatIsNoZstd) {
  Bytes chunk = good_chunk(BitshuffleCodec::zstd);
  chunk[16] = std::byte{0};
  EXPECT_THAT(fault(chunk, {2, 64, BitshuffleCodec::zstd}), HasSubstr("block 0 at byte 12: not valid zstd data"));
}

TEST(BitshuffleFault, ABlockOfAnotherSize) {
  // The same blocks under a header that promises larger ones.
  Bytes chunk = good_chunk();
  put_big_endian(chunk, 8, 2 * 72);
  EXPECT_THAT(fault(chunk), HasSubstr("block 0 at byte 12: decodes to 128 bytes, expected 144"));
}

TEST(BitshuffleFault, AMissingTail) {
  Bytes chunk = good_chunk();
  const std::size_t end = chunk.size() - 6;
  chunk.resize(chunk.size() - 2);
  EXPECT_THAT(fault(chunk), HasSubstr("byte " + std::to_string(end) + ": 4 bytes after the last block, expected 6"));
}

TEST(BitshuffleFault, BytesTooMany) {
  Bytes chunk = good_chunk();
  chunk.resize(chunk.size() + 5);
  EXPECT_THAT(fault(chunk), HasSubstr("11 bytes after the last block, expected 6"));
}

TEST(BitshuffleFault, AnUncompressedChunkOfAnotherSize) {
  EXPECT_THAT(fault(Bytes(100), {2, 64, BitshuffleCodec::none}),
              HasSubstr("the chunk has 100 bytes, expected 294 (no compression)"));
}

TEST(BitshuffleFault, FormatsThatCannotBe) {
  const auto text = [](const BitshuffleFormat& how) {
    return fault(good_chunk(), how, logical_bytes, ErrorKind::bad_input);
  };
  EXPECT_THAT(text({0, 64, BitshuffleCodec::lz4}), HasSubstr("elements of 0 bytes"));
  EXPECT_THAT(text({2, 63, BitshuffleCodec::lz4}), HasSubstr("blocks of 63 elements, expected a multiple of 8"));
  EXPECT_THAT(text({2, 64, BitshuffleCodec{7}}), HasSubstr("codec 7, known are 0 (none), 2 (lz4) and 3 (zstd)"));
  EXPECT_THAT(text({4, 64, BitshuffleCodec::lz4}),
              HasSubstr("294 bytes are not a whole number of elements of 4 bytes"));
}

TEST(BitshuffleFault, PlanesOfWideElements) {
  BitshuffleScratch scratch;
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [&] {
                                  visit_bit_planes(
                                      Bytes(90), {9, 8, BitshuffleCodec::none}, 90, {}, scratch,
                                      [](const BitPlanes&) {}, [](const BitshuffleTail&) {});
                                }),
              HasSubstr("elements of 9 bytes, the widest is 8"));
}

// Any text but a wrong memory access: decodes, or says where. Sanitisers watch the exact-size heap buffers.
TEST(BitshuffleFault, MutatedChunksDecodeOrSayWhy) {
  std::mt19937 random(20240607);
  BitshuffleScratch scratch;
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    const BitshuffleFormat how{2, 64, random() % 4 == 0 ? BitshuffleCodec::zstd : BitshuffleCodec::lz4};
    Bytes chunk = good_chunk(how.codec);
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      chunk[random() % chunk.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) chunk.resize(random() % (chunk.size() + 1));
    chunk.shrink_to_fit();
    Bytes out(logical_bytes);
    try {
      decode_bitshuffle(chunk, how, scratch, out);
      ++accepted;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::bad_file) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sonde
