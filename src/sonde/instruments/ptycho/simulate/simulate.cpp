// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/math/poisson.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/simulate/forward.h"

namespace sonde::ptycho {
namespace {

/// (J, 2), rows first.
Array table_of(std::span<const Point> points) {
  Array table(Device::cpu(), {static_cast<Index>(points.size()), 2}, DType::f64);
  auto* to = static_cast<double*>(table.data());
  for (const Point& point : points) {
    *to++ = point.row;
    *to++ = point.col;
  }
  return table;
}

template <class Count>
void store(std::span<const std::uint32_t> drawn, std::span<const std::uint8_t> good, Count* frame) {
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const std::uint32_t count = good[i] != 0 ? drawn[i] : 0;
    frame[i] = static_cast<Count>(count);
    if (frame[i] != count)
      throw Error(ErrorKind::bad_input, fmt::format("a pixel counts {} electrons, which 16 bits cannot hold", count))
          .hint("take dtype u32 or fewer counts_per_frame");
  }
}

double sum_of(const Array& frames) {
  std::uint64_t sum = 0;
  visit_counts<3>(frames, [&](auto counts) {
    for (Index i = 0; i < counts.count(); ++i) sum += counts.data[i];
  });
  return static_cast<double>(sum);
}

void write_description(Hdf5Writer& file, SimulateOptions options, const Truth& truth) {
  const Sampling& sampling = truth.sampling;
  file.attribute("/", "schema", std::string(scan_schema));
  file.attribute("/", "description", fmt::format("simulated by sonde {}", build_info().version));
  file.attribute("/data", "energy_keV", options.energy_keV);
  file.attribute("/data", "semiangle_mrad", options.semiangle_mrad);
  file.attribute("/data", "detector_mrad_per_px", 1000 * sampling.angle_row());
  file.attribute("/data", "scan_step_A", options.scan_step_A);
  file.attribute("/data", "zero_frequency", "center");
  file.array("/mask", Array::from(truth.good, {sampling.rows, sampling.cols}));
  file.array("/positions_A", table_of(truth.nominal_a));
  file.array("/probe", truth.start_probe);
  file.attribute("/probe", "defocus_A", stated_defocus(options));
  file.array("/truth/object_phase", truth.phase);
  file.attribute("/truth/object_phase", "pixel_size_A",
                 Array::from(std::vector<double>{sampling.pixel_row(), sampling.pixel_col()}, {2}));
  if (!truth.layer_distances.empty())
    file.attribute("/truth/object_phase", "layer_distances_A",
                   Array::from(truth.layer_distances, {static_cast<Index>(truth.layer_distances.size())}));
  file.array("/truth/probe", truth.probe);
  file.array("/truth/positions_px", table_of(truth.positions_px));
  const Box view = field_of_view(truth.positions_px);
  file.array("/truth/field_of_view",
             Array::from(std::vector<std::int64_t>{view.row, view.col, view.rows, view.cols}, {4}));
  file.value("/truth/parameters", to_json(Fields(options).echo()));
}

}  // namespace

Array draw_frames(const Truth& truth, std::uint64_t seed, Index first, Index last, DType dtype) {
  if (dtype != DType::u16 && dtype != DType::u32)
    throw Error(ErrorKind::bad_input, fmt::format("frames of type {}: u16 and u32 are drawn", name(dtype)));
  const Window window = truth.window();
  const Index pixels = window.rows * window.cols;
  Array frames(Device::cpu(), {last - first, window.rows, window.cols}, dtype);
  parallel_for(last - first, 1, [&](Index begin, Index end, Worker&) {
    std::vector<std::uint32_t> drawn(static_cast<std::size_t>(pixels));
    for (Index i = begin; i < end; ++i) {
      check_interrupt();
      const Index pattern = first + i;
      const Placement at = place(truth.positions_px[static_cast<std::size_t>(pattern)], window);
      const Array rates = corner_to_centre(far_field_intensity(truth.object, truth.probe, truth.propagators, at));
      draw_poisson({seed, static_cast<std::uint64_t>(pattern)},
                   {static_cast<const double*>(rates.data()), drawn.size()}, drawn);
      if (dtype == DType::u16)
        store(drawn, truth.good, frames.view<std::uint16_t, 3>()[i].data);
      else
        store(drawn, truth.good, frames.view<std::uint32_t, 3>()[i].data);
    }
  });
  return frames;
}

Simulated simulate(const SimulateOptions& options, Budget budget) {
  const Reservation reservation = budget.reserve(simulation_bytes(options), "simulating " + options.output,
                                                 "raise " + setting("memory") + ", or make the scan smaller");
  const Truth truth = truth_of(options);
  const Index rows = truth.sampling.rows, cols = truth.sampling.cols;
  const auto seed = static_cast<std::uint64_t>(options.seed);
  Hdf5Writer file(options.output);
  Hdf5Declaration scan;
  scan.shape = {truth.scan_rows, truth.scan_cols, rows, cols};
  scan.dtype = options.dtype;
  file.declare("/data", scan);
  write_description(file, options, truth);

  Simulated result{options.output, truth.scan_rows * truth.scan_cols, 0};
  ProgressMeter progress("simulating", result.frames, "frames");
  for (Index line = 0; line < truth.scan_rows; ++line) {
    Array frames = draw_frames(truth, seed, line * truth.scan_cols, (line + 1) * truth.scan_cols, options.dtype);
    result.counts_per_frame += sum_of(frames) / static_cast<double>(result.frames);
    file.write_box("/data", {line, 0, 0, 0}, std::move(frames).reshaped({1, truth.scan_cols, rows, cols}));
    progress.advance(truth.scan_cols);
  }
  file.finish();
  return result;
}

}  // namespace sonde::ptycho
