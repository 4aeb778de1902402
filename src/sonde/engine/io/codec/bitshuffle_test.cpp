// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/codec/bitshuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
// gtest first
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "sonde/engine/io/codec/bitshuffle_kernels.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Counts as a detector makes them: mostly small, now and then large, so that LZ4 finds literals and matches.
Bytes random_elements(std::size_t count, std::size_t element_bytes, std::uint32_t seed, int live_bytes = 99) {
  std::mt19937 random(seed);
  Bytes bytes(count * element_bytes);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < element_bytes && static_cast<int>(k) < live_bytes; ++k) {
      const auto drawn = random();
      bytes[i * element_bytes + k] = static_cast<std::byte>(k == 0 ? drawn & 3 : drawn % 64 == 0 ? drawn >> 8 : 0);
    }
  return bytes;
}

// The definition, bit by bit: plane 8 k + t, byte j, bit i is bit t of byte k of element 8 j + i.
Bytes planes_by_definition(const Bytes& elements, std::size_t element_bytes) {
  const std::size_t count = elements.size() / element_bytes;
  Bytes planes(elements.size());
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t k = 0; k < element_bytes; ++k)
      for (std::size_t t = 0; t < 8; ++t)
        if ((elements[e * element_bytes + k] >> t & std::byte{1}) != std::byte{0})
          planes[(8 * k + t) * (count / 8) + e / 8] |= std::byte{1} << (e % 8);
  return planes;
}

Bytes decoded(const Bytes& chunk, const BitshuffleFormat& format, std::size_t logical_bytes,
              BitshuffleScratch& scratch) {
  Bytes out(logical_bytes);
  decode_bitshuffle(chunk, format, scratch, out);
  return out;
}

Bytes decoded(const Bytes& chunk, const BitshuffleFormat& format, std::size_t logical_bytes) {
  BitshuffleScratch scratch;
  return decoded(chunk, format, logical_bytes, scratch);
}

// Every kernel that was built, by name; one that this processor lacks is a skip.
class BitshuffleKernel : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const BitshuffleKernels* usable : usable_bitshuffle_kernels())
      if (GetParam() == std::string(usable->name)) kernels = usable;
    if (kernels == nullptr) GTEST_SKIP() << "this processor does not run the " << GetParam() << " kernels";
  }
  const BitshuffleKernels* kernels = nullptr;
};

TEST_P(BitshuffleKernel, TransposesTheWorkedExample) {
  // uint16 elements 1, 2, 4, 8, 256, 3, 0, 65535; worked out by hand from the definition.
  const Bytes elements = bytes_of({1, 0, 2, 0, 4, 0, 8, 0, 0, 1, 3, 0, 0, 0, 255, 255});
  const Bytes planes = bytes_of({0xa1, 0xa2, 0x84, 0x88, 0x80, 0x80, 0x80, 0x80,  //
                                 0x90, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80});
  BitshuffleScratch scratch(*kernels);
  const BitshuffleFormat format{2, 8, BitshuffleCodec::none};
  Bytes chunk;
  encode_bitshuffle(elements, format, scratch, chunk);
  EXPECT_EQ(chunk, planes);
  EXPECT_EQ(decoded(planes, format, 16, scratch), elements);
}

TEST_P(BitshuffleKernel, AgreesWithTheDefinitionForEverySizeAndLength) {
  for (const std::size_t element_bytes : {1u, 2u, 3u, 4u, 5u, 6u, 8u, 10u, 16u})
    for (const std::size_t count : {8u, 16u, 64u, 248u, 256u, 504u, 512u, 520u, 1032u, 4096u, 8192u})
      for (const int live_bytes : {1, 2, 99}) {
        SCOPED_TRACE(std::to_string(count) + " elements of " + std::to_string(element_bytes) + " bytes, " +
                     std::to_string(live_bytes) + " of them not zero");
        const Bytes elements = random_elements(count, element_bytes, 7, live_bytes);
        const Bytes planes = planes_by_definition(elements, element_bytes);
        Bytes back(elements.size()), forth(elements.size());
        elements_from_planes(*kernels, planes.data(), count, element_bytes, back.data());
        planes_from_elements(*kernels, elements.data(), count, element_bytes, forth.data());
        ASSERT_EQ(back, elements);
        ASSERT_EQ(forth, planes);
      }
}

TEST_P(BitshuffleKernel, TransposesWhatLiesAcrossCacheLines) {
  const Bytes elements = random_elements(1024, 2, 8);
  Bytes planes = planes_by_definition(elements, 2);
  for (const std::size_t shift : {1u, 3u, 63u}) {
    Bytes from(shift), out(elements.size() + shift);
    from.insert(from.end(), planes.begin(), planes.end());
    elements_from_planes(*kernels, from.data() + shift, 1024, 2, out.data() + shift);
    EXPECT_TRUE(std::equal(elements.begin(), elements.end(), out.begin() + static_cast<std::ptrdiff_t>(shift)));
  }
}

