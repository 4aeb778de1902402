// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sonde/engine/base/index.h"

namespace sonde::panel {

/// Element type of a payload, as the protocol numbers it.
enum class FrameType : std::uint8_t { u8 = 0, u16 = 1, u32 = 2, f32 = 3, u64 = 4 };
[[nodiscard]] std::size_t size_of(FrameType type);

/// What a frame shows. A page may use further numbers from 100 on; the shell only compares them.
enum class FrameKind : std::uint16_t {
  pattern = 1,          ///< what the probe recorded at one position
  image = 2,            ///< one value per scan position
  spectrum = 3,         ///< magnitude of the Fourier transform of an image, zero frequency in the middle
  reduced_pattern = 4,  ///< sum, mean or maximum of many patterns
  mask = 5,             ///< weights of a detector
  profile = 6,          ///< values along a line
  strip = 7,            ///< one small image per item of a series, side by side
  file = 8,             ///< an exported file; its name is in the reply of the same request
};

/// Raw numbers for one panel: (rows, cols), row-major, little-endian. All mapping to colours happens where they are
/// shown. Copies share the payload.
struct Frame {
  FrameKind kind = FrameKind::image;
  std::uint32_t request = 0;  ///< id of the command that asked for it; 0: nobody asked
  std::uint32_t dataset = 0, item = 0;
  std::uint32_t rows = 0, cols = 0;
  FrameType type = FrameType::u32;
  bool preview = false;  ///< of data that is still being loaded: a better one follows
  bool cached = false;   ///< nothing was computed for it
  std::uint16_t channel = 0;
  float low = 0, high = 0;  ///< smallest and largest value, not-a-number left out
  double sum = 0;
  std::uint32_t compute_us = 0;
  std::uint32_t mask_hash = 0;  ///< low half of the hash of the mask that made it
  std::shared_ptr<const void> owner{};
  std::span<const std::byte> payload{};  ///< rows * cols elements, alive as long as owner
};

/// Header of a binary message of `sonde.view.v1`, 64 bytes, little-endian; docs/viewer-protocol.md draws it.
inline constexpr std::size_t frame_header_bytes = 64;
using FrameHeader = std::array<std::byte, frame_header_bytes>;
[[nodiscard]] FrameHeader encode_header(const Frame& frame);

/// Reads a header back, without payload. Throws Error(bad_input) for another magic, version, type, or a payload size
/// that is not that of its rows, columns and type.
[[nodiscard]] Frame decode_header(std::span<const std::byte, frame_header_bytes> header);

/// A frame that owns a copy of `values` and knows their smallest, largest and sum. Throws Error(bad_input) when they
/// are not rows * cols, or are more than a payload can hold (4 GiB).
template <class T>
[[nodiscard]] Frame make_frame(FrameKind kind, Index rows, Index cols, std::span<const T> values);

/// The same for counts, in the smallest of u8, u16, u32 and u64 that holds them all.
[[nodiscard]] Frame make_count_frame(FrameKind kind, Index rows, Index cols, std::span<const std::uint64_t> counts);

}  // namespace sonde::panel
