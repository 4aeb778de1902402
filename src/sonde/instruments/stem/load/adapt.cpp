// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/adapt.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/mask_file.h"
#include "sonde/instruments/stem/read/calibration.h"

namespace sonde::stem {
namespace {

/// Passes everything on to another source; the two adapters change what decode() writes.
class AdaptedSource : public Source {
 public:
  explicit AdaptedSource(std::unique_ptr<Source> inner) : inner_(std::move(inner)) {
    acquisition_ = inner_->acquisition();
  }
  [[nodiscard]] std::size_t stored_bytes(Index frame) const override { return inner_->stored_bytes(frame); }
  [[nodiscard]] bool has_frame(Index frame) const override { return inner_->has_frame(frame); }
  void read(Index first, Index last, RawBatch& batch) override { inner_->read(first, last, batch); }
  [[nodiscard]] std::size_t reading_bytes(int workers) const override { return inner_->reading_bytes(workers); }
  [[nodiscard]] std::size_t useful_cache_bytes() const override { return inner_->useful_cache_bytes(); }
  void set_cache_bytes(std::size_t bytes) override { inner_->set_cache_bytes(bytes); }

 protected:
  /// The elements of one frame as the inner source gives them.
  [[nodiscard]] std::span<std::byte> decode_inner(const RawBatch& batch, Index frame, DecodeScratch& scratch) const {
    const Acquisition& inner = inner_->acquisition();
    scratch.adapted.resize(static_cast<std::size_t>(inner.rows * inner.cols) * size_bytes(inner.stored));
    // The inner decode may be an adapter too: it must not find our buffer in the scratch it gets.
    std::vector<std::byte> buffer = std::move(scratch.adapted);
    inner_->decode(batch, frame, scratch, buffer);
    scratch.adapted = std::move(buffer);
    return scratch.adapted;
  }

  std::unique_ptr<Source> inner_;
};

template <class From, class To>
void convert(std::span<const std::byte> from, std::span<std::byte> to, const Acquisition& acquisition, Index frame) {
  const std::size_t count = from.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from.data() + i * sizeof(From), sizeof value);
    if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
      const bool negative = std::is_signed_v<From> && value < From(0);
      const bool too_large = static_cast<std::uint64_t>(value) > std::numeric_limits<To>::max();
      if (negative || too_large)
        throw Error(ErrorKind::bad_file,
                    fmt::format("{}: frame {} holds {} at row {}, column {}; counts are between 0 and {}",
                                acquisition.path, frame, value, static_cast<Index>(i) / acquisition.cols,
                                static_cast<Index>(i) % acquisition.cols, std::numeric_limits<To>::max()))
            .hint(setting("dtype", "f32") +
                  " loads such values as they are (differences, a background subtracted); for raw files "
                  "check " +
                  setting("raw_dtype"));
    }
    const To converted = static_cast<To>(value);
    std::memcpy(to.data() + i * sizeof(To), &converted, sizeof converted);
  }
}

class WorkingTypeSource : public AdaptedSource {
 public:
  explicit WorkingTypeSource(std::unique_ptr<Source> inner, WorkingValues values)
      : AdaptedSource(std::move(inner)), from_(acquisition_.stored) {
    if (values == WorkingValues::as_they_are) {
      set_floats();
      return;
    }
    switch (from_) {
      case DType::i8:
        set(DType::u8, convert<std::int8_t, std::uint8_t>);
        break;
      case DType::i16:
        set(DType::u16, convert<std::int16_t, std::uint16_t>);
        break;
      case DType::i32:
        set(DType::u32, convert<std::int32_t, std::uint32_t>);
        break;
      case DType::i64:
        set(DType::u32, convert<std::int64_t, std::uint32_t>);
        break;
      case DType::u64:
        set(DType::u32, convert<std::uint64_t, std::uint32_t>);
        break;
      case DType::f64:
        set(DType::f32, convert<double, float>);
        acquisition_.notes.push_back({"stored f64 values are held as f32", "virtual images sum them in f64"});
        break;
      default:
        throw Error(ErrorKind::not_supported,
                    fmt::format("{}: elements of type {} are not detector counts", acquisition_.path, name(from_)));
    }
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
              std::span<std::byte> elements) const override {
    convert_(decode_inner(batch, frame, scratch), elements, acquisition_, frame);
  }

