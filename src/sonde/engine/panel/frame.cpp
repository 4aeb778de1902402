// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/panel/payload.h"

namespace sonde::panel {
namespace {

constexpr std::uint32_t magic = 0x31444E53;  // "SND1"
constexpr std::uint16_t version = 1;
enum Flag : std::uint8_t { preview_flag = 1, final_flag = 2, cached_flag = 4 };

// Where each field of the header begins.
enum Offset : std::size_t {
  at_magic = 0,
  at_version = 4,
  at_kind = 6,
  at_request = 8,
  at_dataset = 12,
  at_item = 16,
  at_rows = 20,
  at_cols = 24,
  at_type = 28,
  at_flags = 29,
  at_channel = 30,
  at_low = 32,
  at_high = 36,
  at_sum = 40,
  at_compute_us = 48,
  at_payload_bytes = 52,
  at_mask_hash = 56,
};

template <class T>
void put(FrameHeader& header, Offset offset, T value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}

template <class T>
T get(std::span<const std::byte, frame_header_bytes> header, Offset offset) {
  T value;
  std::memcpy(&value, header.data() + offset, sizeof value);
  return value;
}

template <class T>
constexpr FrameType type_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return FrameType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return FrameType::u16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return FrameType::u32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return FrameType::u64;
  if constexpr (std::is_same_v<T, float>) return FrameType::f32;
}

/// What the header says of the elements.
struct Extent {
  float low = 0, high = 0;
  double sum = 0;
};

/// Of counts; the sum wraps at 2^64.
struct CountExtent {
  std::uint64_t low = std::numeric_limits<std::uint64_t>::max(), high = 0, sum = 0;
};

// Plain loops over whole numbers vectorise; a sum of doubles would have to keep its order.
#define SONDE_COUNT_EXTENT(T)                                              \
  SONDE_MULTIVERSION CountExtent count_extent(std::span<const T> values) { \
    T low = std::numeric_limits<T>::max(), high = 0;                       \
    std::uint64_t sum = 0;                                                 \
    for (const T value : values) {                                         \
      low = value < low ? value : low;                                     \
      high = value > high ? value : high;                                  \
      sum += value;                                                        \
    }                                                                      \
    return {low, high, sum};                                               \
  }
SONDE_COUNT_EXTENT(std::uint8_t)
SONDE_COUNT_EXTENT(std::uint16_t)
SONDE_COUNT_EXTENT(std::uint32_t)
SONDE_COUNT_EXTENT(std::uint64_t)
#undef SONDE_COUNT_EXTENT

#define SONDE_NARROW(To)                                                                   \
  SONDE_MULTIVERSION void narrow(std::span<const std::uint64_t> from, To* __restrict to) { \
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);        \
  }
SONDE_NARROW(std::uint8_t)
SONDE_NARROW(std::uint16_t)
SONDE_NARROW(std::uint32_t)
#undef SONDE_NARROW

template <class T>
Extent extent_of(std::span<const T> values, const CountExtent& counts) {
  if (values.empty()) return {};
  const bool wrapped = counts.high > std::numeric_limits<std::uint64_t>::max() / values.size();
  return {static_cast<float>(counts.low), static_cast<float>(counts.high),
          wrapped ? std::accumulate(values.begin(), values.end(), 0.0) : static_cast<double>(counts.sum)};
}

template <class T>
Extent extent_of(std::span<const T> counts) {
  return extent_of(counts, count_extent(counts));
}

/// Not-a-number left out.
Extent extent_of(std::span<const float> values) {
  Extent extent;
  bool any = false;
  for (const float value : values) {
    if (std::isnan(value)) continue;
    extent.low = any ? std::min(extent.low, value) : value;
    extent.high = any ? std::max(extent.high, value) : value;
    extent.sum += static_cast<double>(value);
    any = true;
  }
  return extent;
}

/// A frame of `To` elements; `fill` writes them, all of them.
template <class To, class Fill>
Frame frame_of(FrameKind kind, Index rows, Index cols, std::size_t count, const Extent& extent, Fill&& fill) {
  if (rows < 0 || cols < 0 || static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) != count)
    throw Error(ErrorKind::bad_input, fmt::format("a frame of {} x {} cannot hold {} values", rows, cols, count));
  if (count > std::numeric_limits<std::uint32_t>::max() / sizeof(To))
    throw Error(ErrorKind::bad_input, fmt::format("a frame of {} x {} is larger than 4 GiB", rows, cols));
  const std::shared_ptr<void> memory = new_payload(count * sizeof(To));
  auto* const elements = static_cast<To*>(memory.get());
  fill(elements);
  return {.kind = kind,
          .rows = static_cast<std::uint32_t>(rows),
          .cols = static_cast<std::uint32_t>(cols),
          .type = type_of<To>(),
          .low = extent.low,
          .high = extent.high,
          .sum = extent.sum,
          .owner = memory,
          .payload = std::as_bytes(std::span(elements, count))};
}

template <class To>
Frame narrowed(FrameKind kind, Index rows, Index cols, std::span<const std::uint64_t> counts, const Extent& extent) {
  return frame_of<To>(kind, rows, cols, counts.size(), extent, [&](To* elements) { narrow(counts, elements); });
}

}  // namespace

