// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

/// Shape of (frames, rows, columns).
const Shape& require_stack(const Array& frames) {
  if (frames.shape().rank() != 3 || frames.count() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("patterns of shape {} are not (frames, rows, columns)", frames.shape().text()));
  return frames.shape();
}

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
      throw Error(ErrorKind::bad_input, fmt::format("patterns of type {} are not counts", name(frames.dtype())))
          .hint("give u8, u16, u32, f32 or f64");
  }
}

/// Row (or column) `i` of corner order in frames of `n` rows.
Index source(Index i, Index n, ZeroFrequency zero) { return zero == ZeroFrequency::corner ? i : (i + n / 2) % n; }

AmplitudeStorage possible(AmplitudeStorage asked, DType counted) {
  const bool small = counted == DType::u8 || counted == DType::u16;
  return asked == AmplitudeStorage::counts && !small ? AmplitudeStorage::f32 : asked;
}

StoreOptions slots_of(Index count, Index pixels, DType counted, AmplitudeStorage storage, std::optional<Tier> tier) {
  StoreOptions slots{.count = count, .slot_size = pixels, .tier = tier, .what = "patterns"};
  if (storage == AmplitudeStorage::f64) slots.dtype = DType::f64;
  if (storage == AmplitudeStorage::counts) slots.dtype = counted;
  if (storage == AmplitudeStorage::f16) slots.encoding = Encoding::fp16;
  if (storage == AmplitudeStorage::bf16) slots.encoding = Encoding::bf16;
  return slots;
}

/// Throws Error(bad_input) for what holds no frames.
Store store_of(Index count, Index rows, Index cols, DType counted, AmplitudeStorage storage, const Stream& stream,
               const MeasurementOptions& options) {
  const Index pixels = rows * cols;
  if (!options.mask.empty() && static_cast<Index>(options.mask.size()) != pixels)
    throw Error(ErrorKind::bad_input,
                fmt::format("the mask has {} pixels, the detector {} x {}", options.mask.size(), rows, cols));
  return {options.budgets ? *options.budgets : TierBudgets::unlimited(), stream,
          slots_of(count, pixels, counted, storage, options.tier)};
}

constexpr Index strip = 512;  // elements that are converted at a time, in the nearest cache

/// to[i] = convert(stored[i]). `stored` may be the end of the same memory: every element is read before the place it
/// lies in is written.
template <class Stored, class Real, class Convert>
void convert_strips(const void* stored, Index count, Real* to, Convert&& convert) {
  Stored part[strip];
  for (Index first = 0; first < count; first += strip) {
    const Index n = std::min(strip, count - first);
    std::memcpy(part, static_cast<const std::byte*>(stored) + static_cast<std::size_t>(first) * sizeof(Stored),
                static_cast<std::size_t>(n) * sizeof(Stored));
    for (Index i = 0; i < n; ++i) to[first + i] = convert(part[i]);
  }
}

}  // namespace

Measurement::Measurement(Index count, Index rows, Index cols, DType counted, const MeasurementOptions& options)
    : count_(count),
      rows_(rows),
      cols_(cols),
      zero_(options.zero),
      storage_(possible(options.storage, counted)),
      sums_(static_cast<std::size_t>(count)),
      first_bad_(count * rows * cols),
      store_(store_of(count, rows, cols, counted, storage_, stream_, options)) {
  // Weights in corner order, only when a pixel is missing.
  const std::vector<std::uint8_t>& mask = options.mask;
  if (std::all_of(mask.begin(), mask.end(), [](std::uint8_t good) { return good != 0; })) return;
  weights_f64_.resize(static_cast<std::size_t>(pixels()));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      weights_f64_[static_cast<std::size_t>(r * cols + c)] =
          mask[static_cast<std::size_t>(source(r, rows, zero_) * cols + source(c, cols, zero_))] != 0 ? 1 : 0;
  weights_f32_.assign(weights_f64_.begin(), weights_f64_.end());
}