TEST_P(BitshuffleKernel, SeesASingleBitAnywhere) {
  for (const std::size_t count : {1u, 7u, 63u, 64u, 65u, 512u}) {
    Bytes bytes(count);
    EXPECT_TRUE(kernels->all_zero(bytes.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      bytes[i] = std::byte{0x40};
      EXPECT_FALSE(kernels->all_zero(bytes.data(), count)) << "byte " << i << " of " << count;
      bytes[i] = std::byte{0};
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, BitshuffleKernel, ::testing::Values("portable", "avx2", "avx512"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Bitshuffle, DefaultBlocksAreEightKibibytes) {
  EXPECT_EQ(default_block_elements(1), 8192u);
  EXPECT_EQ(default_block_elements(2), 4096u);
  EXPECT_EQ(default_block_elements(4), 2048u);
  EXPECT_EQ(default_block_elements(10), 816u);
  EXPECT_EQ(default_block_elements(1000), 128u);
}

// One LZ4 block of 8192 zeros: a literal, a match of 8186 bytes at distance 1 (4 + 15 + 32 * 255 + 7), five literals.
Bytes lz4_of_8192_zeros() {
  Bytes block = bytes_of({0x1f, 0, 1, 0});
  block.insert(block.end(), 32, std::byte{0xff});
  const Bytes end = bytes_of({7, 0x50, 0, 0, 0, 0, 0});
  block.insert(block.end(), end.begin(), end.end());
  return block;
}

TEST(Bitshuffle, ReadsAnInstrumentsEmptyFrame) {
  // A 192x192 uint32 frame of zeros as an ARINA detector wrote it: 858 bytes = 12 + 18 * (4 + 43).
  Bytes chunk = bytes_of({0, 0, 0, 0, 0, 2, 0x40, 0, 0, 0, 0x20, 0});
  for (int block = 0; block < 18; ++block) {
    const Bytes size = bytes_of({0, 0, 0, 0x2b}), content = lz4_of_8192_zeros();
    chunk.insert(chunk.end(), size.begin(), size.end());
    chunk.insert(chunk.end(), content.begin(), content.end());
  }
  ASSERT_EQ(chunk.size(), 858u);
  BitshuffleScratch scratch;
  Bytes out(std::size_t{192} * 192 * 4, std::byte{0x55});
  decode_bitshuffle(chunk, {4, 0, BitshuffleCodec::lz4}, scratch, out);
  EXPECT_EQ(out, Bytes(out.size()));
  EXPECT_EQ(encode_bitshuffle(out, {4, 0, BitshuffleCodec::lz4}), chunk);
}

TEST(Bitshuffle, BlockSizeZeroInTheHeaderMeansTheDefault) {
  const Bytes elements = random_elements(5000, 2, 3);
  Bytes chunk = encode_bitshuffle(elements, {2, 0, BitshuffleCodec::lz4});
  std::fill_n(chunk.begin() + 8, 4, std::byte{0});
  EXPECT_EQ(decoded(chunk, {2, 64, BitshuffleCodec::lz4}, elements.size()), elements);
}

TEST(Bitshuffle, FewerThanEightElementsAreStoredAsTheyAre) {
  const Bytes elements = random_elements(7, 2, 3);
  const Bytes chunk = encode_bitshuffle(elements, {2, 0, BitshuffleCodec::lz4});
  EXPECT_EQ(chunk.size(), 12u + 14u);
  EXPECT_TRUE(std::equal(elements.begin(), elements.end(), chunk.begin() + 12));
  EXPECT_EQ(decoded(chunk, {2, 0, BitshuffleCodec::lz4}, 14), elements);
}

TEST(Bitshuffle, NoElementsAreAnEmptyChunk) {
  for (const BitshuffleCodec codec : {BitshuffleCodec::none, BitshuffleCodec::lz4, BitshuffleCodec::zstd})
    EXPECT_TRUE(decoded(encode_bitshuffle({}, {2, 0, codec}), {2, 0, codec}, 0).empty());
}

TEST(Bitshuffle, AppendsToWhatTheBufferHolds) {
  const Bytes elements = random_elements(100, 2, 3);
  const BitshuffleFormat format{2, 0, BitshuffleCodec::lz4};
  BitshuffleScratch scratch;
  Bytes both = bytes_of({1, 2, 3});
  encode_bitshuffle(elements, format, scratch, both);
  const Bytes alone = encode_bitshuffle(elements, format);
  EXPECT_EQ(Bytes(both.begin() + 3, both.end()), alone);
}

RC_GTEST_PROP(BitshuffleProperty, DecodingUndoesEncoding, ()) {
  const auto element_bytes = *rc::gen::element<std::size_t>(1, 2, 3, 4, 6, 8, 10, 17);
  const auto count = *rc::gen::inRange<std::size_t>(0, 3000);
  const auto block_elements = 8 * *rc::gen::element<std::size_t>(0, 1, 2, 8, 9, 64, 128, 1024, 8192);
  const auto codec = *rc::gen::element(BitshuffleCodec::none, BitshuffleCodec::lz4, BitshuffleCodec::zstd);
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const auto live_bytes = *rc::gen::inRange(0, 18);
  const Bytes elements = random_elements(count, element_bytes, seed, live_bytes);
  const BitshuffleFormat format{element_bytes, block_elements, codec};
  for (const BitshuffleKernels* kernels : usable_bitshuffle_kernels()) {
    BitshuffleScratch scratch(*kernels);
    Bytes chunk;
    encode_bitshuffle(elements, format, scratch, chunk);
    RC_ASSERT(decoded(chunk, format, elements.size(), scratch) == elements);
  }
}

RC_GTEST_PROP(BitshuffleProperty, PlanesAreThoseOfTheDefinition, ()) {
  const auto element_bytes = *rc::gen::inRange<std::size_t>(1, 9);
  const auto count = *rc::gen::inRange<std::size_t>(0, 700);
  const auto codec = *rc::gen::element(BitshuffleCodec::none, BitshuffleCodec::lz4, BitshuffleCodec::zstd);
  const Bytes elements = random_elements(count, element_bytes, 5, *rc::gen::inRange(0, 9));
  const BitshuffleFormat format{element_bytes, 128, codec};
  const Bytes chunk = encode_bitshuffle(elements, format);
  BitshuffleScratch scratch;
  std::size_t next = 0;
  visit_bit_planes(
      chunk, format, elements.size(), {}, scratch,
      [&](const BitPlanes& block) {
        RC_ASSERT(block.first == next);
        RC_ASSERT(block.plane_bytes * 8 == block.elements);
        const auto* start = elements.data() + block.first * element_bytes;
        const Bytes planes = planes_by_definition(Bytes(start, start + block.elements * element_bytes), element_bytes);
        RC_ASSERT(std::equal(planes.begin(), planes.end(), block.planes));
        for (std::size_t p = 0; p < 8 * element_bytes; ++p)
          RC_ASSERT((block.nonzero >> p & 1) == std::any_of(block.plane(p), block.plane(p) + block.plane_bytes,
                                                            [](std::byte byte) { return byte != std::byte{0}; }));
        next += block.elements;
      },
      [&](const BitshuffleTail& tail) {
        RC_ASSERT(tail.first == next);
        RC_ASSERT(std::equal(tail.bytes.begin(), tail.bytes.end(), elements.data() + next * element_bytes));
        next += tail.bytes.size() / element_bytes;
      });
  RC_ASSERT(next == count);
}

RC_GTEST_PROP(BitshuffleProperty, OnlyBlocksWithWantedElementsAreVisited, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 700);
  const ElementRange wanted{*rc::gen::inRange<std::size_t>(0, 700), *rc::gen::inRange<std::size_t>(0, 700)};
  const auto codec = *rc::gen::element(BitshuffleCodec::none, BitshuffleCodec::lz4, BitshuffleCodec::zstd);
  const Bytes elements = random_elements(count, 2, 6, 2);
  const BitshuffleFormat format{2, 128, codec};
  const Bytes chunk = encode_bitshuffle(elements, format);
  std::vector<bool> visited(count), expected(count);
  for (std::size_t first = 0; first < count / 8 * 8; first += 128)
    for (std::size_t i = first; i < std::min(first + 128, count / 8 * 8); ++i)
      expected[i] = first < wanted.last && wanted.first < std::min(first + 128, count / 8 * 8);
  for (std::size_t i = count / 8 * 8; i < count; ++i) expected[i] = true;  // the tail costs nothing
  BitshuffleScratch scratch;
  const auto visit = [&](std::size_t first, std::size_t n) {
    std::fill_n(visited.begin() + static_cast<std::ptrdiff_t>(first), n, true);
  };
  visit_bit_planes(
      chunk, format, elements.size(), wanted, scratch,
      [&](const BitPlanes& block) {
        const auto* start = elements.data() + block.first * 2;
        const Bytes planes = planes_by_definition(Bytes(start, start + block.elements * 2), 2);
        RC_ASSERT(std::equal(planes.begin(), planes.end(), block.planes));
        visit(block.first, block.elements);
      },
      [&](const BitshuffleTail& tail) { visit(tail.first, tail.bytes.size() / 2); });
  RC_ASSERT(visited == expected);
}

}  // namespace
}  // namespace sonde
