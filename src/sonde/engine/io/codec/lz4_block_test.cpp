// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/codec/lz4_block.h"

#include <gtest/gtest.h>
#include <lz4.h>
#include <lz4hc.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sonde/engine/io/codec/bitshuffle_kernels.h"

namespace sonde {
namespace {

using Bytes = std::vector<std::byte>;

// A block built sequence by sequence, and by plain loops what it decodes to.
class Block {
 public:
  Block& sequence(std::size_t literals, std::size_t offset, std::size_t length) {
    put_literals(literals, length - 4);
    for (int shift = 0; shift < 16; shift += 8) bytes.push_back(static_cast<std::byte>(offset >> shift));
    if (length - 4 >= 15) put_rest(length - 4 - 15);
    for (std::size_t i = 0; i < length && offset <= content.size() && offset > 0; ++i)
      content.push_back(content[content.size() - offset]);
    return *this;
  }
  Block& end(std::size_t literals = 12) {
    put_literals(literals, 0);
    return *this;
  }

  Bytes bytes, content;

 private:
  void put_literals(std::size_t count, std::size_t match) {
    bytes.push_back(static_cast<std::byte>(std::min<std::size_t>(count, 15) << 4 | std::min<std::size_t>(match, 15)));
    if (count >= 15) put_rest(count - 15);
    for (std::size_t i = 0; i < count; ++i) {
      bytes.push_back(static_cast<std::byte>(random_()));
      content.push_back(bytes.back());
    }
  }
  void put_rest(std::size_t rest) {
    for (; rest >= 255; rest -= 255) bytes.push_back(std::byte{255});
    bytes.push_back(static_cast<std::byte>(rest));
  }
  std::mt19937 random_{3};
};

class Lz4Block : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const BitshuffleKernels* usable : usable_bitshuffle_kernels())
      if (GetParam() == std::string(usable->name)) decompress = usable->decompress_lz4;
    if (decompress == nullptr) GTEST_SKIP() << "this processor does not run the " << GetParam() << " kernels";
  }

  // The decoded bytes, or nothing for what is not a block; checks that only the padding is touched beyond them.
  [[nodiscard]] Bytes decoded(Bytes block, std::size_t to_bytes) const {
    const std::size_t size = block.size();
    block.resize(size + lz4_padding_bytes);
    Bytes out(to_bytes + lz4_padding_bytes);
    ZeroRuns zeros;
    const std::int64_t written = decompress(block.data(), size, out.data(), to_bytes, zeros);
    out.resize(written < 0 ? 0 : static_cast<std::size_t>(written));
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (zeros.cover(i, i + 1)) {
        EXPECT_EQ(out[i], std::byte{0}) << "byte " << i << " is said to be zero";
      }
    }
    return out;
  }
  DecompressLz4* decompress = nullptr;
};

TEST_P(Lz4Block, RepeatsEveryOffsetForEveryLength) {
  for (std::size_t offset = 1; offset <= 200; ++offset)
    for (const std::size_t length : {4u, 5u, 18u, 19u, 31u, 63u, 64u, 65u, 127u, 128u, 129u, 200u, 273u, 274u, 1000u}) {
      SCOPED_TRACE("offset " + std::to_string(offset) + ", length " + std::to_string(length));
      const Block block = Block().sequence(200, offset, length).sequence(3, offset, 7).sequence(0, offset, 4).end();
      ASSERT_EQ(decoded(block.bytes, block.content.size()), block.content);
    }
}

TEST_P(Lz4Block, TakesEveryNumberOfLiterals) {
  for (std::size_t literals = 0; literals <= 600; ++literals) {
    SCOPED_TRACE(std::to_string(literals) + " literals");
    const Block block =
        Block().sequence(70, 3, 6).sequence(literals, 64, 20).sequence(1, 65, 9).sequence(literals, 2, 9).end(12);
    ASSERT_EQ(decoded(block.bytes, block.content.size()), block.content);
  }
}

TEST_P(Lz4Block, RestoresWhatEachLevelCompressed) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    // Runs, repeats and noise in changing proportion.
    Bytes content(1 + random() % 9000);
    const auto noise = 1 + random() % 200;
    for (std::size_t i = 0; i < content.size(); ++i)
      content[i] = random() % noise == 0 ? static_cast<std::byte>(random()) : i > 24 ? content[i - 24] : std::byte{0};
    const int size = static_cast<int>(content.size());
    Bytes block(static_cast<std::size_t>(LZ4_compressBound(size)));
    auto* to = reinterpret_cast<char*>(block.data());
    const auto* from = reinterpret_cast<const char*>(content.data());
    const int room = static_cast<int>(block.size());
    const int written = round % 2 == 0 ? LZ4_compress_default(from, to, size, room)
                                       : LZ4_compress_HC(from, to, size, room, 3 + round % 10);
    block.resize(static_cast<std::size_t>(written));
    ASSERT_EQ(decoded(block, content.size()), content);
  }
}

TEST_P(Lz4Block, RefusesMatchesFromBeforeTheStart) {
  for (const std::size_t offset : {41u, 63u, 64u, 65u, 100u, 65535u})
    EXPECT_TRUE(decoded(Block().sequence(40, offset, 8).end().bytes, 60).empty()) << "offset " << offset;
}

