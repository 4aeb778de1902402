// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

template <class Body>
void visit_numbers(const Array& frames, Body&& body) {
  switch (frames.dtype()) {
    case DType::u8:
      return body(frames.view<std::uint8_t, 3>());
    case DType::u16:
      return body(frames.view<std::uint16_t, 3>());
    case DType::u32:
      return body(frames.view<std::uint32_t, 3>());
    case DType::f32:
      return body(frames.view<float, 3>());
    case DType::f64:
      return body(frames.view<double, 3>());
    default:
      throw Error(ErrorKind::bad_input, fmt::format("patterns of type {} are no counts", name(frames.dtype())))
          .hint("give u8, u16, u32, f32 or f64");
  }
}

/// Row (or column) `i` of corner order in frames of `n` rows.
Index source(Index i, Index n, ZeroFrequency zero) { return zero == ZeroFrequency::corner ? i : (i + n / 2) % n; }

DType type_of(AmplitudeStorage storage, const Array& frames) {
  switch (storage) {
    case AmplitudeStorage::f64:
      return DType::f64;
    case AmplitudeStorage::f16:
    case AmplitudeStorage::bf16:
      return DType::u16;
    case AmplitudeStorage::counts:
      return frames.dtype();
    default:
      return DType::f32;
  }
}

}  // namespace

Measurement::Measurement(const Array& frames, ZeroFrequency zero, std::span<const std::uint8_t> mask,
                         AmplitudeStorage storage)
    : storage_(storage) {
  if (frames.shape().rank() != 3 || frames.count() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("patterns of shape {} are not (frames, rows, columns)", frames.shape().text()));
  if (storage_ == AmplitudeStorage::counts && frames.dtype() != DType::u8 && frames.dtype() != DType::u16)
    storage_ = AmplitudeStorage::f32;
  const Index count = frames.shape()[0], rows = frames.shape()[1], cols = frames.shape()[2];
  if (!mask.empty() && static_cast<Index>(mask.size()) != rows * cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("the mask has {} pixels, the detector {} x {}", mask.size(), rows, cols));

  // Weights in corner order, only when a pixel is missing.
  if (std::any_of(mask.begin(), mask.end(), [](std::uint8_t good) { return good == 0; })) {
    weights_f64_.resize(static_cast<std::size_t>(rows * cols));
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < cols; ++c)
        weights_f64_[static_cast<std::size_t>(r * cols + c)] =
            mask[static_cast<std::size_t>(source(r, rows, zero) * cols + source(c, cols, zero))] != 0 ? 1 : 0;
    weights_f32_.assign(weights_f64_.begin(), weights_f64_.end());
  }

  stored_ = Array(Device::cpu(), frames.shape(), type_of(storage_, frames));
  sums_.resize(static_cast<std::size_t>(count));
  std::atomic<Index> bad{0}, first_bad{count * rows * cols};
  visit_numbers(frames, [&](auto from) {
    const auto keep = [&](auto to, auto&& stored) {
      parallel_for(count, 1, [&](Index first, Index last, Worker&) {
        for (Index j = first; j < last; ++j) {
          CountSums& sum = sums_[static_cast<std::size_t>(j)];
          for (Index r = 0; r < rows; ++r)
            for (Index c = 0; c < cols; ++c) {
              const Index row = source(r, rows, zero), col = source(c, cols, zero);
              const auto counted = from(j, row, col);
              const bool measured = weights_f64_.empty() || weights_f64_[static_cast<std::size_t>(r * cols + c)] != 0;
              double value = static_cast<double>(counted);
              if (measured && !(value >= 0 && std::isfinite(value))) {
                ++bad;
                const Index at = (j * rows + row) * cols + col;
                for (Index seen = first_bad; at < seen && !first_bad.compare_exchange_weak(seen, at);) {
                }
              }
              if (!measured) value = 0;
              to(j, r, c) = stored(value);
              if (!measured) continue;
              sum.counts += value;
              sum.counts2 += value * value;
              sum.amplitudes += std::sqrt(value);
              sum.lit += value > 0 ? 1 : 0;
              sum.pixels += 1;
            }
        }
      });
    };
    if (storage_ == AmplitudeStorage::f64)
      keep(stored_.view<double, 3>(), [](double value) { return std::sqrt(value); });
    else if (storage_ == AmplitudeStorage::f32)
      keep(stored_.view<float, 3>(), [](double value) { return static_cast<float>(std::sqrt(value)); });
    else if (storage_ == AmplitudeStorage::f16)
      keep(stored_.view<std::uint16_t, 3>(), [](double value) {
        if (std::isfinite(value) && std::sqrt(value) > 65504)
          throw Error(ErrorKind::bad_input, fmt::format("{} counts in a pixel are too many for f16", value))
              .hint("store amplitudes as bf16 or f32");
        return to_fp16(static_cast<float>(std::sqrt(value)));
      });
    else if (storage_ == AmplitudeStorage::bf16)
      keep(stored_.view<std::uint16_t, 3>(),
           [](double value) { return to_bf16(static_cast<float>(std::sqrt(value))); });
    else if (stored_.dtype() == DType::u8)
      keep(stored_.view<std::uint8_t, 3>(), [](double value) { return static_cast<std::uint8_t>(value); });
    else
      keep(stored_.view<std::uint16_t, 3>(), [](double value) { return static_cast<std::uint16_t>(value); });
  });
  if (bad > 0) {
    const Index at = first_bad;
    throw Error(ErrorKind::bad_input,
                fmt::format("{} measured pixels are negative or not finite, first frame {}, row {}, column {}",
                            bad.load(), at / (rows * cols), at / cols % rows, at % cols))
        .hint("mask them, or clip background-subtracted counts at zero (--clip-negative)");
  }
  Index lit = 0;
  for (const CountSums& sum : sums_) {
    mean_counts_ += sum.counts;
    lit += sum.counts > 0 ? 1 : 0;
  }
  if (lit == 0) throw Error(ErrorKind::bad_input, "no pattern has a single count");
  mean_counts_ /= static_cast<double>(lit);
}

