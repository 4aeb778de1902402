// SPDX-License-Identifier: Apache-2.0
// The forward model of ptychography, its gradient and simulated scans as functions of arrays.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ptycho.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/wavelength.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/simulate/forward.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"
#include "work.h"

namespace sonde::python {
namespace {

using ptycho::Window;
using ptycho::ZeroFrequency;

/// Object and probe of a call, complex of one precision, (slices, Y, X) and (modes, rows, cols), and where frames lie.
/// Borrowed: nothing of it may be written.
ptycho::State borrowed_state(const py::array& object, const py::array& probe, const Positions& positions) {
  ptycho::State state;
  state.object = borrow(object, "object");
  state.probe = borrow(probe, "probe");
  for (const auto& [array, what] : {std::pair(&state.object, "object"), std::pair(&state.probe, "probe")})
    if (array->shape().rank() != 3 || array->count() == 0)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: shape {}, expected three dimensions", what, array->shape().text()));
  state.positions = points_of(positions);
  state.placements = ptycho::place_all(state.positions, state.window());
  require_inside(state.placements, state.window(), state.object.shape()[1], state.object.shape()[2]);
  return state;
}

Array borrowed_propagators(const std::optional<py::array>& propagators, const ptycho::State& state) {
  Array made = propagators ? borrow(*propagators, "propagators") : Array();
  const Window window = state.window();
  const Index gaps = state.slices() - 1;
  if (gaps == 0 && made.empty()) return {};
  if (made.empty())
    throw Error(ErrorKind::bad_input, fmt::format("an object of {} slices needs propagators", gaps + 1))
        .hint("sonde.ptycho.slice_propagators() makes them");
  const Shape expected{gaps, window.rows, window.cols};
  if (!(made.shape() == expected))
    throw Error(ErrorKind::bad_input,
                fmt::format("propagators: shape {}, expected {}", made.shape().text(), expected.text()));
  return gaps == 0 ? Array() : std::move(made);
}

/// Patterns (frames, rows, cols), float64; `centred`: with the zero frequency at floor(n / 2), else at [0, 0].
py::array forward(const py::array& object, const py::array& probe, const Positions& positions,
                  const std::optional<py::array>& propagators, bool centred, const py::object& progress) {
  const ptycho::State state = borrowed_state(object, probe, positions);
  const Array between = borrowed_propagators(propagators, state);
  return to_numpy(Work(progress).run([&] {
    const Window window = state.window();
    const auto count = static_cast<Index>(state.placements.size());
    Array all(Device::cpu(), Shape{count, window.rows, window.cols}, DType::f64);
    const auto patterns = all.view<double, 3>();
    ProgressMeter meter("forward", count, "patterns");
    parallel_for(count, 1, [&](Index first, Index last, Worker&) {
      for (Index j = first; j < last; ++j) {
        Array one =
            far_field_intensity(state.object, state.probe, between, state.placements[static_cast<std::size_t>(j)]);
        if (centred) one = ptycho::corner_to_centre(one);
        std::copy_n(static_cast<const double*>(one.data()), one.count(), patterns[j].data);
        meter.advance();
      }
    });
    return all;
  }));
}

/// What gradient() gives: the loss, and minus what the model's sums say.
struct Slope {
  double loss = 0;
  Array object, probe, positions;
};

template <class Real>
void negate(Array& array) {
  auto* values = static_cast<std::complex<Real>*>(array.data());
  for (Index i = 0; i < array.count(); ++i) values[i] = -values[i];
}

template <class Real>
Slope slope_of(const ptycho::State& state, const ptycho::Measurement& measurement, const Array& propagators,
               ptycho::Loss loss) {
  using Complex = std::complex<Real>;
  const ptycho::Model<Real> model(measurement, state.slices(), state.modes(), propagators, loss, FftEffort::quick);
  // From the spectrum also where probes lie on pixels: positions have a derivative there, too.
  Array spectrum(Device::cpu(), state.probe.shape(), dtype_of<Complex>);
  probe_spectrum(model, state.probe, spectrum);
  std::vector<Index> all(state.placements.size());
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<Index>(j);
  std::vector<ptycho::FrameSums> fit(all.size());
  ptycho::BatchPass<Real> pass(model);
  ptycho::BatchSums sums;
  pass.run(state, spectrum, all, {.object = true, .probe = true, .weights = false}, sums, fit);

  Slope slope;
  for (const ptycho::FrameSums& frame : fit) slope.loss += frame.loss;
  slope.object = std::move(sums.object);
  slope.probe = std::move(sums.probe);
  negate<Real>(slope.object);
  negate<Real>(slope.probe);

  // dL/df = 2 Re sum conj(dL/dconj(P_j)) dP_j/df.
  slope.positions = Array(Device::cpu(), Shape{static_cast<Index>(all.size()), 2}, DType::f64);
  const auto by_position = slope.positions.template view<double, 2>();
  PerWorker<ptycho::Exposure<Real>> exposures([&] { return ptycho::Exposure<Real>(model); });
  const auto elements = static_cast<std::size_t>(state.probe.count());
  parallel_for(by_position.extent[0], 1, [&](Index first, Index last, Worker& worker) {
    ptycho::Exposure<Real>& exposure = exposures[worker];
    std::vector<Complex> by_row(elements), by_col(elements);
    for (Index j = first; j < last; ++j) {
      exposure.forward(state, spectrum, j);
      (void)exposure.residual(j);
      exposure.back();
      for (Index s = state.slices() - 1; s >= 0; --s) exposure.before_slice(s);
      exposure.differentiate(spectrum, by_row.data(), by_col.data());
      double row = 0, col = 0;
      for (std::size_t i = 0; i < elements; ++i) {
        const std::complex<double> wave(exposure.waves()[i]);
        row += std::real(std::conj(wave) * std::complex<double>(by_row[i]));
        col += std::real(std::conj(wave) * std::complex<double>(by_col[i]));
      }
      by_position(j, 0) = -2 * row;
      by_position(j, 1) = -2 * col;
    }
  });
  return slope;
}

/// (loss, by object, by probe, by positions).
py::tuple gradient(const py::array& object, const py::array& probe, const Positions& positions,
                   const py::array& patterns, const std::string& loss, const std::optional<py::array>& mask,
                   const std::optional<py::array>& propagators, bool centred, const py::object& progress) {
  const ptycho::State state = borrowed_state(object, probe, positions);
  const Array between = borrowed_propagators(propagators, state);
  const Array counts = borrow(patterns, "patterns");
  const ptycho::Loss chosen = ptycho::parse_loss(loss);
  const Window window = state.window();
  const Shape expected{static_cast<Index>(state.positions.size()), window.rows, window.cols};
  if (!(counts.shape() == expected))
    throw Error(ErrorKind::bad_input,
                fmt::format("patterns: shape {}, expected {}", counts.shape().text(), expected.text()));
  std::span<const std::uint8_t> good;
  Array mask_elements;
  if (mask) {
    mask_elements = borrow(*mask, "mask");
    good = {static_cast<const std::uint8_t*>(mask_elements.data()), static_cast<std::size_t>(mask_elements.count())};
  }
  const bool single = state.object.dtype() == DType::c64;
  if (state.probe.dtype() != state.object.dtype() || (!single && state.object.dtype() != DType::c128))
    throw Error(ErrorKind::bad_input, fmt::format("object and probe are {} and {}, expected one complex type",
                                                  name(state.object.dtype()), name(state.probe.dtype())));
  Slope slope = Work(progress).run([&] {
    const ptycho::Measurement measurement(counts, centred ? ZeroFrequency::centre : ZeroFrequency::corner, good,
                                          single ? ptycho::AmplitudeStorage::f32 : ptycho::AmplitudeStorage::f64);
    return single ? slope_of<float>(state, measurement, between, chosen)
                  : slope_of<double>(state, measurement, between, chosen);
  });
  return py::make_tuple(slope.loss, to_numpy(std::move(slope.object)), to_numpy(std::move(slope.probe)),
                        to_numpy(std::move(slope.positions)));
}

py::array slice_propagators(Index rows, Index cols, double wavelength, double pixel_row, double pixel_col,
                            const std::vector<double>& spacings, double tilt_row, double tilt_col, bool band_limit) {
  for (const auto& [value, what] :
       {std::pair(wavelength, "wavelength"), std::pair(pixel_row, "pixel"), std::pair(pixel_col, "pixel"),
        std::pair(static_cast<double>(rows), "window"), std::pair(static_cast<double>(cols), "window")})
    if (!(value > 0)) throw Error(ErrorKind::bad_input, fmt::format("a {} of {}, expected more than 0", what, value));
  if (spacings.empty()) throw Error(ErrorKind::bad_input, "no distance between slices is given");
  const ptycho::Sampling sampling{rows, cols, wavelength, 1 / (static_cast<double>(rows) * pixel_row),
                                  1 / (static_cast<double>(cols) * pixel_col)};
  return to_numpy(ptycho::slice_propagators(sampling, spacings,
                                            {.tilt_row = tilt_row, .tilt_col = tilt_col, .band_limit = band_limit}));
}

/// Everything of a simulated scan as a dictionary of arrays and numbers.
py::dict simulate(const py::dict& keywords, const py::object& progress) {
  const auto options = options_of<ptycho::SimulateOptions>(keywords, "simulate()");
  ptycho::Truth truth;
  Array patterns = Work(progress).run([&] {
    const char* remedy = "make the scan smaller, or write it with simulate_file()";
    Budget budget = Budget::automatic(Device::cpu());
    const Reservation scratch = budget.reserve(simulation_bytes(options), "simulating", remedy);
    truth = ptycho::truth_of(options);
    const Index frames = truth.scan_rows * truth.scan_cols;
    const auto counts = static_cast<std::size_t>(frames * truth.sampling.rows * truth.sampling.cols);
    const Reservation kept = budget.reserve(counts * size_bytes(options.dtype), "patterns", remedy);
    Array all(Device::cpu(), Shape{truth.scan_rows, truth.scan_cols, truth.sampling.rows, truth.sampling.cols},
              options.dtype);
    ProgressMeter meter("simulating", frames, "frames");
    auto* to = static_cast<std::byte*>(all.data());
    for (Index line = 0; line < truth.scan_rows; ++line) {
      const Array drawn = draw_frames(truth, static_cast<std::uint64_t>(options.seed), line * truth.scan_cols,
                                      (line + 1) * truth.scan_cols, options.dtype);
      std::copy_n(static_cast<const std::byte*>(drawn.data()), drawn.allocated_bytes(), to);
      to += drawn.allocated_bytes();
      meter.advance(truth.scan_cols);
    }
    return all;
  });
  const Shape detector{truth.sampling.rows, truth.sampling.cols};
  py::dict made;
  made["patterns"] = to_numpy(std::move(patterns));
  made["mask"] = to_numpy(Array::from(truth.good, detector)).attr("view")("bool");
  made["positions_A"] = array_of(truth.nominal_a);
  made["positions_px"] = array_of(truth.positions_px);
  made["phase"] = to_numpy(std::move(truth.phase));
  made["probe"] = to_numpy(std::move(truth.probe));
  made["pixel_size_A"] = py::make_tuple(truth.sampling.pixel_row(), truth.sampling.pixel_col());
  made["wavelength_A"] = truth.sampling.wavelength;
  made["detector_mrad_per_px"] = 1000 * truth.sampling.angle_row();
  made["layer_distance_A"] = truth.layer_distances;
  return made;
}

py::object simulate_file(const std::string& path, const py::dict& keywords, const py::object& progress) {
  auto options = options_of<ptycho::SimulateOptions>(keywords, "simulate_file()");
  options.output = path;
  const ptycho::Simulated made = Work(progress).run([&] { return ptycho::simulate(options); });
  Value value;
  value["file"] = made.file;
  value["frames"] = made.frames;
  value["counts_per_frame"] = made.counts_per_frame;
  return to_python(value);
}

}  // namespace

py::list ptycho_simulate_fields() {
  ptycho::SimulateOptions options;
  return describe_fields(Fields(options));
}

void add_ptycho_model(py::module_& module) {
  module.def("ptycho_forward", forward);
  module.def("ptycho_gradient", gradient);
  module.def("ptycho_slice_propagators", slice_propagators);
  module.def("ptycho_simulate", simulate);
  module.def("ptycho_simulate_file", simulate_file);
  module.def("ptycho_wavelength", [](double energy, bool electrons) {
    return electrons ? electron_wavelength(energy) : photon_wavelength(energy);
  });
  module.def("ptycho_interaction_constant", interaction_constant);
}

}  // namespace sonde::python