TEST_P(Lz4Block, RefusesMoreThanFits) {
  const Block block = Block().sequence(40, 3, 100).end();
  EXPECT_EQ(decoded(block.bytes, 152).size(), 152u);
  for (std::size_t room = 1; room < 152; ++room) EXPECT_TRUE(decoded(block.bytes, room).empty()) << room;
}

TEST_P(Lz4Block, NoTruncationGivesTheWhole) {
  const Block block = Block().sequence(40, 3, 300).sequence(300, 70, 40).end();
  for (std::size_t size = 0; size < block.bytes.size(); ++size) {
    const Bytes part(block.bytes.begin(), block.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    // Cut after literals it is a shorter block.
    EXPECT_LT(decoded(part, block.content.size()).size(), block.content.size()) << size << " bytes";
  }
}

TEST_P(Lz4Block, AcceptsNothingThatLiblz4Refuses) {
  std::mt19937 random(9);
  const Block good = Block().sequence(20, 3, 30).sequence(0, 24, 70).sequence(17, 90, 9).sequence(5, 1, 4).end();
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    Bytes block = good.bytes;
    for (auto changes = 1 + random() % 2; changes > 0; --changes)
      block[random() % block.size()] = static_cast<std::byte>(random());
    const std::size_t room = good.content.size() + random() % 3;
    const Bytes own = decoded(block, room);
    if (own.empty()) continue;
    Bytes reference(room);
    const int written =
        LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(reference.data()),
                            static_cast<int>(block.size()), static_cast<int>(room));
    ASSERT_EQ(written, static_cast<int>(own.size()));
    reference.resize(own.size());
    ASSERT_EQ(own, reference);
    ++accepted;
  }
  EXPECT_GT(accepted, 100);
}

INSTANTIATE_TEST_SUITE_P(, Lz4Block, ::testing::Values("portable", "avx2", "avx512"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Lz4BlockAvx512, RefusesOffsetsOfZero) {
  const BitshuffleKernels& kernels = *usable_bitshuffle_kernels().back();
  if (kernels.name != std::string("avx512")) GTEST_SKIP() << "this processor does not run the avx512 kernels";
  Bytes block = Block().sequence(40, 0, 8).end().bytes, out(60 + lz4_padding_bytes);
  const std::size_t size = block.size();
  block.resize(size + lz4_padding_bytes);
  ZeroRuns zeros;
  EXPECT_EQ(kernels.decompress_lz4(block.data(), size, out.data(), 60, zeros), -1);
}

TEST(Lz4BlockAvx512, TellsRunsOfZeros) {
  const BitshuffleKernels& kernels = *usable_bitshuffle_kernels().back();
  if (kernels.name != std::string("avx512")) GTEST_SKIP() << "this processor does not run the avx512 kernels";
  // 40 bytes of noise, 1000 of zeros, noise, 500 equal bytes that are no zeros, and zeros behind them.
  std::mt19937 random(4);
  Bytes content(40);
  for (std::byte& each : content) each = static_cast<std::byte>(1 + random() % 255);
  content.resize(1040);
  for (int i = 0; i < 20; ++i) content.push_back(static_cast<std::byte>(1 + random() % 255));
  content.resize(1560, std::byte{7});
  content.resize(1960);
  content.resize(2000, std::byte{9});
  Bytes block(4000 + lz4_padding_bytes);
  const int size = LZ4_compress_default(reinterpret_cast<const char*>(content.data()),
                                        reinterpret_cast<char*>(block.data()), 2000, 4000);
  Bytes out(2000 + lz4_padding_bytes);
  ZeroRuns zeros;
  ASSERT_EQ(kernels.decompress_lz4(block.data(), static_cast<std::size_t>(size), out.data(), 2000, zeros), 2000);
  out.resize(2000);
  EXPECT_EQ(out, content);
  // A run begins a few bytes behind the first zero, which the repeat needs.
  EXPECT_TRUE(zeros.cover(50, 1040));
  EXPECT_TRUE(zeros.cover(1570, 1960));
  EXPECT_FALSE(zeros.cover(39, 41));
  EXPECT_FALSE(zeros.cover(1100, 1101));
  EXPECT_EQ(zeros.pieces(100), 0b111'000000'1111111110u);  // bytes 100 to 999 and 1600 to 1899
}

TEST(ZeroRuns, PiecesThatLieInARunAreCounted) {
  ZeroRuns zeros;
  EXPECT_EQ(zeros.pieces(8), 0u);
  zeros.add(7, 33);
  EXPECT_EQ(zeros.pieces(8), 0b1110u);
  EXPECT_EQ(zeros.pieces(7), 0b1110u);  // [7, 28)
  EXPECT_EQ(zeros.pieces(100), 0u);
  zeros.add(64, 4096);
  EXPECT_EQ(zeros.pieces(64), ~std::uint64_t{1});
  for (std::size_t i = 0; i < 20; ++i) zeros.add(1000000 + 10 * i, 1000005 + 10 * i);  // only some are kept
  EXPECT_FALSE(zeros.cover(1000190, 1000195));
}

}  // namespace
}  // namespace sonde
