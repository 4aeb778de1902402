// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/image/pixel_set.h"
#include "sonde/instruments/stem/image/prefix.h"

namespace sonde::stem {

/// How an image came about. All ways give the same integers.
enum class ImagePath {
  dense,        ///< the mask's pixels of every frame (frame-major)
  sparse,       ///< the mask's planes (pixel-major)
  complement,   ///< the total minus the good pixels outside the mask
  incremental,  ///< an earlier image plus added minus removed pixels
  prefix,       ///< two radial prefix planes plus and minus a few pixels
};
[[nodiscard]] std::string_view name(ImagePath path);

/// What an imager reads. The arrays are borrowed and must outlive it; at least one of planes and frames is needed.
struct ImagerSources {
  Index rows = 0, cols = 0;
  const Array* planes = nullptr;   ///< (rows * cols, R), pixel-major
  const Array* frames = nullptr;   ///< (R, rows, cols), frame-major
  const Array* total = nullptr;    ///< T (u64, R), the sum over all good pixels; enables the complement
  std::vector<std::uint8_t> good;  ///< (rows, cols), zero where a pixel is bad; empty: all are good
};

struct VirtualImage {
  std::shared_ptr<const Array> image;  ///< (R), u64; f64 for weighted masks and float data
  ImagePath path = ImagePath::sparse;
  Index pixels_read = 0;       ///< planes, or pixels of every frame; prefix planes not counted
  std::size_t bytes_read = 0;  ///< estimated, earlier images and prefix planes included
  Index area = 0;              ///< good pixels in the mask
  std::string because;
};

/// Virtual images of one resident scan, each by the way that reads the fewest bytes. Integers are exact whatever the
/// way, since sums wrap at 2^64 and back; weighted masks and float data are always summed directly, because adding and
/// subtracting floats again would leave rounding behind.
/// The last eight images are kept as starting points: a detector that moves by one pixel costs its edge, not its area.
/// Thread-safe; one image is computed at a time.
class VirtualImager {
 public:
  static constexpr std::size_t history_length = 8;

  /// Throws Error(bad_input) when the arrays do not belong together.
  explicit VirtualImager(ImagerSources sources);

  /// Throws Error(bad_input) when the mask is of another detector. In the steady state it allocates no image.
  [[nodiscard]] VirtualImage compute(Stream& stream, const Mask& mask);

  /// Radial prefix planes from now on (see RadialPrefix::bytes for their memory); needs planes of counts.
  void build_prefix(Stream& stream, double centre_row, double centre_col);
  void drop_prefix();

  /// Forgets the earlier images, so that the next one is computed in full.
  void reset();

 private:
  struct Past {
    PixelSet pixels;
    std::shared_ptr<Array> image;
    std::uint64_t used = 0;
  };
  struct Route;

  [[nodiscard]] Route choose(const PixelSet& wanted) const;
  [[nodiscard]] VirtualImage direct(Stream& stream, const Mask& mask);
  [[nodiscard]] std::shared_ptr<Array> fresh_image(DType dtype);
  void remember(PixelSet pixels, std::shared_ptr<Array> image);
  [[nodiscard]] std::size_t bytes_of(const PixelSet& added, const PixelSet& removed) const;

  ImagerSources sources_;
  Index positions_ = 0;
  PixelSet good_;
  std::optional<RadialPrefix> prefix_;
  std::vector<Past> past_;
  std::uint64_t clock_ = 0;
  std::mutex mutex_;
};

}  // namespace sonde::stem
