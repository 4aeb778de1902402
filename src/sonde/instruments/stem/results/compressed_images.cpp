// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/compressed_images.h"

#include <cstring>

#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/load/blocks.h"

namespace sonde::stem {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 20;

std::vector<Array> from_decoded_blocks(Dataset& dataset, std::span<const Mask> masks) {
  std::vector<Array> images;
  for (const Mask& mask : masks)
    images.emplace_back(Device::cpu(), Shape{dataset.positions()},
                        mask.boolean() && dataset.dtype() != DType::f32 ? DType::u64 : DType::f64);
  Stream stream;
  for_each_block(dataset, block_bytes, [&](const Array& frames, Index first_position) {
    for (std::size_t i = 0; i < masks.size(); ++i) {
      Array part(Device::cpu(), {frames.shape()[0]}, images[i].dtype());
      masked_sum(stream, frames, masks[i], part);
      std::memcpy(static_cast<std::byte*>(images[i].data()) + first_position * 8, part.data(), part.allocated_bytes());
    }
  });
  return images;
}

}  // namespace

std::vector<DetectorImage> compressed_images(Dataset& dataset, std::span<const Mask> masks) {
  std::vector<Array> images = from_decoded_blocks(dataset, masks);
  std::vector<DetectorImage> results;
  for (std::size_t i = 0; i < masks.size(); ++i)
    results.push_back({"", "decoded frames", masks[i].area(), masks[i].hash,
                       std::move(images[i]).reshaped(dataset.shape().first(2))});
  return results;
}

}  // namespace sonde::stem
