// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/dataset_state.h"

namespace sonde::stem {
namespace {

class ArraySource : public Source {
 public:
  ArraySource(std::shared_ptr<const Array> scan, const std::string& name) : scan_(std::move(scan)) {
    const Shape& shape = scan_->shape();
    acquisition_.path = name;
    acquisition_.format = "array";
    acquisition_.frames = shape[0] * shape[1];
    acquisition_.rows = shape[2];
    acquisition_.cols = shape[3];
    acquisition_.stored = scan_->dtype();
    acquisition_.scan.rows = shape[0];
    acquisition_.scan.cols = shape[1];
    acquisition_.scan_because = "the shape of the array";
  }

  [[nodiscard]] std::size_t stored_bytes(Index) const override {
    return static_cast<std::size_t>(acquisition_.rows * acquisition_.cols) * size_bytes(acquisition_.stored);
  }

  void read(Index first, Index last, RawBatch& batch) override {
    const std::size_t size = stored_bytes(0);
    batch.first = first;
    batch.pieces.clear();
    for (Index frame = first; frame < last; ++frame)
      batch.pieces.push_back({size * static_cast<std::size_t>(frame - first), size, 0});
    batch.bytes.resize(size * static_cast<std::size_t>(last - first));
    if (first < last)
      std::memcpy(batch.bytes.data(),
                  static_cast<const std::byte*>(scan_->data()) + size * static_cast<std::size_t>(first),
                  batch.bytes.size());
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    std::memcpy(elements.data(), batch.frame_bytes(frame).data(), elements.size());
  }

  void release() override { scan_.reset(); }

 private:
  std::shared_ptr<const Array> scan_;
};

void require_scan(const Array& scan, const std::string& name) {
  if (scan.shape().rank() != 4 || scan.count() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: shape {}, expected (scan rows, scan cols, rows, cols)", name, scan.shape().text()));
  if (!scan.contiguous())
    throw Error(ErrorKind::bad_input, fmt::format("{}: the array is not contiguous", name)).hint("copy it first");
  if (!scan.device().is_cpu())
    throw Error(ErrorKind::not_supported, fmt::format("{}: the array is on {}", name, scan.device().name()))
        .hint("copy it to host memory first");
}

ResultType result_type(DType dtype, const std::string& name) {
  switch (dtype) {
    case DType::u8:
      return ResultType::u8;
    case DType::u16:
      return ResultType::u16;
    case DType::u32:
      return ResultType::u32;
    case DType::f32:
      return ResultType::f32;
    default:
      throw Error(ErrorKind::bad_input, fmt::format("{}: elements of type {} are not used in place; u8, u16, u32 and "
                                                    "f32 are",
                                                    name, sonde::name(dtype)))
          .hint("a copy in one of these types can be used");
  }
}

/// Settings that leave the elements as they are; every other one must be at its default.
constexpr std::array<std::string_view, 6> harmless = {"voltage",  "camera_length", "scan_step",
                                                      "rotation", "on_error",      "hot_pixels"};

/// How files are read: of no use to an array.
constexpr std::array<std::string_view, 14> of_files = {
    "scan_shape", "scan_flip", "transpose_scan", "allow_incomplete", "drop_extra", "ignore_mask", "sentinel",
    "dataset",    "raw_shape", "raw_dtype",      "raw_big_endian",   "raw_offset", "raw_gap",     "preset"};

/// The keys that are not at their defaults.
std::vector<std::string> changed(LoadOptions options) {
  LoadOptions untouched;
  const Fields given(options), defaults(untouched);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < given.all().size(); ++i)
    if (given.all()[i].value() != defaults.all()[i].value()) keys.push_back(given.all()[i].key);
  return keys;
}

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void require_nothing_of_files(const LoadOptions& options, const std::string& name) {
  std::vector<std::string> given;
  for (const std::string& key : changed(options))
    if (is_among(of_files, key)) given.push_back(setting(key));
  if (!given.empty())
    throw Error(ErrorKind::usage, fmt::format("{}: {} says how a file is read", name, join_words(given)))
        .hint("leave it out: an array has its shape and type");
}

void require_unchanged(LoadOptions options, ResultType own, const std::string& name) {
  if (options.dtype == own) options.dtype = ResultType::automatic;
  if (options.layout == LayoutChoice::frame) options.layout = LayoutChoice::automatic;
  std::vector<std::string> changing = changed(options);
  std::erase_if(changing, [](const std::string& key) { return is_among(harmless, key); });
  if (!changing.empty())
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} would change elements of an array that is used in place",
                                                  name, join_words(changing)))
        .hint("a copy can be changed: copy=True in Python");
}

void require_good(const Dataset& dataset, const std::string& name) {
  if (const Ledger& ledger = dataset.ledger(); ledger.no_data > 0)
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: {} values in {} pixels of {} frames are not finite, and an array that is used in place "
                    "cannot be corrected",
                    name, ledger.no_data, ledger.no_data_pixels, ledger.no_data_frames))
        .hint("a copy is taken with no data there: copy=True in Python");
  const std::vector<BadPixel>& bad = dataset.bad_pixels();
  if (bad.empty() || dataset.options().hot_pixels == BadPixelAction::mark) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("{}: {} pixels are bad (row {}, col {} is {}), and an array that is used in place cannot be "
                          "corrected",
                          name, bad.size(), bad.front().row, bad.front().col, sonde::stem::name(bad.front().reason)))
      .hint("leave them as they are with hot_pixels none, or correct a copy: copy=True in Python");
}

}  // namespace

std::unique_ptr<Source> open_array(Array scan, const std::string& name, const LoadOptions& options) {
  require_scan(scan, name);
  require_nothing_of_files(options, name);
  return std::make_unique<ArraySource>(std::make_shared<const Array>(std::move(scan)), name);
}

Dataset load_in_place(Array scan, const std::string& name, const LoadOptions& options, Budget budget) {
  require_scan(scan, name);
  const ResultType own = result_type(scan.dtype(), name);
  require_unchanged(options, own, name);
  auto held = std::make_shared<Array>(std::move(scan));

  LoadOptions reading = options;  // one pass for the sums, which keeps no elements
  reading.layout = LayoutChoice::file;
  reading.dtype = own;
  Dataset dataset = load(std::make_unique<ArraySource>(held, name), reading, std::move(budget));
  require_good(dataset, name);

  Dataset::State& state = dataset.state();
  const Shape& shape = held->shape();
  const Shape frames{shape[0] * shape[1], shape[2], shape[3]};
  state.array = Array::borrowed(held->data(), frames, {shape[2] * shape[3], shape[3], 1}, held->dtype(), [held] {});
  state.options.layout = state.estimate.layout = LayoutChoice::frame;
  state.choices.push_back({"elements: used in place", "nothing that was asked for changes them"});
  return dataset;
}

}  // namespace sonde::stem
