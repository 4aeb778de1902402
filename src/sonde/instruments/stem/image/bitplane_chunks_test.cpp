// SPDX-License-Identifier: Apache-2.0
// Bit planes of many chunks on every device, against those of one chunk after another on the CPU.
#include <gtest/gtest.h>

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/image/bitplane.h"
#include "sonde/instruments/stem/image/test_scan.h"
#include "tests/support/devices.h"

namespace sonde::stem {
namespace {

class BitplanesOnEach : public sonde::testing::EachDevice {};

struct Chunks {
  std::vector<std::uint8_t> bytes;
  std::vector<ChunkPiece> pieces;
};

template <class T>
Chunks chunks_of(const testing::TestScan<T>& scan, const BitshuffleFormat& format, ChunkForm form) {
  Chunks chunks;
  for (Index frame = 0; frame < scan.positions; ++frame) {
    const auto pixels = static_cast<std::size_t>(scan.pixels());
    const auto raw = std::as_bytes(std::span(scan.counts).subspan(static_cast<std::size_t>(frame) * pixels, pixels));
    const std::vector<std::byte> chunk =
        form == ChunkForm::plain ? std::vector<std::byte>(raw.begin(), raw.end()) : encode_bitshuffle(raw, format);
    chunks.pieces.push_back({chunks.bytes.size(), chunk.size(), form});
    for (const std::byte byte : chunk) chunks.bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  return chunks;
}

struct Result {
  std::vector<std::uint64_t> sums, faults;
};

Result evaluate_on(Device device, const BitplaneMasks& masks, const Chunks& chunks, std::size_t block_elements,
                   std::size_t largest_block_bytes) {
  Stream stream(device);
  const auto n = static_cast<Index>(chunks.pieces.size());
  const Array bytes = Array::from(chunks.bytes, {static_cast<Index>(chunks.bytes.size())}).copy_to(device, stream);
  Array pieces(device, {n * Index{sizeof(ChunkPiece)}}, DType::u8), sums(device, {n, BitplaneSums::slots}, DType::u64),
      faults(device, {n}, DType::u64);
  stream.copy(pieces.data(), chunks.pieces.data(), pieces.allocated_bytes());
  masks.evaluate(stream, bytes.view<std::uint8_t, 1>(),
                 View<const ChunkPiece, 1>(static_cast<const ChunkPiece*>(pieces.data()), n), block_elements,
                 largest_block_bytes, sums.view<std::uint64_t, 2>(), faults.view<std::uint64_t, 1>());
  return {testing::host_elements<std::uint64_t>(sums), testing::host_elements<std::uint64_t>(faults)};
}

/// What the CPU says of each chunk, in the order of the slots.
template <class T>
std::vector<std::uint64_t> expected_sums(const BitplaneMasks& masks, const testing::TestScan<T>& scan,
                                         const BitshuffleFormat& format) {
  std::vector<std::uint64_t> all;
  const Chunks chunks = chunks_of(scan, format, ChunkForm::lz4);
  BitshuffleScratch scratch;
  for (const ChunkPiece& piece : chunks.pieces) {
    BitplaneSums sums;
    masks.evaluate(std::as_bytes(std::span(chunks.bytes).subspan(piece.offset, piece.bytes)), format, scratch, sums);
    all.insert(all.end(), sums.masks.begin(), sums.masks.end());
    all.insert(all.end(), {sums.total, sums.moment_row, sums.moment_col, sums.sentinel ? 1u : 0u});
  }
  return all;
}

template <class T>
void expect_equal(Device device, Index rows, Index cols, std::size_t block_elements) {
  const auto scan = testing::random_scan<T>(6, rows, cols, 5);
  BitplaneMasks::Options options;
  options.moments = true;
  options.good.assign(static_cast<std::size_t>(rows * cols), 1);
  options.good[2] = 0;
  options.sentinel = std::numeric_limits<T>::max();
  std::vector<Mask> detectors;
  for (unsigned i = 0; i < 16; ++i) detectors.push_back(testing::random_mask(rows, cols, i / 15.0, i));
  const BitplaneMasks masks = BitplaneMasks::prepare(rows, cols, sizeof(T), detectors, options);
  const std::size_t block = block_elements != 0 ? block_elements : default_block_elements(sizeof(T));
  for (const ChunkForm form : {ChunkForm::lz4, ChunkForm::planes, ChunkForm::plain}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols << ", " << sizeof(T) << " bytes, blocks of "
                                      << block_elements << ", form " << static_cast<int>(form));
    const BitshuffleFormat format{sizeof(T), block_elements,
                                  form == ChunkForm::lz4 ? BitshuffleCodec::lz4 : BitshuffleCodec::none};
    Result result = evaluate_on(device, masks, chunks_of(scan, format, form), block_elements, block * sizeof(T));
    for (std::size_t i = BitplaneSums::sentinel_slot; i < result.sums.size(); i += BitplaneSums::slots)
      result.sums[i] = result.sums[i] != 0 ? 1 : 0;  // any number of blocks may hold sentinels
    EXPECT_EQ(result.sums, expected_sums(masks, scan, {sizeof(T), block_elements, BitshuffleCodec::lz4}));
    EXPECT_EQ(result.faults, std::vector<std::uint64_t>(6, no_chunk_fault));
  }
}

template <class T>
void expect_all_shapes(Device device) {
  expect_equal<T>(device, 96, 96, 0);
  expect_equal<T>(device, 53, 61, 0);  // a short last block and a tail
  expect_equal<T>(device, 40, 40, 72);
  expect_equal<T>(device, 1, 5, 0);  // nothing but a tail
}

TEST_P(BitplanesOnEach, EqualThoseOfTheCpuForBytes) { expect_all_shapes<std::uint8_t>(device()); }
TEST_P(BitplanesOnEach, EqualThoseOfTheCpuForU16) { expect_all_shapes<std::uint16_t>(device()); }
TEST_P(BitplanesOnEach, EqualThoseOfTheCpuForU32) { expect_all_shapes<std::uint32_t>(device()); }

TEST_P(BitplanesOnEach, BrokenAndAbsentChunksSumToZero) {
  const auto scan = testing::random_scan<std::uint16_t>(4, 20, 20, 5);
  const BitplaneMasks masks =
      BitplaneMasks::prepare(20, 20, 2, std::vector<Mask>{testing::random_mask(20, 20, 1, 1)}, {});
  Chunks chunks = chunks_of(scan, {2, 64, BitshuffleCodec::lz4}, ChunkForm::lz4);
  chunks.bytes[chunks.pieces[1].offset + 16] = chunks.bytes[chunks.pieces[1].offset + 17] = 0xff;
  chunks.pieces[2].form = ChunkForm::absent;
  const Result result = evaluate_on(device(), masks, chunks, 0, 128);
  EXPECT_EQ(result.faults, (std::vector<std::uint64_t>{no_chunk_fault, chunk_fault(0, ChunkFault::lz4), no_chunk_fault,
                                                       no_chunk_fault}));
  EXPECT_NE(result.sums[0], 0u);
  EXPECT_EQ(result.sums[BitplaneSums::slots], 0u);
  EXPECT_EQ(result.sums[2 * BitplaneSums::slots], 0u);
}

INSTANTIATE_EACH_DEVICE(BitplanesOnEach);

}  // namespace
}  // namespace sonde::stem