Measurement::Measurement(const Array& frames, ZeroFrequency zero, std::span<const std::uint8_t> mask,
                         AmplitudeStorage storage)
    : Measurement(require_stack(frames)[0], frames.shape()[1], frames.shape()[2], frames.dtype(),
                  {.zero = zero, .mask = {mask.begin(), mask.end()}, .storage = storage}) {
  add(frames);
  complete();
}

template <class Count>
void Measurement::add_counts(View<const Count, 3> frames) {
  struct Piece {
    std::vector<float> amplitudes;
    std::vector<double> exact;
    std::vector<Count> counts;
    Index bad = 0, first_bad = std::numeric_limits<Index>::max();
  };
  PerWorker<Piece> pieces([&] {
    Piece piece;
    const auto n = static_cast<std::size_t>(pixels());
    if (storage_ == AmplitudeStorage::f64)
      piece.exact.resize(n);
    else if (storage_ == AmplitudeStorage::counts)
      piece.counts.resize(n);
    else
      piece.amplitudes.resize(n);
    return piece;
  });
  parallel_for(frames.extent[0], 1, [&](Index first, Index last, Worker& worker) {
    Piece& piece = pieces[worker];
    for (Index j = first; j < last; ++j) {
      CountSums& sum = sums_[static_cast<std::size_t>(added_ + j)];
      const auto visit = [&](auto&& keep) {
        for (Index r = 0; r < rows_; ++r)
          for (Index c = 0; c < cols_; ++c) {
            const Index row = source(r, rows_, zero_), col = source(c, cols_, zero_);
            const auto at = static_cast<std::size_t>(r * cols_ + c);
            const bool measured = weights_f64_.empty() || weights_f64_[at] != 0;
            double value = static_cast<double>(frames(j, row, col));
            if (measured && !(value >= 0 && std::isfinite(value))) {
              ++piece.bad;
              piece.first_bad = std::min(piece.first_bad, ((added_ + j) * rows_ + row) * cols_ + col);
            }
            if (!measured) value = 0;
            keep(at, value);
            if (!measured) continue;
            sum.counts += value;
            sum.counts2 += value * value;
            sum.amplitudes += std::sqrt(value);
            sum.lit += value > 0 ? 1 : 0;
            sum.pixels += 1;
          }
      };
      const auto put = [&](auto& elements) {
        store_.put(added_ + j, View<std::remove_reference_t<decltype(elements[0])>, 1>(elements.data(), pixels()),
                   stream_);
      };
      if (storage_ == AmplitudeStorage::f64) {
        visit([&](std::size_t at, double value) { piece.exact[at] = std::sqrt(value); });
        put(piece.exact);
      } else if (storage_ == AmplitudeStorage::counts) {
        visit([&](std::size_t at, double value) { piece.counts[at] = static_cast<Count>(value); });
        put(piece.counts);
      } else {
        visit([&](std::size_t at, double value) {
          if (storage_ == AmplitudeStorage::f16 && std::isfinite(value) && std::sqrt(value) > 65504)
            throw Error(ErrorKind::bad_input, fmt::format("{} counts in a pixel are too many for f16", value))
                .hint("store amplitudes as bf16 or f32");
          piece.amplitudes[at] = static_cast<float>(std::sqrt(value));
        });
        put(piece.amplitudes);
      }
    }
  });
  for (const auto& piece : pieces) {
    bad_ += piece->bad;
    first_bad_ = std::min(first_bad_, piece->first_bad);
  }
  added_ += frames.extent[0];
}

void Measurement::add(const Array& frames) {
  const Shape expected{frames.shape()[0], rows_, cols_};
  if (frames.shape() != expected || added_ + expected[0] > count_)
    throw Error(ErrorKind::internal, fmt::format("{} frames of shape {} after {} of {} x {} x {}", expected[0],
                                                 frames.shape().text(), added_, count_, rows_, cols_));
  visit_numbers(frames, [&](auto view) { add_counts(view); });
}

