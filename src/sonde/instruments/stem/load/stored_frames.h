// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// One stored frame on its way past: the bytes of its chunk, and the resident position that it is part of.
struct StoredFrame {
  Index frame = 0, position = 0;
  std::span<const std::byte> bytes;
  std::uint32_t filter_mask = 0;
  std::optional<BitshuffleFormat> format;    ///< set when `bytes` are one bitshuffle chunk
  std::span<const std::uint32_t> electrons;  ///< where has_electrons(): pixels, each as often as it counted
  const Worker* worker = nullptr;            ///< that has it
  /// The frame's elements as stored, into `elements` (resized).
  std::function<void(DecodeScratch& scratch, std::vector<std::byte>& elements)> decode;
};

/// Whether the stored frames of a data set are bitshuffle chunks of one frame each.
[[nodiscard]] bool has_bit_planes(const Dataset& dataset);

/// Whether the stored frames of a data set are lists of electrons.
[[nodiscard]] bool has_electrons(const Dataset& dataset);

enum class Identify { no, yes };

/// What a walk over the stored frames has read.
struct FramesRead {
  std::size_t stored_bytes = 0;
  double read_s = 0;               ///< of the thread that reads
  std::uint64_t content_hash = 0;  ///< as of a pass; with Identify::yes
};

/// Calls body for every stored frame of the data set's scan region, from memory or file, on all cores; the frames of
/// one position come to one worker, one after another. Missing frames are left out.
FramesRead for_each_stored_frame(
    const Dataset& dataset,
    const std::function<void(const StoredFrame&, DecodeScratch&, std::vector<std::byte>&)>& body,
    Identify identify = Identify::no);

/// Sum of the good pixels of a boolean mask over one frame's stored elements (u8, u16 or u32); "no data" counts as
/// nothing.
[[nodiscard]] std::uint64_t sum_of_pixels(std::span<const std::byte> elements, const Acquisition& acquisition,
                                          std::span<const std::uint8_t> good, const Mask& mask);

}  // namespace sonde::stem
