// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/compressed_images.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sonde/instruments/stem/image/bitplane.h"
#include "sonde/instruments/stem/image/event_masks.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/load/blocks.h"
#include "sonde/instruments/stem/load/stored_frames.h"

namespace sonde::stem {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 20;

bool counts(const Dataset& dataset, const Mask& mask) { return mask.boolean() && dataset.dtype() != DType::f32; }

std::vector<Array> empty_images(const Dataset& dataset, std::span<const Mask> masks) {
  std::vector<Array> images;
  for (const Mask& mask : masks)
    images.push_back(
        Array::zeros(Device::cpu(), {dataset.positions()}, counts(dataset, mask) ? DType::u64 : DType::f64));
  return images;
}

std::vector<Array> from_decoded_blocks(const Dataset& dataset, std::span<const Mask> masks) {
  std::vector<Array> images = empty_images(dataset, masks);
  Stream stream;
  for_each_block(dataset, block_bytes, NotFinite::zero, [&](const Array& frames, Index first_position) {
    std::vector<Array> parts;
    for (const Array& image : images) parts.emplace_back(Device::cpu(), Shape{frames.shape()[0]}, image.dtype());
    masked_sums(stream, frames, masks, parts);
    for (std::size_t i = 0; i < masks.size(); ++i)
      std::memcpy(static_cast<std::byte*>(images[i].data()) + first_position * 8, parts[i].data(),
                  parts[i].allocated_bytes());
  });
  return images;
}

/// The mask without bad pixels.
Mask good_part(const Mask& mask, const std::vector<std::uint8_t>& good) {
  std::vector<Index> pixels = mask.pixels;
  std::erase_if(pixels, [&](Index pixel) { return good[static_cast<std::size_t>(pixel)] == 0; });
  return make_mask(mask.rows, mask.cols, std::move(pixels));
}

/// Stored frames are resident frames bit for bit, but for masked pixels: what AND and popcount on their planes need,
/// and counting the electrons of lists.
bool stored_frames_suffice(const Dataset& dataset, std::span<const Mask> masks) {
  return dataset.det_bin() == 1 && dataset.options().hot_pixels != BadPixelAction::interpolate &&
         dataset.exactness().exact() &&
         std::all_of(masks.begin(), masks.end(), [&](const Mask& mask) { return counts(dataset, mask); });
}

std::vector<Array> from_bit_planes(const Dataset& dataset, std::span<const Mask> masks) {
  std::vector<Array> images = empty_images(dataset, masks);
  const Acquisition& acquisition = dataset.acquisition();
  BitplaneMasks::Options options;
  options.good = dataset.good();
  options.sentinel = acquisition.sentinel;
  const BitplaneMasks planes =
      BitplaneMasks::prepare(acquisition.rows, acquisition.cols, size_bytes(acquisition.stored), masks, options);
  for_each_stored_frame(dataset,
                        [&](const StoredFrame& frame, DecodeScratch& scratch, std::vector<std::byte>& elements) {
                          BitplaneSums sums;
                          // A chunk that skipped its filter, and a frame where a good pixel has no data, are decoded
                          // instead.
                          bool decoded = (frame.filter_mask & 1u) != 0;
                          if (!decoded) {
                            planes.evaluate(frame.bytes, *frame.format, scratch.bitshuffle, sums);
                            decoded = sums.sentinel;
                          }
                          if (decoded) {
                            frame.decode(scratch, elements);
                            for (std::size_t i = 0; i < masks.size(); ++i)
                              sums.masks[i] = sum_of_pixels(elements, acquisition, options.good, masks[i]);
                          }
                          for (std::size_t i = 0; i < masks.size(); ++i)
                            static_cast<std::uint64_t*>(images[i].data())[frame.position] += sums.masks[i];
                        });
  return images;
}

std::vector<Array> from_electrons(const Dataset& dataset, std::span<const Mask> masks) {
  std::vector<Array> images = empty_images(dataset, masks);
  for (std::size_t first = 0; first < masks.size(); first += EventMasks::most_masks) {
    std::vector<Mask> group;
    for (const Mask& mask : masks.subspan(first, std::min(EventMasks::most_masks, masks.size() - first)))
      group.push_back(good_part(mask, dataset.good()));
    const EventMasks together = EventMasks::prepare(group);
    for_each_stored_frame(dataset, [&](const StoredFrame& frame, DecodeScratch&, std::vector<std::byte>&) {
      std::array<std::uint64_t, EventMasks::most_masks> sums{};
      together.add(frame.electrons, sums);
      for (std::size_t i = 0; i < group.size(); ++i)
        static_cast<std::uint64_t*>(images[first + i].data())[frame.position] += sums[i];
    });
  }
  return images;
}

}  // namespace

std::vector<DetectorImage> compressed_images(const Dataset& dataset, std::span<const Mask> masks) {
  const bool stored = stored_frames_suffice(dataset, masks);
  // More masks than one walk over bit planes takes are summed in one reading of decoded frames.
  const bool planes = stored && has_bit_planes(dataset) && masks.size() <= BitplaneSums::most_masks,
             electrons = stored && has_electrons(dataset);
  std::vector<Array> images = planes      ? from_bit_planes(dataset, masks)
                              : electrons ? from_electrons(dataset, masks)
                                          : from_decoded_blocks(dataset, masks);
  const char* path = planes ? "bit planes" : electrons ? "electrons" : "decoded frames";
  std::vector<DetectorImage> results;
  for (std::size_t i = 0; i < masks.size(); ++i)
    results.push_back(
        {"", path, masks[i].area(), masks[i].hash, std::move(images[i]).reshaped(dataset.shape().first(2))});
  return results;
}

}  // namespace sonde::stem