std::vector<Index> Measurement::empty_frames() const {
  std::vector<Index> frames;
  for (std::size_t j = 0; j < sums_.size(); ++j)
    if (sums_[j].counts == 0) frames.push_back(static_cast<Index>(j));
  return frames;
}

void Measurement::copy_stored(Index frame, std::byte* to) const {
  const std::size_t bytes = static_cast<std::size_t>(pixels()) * size_bytes(stored_.dtype());
  std::memcpy(to, static_cast<const std::byte*>(stored_.data()) + static_cast<std::size_t>(frame) * bytes, bytes);
}

template <class Real>
const Real* Measurement::amplitudes(Index frame, Real* room) const {
  const Index n = pixels();
  const auto decode = [&](const auto* from, auto&& amplitude) {
    for (Index i = 0; i < n; ++i) room[i] = static_cast<Real>(amplitude(from[frame * n + i]));
    return room;
  };
  const auto root = [](auto counts) { return std::sqrt(static_cast<Real>(counts)); };
  const auto as_it_is = [](auto amplitude) { return amplitude; };
  switch (storage_) {
    case AmplitudeStorage::f32:
      if constexpr (std::is_same_v<Real, float>) return stored_.view<float, 3>().data + frame * n;
      return decode(stored_.view<float, 3>().data, as_it_is);
    case AmplitudeStorage::f64:
      if constexpr (std::is_same_v<Real, double>) return stored_.view<double, 3>().data + frame * n;
      return decode(stored_.view<double, 3>().data, as_it_is);
    case AmplitudeStorage::f16:
      return decode(stored_.view<std::uint16_t, 3>().data, from_fp16);
    case AmplitudeStorage::bf16:
      return decode(stored_.view<std::uint16_t, 3>().data, from_bf16);
    case AmplitudeStorage::counts:
      break;
  }
  if (stored_.dtype() == DType::u8) return decode(stored_.view<std::uint8_t, 3>().data, root);
  return decode(stored_.view<std::uint16_t, 3>().data, root);
}

template <>
const float* Measurement::weights<float>() const {
  return weights_f32_.empty() ? nullptr : weights_f32_.data();
}
template <>
const double* Measurement::weights<double>() const {
  return weights_f64_.empty() ? nullptr : weights_f64_.data();
}

template const float* Measurement::amplitudes(Index, float*) const;
template const double* Measurement::amplitudes(Index, double*) const;

}  // namespace sonde::ptycho
