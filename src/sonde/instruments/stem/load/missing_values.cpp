// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/missing_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/stored_frames.h"

namespace sonde::stem {
namespace {

bool has_no_value(const std::vector<std::byte>& elements, Index pixel, const Acquisition& acquisition) {
  const auto element = [&]<class T>(T value) {
    std::memcpy(&value, elements.data() + static_cast<std::size_t>(pixel) * sizeof(T), sizeof(T));
    return value;
  };
  switch (acquisition.stored) {
    case DType::u8:
      return element(std::uint8_t{}) == acquisition.sentinel;
    case DType::u16:
      return element(std::uint16_t{}) == acquisition.sentinel;
    case DType::u32:
      return element(std::uint32_t{}) == acquisition.sentinel;
    default:
      return !std::isfinite(element(0.0F));
  }
}

/// Frame and pixel, as one number, of the first of `pixels` that has no value.
Index first_missing(const Dataset& dataset, const std::vector<Index>& pixels) {
  const Acquisition& acquisition = dataset.acquisition();
  const Index all = acquisition.rows * acquisition.cols;
  std::mutex access;
  Index first = std::numeric_limits<Index>::max();
  for_each_stored_frame(dataset,
                        [&](const StoredFrame& frame, DecodeScratch& scratch, std::vector<std::byte>& elements) {
                          frame.decode(scratch, elements);
                          for (const Index pixel : pixels) {
                            if (!has_no_value(elements, pixel, acquisition)) continue;
                            const std::lock_guard lock(access);
                            first = std::min(first, frame.position * all + pixel);
                            break;
                          }
                        });
  return first;
}

}  // namespace

void require_values(const Dataset& dataset, std::span<const std::uint8_t> good) {
  const Acquisition& acquisition = dataset.acquisition();
  const Index bin = dataset.det_bin(), rows = dataset.shape()[2], cols = dataset.shape()[3];
  std::uint64_t missing = 0;
  std::vector<Index> pixels;  // of the stored detector
  for (Index pixel = 0; pixel < acquisition.rows * acquisition.cols; ++pixel) {
    const Index row = pixel / acquisition.cols / bin, col = pixel % acquisition.cols / bin;
    const std::uint64_t here = dataset.missing_per_pixel()[static_cast<std::size_t>(pixel)];
    if (here == 0 || row >= rows || col >= cols || good[static_cast<std::size_t>(row * cols + col)] == 0) continue;
    missing += here;
    pixels.push_back(pixel);
  }
  if (missing == 0) return;
  const Index first = first_missing(dataset, pixels), pixel = first % (acquisition.rows * acquisition.cols);
  throw Error(
      ErrorKind::bad_input,
      fmt::format("{}: {} measured pixels have no value ({}), first frame {}, row {}, column {}", acquisition.path,
                  missing,
                  is_float(acquisition.stored) ? std::string("not finite")
                                               : fmt::format("{} means no data", acquisition.sentinel.value_or(0)),
                  first / (acquisition.rows * acquisition.cols), pixel / acquisition.cols, pixel % acquisition.cols))
      .hint("name a mask without these pixels as " + setting("mask_file") + ", or mend the file");
}

}  // namespace sonde::stem
