// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/trusted.h"

namespace sonde::stem {

std::vector<std::uint8_t> trusted_pixels(const Dataset& dataset) {
  std::vector<std::uint8_t> trusted = dataset.good();
  if (dataset.options().hot_pixels != BadPixelAction::mark) return trusted;
  const Index rows = dataset.shape()[2], cols = dataset.shape()[3];
  for (const BadPixel& pixel : dataset.bad_pixels()) {
    const Index row = pixel.row / dataset.det_bin(), col = pixel.col / dataset.det_bin();
    if (row < rows && col < cols) trusted[static_cast<std::size_t>(row * cols + col)] = 0;
  }
  return trusted;
}

}  // namespace sonde::stem
