// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/mask_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

Array read_detector_image(const std::string& path, Index rows, Index cols) {
  const std::string extension = to_lower(std::filesystem::path(path).extension().string());
  Array image;
  if (extension == ".npy")
    image = read_npy(path);
  else if (extension == ".tif" || extension == ".tiff")
    image = read_tiff(path);
  else if (extension == ".png")
    image = read_png(path);
  else
    throw Error(ErrorKind::bad_file, fmt::format("{}: not an image of the detector by its name", path))
        .hint("give an .npy, .tif or .png file");
  if (image.shape() != Shape{rows, cols})
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: shape {}, the detector has {} x {} pixels", path, image.shape().text(), rows, cols))
        .hint("rows come before columns; detector images are not binned");
  return image;
}

void add_mask_file(const std::string& path, Index rows, Index cols, std::vector<std::uint32_t>& bits) {
  const Array image = read_detector_image(path, rows, cols);
  const std::size_t element_bytes = size_bytes(image.dtype());
  const auto* elements = static_cast<const std::byte*>(image.data());
  for (std::size_t pixel = 0; pixel < bits.size(); ++pixel)
    for (std::size_t i = 0; i < element_bytes; ++i)
      if (elements[pixel * element_bytes + i] != std::byte{0}) bits[pixel] |= mask_bit::user_defined;
}

}  // namespace sonde::stem
