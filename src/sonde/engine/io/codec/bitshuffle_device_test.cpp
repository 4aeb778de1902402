// SPDX-License-Identifier: Apache-2.0
// The logic of the GPU decoder, run by one thread with its loops forwards and backwards, against liblz4 and the CPU
// decoder. Buffers have their exact size on the heap, so that a sanitiser sees every byte beyond.
#include "sonde/engine/io/codec/bitshuffle_device.h"

#include <gtest/gtest.h>
#include <lz4.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/decode_serially.h"

namespace sonde {
namespace {

using testing::both_orders;
using testing::decode_serially;

/// Mostly small counts, as a detector makes them; `live_bytes` of each element differ from zero now and then.
testing::Bytes counts(std::size_t elements, std::size_t element_bytes, std::size_t live_bytes, unsigned seed) {
  std::mt19937 random(seed);
  testing::Bytes bytes(elements * element_bytes);
  for (std::size_t i = 0; i < elements; ++i)
    for (std::size_t k = 0; k < std::min(element_bytes, live_bytes); ++k) {
      const auto drawn = random();
      bytes[i * element_bytes + k] = static_cast<std::uint8_t>(k == 0 ? drawn & 3 : drawn % 64 == 0 ? drawn >> 8 : 0);
    }
  return bytes;
}

struct Lz4Result {
  ChunkFault fault;
  testing::Bytes bytes;
};

Lz4Result decode_lz4(const testing::Bytes& block, std::size_t out_bytes, StepOrder order) {
  // Words, so that the start is aligned; the end is where a sanitiser looks when the size is a multiple of eight.
  const auto out = std::make_unique<std::uint64_t[]>(out_bytes / 8);
  auto* to = reinterpret_cast<std::uint8_t*>(out.get());
  const ChunkFault fault = device::decode_lz4(SerialWarp(order), block.data(), static_cast<std::uint32_t>(block.size()),
                                              to, static_cast<std::uint32_t>(out_bytes));
  return {fault, testing::Bytes(to, to + out_bytes)};
}

testing::Bytes compressed(const testing::Bytes& bytes) {
  testing::Bytes block(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))));
  block.resize(static_cast<std::size_t>(
      LZ4_compress_default(reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<char*>(block.data()),
                           static_cast<int>(bytes.size()), static_cast<int>(block.size()))));
  block.shrink_to_fit();
  return block;
}

/// testing::Bytes with runs of every period up to 20 and stretches without any, in pieces of random length.
testing::Bytes runs(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  testing::Bytes bytes;
  while (bytes.size() < count) {
    const std::size_t length = random() % 4 == 0 ? random() % 2000 : random() % 60, period = random() % 21;
    for (std::size_t i = 0; i < length; ++i)
      bytes.push_back(period == 0 || bytes.size() < period ? static_cast<std::uint8_t>(random())
                                                           : bytes[bytes.size() - period]);
  }
  bytes.resize(count);
  return bytes;
}

TEST(Lz4Device, DecodesWhatLiblz4Wrote) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const testing::Bytes bytes = runs(8 * (1 + seed * 7 % 1024), seed);
    for (const StepOrder order : both_orders) {
      const Lz4Result result = decode_lz4(compressed(bytes), bytes.size(), order);
      ASSERT_EQ(result.fault, ChunkFault::none) << "seed " << seed;
      ASSERT_EQ(result.bytes, bytes) << "seed " << seed;
    }
  }
}

TEST(Lz4Device, RunsOfEveryPeriodStartAnywhere) {
  for (std::uint32_t period = 1; period <= 17; ++period)
    for (std::uint32_t start = 0; start < 9; ++start)
      for (const std::uint32_t length : {4u, 31u, 32u, 33u, 255u, 400u})
        for (const StepOrder order : both_orders) {
          std::vector<std::uint64_t> words(64);
          auto* bytes = reinterpret_cast<std::uint8_t*>(words.data());
          for (std::uint32_t i = 0; i < start + period; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 1);
          std::vector<std::uint8_t> expected(bytes, bytes + 512);
          for (std::uint32_t i = 0; i < length; ++i) expected[start + period + i] = expected[start + i];
          device::repeat_match(SerialWarp(order), bytes + start + period, period, length);
          ASSERT_EQ(std::vector<std::uint8_t>(bytes, bytes + 512), expected)
              << "period " << period << ", start " << start << ", length " << length;
        }
}

