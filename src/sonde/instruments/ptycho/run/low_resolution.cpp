// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/low_resolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/quality/image.h"

namespace sonde::ptycho {
namespace {

/// Of the probe's power; what a soft edge or an amorphous background spreads further is not worth an error.
constexpr double least_share = 0.99;

/// Elements of (n, rows, cols), zero frequency at [0,0], from the middle of a larger spectrum, or into it.
template <class Body>
void for_middle(Window coarse, Window fine, Body&& body) {
  for (Index r = 0; r < coarse.rows; ++r)
    for (Index c = 0; c < coarse.cols; ++c)
      body(r * coarse.cols + c,
           same_frequency(r, coarse.rows, fine.rows) * fine.cols + same_frequency(c, coarse.cols, fine.cols));
}

template <class Real>
Measurement middle_of(const Measurement& all, Window coarse, const std::optional<TierBudgets>& budgets) {
  const Window fine{all.rows(), all.cols()};
  MeasurementOptions options{.zero = ZeroFrequency::corner, .tier = all.tier().value, .budgets = budgets};
  options.storage = sizeof(Real) == 8 ? AmplitudeStorage::f64 : AmplitudeStorage::f32;
  if (const Real* weights = all.weights<Real>()) {
    options.mask.resize(static_cast<std::size_t>(coarse.rows * coarse.cols));
    for_middle(coarse, fine,
               [&](Index to, Index from) { options.mask[static_cast<std::size_t>(to)] = weights[from] != 0 ? 1 : 0; });
  }
  Measurement middle(all.count(), coarse.rows, coarse.cols, dtype_of<Real>, options);
  constexpr Index together = 64;  // frames: a few MiB
  for (Index begin = 0; begin < all.count(); begin += together) {
    const Index end = std::min(all.count(), begin + together);
    Array frames(Device::cpu(), Shape{end - begin, coarse.rows, coarse.cols}, dtype_of<Real>);
    PerWorker<std::vector<Real>> rooms([&] { return std::vector<Real>(static_cast<std::size_t>(all.pixels())); });
    parallel_for(end - begin, 1, [&](Index first, Index last, Worker& worker) {
      for (Index j = first; j < last; ++j) {
        check_interrupt();
        const Real* amplitudes = all.amplitudes(begin + j, rooms[worker].data());
        Real* counts = frames.view<Real, 3>()[j].data;
        for_middle(coarse, fine, [&](Index to, Index from) { counts[to] = amplitudes[from] * amplitudes[from]; });
      }
    });
    middle.add(frames);
  }
  middle.complete();
  return middle;
}

Array spectrum_of(const Array& probe) {
  Array spectrum = centre_to_corner(in_double_precision(probe));
  fourier(spectrum);
  return spectrum;
}

/// Centred waves of a spectrum, in the precision of `like`.
template <class Real>
Array waves_of(Array spectrum) {
  inverse_fourier(spectrum);
  const Array waves = corner_to_centre(spectrum);
  Array made(Device::cpu(), waves.shape(), dtype_of<std::complex<Real>>);
  std::transform(waves.view<complex128, 3>().data, waves.view<complex128, 3>().data + waves.count(),
                 made.view<std::complex<Real>, 3>().data, [](complex128 value) { return std::complex<Real>(value); });
  return made;
}

/// Vacuum, and the middle of the probe's spectrum with the power that the middle of a pattern has.
template <class Real>
State coarse_state(const State& first, const Array& spectrum, double counts, const CoarseAxis& down,
                   const CoarseAxis& across, Window coarse) {
  State state;
  state.type = first.type;
  const Shape object{first.slices(), down.coarse(), across.coarse()};
  if (first.type == ObjectType::potential) state.phase = Array::zeros(Device::cpu(), object, dtype_of<Real>);
  state.object = Array(Device::cpu(), object, dtype_of<std::complex<Real>>);
  std::fill_n(state.object.view<std::complex<Real>, 3>().data, state.object.count(), std::complex<Real>(1));

  Array middle(Device::cpu(), Shape{first.modes(), coarse.rows, coarse.cols}, DType::c128);
  for (Index m = 0; m < first.modes(); ++m)
    for_middle(coarse, first.window(), [&](Index to, Index from) {
      middle.view<complex128, 3>()[m].data[to] = spectrum.view<complex128, 3>()[m].data[from];
    });
  const double share = power(middle) / power(spectrum);
  if (!(share >= least_share))
    throw Error(
        ErrorKind::bad_input,
        fmt::format("the middle {} x {} of {} x {} detector pixels holds {:.3g} % of the probe's spectrum, less "
                    "than a reconstruction can begin with",
                    coarse.rows, coarse.cols, first.window().rows, first.window().cols, 100 * share))
        .hint("a smaller low_resolution.factor, or object.init = \"ones\"");
  scale_to_counts(middle, counts);
  state.probe = waves_of<Real>(std::move(middle));

  for (const Point& at : first.positions) state.positions.push_back({down.place(at.row), across.place(at.col)});
  state.placements = place_all(state.positions, coarse);
  require_inside(state.placements, coarse, object[1], object[2]);
  return state;
}

/// The object of `from` between its pixels: at those of `to`, into which it is written.
template <class T>
void interpolate(const View<const T, 3>& from, const CoarseAxis& down, const CoarseAxis& across, const View<T, 3>& to) {
  for (Index s = 0; s < from.extent[0]; ++s) {
    Array coarse(Device::cpu(), Shape{1, down.coarse(), across.coarse()}, DType::c128);
    std::copy_n(from[s].data, coarse.count(), coarse.view<complex128, 3>().data);
    fourier(coarse);
    Array fine = Array::zeros(Device::cpu(), Shape{1, down.fine(), across.fine()}, DType::c128);
    for_middle({down.coarse(), across.coarse()}, {down.fine(), across.fine()}, [&](Index inner, Index outer) {
      fine.view<complex128, 3>().data[outer] = coarse.view<complex128, 3>().data[inner];
    });
    inverse_fourier(fine);
    const double scale = std::sqrt(static_cast<double>(fine.count()) / static_cast<double>(coarse.count()));
    for (Index r = 0; r < to.extent[1]; ++r)
      for (Index c = 0; c < to.extent[2]; ++c) {
        const complex128 value = scale * fine.view<complex128, 3>()(0, r + down.fine_step, c + across.fine_step);
        if constexpr (std::is_floating_point_v<T>)
          to(s, r, c) = static_cast<T>(value.real());
        else
          to(s, r, c) = static_cast<T>(value);
      }
  }
}

/// The middle of `spectrum` becomes that of the coarse probe, with the power that the middle had.
template <class Real>
Array refined_probe(Array spectrum, const State& coarse) {
  const Array found = spectrum_of(coarse.probe);
  const Window inner = coarse.window(), outer{spectrum.shape()[1], spectrum.shape()[2]};
  double before = 0;
  for (Index m = 0; m < coarse.modes(); ++m)
    for_middle(inner, outer, [&](Index, Index at) { before += std::norm(spectrum.view<complex128, 3>()[m].data[at]); });
  const double scale = std::sqrt(before / power(found));
  for (Index m = 0; m < coarse.modes(); ++m)
    for_middle(inner, outer, [&](Index from, Index to) {
      spectrum.view<complex128, 3>()[m].data[to] = scale * found.view<complex128, 3>()[m].data[from];
    });
  return waves_of<Real>(std::move(spectrum));
}

/// What the whole run does later would be lost on the way to its pixels, or is measured in them.
Schedule coarse_schedule(const Schedule& whole, Index iterations) {
  Schedule schedule;
  schedule.engines.push_back({"gd", iterations, engine_kind("gd").setup()});
  schedule.probe_start = whole.probe_start;
  schedule.constraints.push_back(chosen_constraint("probe_power", Value::object(), "low_resolution"));
  schedule.stop.rule = StopRule::off;
  schedule.holdout = whole.holdout;
  schedule.skip = whole.skip;
  schedule.seed = whole.seed;
  schedule.transforms = whole.transforms;
  schedule.kernels = whole.kernels;
  schedule.patterns = whole.patterns;
  schedule.limits = whole.limits;
  return schedule;
}

template <class Real>
LowResolutionStart start(const Measurement& measurement, State first, const Sampling& coarse, Array propagators,
                         const Schedule& whole, const LowResolutionSettings& settings) {
  const Window window{coarse.rows, coarse.cols};
  const CoarseAxis down(measurement.rows(), coarse.rows, first.object.shape()[1]),
      across(measurement.cols(), coarse.cols, first.object.shape()[2]);
  const Array spectrum = spectrum_of(first.probe);
  const Measurement middle = middle_of<Real>(measurement, window, whole.limits.budgets);
  const auto run =
      Reconstruction::prepare(middle, coarse_state<Real>(first, spectrum, middle.mean_counts(), down, across, window),
                              std::move(propagators), coarse_schedule(whole, settings.iterations));
  ProgressMeter meter("starting at low resolution", settings.iterations, "iterations");
  while (run->outcome().kind == Outcome::Kind::running) {
    (void)run->iterate();
    meter.advance();
  }
  const State& found = run->state();
  if (first.type == ObjectType::potential) {
    interpolate<Real>(found.phase.view<const Real, 3>(), down, across, first.phase.view<Real, 3>());
    first.follow_phase();
  } else {
    using Complex = std::complex<Real>;
    interpolate<Complex>(found.object.view<const Complex, 3>(), down, across, first.object.view<Complex, 3>());
  }
  if (whole.probe_start <= settings.iterations) first.probe = refined_probe<Real>(spectrum.clone(), found);
  return {std::move(first), run->history().back()};
}

}  // namespace

void LowResolutionSettings::describe(Fields& fields) {
  fields.add("factor", factor,
             {.help = "how many times wider the pixels of the first object are: this part of the detector's rows and "
                      "columns is kept",
              .min = 2,
              .max = 64});
  fields.add("iterations", iterations, {.help = "of gd on the middle of the patterns", .min = 1, .max = 1e6});
}

CoarseAxis::CoarseAxis(Index window, Index coarse_window, Index object)
    : step(coarse_window / std::gcd(window, coarse_window)),
      fine_step(window / std::gcd(window, coarse_window)),
      steps((object + fine_step - 1) / fine_step + 2) {}

Sampling at_low_resolution(const Sampling& sampling, Index factor) {
  Sampling coarse = sampling;
  coarse.rows = std::min(sampling.rows, next_fast_size((sampling.rows + factor - 1) / factor));
  coarse.cols = std::min(sampling.cols, next_fast_size((sampling.cols + factor - 1) / factor));
  return coarse;
}

LowResolutionStart start_at_low_resolution(const Measurement& measurement, State first, const Sampling& coarse,
                                           Array propagators, const Schedule& schedule,
                                           const LowResolutionSettings& settings) {
  return during("starting at low resolution", [&] {
    return first.object.dtype() == DType::c64
               ? start<float>(measurement, std::move(first), coarse, std::move(propagators), schedule, settings)
               : start<double>(measurement, std::move(first), coarse, std::move(propagators), schedule, settings);
  });
}

}  // namespace sonde::ptycho
