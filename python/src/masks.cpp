// SPDX-License-Identifier: Apache-2.0
#include "masks.h"

#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/image/mask.h"

namespace sonde::python {

void require_shape_of_detector(const Weights& weights, const stem::Dataset& dataset) {
  const Shape shape = dataset.shape();
  if (weights.ndim() != 2 || weights.shape(0) != shape[2] || weights.shape(1) != shape[3])
    throw Error(ErrorKind::bad_input, "the mask has shape " + py::cast<std::string>(py::str(weights.attr("shape"))) +
                                          ", the detector has " + shape.last(2).text())
        .hint("a mask has one element per pixel after binning, rows before columns");
}

stem::Mask mask_of_weights(const float* weights, const stem::Dataset& dataset) {
  const Shape shape = dataset.shape();
  std::vector<Index> pixels;
  std::vector<float> chosen;
  for (Index pixel = 0; pixel < shape[2] * shape[3]; ++pixel)
    if (dataset.good()[static_cast<std::size_t>(pixel)] != 0 && weights[pixel] != 0) {
      pixels.push_back(pixel);
      chosen.push_back(weights[pixel]);
    }
  if (pixels.empty()) throw Error(ErrorKind::bad_input, "the mask covers no good pixel of " + shape.last(2).text());
  return stem::make_mask(shape[2], shape[3], std::move(pixels), std::move(chosen));
}

}  // namespace sonde::python
