// SPDX-License-Identifier: Apache-2.0
// Many chunks on every device, against the CPU decoder.
#include "sonde/engine/io/codec/bitshuffle_chunks.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "tests/support/devices.h"

namespace sonde {
namespace {

class ChunksOnEach : public testing::EachDevice {};

/// Chunks one behind another, each of which starts at another byte of a word.
template <class T>
struct Chunks {
  std::vector<std::uint8_t> bytes;
  std::vector<ChunkPiece> pieces;
  std::vector<T> elements;  // (chunk, element)

  void add(std::size_t count, const BitshuffleFormat& format, ChunkForm form, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> frame(count);
    for (T& element : frame) element = static_cast<T>(random() % 50 == 0 ? random() : random() % 3);
    const auto raw = std::as_bytes(std::span(frame));
    const std::vector<std::byte> chunk =
        form == ChunkForm::plain ? std::vector<std::byte>(raw.begin(), raw.end()) : encode_bitshuffle(raw, format);
    bytes.resize(bytes.size() + seed % 3);
    pieces.push_back({bytes.size(), chunk.size(), form});
    for (const std::byte byte : chunk) bytes.push_back(static_cast<std::uint8_t>(byte));
    elements.insert(elements.end(), frame.begin(), frame.end());
  }
};

template <class T>
struct Results {
  std::vector<T> elements;
  std::vector<std::uint64_t> faults;
};

template <class T>
Array on_device(Stream& stream, const std::vector<T>& elements) {
  return Array::from(elements, {static_cast<Index>(elements.size())}).copy_to(stream.device(), stream);
}

template <class T>
Results<T> decode_on(Device device, const Chunks<T>& chunks, std::size_t count, std::size_t block_elements,
                     std::size_t largest_block_bytes) {
  Stream stream(device);
  const auto n = static_cast<Index>(chunks.pieces.size());
  const Array bytes = on_device(stream, chunks.bytes);
  static_assert(sizeof(ChunkPiece) == 24);
  Array pieces(device, {3 * n}, DType::u64), faults(device, {n}, DType::u64);
  stream.copy(pieces.data(), chunks.pieces.data(), chunks.pieces.size() * sizeof(ChunkPiece));
  Array elements = Array::pitched(device, {n, static_cast<Index>(count)}, dtype_of<T>, 16);
  decode_chunks(stream, bytes.view<std::uint8_t, 1>(),
                View<const ChunkPiece, 1>(static_cast<const ChunkPiece*>(pieces.data()), n), block_elements,
                largest_block_bytes, elements.view<T, 2>(), faults.view<std::uint64_t, 1>());
  Results<T> results;
  results.faults.resize(chunks.pieces.size());
  stream.copy(results.faults.data(), faults.data(), faults.allocated_bytes());
  std::vector<T> padded(elements.allocated_bytes() / sizeof(T));
  stream.copy(padded.data(), elements.data(), elements.allocated_bytes());
  stream.synchronise();
  for (Index k = 0; k < n; ++k) {
    const auto row = padded.begin() + k * elements.stride(0);
    results.elements.insert(results.elements.end(), row, row + static_cast<std::ptrdiff_t>(count));
  }
  return results;
}

template <class T>
void expect_whole(Device device, std::size_t count, std::size_t block_elements) {
  Chunks<T> chunks;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const ChunkForm form = static_cast<ChunkForm>(seed % 3);
    const BitshuffleCodec codec = form == ChunkForm::lz4 ? BitshuffleCodec::lz4 : BitshuffleCodec::none;
    chunks.add(count, {sizeof(T), block_elements, codec}, form, seed);
  }
  const std::size_t block = block_elements != 0 ? block_elements : default_block_elements(sizeof(T));
  const Results<T> results = decode_on(device, chunks, count, block_elements, block * sizeof(T));
  EXPECT_EQ(results.elements, chunks.elements);
  EXPECT_EQ(results.faults, std::vector<std::uint64_t>(40, no_chunk_fault));
}

TEST_P(ChunksOnEach, FramesOfA192PixelDetectorOfBytes) { expect_whole<std::uint8_t>(device(), 192 * 192, 0); }
TEST_P(ChunksOnEach, FramesOfA192PixelDetectorOfU16) { expect_whole<std::uint16_t>(device(), 192 * 192, 0); }
TEST_P(ChunksOnEach, FramesOfA192PixelDetectorOfU32) { expect_whole<std::uint32_t>(device(), 192 * 192, 0); }
TEST_P(ChunksOnEach, FramesWithATailInShortBlocks) { expect_whole<std::uint16_t>(device(), 193 * 191, 64); }
TEST_P(ChunksOnEach, FewerElementsThanABlockHas) { expect_whole<std::uint16_t>(device(), 13, 0); }

TEST_P(ChunksOnEach, ABrokenChunkIsZerosAndTheOthersAreWhole) {
  Chunks<std::uint16_t> chunks;
  for (unsigned seed = 0; seed < 9; ++seed) chunks.add(500, {2, 64, BitshuffleCodec::lz4}, ChunkForm::lz4, seed);
  chunks.bytes[chunks.pieces[4].offset + 16] = 0xff;
  chunks.bytes[chunks.pieces[4].offset + 17] = 0xff;
  std::fill_n(chunks.elements.begin() + 4 * 500, 500, std::uint16_t{0});
  const auto results = decode_on(device(), chunks, 500, 0, 128);
  EXPECT_EQ(results.elements, chunks.elements);
  std::vector<std::uint64_t> faults(9, no_chunk_fault);
  faults[4] = chunk_fault(0, ChunkFault::lz4);
  EXPECT_EQ(results.faults, faults);
}

TEST_P(ChunksOnEach, AnAbsentChunkIsZerosWithoutAFault) {
  Chunks<std::uint16_t> chunks;
  chunks.add(500, {2, 64, BitshuffleCodec::lz4}, ChunkForm::lz4, 1);
  chunks.pieces.push_back({0, 0, ChunkForm::absent});
  chunks.elements.resize(1000);
  const auto results = decode_on(device(), chunks, 500, 0, 128);
  EXPECT_EQ(results.elements, chunks.elements);
  EXPECT_EQ(results.faults, std::vector<std::uint64_t>(2, no_chunk_fault));
}

TEST_P(ChunksOnEach, NoChunksAreNoWork) {
  EXPECT_TRUE(decode_on(device(), Chunks<std::uint16_t>(), 64, 0, 128).elements.empty());
}

INSTANTIATE_EACH_DEVICE(ChunksOnEach);

}  // namespace
}  // namespace sonde