std::size_t size_of(FrameType type) {
  switch (type) {
    case FrameType::u8:
      return 1;
    case FrameType::u16:
      return 2;
    case FrameType::u32:
    case FrameType::f32:
      return 4;
    case FrameType::u64:
      return 8;
  }
  throw Error(ErrorKind::bad_input, fmt::format("no frame type has the number {}", static_cast<int>(type)));
}

FrameHeader encode_header(const Frame& frame) {
  FrameHeader header{};
  put(header, at_magic, magic);
  put(header, at_version, version);
  put(header, at_kind, static_cast<std::uint16_t>(frame.kind));
  put(header, at_request, frame.request);
  put(header, at_dataset, frame.dataset);
  put(header, at_item, frame.item);
  put(header, at_rows, frame.rows);
  put(header, at_cols, frame.cols);
  put(header, at_type, static_cast<std::uint8_t>(frame.type));
  put(header, at_flags,
      static_cast<std::uint8_t>((frame.preview ? preview_flag : final_flag) | (frame.cached ? cached_flag : 0)));
  put(header, at_channel, frame.channel);
  put(header, at_low, frame.low);
  put(header, at_high, frame.high);
  put(header, at_sum, frame.sum);
  put(header, at_compute_us, frame.compute_us);
  put(header, at_payload_bytes, static_cast<std::uint32_t>(frame.payload.size()));
  put(header, at_mask_hash, frame.mask_hash);
  return header;
}

Frame decode_header(std::span<const std::byte, frame_header_bytes> header) {
  if (get<std::uint32_t>(header, at_magic) != magic)
    throw Error(ErrorKind::bad_input, "a binary message does not begin with SND1");
  if (const auto found = get<std::uint16_t>(header, at_version); found != version)
    throw Error(ErrorKind::bad_input, fmt::format("a frame of version {}; this program supports {}", found, version));
  Frame frame;
  frame.kind = static_cast<FrameKind>(get<std::uint16_t>(header, at_kind));
  frame.request = get<std::uint32_t>(header, at_request);
  frame.dataset = get<std::uint32_t>(header, at_dataset);
  frame.item = get<std::uint32_t>(header, at_item);
  frame.rows = get<std::uint32_t>(header, at_rows);
  frame.cols = get<std::uint32_t>(header, at_cols);
  frame.type = static_cast<FrameType>(get<std::uint8_t>(header, at_type));
  const auto flags = get<std::uint8_t>(header, at_flags);
  frame.preview = (flags & preview_flag) != 0;
  frame.cached = (flags & cached_flag) != 0;
  frame.channel = get<std::uint16_t>(header, at_channel);
  frame.low = get<float>(header, at_low);
  frame.high = get<float>(header, at_high);
  frame.sum = get<double>(header, at_sum);
  frame.compute_us = get<std::uint32_t>(header, at_compute_us);
  frame.mask_hash = get<std::uint32_t>(header, at_mask_hash);
  const auto payload = get<std::uint32_t>(header, at_payload_bytes);
  // Rows and columns are below 2^32 each: their product fits 64 bits, and the quotient is compared, not the product.
  const auto elements = std::uint64_t{frame.rows} * frame.cols;
  const auto element_bytes = size_of(frame.type);
  if (payload % element_bytes != 0 || payload / element_bytes != elements)
    throw Error(ErrorKind::bad_input, fmt::format("a frame of {} x {} elements of {} bytes announces {} bytes",
                                                  frame.rows, frame.cols, element_bytes, payload));
  return frame;
}

template <class T>
Frame make_frame(FrameKind kind, Index rows, Index cols, std::span<const T> values) {
  return frame_of<T>(kind, rows, cols, values.size(), extent_of(values),
                     [&](T* elements) { std::copy(values.begin(), values.end(), elements); });
}
template Frame make_frame(FrameKind, Index, Index, std::span<const std::uint8_t>);
template Frame make_frame(FrameKind, Index, Index, std::span<const std::uint16_t>);
template Frame make_frame(FrameKind, Index, Index, std::span<const std::uint32_t>);
template Frame make_frame(FrameKind, Index, Index, std::span<const std::uint64_t>);
template Frame make_frame(FrameKind, Index, Index, std::span<const float>);

Frame make_count_frame(FrameKind kind, Index rows, Index cols, std::span<const std::uint64_t> counts) {
  const CountExtent found = count_extent(counts);
  const Extent extent = extent_of(counts, found);
  const auto fits = [&](auto zero) { return found.high <= std::numeric_limits<decltype(zero)>::max(); };
  if (fits(std::uint8_t{})) return narrowed<std::uint8_t>(kind, rows, cols, counts, extent);
  if (fits(std::uint16_t{})) return narrowed<std::uint16_t>(kind, rows, cols, counts, extent);
  if (fits(std::uint32_t{})) return narrowed<std::uint32_t>(kind, rows, cols, counts, extent);
  return make_frame(kind, rows, cols, counts);
}

}  // namespace sonde::panel
