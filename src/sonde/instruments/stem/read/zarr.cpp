// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/zarr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/zarr.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/hyperspy/hyperspy_axes.h"
#include "sonde/instruments/stem/read/npy.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

class ZarrSource : public Source {
 public:
  ZarrSource(Acquisition acquisition, ZarrArray array) : array_(std::move(array)) {
    acquisition_ = std::move(acquisition);
    frame_bytes_ = static_cast<std::size_t>(acquisition_.rows * acquisition_.cols) * size_bytes(acquisition_.stored);
  }
  [[nodiscard]] std::size_t stored_bytes(Index) const override { return frame_bytes_; }
  void read(Index first, Index last, RawBatch& batch) override {
    const auto count = static_cast<std::size_t>(last - first);
    batch.first = first;
    batch.pieces.resize(count);
    for (std::size_t i = 0; i < count; ++i) batch.pieces[i] = {i * frame_bytes_, frame_bytes_, 0};
    if (batch.bytes.size() < count * frame_bytes_) batch.bytes.resize(count * frame_bytes_);
    array_.read_frames(first, last, std::span(batch.bytes).first(count * frame_bytes_));
  }
  // Each worker holds a chunk as it is stored and decoded; compression never makes it much larger.
  [[nodiscard]] std::size_t reading_bytes(int workers) const override {
    return 2 * static_cast<std::size_t>(workers) * array_.metadata().chunk_bytes();
  }
  [[nodiscard]] std::size_t useful_cache_bytes() const override { return array_.useful_cache_bytes(); }
  void set_cache_bytes(std::size_t bytes) override { array_.set_cache_bytes(bytes); }
  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    std::memcpy(elements.data(), batch.frame_bytes(frame).data(), elements.size());
  }

 private:
  ZarrArray array_;
  std::size_t frame_bytes_ = 0;
};

/// How well an array suits as a scan: its dimensions first, then its size.
std::pair<int, double> suits(const Shape& shape) {
  double elements = 1;
  for (int i = 0; i < shape.rank(); ++i) elements *= static_cast<double>(shape[i]);
  return {shape.rank() > 4 ? 0 : shape.rank(), elements};
}

std::string choose_array(const std::string& folder, const ReadOptions& options) {
  const std::vector<std::string> arrays = find_zarr_arrays(folder);
  if (!options.dataset.empty()) {
    std::string wanted = options.dataset.substr(options.dataset.find_first_not_of('/') == std::string::npos
                                                    ? options.dataset.size()
                                                    : options.dataset.find_first_not_of('/'));
    if (std::find(arrays.begin(), arrays.end(), wanted) != arrays.end()) return wanted;
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: has no array \"{}\"{}", folder, options.dataset, did_you_mean(wanted, arrays)));
  }
  std::string best;
  std::pair<int, double> best_suits = {-1, 0};
  for (const std::string& each : arrays) {
    const std::string path = (fs::path(folder) / each / ".zarray").string();
    const Shape shape = parse_zarr_metadata(read_text(path), path).shape;
    if (suits(shape) > best_suits) {
      best = each;
      best_suits = suits(shape);
    }
  }
  return best;  // the folder itself when there is none: opening it says so
}

}  // namespace

std::unique_ptr<Source> open_zarr(const std::string& folder, const ReadOptions& options) {
  const std::string name = choose_array(folder, options);
  const std::string path = name.empty() ? folder : (fs::path(folder) / name).string();
  ZarrArray array(path);
  Acquisition acquisition;
  acquisition.path = folder;
  acquisition.format = "Zarr";
  acquisition.files = {path};
  acquisition.stored = array.metadata().dtype;
  if (!name.empty()) acquisition.original_metadata["array"] = name;
  std::optional<StatedGrid> line;
  const Shape& shape = array.metadata().shape;
  if (const auto signal = read_hyperspy_zarr(path, shape.rank())) {
    acquisition.format = "HyperSpy Zarr";
    line = take_hyperspy(*signal, shape, acquisition);
    derive_detector_steps(acquisition.calibration);
  }
  for (const auto& [key, value] : read_zarr_attributes(path)) acquisition.original_metadata[".zattrs/" + key] = value;
  apply_array_shape(acquisition, shape, options, line);
  return std::make_unique<ZarrSource>(std::move(acquisition), std::move(array));
}

}  // namespace sonde::stem
