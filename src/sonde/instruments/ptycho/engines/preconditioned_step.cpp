// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/preconditioned_step.h"

#include <cmath>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/engines/preconditioned_step_device.h"

namespace sonde::ptycho {
namespace {

constexpr double tiny = 1e-16;

template <class Real>
struct Divisor {
  Real keep2, floor2;
  Divisor(Preconditioner by, double largest)
      : keep2(static_cast<Real>(by.keep * by.keep)),
        floor2(static_cast<Real>(tiny + by.floor * largest * by.floor * largest)) {}
  Real operator()(Real weight) const { return Real(1) / std::sqrt(keep2 * weight * weight + floor2); }
};

}  // namespace

template <class Real>
void step_object(const BatchSums& sums, Preconditioner by, double step, State& state) {
  using Complex = std::complex<Real>;
  const auto numerator = sums.object.view<Complex, 3>();
  const auto weight = sums.object_weight.view<Real, 3>();
  const auto object = state.object.view<Complex, 3>();
  const bool potential = state.type == ObjectType::potential;
  const View<Real, 3> phase = potential ? state.phase.view<Real, 3>() : View<Real, 3>{};
  const Index rows = object.extent[1], cols = object.extent[2];
  const Real scale = static_cast<Real>(step);
  parallel_for(object.extent[0] * rows, 8, [&](Index first, Index last, Worker&) {
    for (Index line = first; line < last; ++line) {
      const Index s = line / rows, row = line % rows;
      const Divisor<Real> divisor(by, sums.largest_object_weight[static_cast<std::size_t>(s)]);
      const Complex* n = &numerator(s, row, 0);
      const Real* w = &weight(s, row, 0);
      Complex* o = &object(s, row, 0);
      if (!potential) {
        for (Index i = 0; i < cols; ++i) {
          const Real f = scale * divisor(w[i]);
          o[i] = {o[i].real() + f * n[i].real(), o[i].imag() + f * n[i].imag()};
        }
        continue;
      }
      Real* phi = &phase(s, row, 0);
      for (Index i = 0; i < cols; ++i) {
        if (w[i] == 0) continue;
        phi[i] += scale * divisor(w[i]) * (o[i].real() * n[i].imag() - o[i].imag() * n[i].real());
        o[i] = {std::cos(phi[i]), std::sin(phi[i])};
      }
    }
  });
}

template <class Real>
void step_probe(const BatchSums& sums, Preconditioner by, double step, State& state) {
  using Complex = std::complex<Real>;
  const auto numerator = sums.probe.view<Complex, 3>();
  const auto weight = sums.probe_weight.view<Real, 2>();
  const auto probe = state.probe.view<Complex, 3>();
  const Index pixels = weight.count();
  const Divisor<Real> divisor(by, sums.largest_probe_weight);
  const Real scale = static_cast<Real>(step);
  for (Index m = 0; m < probe.extent[0]; ++m) {
    const Complex* n = numerator.data + m * pixels;
    Complex* p = probe.data + m * pixels;
    for (Index i = 0; i < pixels; ++i) p[i] += scale * divisor(weight.data[i]) * n[i];
  }
}

namespace {

/// The part of a step that object and probe share.
template <class Real>
device::PreconditionedStep<Real> step_body(Preconditioner by, double step) {
  device::PreconditionedStep<Real> body;
  body.floor = by.floor;
  body.keep2 = static_cast<Real>(by.keep * by.keep);
  body.step = static_cast<Real>(step);
  return body;
}

}  // namespace

template <class Real>
void step_object(Stream& stream, const DeviceSums& sums, Preconditioner by, double step, DeviceEstimate& estimate) {
  using Wave = device::Complex<Real>;
  const Index slices = estimate.object.shape()[0], elements = estimate.object.count() / slices;
  for (Index s = 0; s < slices; ++s) {
    auto body = step_body<Real>(by, step);
    body.numerator = static_cast<const Wave*>(sums.object.data()) + s * elements;
    body.weight = static_cast<const Real*>(sums.object_weight.data()) + s * elements;
    body.largest = static_cast<const std::uint64_t*>(sums.largest.data()) + s;
    body.elements = elements;
    body.target = static_cast<Wave*>(estimate.object.data()) + s * elements;
    if (estimate.type == ObjectType::potential) body.phase = static_cast<Real*>(estimate.phase.data()) + s * elements;
    run_on(stream, body.pieces(), body);
  }
}

template <class Real>
void step_probe(Stream& stream, const DeviceSums& sums, Preconditioner by, double step, DeviceEstimate& estimate) {
  auto body = step_body<Real>(by, step);
  body.numerator = static_cast<const device::Complex<Real>*>(sums.probe.data());
  body.weight = static_cast<const Real*>(sums.probe_weight.data());
  body.largest = static_cast<const std::uint64_t*>(sums.largest.data()) + sums.largest.count() - 1;
  body.planes = estimate.probe.shape()[0];
  body.elements = sums.probe_weight.count();
  body.target = static_cast<device::Complex<Real>*>(estimate.probe.data());
  run_on(stream, body.pieces(), body);
}

template void step_object<float>(const BatchSums&, Preconditioner, double, State&);
template void step_object<double>(const BatchSums&, Preconditioner, double, State&);
template void step_probe<float>(const BatchSums&, Preconditioner, double, State&);
template void step_probe<double>(const BatchSums&, Preconditioner, double, State&);
template void step_object<float>(Stream&, const DeviceSums&, Preconditioner, double, DeviceEstimate&);
template void step_object<double>(Stream&, const DeviceSums&, Preconditioner, double, DeviceEstimate&);
template void step_probe<float>(Stream&, const DeviceSums&, Preconditioner, double, DeviceEstimate&);
template void step_probe<double>(Stream&, const DeviceSums&, Preconditioner, double, DeviceEstimate&);

}  // namespace sonde::ptycho