TEST(Lz4Device, DistanceZeroIsAFault) {
  testing::Bytes block = compressed(testing::Bytes(64));
  const auto distance = std::find(block.begin(), block.end(), 1);  // literal 0, then distance 1
  ASSERT_NE(distance, block.end());
  *distance = 0;
  EXPECT_EQ(decode_lz4(block, 64, StepOrder::forwards).fault, ChunkFault::lz4);
}

TEST(Lz4Device, DistanceBeforeTheStartIsAFault) {
  testing::Bytes block = compressed(testing::Bytes(64));
  *std::find(block.begin(), block.end(), 1) = 2;
  EXPECT_EQ(decode_lz4(block, 64, StepOrder::forwards).fault, ChunkFault::lz4);
}

TEST(Lz4Device, FewerBytesThanExpectedAreAFaultOfTheirOwn) {
  EXPECT_EQ(decode_lz4(compressed(testing::Bytes(64)), 72, StepOrder::forwards).fault, ChunkFault::block_size);
}

TEST(Lz4Device, NothingIsNoBlock) { EXPECT_EQ(decode_lz4({}, 8, StepOrder::forwards).fault, ChunkFault::lz4); }

/// Whether liblz4 decodes the block to exactly these bytes.
bool liblz4_gives(const testing::Bytes& block, const testing::Bytes& bytes) {
  testing::Bytes out(bytes.size());
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(out.data()),
                                       static_cast<int>(block.size()), static_cast<int>(out.size()));
  return size == static_cast<int>(out.size()) && out == bytes;
}

TEST(Lz4Device, WhatItTakesFromMutatedBlocksLiblz4TakesToo) {
  std::mt19937 random(20250101);
  int taken = 0, refused = 0;
  for (int round = 0; round < 60000; ++round) {
    const std::size_t size = 8 * (1 + random() % 40);
    testing::Bytes block = compressed(runs(size, static_cast<unsigned>(random() % 500)));
    for (auto changes = 1 + random() % 3; changes > 0; --changes)
      block[random() % block.size()] = static_cast<std::uint8_t>(random());
    if (random() % 8 == 0) block.resize(random() % (block.size() + 1));
    block.shrink_to_fit();
    const Lz4Result result = decode_lz4(block, size, both_orders[round % 2]);
    if (result.fault == ChunkFault::none) {
      ASSERT_TRUE(liblz4_gives(block, result.bytes)) << "round " << round;
      ++taken;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

testing::Bytes encoded(const testing::Bytes& elements, const BitshuffleFormat& format) {
  const std::vector<std::byte> chunk = encode_bitshuffle(std::as_bytes(std::span(elements)), format);
  testing::Bytes bytes(chunk.size());
  std::transform(chunk.begin(), chunk.end(), bytes.begin(), [](std::byte b) { return static_cast<std::uint8_t>(b); });
  return bytes;
}

template <class T>
class ChunkDevice : public ::testing::Test {};
using Types = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(ChunkDevice, Types);

TYPED_TEST(ChunkDevice, UndoesTheEncoder) {
  unsigned seed = 0;
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 40u, 35u, 193u * 191u, 96u * 96u, 192u * 192u})
    for (const std::size_t block_elements : {0u, 8u, 64u, 1000u, 65536u})
      for (const BitshuffleCodec codec : {BitshuffleCodec::lz4, BitshuffleCodec::none})
        for (const std::size_t live_bytes : {1u, 4u}) {
          SCOPED_TRACE(::testing::Message() << count << " elements in blocks of " << block_elements << ", codec "
                                            << static_cast<int>(codec) << ", " << live_bytes << " live bytes");
          const testing::Bytes bytes = counts(count, sizeof(TypeParam), live_bytes, ++seed);
          const testing::Bytes chunk = encoded(bytes, {sizeof(TypeParam), block_elements, codec});
          const std::size_t block = block_elements != 0 ? block_elements : default_block_elements(sizeof(TypeParam));
          const auto result = decode_serially<TypeParam>(
              chunk, codec == BitshuffleCodec::lz4 ? ChunkForm::lz4 : ChunkForm::planes, count, block_elements,
              std::min(block, count) * sizeof(TypeParam), 1 + seed % 5, both_orders[seed % 2]);
          ASSERT_EQ(result.fault, no_chunk_fault);
          std::vector<TypeParam> expected(count);
          std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::uint8_t*>(expected.data()));
          ASSERT_EQ(result.elements, expected);
        }
}

