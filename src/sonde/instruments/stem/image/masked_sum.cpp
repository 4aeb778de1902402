// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/masked_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/image/mask_set.h"
#include "sonde/instruments/stem/image/masked_sum_kernels.h"

namespace sonde::stem {
namespace {

void check_frames(const Array& frames) {
  if (frames.shape().rank() != 3)
    throw Error(ErrorKind::bad_input,
                fmt::format("frames of shape {}, expected (positions, rows, cols)", frames.shape().text()));
}

void check_mask(const Array& frames, const Mask& mask) {
  check_frames(frames);
  if (mask.rows != frames.shape()[1] || mask.cols != frames.shape()[2])
    throw Error(ErrorKind::bad_input, fmt::format("a mask of {} x {} pixels and a detector of {} x {}", mask.rows,
                                                  mask.cols, frames.shape()[1], frames.shape()[2]))
        .hint("bin the mask like the data");
}

void check_image_of_frames(const Array& frames, const Array& image, DType dtype) {
  const Shape shape = frames.shape().first(1);
  if (image.dtype() != dtype || image.shape() != shape || !image.contiguous())
    throw Error(ErrorKind::bad_input,
                fmt::format("an image of {} with shape {}, expected dense {} with shape {}", name(image.dtype()),
                            image.shape().text(), name(dtype), shape.text()));
}

/// Ascending pixels as runs of neighbouring elements; in dense frames a run goes on over the end of a row.
std::vector<PixelRun> runs_of(const Array& frames, std::span<const Index> pixels) {
  const Index cols = frames.shape()[2], count = frames.shape()[1] * cols;
  std::vector<PixelRun> runs;
  for (const Index pixel : pixels) {
    if (pixel < 0 || pixel >= count)
      throw Error(ErrorKind::bad_input,
                  fmt::format("pixel {} is outside a detector of {} x {} pixels", pixel, frames.shape()[1], cols));
    const Index offset = pixel / cols * frames.stride(1) + pixel % cols * frames.stride(2);
    if (!runs.empty() && runs.back().offset + runs.back().length == offset)
      ++runs.back().length;
    else
      runs.push_back({offset, 1});
  }
  return runs;
}

void update_from_frames(Stream& stream, const Array& frames, const Array* base, std::span<const Index> added,
                        std::span<const Index> removed, Array& image) {
  check_frames(frames);
  check_image_of_frames(frames, image, DType::u64);
  require_on(stream, frames, image);
  View<const std::uint64_t, 1> start;
  if (base != nullptr) {
    check_image_of_frames(frames, *base, DType::u64);
    require_on(stream, *base);
    start = base->view<std::uint64_t, 1>();
  }
  const std::vector<PixelRun> added_runs = runs_of(frames, added), removed_runs = runs_of(frames, removed);
  const std::span<const PixelRun> plus = added_runs, minus = removed_runs;
  visit_counts<3>(frames, [&](auto counts) {
    SONDE_DISPATCH(stream, masked_update, counts, plus, minus, start, (image.view<std::uint64_t, 1>()));
  });
}

template <class T>
void sum_together(View<const T, 3> frames, const MaskSet& set, std::span<Array> images) {
  struct Room {
    MaskSet::Scratch scratch;
    std::vector<std::uint64_t> sums;
  };
  PerWorker<Room> rooms([&] { return Room{{}, std::vector<std::uint64_t>(images.size() * MaskSet::lanes)}; });
  // 32 frames: enough that handing them out costs nothing.
  parallel_for(frames.extent[0], 4 * MaskSet::lanes, [&](Index first, Index last, Worker& worker) {
    Room& room = rooms[worker];
    for (Index at = first; at < last; at += MaskSet::lanes) {
      const Index count = std::min(MaskSet::lanes, last - at);
      const T* few[MaskSet::lanes];
      // Where frames are missing the last one is summed again, and left out.
      for (Index k = 0; k < MaskSet::lanes; ++k)
        few[k] = frames.data + (at + std::min(k, count - 1)) * frames.stride[0];
      set.run(few, room.scratch, room.sums.data());
      for (std::size_t i = 0; i < images.size(); ++i)
        std::copy_n(room.sums.data() + i * MaskSet::lanes, count, static_cast<std::uint64_t*>(images[i].data()) + at);
    }
  });
}

std::optional<MaskSet> set_of(const Stream& stream, const Array& frames, std::span<const Mask> masks) {
  const bool fits = masks.size() > 1 && stream.device().is_cpu() && frames.dtype() != DType::f32 &&
                    frames.stride(2) == 1 && frames.stride(1) == frames.shape()[2] &&
                    std::all_of(masks.begin(), masks.end(), [](const Mask& mask) { return mask.boolean(); });
  if (!fits) return std::nullopt;
  MaskSet set = MaskSet::prepare(masks);
  if (!set.pays()) return std::nullopt;
  return set;
}

}  // namespace

bool sums_together(const Stream& stream, const Array& frames, std::span<const Mask> masks) {
  for (const Mask& mask : masks) check_mask(frames, mask);
  return set_of(stream, frames, masks).has_value();
}

void masked_sums(Stream& stream, const Array& frames, std::span<const Mask> masks, std::span<Array> images) {
  for (const Mask& mask : masks) check_mask(frames, mask);
  const std::optional<MaskSet> set = set_of(stream, frames, masks);
  if (!set) {
    for (std::size_t i = 0; i < masks.size(); ++i) masked_sum(stream, frames, masks[i], images[i]);
    return;
  }
  for (const Array& image : images) {
    check_image_of_frames(frames, image, DType::u64);
    require_on(stream, frames, image);
  }
  visit_counts<3>(frames, [&](auto counts) { sum_together(counts, *set, images); });
}

void masked_update(Stream& stream, const Array& frames, const Array& base, std::span<const Index> added,
                   std::span<const Index> removed, Array& image) {
  update_from_frames(stream, frames, &base, added, removed, image);
}

void masked_sum(Stream& stream, const Array& frames, const Mask& mask, Array& image) {
  check_mask(frames, mask);
  if (mask.boolean() && frames.dtype() != DType::f32)
    return update_from_frames(stream, frames, nullptr, mask.pixels, {}, image);
  check_image_of_frames(frames, image, DType::f64);
  require_on(stream, frames, image);
  const std::vector<PixelRun> list = runs_of(frames, mask.pixels);
  const std::span<const PixelRun> runs = list;
  const std::span<const float> weights = mask.weights;
  const auto sum = [&](auto elements) {
    SONDE_DISPATCH(stream, weighted_masked_sum, elements, runs, weights, (image.view<double, 1>()));
  };
  if (frames.dtype() == DType::f32)
    sum(frames.view<float, 3>());
  else
    visit_counts<3>(frames, sum);
}

}  // namespace sonde::stem
