// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/orient/deflection.h"

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/optics/fourier.h"

namespace sonde::ptycho {

std::vector<Point> centres_of_mass(const Measurement& measurement) {
  const Index rows = measurement.rows(), cols = measurement.cols();
  const double* weights = measurement.weights<double>();
  std::vector<Point> centres(static_cast<std::size_t>(measurement.count()));
  parallel_for(measurement.count(), 1, [&](Index first, Index last, Worker&) {
    std::vector<double> room(static_cast<std::size_t>(measurement.pixels()));
    for (Index j = first; j < last; ++j) {
      check_interrupt();
      const double* amplitude = measurement.amplitudes<double>(j, room.data());
      Point sum;
      double total = 0;
      for (Index row = 0; row < rows; ++row)
        for (Index col = 0; col < cols; ++col) {
          const Index p = row * cols + col;
          const double counts = amplitude[p] * amplitude[p] * (weights == nullptr ? 1 : weights[p]);
          sum.row += counts * frequency(row, rows) * static_cast<double>(rows);
          sum.col += counts * frequency(col, cols) * static_cast<double>(cols);
          total += counts;
        }
      if (total > 0) centres[static_cast<std::size_t>(j)] = {sum.row / total, sum.col / total};
    }
  });
  return centres;
}

LeastCurl least_curl(std::span<const Point> nominal, std::span<const Point> deflections, bool transpose) {
  const auto places = [](std::span<const Point> points) {
    std::vector<LeastCurl::Place> made;
    for (const Point& point : points) made.push_back({point.row, point.col});
    return made;
  };
  return sonde::least_curl(places(nominal), places(deflections), transpose);
}

}  // namespace sonde::ptycho