TYPED_TEST(ChunkDevice, TakesElementsStoredAsTheyAreFromAnyByte) {
  const testing::Bytes bytes = counts(77, sizeof(TypeParam), 4, 5);
  const auto result = decode_serially<TypeParam>(bytes, ChunkForm::plain, 77, 0, 16, 2, StepOrder::backwards);
  ASSERT_EQ(result.fault, no_chunk_fault);
  EXPECT_EQ(0, std::memcmp(result.elements.data(), bytes.data(), bytes.size()));
}

/// The CPU decoder's verdict on the same chunk.
template <class T>
bool cpu_gives(const testing::Bytes& chunk, const BitshuffleFormat& format, const std::vector<T>& elements) {
  BitshuffleScratch scratch;
  std::vector<T> out(elements.size());
  try {
    decode_bitshuffle(std::as_bytes(std::span(chunk)), format, scratch, std::as_writable_bytes(std::span(out)));
  } catch (const Error&) {
    return false;
  }
  return out == elements;
}

TYPED_TEST(ChunkDevice, WhatItTakesFromMutatedChunksTheCpuTakesToo) {
  std::mt19937 random(7);
  int taken = 0, refused = 0;
  for (int round = 0; round < 6000; ++round) {
    const std::size_t count = random() % 300;
    const BitshuffleFormat format{sizeof(TypeParam), 64, BitshuffleCodec::lz4};
    testing::Bytes chunk = encoded(counts(count, sizeof(TypeParam), 2, static_cast<unsigned>(round)), format);
    for (auto changes = random() % 4; changes > 0; --changes)
      chunk[random() % chunk.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) chunk.resize(random() % (chunk.size() + 1));
    chunk.shrink_to_fit();
    const auto result = decode_serially<TypeParam>(chunk, ChunkForm::lz4, count, 0, 64 * sizeof(TypeParam),
                                                   1 + random() % 4, both_orders[round % 2]);
    if (result.fault == no_chunk_fault) {
      ASSERT_TRUE(cpu_gives(chunk, format, result.elements)) << "round " << round;
      ++taken;
    } else {
      ASSERT_EQ(result.elements, std::vector<TypeParam>(count)) << "a broken chunk is zeros, round " << round;
      ++refused;
    }
  }
  EXPECT_GT(taken, 500);
  EXPECT_GT(refused, 500);
}

TEST(ChunkDeviceFault, NamesTheEarliestBlock) {
  testing::Bytes chunk = encoded(counts(300, 2, 2, 1), {2, 64, BitshuffleCodec::lz4});
  std::size_t at = 12;
  for (int block = 0; block < 4; ++block) {
    const std::size_t size = static_cast<std::size_t>(chunk[at + 2]) << 8 | chunk[at + 3];
    if (block == 1 || block == 3) std::fill_n(chunk.begin() + static_cast<std::ptrdiff_t>(at + 4), 3, 0xff);
    at += 4 + size;
  }
  for (const std::uint32_t warps : {1u, 2u, 3u, 8u})
    for (const StepOrder order : both_orders) {
      const auto result = decode_serially<std::uint16_t>(chunk, ChunkForm::lz4, 300, 0, 128, warps, order);
      EXPECT_EQ(result.fault, chunk_fault(1, ChunkFault::lz4)) << warps << " warps";
      EXPECT_EQ(chunk_fault_text(result.fault), "block 1: not valid LZ4 data");
    }
}

TEST(ChunkDeviceFault, EachKindHasItsText) {
  const testing::Bytes good = encoded(counts(67, 2, 2, 1), {2, 64, BitshuffleCodec::lz4});
  const auto text = [](const testing::Bytes& chunk, std::size_t largest_block_bytes = 128) {
    return chunk_fault_text(
        decode_serially<std::uint16_t>(chunk, ChunkForm::lz4, 67, 0, largest_block_bytes, 2, StepOrder::forwards)
            .fault);
  };
  testing::Bytes chunk = good;
  chunk[7] = 1;
  EXPECT_EQ(text(chunk), "the sizes in the header or of the chunk do not suit");
  chunk = good;
  chunk[12] = 1;
  EXPECT_EQ(text(chunk), "block 0: is longer than what is left of the chunk");
  chunk = good;
  chunk.pop_back();
  EXPECT_EQ(text(chunk), "too few or too many bytes after the last block");
  EXPECT_EQ(text(good, 112), "block 0: larger than the memory of a warp");
}

}  // namespace
}  // namespace sonde
