// SPDX-License-Identifier: Apache-2.0
// Bit planes of many chunks on a device.
#include <cstring>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/instruments/stem/image/bitplane.h"
#include "sonde/instruments/stem/image/bitplane_device.h"

namespace sonde::stem {
namespace {

Array upload(Stream& stream, const void* bytes, std::size_t count) {
  std::vector<std::uint8_t> copy(count);
  if (count > 0) std::memcpy(copy.data(), bytes, count);
  return Array::from(copy, {static_cast<Index>(count)}).copy_to(stream.device(), stream);
}

}  // namespace

namespace cpu {
static void sum_bit_planes(const LaunchSize& size, const device::SumBitPlanes& body) { run_serially(size, body); }
}  // namespace cpu

void BitplaneMasks::evaluate(Stream& stream, View<const std::uint8_t, 1> bytes, View<const ChunkPiece, 1> pieces,
                             std::size_t block_elements, std::size_t largest_block_bytes, View<std::uint64_t, 2> sums,
                             View<std::uint64_t, 1> faults) const {
  if (!apart_.empty()) throw Error(ErrorKind::internal, "sets apart were given to the kernels of a device");
  const auto pixels = static_cast<std::uint64_t>(rows_ * cols_);
  const std::size_t set_bytes = (pixels + 63) / 64 * 8;  // whole words
  std::vector<device::PixelBits> table;
  std::vector<std::byte> bits(set_bytes * (sets_.size() + 1));  // the last: good pixels
  for (const Bits& set : sets_) {
    device::PixelBits& entry = table.emplace_back();
    entry.offset = set_bytes * (table.size() - 1);
    entry.first = static_cast<std::uint32_t>(set.first);
    entry.last = static_cast<std::uint32_t>(set.last);
    entry.slot = static_cast<std::uint32_t>(set.moment == nullptr                     ? set.mask
                                            : set.moment == &BitplaneSums::total      ? BitplaneSums::total_slot
                                            : set.moment == &BitplaneSums::moment_row ? BitplaneSums::moment_row_slot
                                                                                      : BitplaneSums::moment_col_slot);
    entry.power = static_cast<std::uint32_t>(set.power);
    std::memcpy(bits.data() + entry.offset, set.bytes.data(), set.bytes.size());
  }
  if (!good_.empty()) std::memcpy(bits.data() + set_bytes * sets_.size(), good_.data(), good_.size());
  const Array sets = upload(stream, table.data(), table.size() * sizeof(device::PixelBits)),
              all_bits = upload(stream, bits.data(), bits.size());

  device::SumBitPlanes body;
  body.bytes = bytes;
  body.pieces = pieces;
  body.shape = sonde::device::chunk_shape(pixels, element_bytes_, block_elements, largest_block_bytes);
  body.shape.wanted_first = touched().first;
  body.shape.wanted_last = touched().last;
  body.sets = View<const device::PixelBits, 1>(static_cast<const device::PixelBits*>(sets.data()),
                                               static_cast<Index>(table.size()));
  body.bits = static_cast<const std::uint8_t*>(all_bits.data());
  body.good = body.bits + set_bytes * sets_.size();
  body.has_sentinel = sentinel_.has_value();
  body.sentinel = sentinel_.value_or(0);
  body.sums = sums;
  body.sentinel_slot = BitplaneSums::sentinel_slot;
  body.faults = faults;
  const LaunchSize size = sonde::device::chunk_launch(stream.device(), pieces.extent[0], body.shape);
  SONDE_DISPATCH(stream, sum_bit_planes, size, body);
  stream.synchronise();  // the tables are freed here
}

}  // namespace sonde::stem
