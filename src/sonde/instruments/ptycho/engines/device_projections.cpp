// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/device_projections.h"

#include <algorithm>
#include <cmath>

#include "sonde/instruments/ptycho/engines/combine_device.h"
#include "sonde/instruments/ptycho/engines/projections_device.h"

namespace sonde::ptycho {
namespace {

constexpr Wanted for_object{.object = true, .probe = false, .weights = true};
constexpr Wanted for_probe{.object = false, .probe = true, .weights = true};

template <class Real>
using WaveOf = device::Complex<Real>;

/// Waves that are kept are brought instead of made.
template <class Real>
DeviceVisit<Real> brought(std::string_view name, const Array& kept) {
  const auto* from = static_cast<const device::Complex<Real>*>(kept.data());
  return {.name = name,
          .way = WayThere::no_way,
          .detector =
              [from](Stream& queue, const device::Flight<Real>& flight) {
                run_on(queue, flight.of.wave_pieces(),
                       device::TakeWaves<Real>{flight.of, flight.scale, from, flight.waves});
              },
          .exit = {},
          .slice = {}};
}

}  // namespace

template <class Real>
DeviceProjections<Real>::DeviceProjections(DevicePass<Real>& pass, const Model<Real>& model,
                                           const std::vector<Index>& active, const ProjectionSettings& settings,
                                           double bound)
    : pass_(&pass), active_(&active), settings_(settings), bound_(bound) {
  const Device device = pass.stream().device();
  kept_ = Array::zeros(device, Shape{model.measurement().count(), model.modes(), model.rows(), model.cols()},
                       dtype_of<std::complex<Real>>);
  const Index elements = std::max(pass.estimate().object.count(), pass.estimate().probe.count());
  partial_ = Array(device, Shape{device::strips_of(elements), 2}, DType::f64);
  totals_ = Array(device, Shape{2}, DType::f64);
  auto* kept = static_cast<WaveOf<Real>*>(kept_.data());
  pass_->pass(*active_, for_object,
              {.name = "first waves",
               .detector =
                   [kept](Stream& queue, const device::Flight<Real>& flight) {
                     run_on(queue, flight.of.wave_pieces(),
                            device::KeepWaves<Real>{flight.of, flight.scale, flight.waves, kept});
                   },
               .exit = {},
               .slice = {}},
              {});
}

template <class Real>
void DeviceProjections<Real>::sum_for_object() {
  pass_->pass(*active_, for_object, brought<Real>("for the object", kept_), {});
}

template <class Real>
void DeviceProjections<Real>::sum_for_probe() {
  DeviceVisit<Real> visit = brought<Real>("for the probe", kept_);
  visit.exit = [](Stream& queue, const device::Flight<Real>& flight) {
    run_on(queue, flight.of.wave_pieces(),
           device::SubtractProduct<Real>{flight.of, flight.object, flight.incident, flight.waves});
  };
  pass_->pass(*active_, for_probe, visit, {});
}

template <class Real>
const double* DeviceProjections<Real>::total_of(const Array& plane) {
  auto *partial = static_cast<double*>(partial_.data()), *total = static_cast<double*>(totals_.data());
  const Index strips = device::strips_of(plane.count());
  run_on(pass_->stream(), strips,
         device::SumElements<Real>{static_cast<const Real*>(plane.data()), plane.count(), partial});
  run_on(pass_->stream(), 1, device::SumOfStrips<1>{partial, strips, total});
  return total;
}

template <class Real>
void DeviceProjections<Real>::solve_object() {
  DeviceEstimate& estimate = pass_->estimate();
  device::SolveObject<Real> body;
  body.numerator = static_cast<const WaveOf<Real>*>(pass_->sums().object.data());
  body.weight = static_cast<const Real*>(pass_->sums().object_weight.data());
  body.total = total_of(pass_->sums().object_weight);
  body.keep = settings_.keep_object;
  body.count = estimate.object.count();
  body.object = static_cast<WaveOf<Real>*>(estimate.object.data());
  if (estimate.type == ObjectType::potential) body.phase = static_cast<Real*>(estimate.phase.data());
  run_on(pass_->stream(), device::strips_of(body.count), body);
}

template <class Real>
double DeviceProjections<Real>::solve_probe() {
  Stream& stream = pass_->stream();
  Array& probe = pass_->estimate().probe;
  device::SolveProbe<Real> body;
  body.numerator = static_cast<const WaveOf<Real>*>(pass_->sums().probe.data());
  body.weight = static_cast<const Real*>(pass_->sums().probe_weight.data());
  body.total = total_of(pass_->sums().probe_weight);
  body.keep = settings_.keep_probe;
  body.pixels = pass_->sums().probe_weight.count();
  body.count = probe.count();
  body.probe = static_cast<WaveOf<Real>*>(probe.data());
  body.partial = static_cast<double*>(partial_.data());
  const Index strips = device::strips_of(body.count);
  run_on(stream, strips, body);
  run_on(stream, 1, device::SumOfStrips<2>{body.partial, strips, static_cast<double*>(totals_.data())});
  pass_->probe_changed();
  double found[2];
  stream.copy(found, totals_.data(), sizeof found);
  stream.synchronise();
  return std::sqrt(found[0] / found[1]);
}

template <class Real>
void DeviceProjections<Real>::move_waves(std::span<FrameSums> fit) {
  const device::Between<Real> by{static_cast<Real>(settings_.a), static_cast<Real>(settings_.b),
                                 static_cast<Real>(settings_.c), static_cast<Real>(bound_)};
  auto* kept = static_cast<WaveOf<Real>*>(kept_.data());
  pass_->pass(
      *active_, for_object,
      {.name = "moved",
       .detector =
           [by, kept](Stream& queue, const device::Flight<Real>& flight) {
             const device::Projected<Real> projected{flight, by, kept};
             if (by.bound > 0) {
               run_on(queue, projected.pieces(), device::AmplitudeError<Real>{projected});
               run_on(queue, 1,
                      device::DeviationKept{flight.of, flight.partial, static_cast<double>(by.bound), flight.by_slot});
             }
             run_on(queue, projected.pieces(), device::Project<Real>{projected});
           },
       .exit = {},
       .slice = {}},
      fit);
}

template <class Real>
void DeviceProjections<Real>::shift_waves(std::span<const Placement> from, std::span<const Placement> now) {
  Stream& stream = pass_->stream();
  const Shape& shape = kept_.shape();
  std::vector<double> shifts;
  for (std::size_t i = 0; i < from.size(); ++i) {
    shifts.push_back(now[i].shift_row - from[i].shift_row);
    shifts.push_back(now[i].shift_col - from[i].shift_col);
  }
  Array there(stream.device(), Shape{shape[0], 2}, DType::f64);
  stream.copy(there.data(), shifts.data(), shifts.size() * sizeof(double));
  const device::ShiftKept<Real> body{shape[2],
                                     shape[3],
                                     shape[1],
                                     shape[0],
                                     static_cast<const double*>(there.data()),
                                     static_cast<WaveOf<Real>*>(kept_.data())};
  run_on(stream, body.pieces(), body);
  stream.synchronise();  // the shifts go
}

template class DeviceProjections<float>;
template class DeviceProjections<double>;

}  // namespace sonde::ptycho