 private:
  /// Integers of any sign as f32: exact below 2^24.
  void set_floats() {
    switch (from_) {
      case DType::i8:
        set(DType::f32, convert<std::int8_t, float>);
        break;
      case DType::i16:
        set(DType::f32, convert<std::int16_t, float>);
        break;
      case DType::i32:
        set(DType::f32, convert<std::int32_t, float>);
        break;
      case DType::i64:
        set(DType::f32, convert<std::int64_t, float>);
        break;
      default:
        set(DType::f32, convert<std::uint64_t, float>);
    }
    acquisition_.sentinel.reset();
    acquisition_.notes.push_back(
        {fmt::format("stored {} values are taken as f32, of either sign", name(from_)),
         size_bytes(from_) > 2 ? "asked for; whole numbers beyond 2^24 are rounded" : "asked for"});
  }

  using Convert = void (*)(std::span<const std::byte>, std::span<std::byte>, const Acquisition&, Index);
  void set(DType to, Convert convert) {
    acquisition_.stored = to;
    convert_ = convert;
  }
  DType from_;
  Convert convert_ = nullptr;
};

class TransposedSource : public AdaptedSource {
 public:
  explicit TransposedSource(std::unique_ptr<Source> inner) : AdaptedSource(std::move(inner)) {
    std::swap(acquisition_.rows, acquisition_.cols);
    acquisition_.calibration = with_exchanged_axes(std::move(acquisition_.calibration));
    const std::vector<std::uint32_t>& mask = inner_->acquisition().pixel_mask;
    if (!mask.empty())
      for (Index row = 0; row < acquisition_.rows; ++row)
        for (Index col = 0; col < acquisition_.cols; ++col)
          acquisition_.pixel_mask[static_cast<std::size_t>(row * acquisition_.cols + col)] =
              mask[static_cast<std::size_t>(col * acquisition_.rows + row)];
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
              std::span<std::byte> elements) const override {
    const std::span<const std::byte> from = decode_inner(batch, frame, scratch);
    switch (size_bytes(acquisition_.stored)) {
      case 1:
        return transpose<std::uint8_t>(from, elements);
      case 2:
        return transpose<std::uint16_t>(from, elements);
      case 4:
        return transpose<std::uint32_t>(from, elements);
      default:
        return transpose<std::uint64_t>(from, elements);
    }
  }

 private:
  template <class T>
  void transpose(std::span<const std::byte> from, std::span<std::byte> to) const {
    for (Index row = 0; row < acquisition_.rows; ++row)
      for (Index col = 0; col < acquisition_.cols; ++col)
        std::memcpy(to.data() + static_cast<std::size_t>(row * acquisition_.cols + col) * sizeof(T),
                    from.data() + static_cast<std::size_t>(col * acquisition_.rows + row) * sizeof(T), sizeof(T));
  }
};

}  // namespace

std::unique_ptr<Source> with_working_type(std::unique_ptr<Source> source, WorkingValues values) {
  switch (source->acquisition().stored) {
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::f32:
      return source;
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
    case DType::u64:
      return std::make_unique<WorkingTypeSource>(std::move(source), values);
    default:
      return std::make_unique<WorkingTypeSource>(std::move(source), WorkingValues::counts);
  }
}

std::unique_ptr<Source> with_transposed_detector(std::unique_ptr<Source> source) {
  return std::make_unique<TransposedSource>(std::move(source));
}

std::unique_ptr<Source> adapt(std::unique_ptr<Source> source, const LoadOptions& options) {
  source = with_working_type(std::move(source),
                             options.dtype == ResultType::f32 ? WorkingValues::as_they_are : WorkingValues::counts);
  if (options.transpose_detector) source = with_transposed_detector(std::move(source));
  return source;
}

std::vector<std::uint32_t> mask_of(const Acquisition& acquisition, const LoadOptions& options) {
  std::vector<std::uint32_t> bits = acquisition.pixel_mask;
  bits.resize(static_cast<std::size_t>(acquisition.rows * acquisition.cols));
  if (!options.mask_file.empty()) add_mask_file(options.mask_file, acquisition.rows, acquisition.cols, bits);
  return bits;
}

}  // namespace sonde::stem