void Measurement::complete() {
  if (added_ != count_) throw Error(ErrorKind::internal, fmt::format("{} of {} frames are there", added_, count_));
  if (bad_ > 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("{} measured pixels are negative or not finite, first frame {}, row {}, column {}", bad_,
                            first_bad_ / pixels(), first_bad_ / cols_ % rows_, first_bad_ % cols_))
        .hint(
            "mask them (data.mask); negative ones of counts less a background may become zero: data.clip_negative = "
            "true, or " +
            setting("clip_negative", true));
  Index lit = 0;
  for (const CountSums& sum : sums_) {
    mean_counts_ += sum.counts;
    lit += sum.counts > 0 ? 1 : 0;
  }
  if (lit == 0)
    throw Error(ErrorKind::bad_input, "no pattern has a single count").hint("check data.patterns and data.mask");
  mean_counts_ /= static_cast<double>(lit);
}

std::vector<Index> Measurement::empty_frames() const {
  std::vector<Index> frames;
  for (std::size_t j = 0; j < sums_.size(); ++j)
    if (sums_[j].counts == 0) frames.push_back(static_cast<Index>(j));
  return frames;
}

DType Measurement::stored_type() const {
  return store_.options().encoding == Encoding::raw ? store_.options().dtype : DType::u16;
}

void Measurement::copy_stored(Index frame, std::byte* to) const {
  const Index n = pixels();
  const auto copy = [&]<class Stored>(Stored) {
    store_.get(frame, View<Stored, 1>(reinterpret_cast<Stored*>(to), n), stream_);
  };
  const Encoding encoding = store_.options().encoding;
  if (encoding != Encoding::raw) {
    // Numbers that were rounded once are encoded as the same bits again.
    std::vector<float> decoded(static_cast<std::size_t>(n));
    store_.get(frame, View<float, 1>(decoded.data(), n), stream_);
    encode(stream_, encoding, DType::f32, n, decoded.data(), to);
    return;
  }
  switch (store_.options().dtype) {
    case DType::f64:
      return copy(double{});
    case DType::u8:
      return copy(std::uint8_t{});
    case DType::u16:
      return copy(std::uint16_t{});
    default:
      return copy(float{});
  }
}

template <class Real>
const Real* Measurement::amplitudes(Index frame, Real* room) const {
  const Index n = pixels();
  const auto read = [&]<class Stored>(Stored, auto&& convert) -> const Real* {
    if (const Stored* stored = store_.template in_place<Stored>(frame)) {
      if constexpr (std::is_same_v<Stored, Real>)
        if (storage_ != AmplitudeStorage::counts) return stored;
      convert_strips<Stored>(stored, n, room, convert);
      return room;
    }
    if constexpr (std::is_same_v<Stored, Real>) {
      store_.get(frame, View<Real, 1>(room, n), stream_);
    } else if constexpr (sizeof(Stored) <= sizeof(Real)) {
      // Behind what is converted first.
      auto* end = reinterpret_cast<Stored*>(room + n) - n;
      store_.get(frame, View<Stored, 1>(end, n), stream_);
      convert_strips<Stored>(end, n, room, convert);
    } else {
      std::vector<Stored> wide(static_cast<std::size_t>(n));  // double precision for single: nobody's daily work
      store_.get(frame, View<Stored, 1>(wide.data(), n), stream_);
      std::transform(wide.begin(), wide.end(), room, convert);
    }
    return room;
  };
  const auto root = [](auto counts) { return std::sqrt(static_cast<Real>(counts)); };
  const auto as_it_is = [](auto amplitude) { return static_cast<Real>(amplitude); };
  switch (store_.options().dtype) {
    case DType::f64:
      return read(double{}, as_it_is);
    case DType::u8:
      return read(std::uint8_t{}, root);
    case DType::u16:
      return read(std::uint16_t{}, root);
    default:
      return read(float{}, as_it_is);
  }
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
