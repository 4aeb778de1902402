// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/opr/probe_relaxation.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/math/philox.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "sonde/instruments/ptycho/model/principal_axes.h"

namespace sonde::ptycho {
namespace {

constexpr Index most_parts = 16;
constexpr double outlier_quantile = 0.95, outlier_factor = 1.5;
constexpr double weight_damping = 0.01;  // share of the mean curvature, as in the correction of positions

/// Complex and normal, from a counter.
complex128 random_weight(std::uint64_t seed, Index frame, Index component) {
  const auto bits = philox({static_cast<std::uint32_t>(frame), static_cast<std::uint32_t>(component), 0, 0x0f12},
                           {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  const double radius = std::sqrt(-std::log(unit_interval(bits[0], bits[1])));
  return std::polar(radius, 2 * std::numbers::pi * unit_interval(bits[2], bits[3]));
}

/// <a, b> = sum conj(a) b.
template <class A, class B>
complex128 product(const A* a, const B* b, Index count) {
  double real = 0, imaginary = 0;
  for (Index i = 0; i < count; ++i) {
    const complex128 x(a[i]), y(b[i]);
    real += x.real() * y.real() + x.imag() * y.imag();
    imaginary += x.real() * y.imag() - x.imag() * y.real();
  }
  return {real, imaginary};
}

/// Makes `planes` of `pixels` each orthonormal, one after the other; those that are left with nothing become zero.
void orthonormalise(std::vector<complex128>& planes, Index pixels) {
  const Index count = static_cast<Index>(planes.size()) / pixels;
  for (Index l = 0; l < count; ++l) {
    complex128* plane = planes.data() + l * pixels;
    const double before = std::sqrt(product(plane, plane, pixels).real());
    // Twice is enough: the second pass removes what rounding left of the first.
    for (int pass = 0; pass < 2; ++pass)
      for (Index k = 0; k < l; ++k) {
        const complex128* other = planes.data() + k * pixels;
        const complex128 part = product(other, plane, pixels);
        for (Index i = 0; i < pixels; ++i) plane[i] -= part * other[i];
      }
    const double left = std::sqrt(product(plane, plane, pixels).real());
    const double scale = left > 1e-9 * before ? 1 / left : 0;
    for (Index i = 0; i < pixels; ++i) plane[i] *= scale;
  }
}

}  // namespace

void OprSettings::describe(Fields& fields) {
  fields.add("modes", modes,
             {.help = "components by which the first probe mode varies along the scan; 0: none", .min = 0, .max = 16});
  fields.add("start", start, {.help = "first iteration that lets the probe vary", .min = 1});
  fields.add("every", every, {.help = "iterations between updates of the variation", .min = 1});
  fields.add("relax", relax,
             {.help = "share of a frame's own step that counts, of its weights and of its probe", .min = 0, .max = 1});
  fields.add("constant_power", constant_power, {.help = "the variation leaves the probe's power as it is"});
}

void make_opr_room(State& state, Index modes) {
  if (!state.opr_modes.empty()) return;
  const Shape& probe = state.probe.shape();
  state.opr_modes = Array::zeros(Device::cpu(), Shape{modes, probe[1], probe[2]}, state.probe.dtype());
  state.opr_weights =
      Array::zeros(Device::cpu(), Shape{static_cast<Index>(state.positions.size()), modes}, state.probe.dtype());
}

template <class Real>
ProbeRelaxation<Real>::ProbeRelaxation(const OprSettings& settings, Workbench<Real>& bench)
    : settings_(settings), rooms_([&] {
        const auto unknown = static_cast<std::size_t>(2 * settings.modes);
        return Room{Exposure<Real>(bench.model()),
                    std::vector<Complex>(static_cast<std::size_t>(settings.modes * bench.model().pixels())),
                    std::vector<double>(unknown), std::vector<double>(unknown * unknown), std::vector<double>(unknown)};
      }) {
  make_opr_room(bench.state(), settings_.modes);
  bench.renew_spectrum();
}

/// Moves the weights of a frame by relax times a step of Gauss and Newton, and its far field with them, which is linear
/// in the weights. With A = sqrt(sum_m |Psi_m|^2), D_l the far field of E_l and c = conj(Psi_0) D_l:
/// dA/d(Re u_l) = Re c / A, dA/d(Im u_l) = -Im c / A.
template <class Real>
void ProbeRelaxation<Real>::fit_weights(Workbench<Real>& bench, Index frame, Room& room) const {
  const Model<Real>& model = bench.model();
  State& state = bench.state();
  Exposure<Real>& exposure = room.exposure;
  const Index pixels = model.pixels(), components = state.components(), unknown = 2 * components;
  for (Index l = 0; l < components; ++l)
    exposure.component(state, bench.spectrum(), l, room.components.data() + l * pixels);
  const Real* measured = exposure.amplitudes(frame);
  const Real* mask = model.measurement().template weights<Real>();
  Complex* psi = exposure.waves();
  const double unit = 1 / std::sqrt(static_cast<double>(pixels));  // the transforms do not scale
  std::fill(room.normal.begin(), room.normal.end(), 0);
  std::fill(room.right.begin(), room.right.end(), 0);
  double* row = room.row.data();
  for (Index i = 0; i < pixels; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    double intensity = 0;
    for (Index m = 0; m < model.modes(); ++m) intensity += std::norm(complex128(psi[m * pixels + i]));
    if (!(intensity > 0)) continue;
    const double root = std::sqrt(intensity);
    for (Index l = 0; l < components; ++l) {
      const complex128 along =
          std::conj(complex128(psi[i])) * complex128(room.components[static_cast<std::size_t>(l * pixels + i)]);
      row[2 * l] = unit * along.real() / root;
      row[2 * l + 1] = -unit * along.imag() / root;
    }
    const double missing = static_cast<double>(measured[i]) - unit * root;
    for (Index a = 0; a < unknown; ++a) {
      room.right[static_cast<std::size_t>(a)] += row[a] * missing;
      for (Index b = 0; b <= a; ++b) room.normal[static_cast<std::size_t>(a * unknown + b)] += row[a] * row[b];
    }
  }
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Matrix> normal(room.normal.data(), unknown, unknown);
  Eigen::Map<Eigen::VectorXd> right(room.right.data(), unknown);
  const double trace = normal.trace();
  if (!(trace > 0)) return;
  // A turn of the whole wave changes no amplitude: without damping the step would have any size along it.
  normal.diagonal().array() += weight_damping * trace / static_cast<double>(components);
  const Eigen::VectorXd step = settings_.relax * normal.selfadjointView<Eigen::Lower>().ldlt().solve(right);
  Complex* weights = state.opr_weights.view<Complex, 2>().data + frame * components;
  for (Index l = 0; l < components; ++l) {
    const Complex change(static_cast<Real>(step(2 * l)), static_cast<Real>(step(2 * l + 1)));
    weights[l] += change;
    cpu::add<Real>(change, room.components.data() + l * pixels, psi, pixels);
  }
}

/// d_j of the first mode into exposure.waves(), in the probe's own window, from the far field that is there. Of the
/// amplitude loss, whatever the engine minimises: its step has the right length.
template <class Real>
void ProbeRelaxation<Real>::step_of(const Model<Real>& model, Index frame, Exposure<Real>& exposure) const {
  const Real scale = Real(1) / static_cast<Real>(model.pixels());
  cpu::residual<Real>(Loss::amplitude, {exposure.amplitudes(frame), model.measurement().template weights<Real>()},
                      model.eps(), scale, scale, true, exposure.waves(), model.modes(), model.pixels());
  exposure.back();
  for (Index s = model.slices() - 1; s >= 0; --s) exposure.before_slice(s);
  const Real largest = cpu::largest_norm<Real>(exposure.window(0));
  for (Index i = 0; i < model.pixels(); ++i) exposure.waves()[i] /= largest;
  exposure.unshift();
}

template <class Real>
double ProbeRelaxation<Real>::relax(Workbench<Real>& bench) {
  State& state = bench.state();
  const std::vector<Index>& active = bench.active();
  const auto members = static_cast<Index>(active.size());
  const Index pixels = bench.model().pixels(), components = state.opr_modes.shape()[0];
  Complex* weights = state.opr_weights.view<Complex, 2>().data;
  const bool fresh = !(cpu::power<Real>(state.opr_modes.view<Complex, 3>().data, state.opr_modes.count()) > 0);
  const Index grain = (members + most_parts - 1) / most_parts;
  parts_.resize(static_cast<std::size_t>((members + grain - 1) / grain));
  parallel_for(members, grain, [&](Index first, Index last, Worker& worker) {
    Part& part = parts_[static_cast<std::size_t>(first / grain)];
    part.weighted.assign(static_cast<std::size_t>(components * pixels), Complex{});
    part.total.assign(static_cast<std::size_t>(pixels), Complex{});
    Room& room = rooms_[worker];
    Exposure<Real>& exposure = room.exposure;
    for (Index i = first; i < last; ++i) {
      const Index frame = active[static_cast<std::size_t>(i)];
      check_interrupt();
      exposure.forward(state, bench.spectrum(), frame);
      if (fresh)
        for (Index l = 0; l < components; ++l)
          weights[frame * components + l] = Complex(random_weight(bench.seed(), frame, l));
      else
        fit_weights(bench, frame, room);
      step_of(bench.model(), frame, exposure);
      const Complex* step = exposure.waves();
      cpu::add<Real>(Real(1), step, part.total.data(), pixels);
      for (Index l = 0; l < components; ++l)
        cpu::add<Real>(std::conj(weights[frame * components + l]), step, part.weighted.data() + l * pixels, pixels);
    }
  });
  decompose(state, active);
  if (fresh) std::fill_n(weights, state.opr_weights.count(), Complex{});
  finish_weights(state, active);
  bench.renew_spectrum();

  double varying = 0;
  for (const Index frame : active)
    for (Index l = 0; l < components; ++l) varying += std::norm(complex128(weights[frame * components + l]));
  return varying / static_cast<double>(members) / cpu::power<Real>(state.probe.view<Complex, 3>().data, pixels);
}

/// From the sums over frames to E, to weights in the basis of the new E, and to the mean that goes into P.
template <class Real>
void ProbeRelaxation<Real>::decompose(State& state, const std::vector<Index>& active) {
  const Index components = state.opr_modes.shape()[0], pixels = state.opr_modes.count() / components;
  const auto members = static_cast<Index>(active.size());
  Complex* modes = state.opr_modes.view<Complex, 3>().data;
  Complex* probe = state.probe.view<Complex, 3>().data;
  Complex* weights = state.opr_weights.view<Complex, 2>().data;

  Eigen::MatrixXcd now(components, members);
  for (Index j = 0; j < members; ++j)
    for (Index l = 0; l < components; ++l)
      now(l, j) = complex128(weights[active[static_cast<std::size_t>(j)] * components + l]);
  const Eigen::VectorXcd mean = now.rowwise().mean();
  now.colwise() -= mean;

  // G_l = sum_j conj(u_jl) (sum_k u_jk E_k + relax d_j), with weights less their mean.
  const Eigen::MatrixXcd mixture = now.conjugate() * now.transpose();
  std::vector<complex128> sums(static_cast<std::size_t>(components * pixels));
  for (Index l = 0; l < components; ++l) {
    complex128* sum = sums.data() + l * pixels;
    for (const Part& part : parts_)
      for (Index i = 0; i < pixels; ++i)
        sum[i] += settings_.relax * (complex128(part.weighted[static_cast<std::size_t>(l * pixels + i)]) -
                                     std::conj(mean(l)) * complex128(part.total[static_cast<std::size_t>(i)]));
    for (Index k = 0; k < components; ++k)
      for (Index i = 0; i < pixels; ++i) sum[i] += mixture(l, k) * complex128(modes[k * pixels + i]);
    if (!settings_.constant_power) continue;
    const complex128 along = product(probe, sum, pixels) / product(probe, probe, pixels).real();
    for (Index i = 0; i < pixels; ++i) sum[i] -= along * complex128(probe[i]);
  }
  orthonormalise(sums, pixels);

  // The frames' variations in the new basis, turned so that their weights are uncorrelated.
  Eigen::MatrixXcd turn(components, components);
  for (Index k = 0; k < components; ++k)
    for (Index l = 0; l < components; ++l) turn(k, l) = product(sums.data() + k * pixels, modes + l * pixels, pixels);
  now = turn * now;
  const Eigen::MatrixXcd covariance = now * now.adjoint();
  std::vector<complex128> rows(static_cast<std::size_t>(components * components));
  for (Index k = 0; k < components; ++k)
    for (Index l = 0; l < components; ++l) rows[static_cast<std::size_t>(k * components + l)] = covariance(k, l);
  const std::vector<complex128> found = principal_axes(rows, components);
  Eigen::MatrixXcd axes(components, components);
  for (Index k = 0; k < components; ++k)
    for (Index l = 0; l < components; ++l) axes(k, l) = found[static_cast<std::size_t>(k * components + l)];
  now = axes.adjoint() * now;
  for (Index l = 0; l < components; ++l)
    for (Index i = 0; i < pixels; ++i) probe[i] += Complex(mean(l) * complex128(modes[l * pixels + i]));
  for (Index i = 0; i < pixels; ++i)
    for (Index l = 0; l < components; ++l) {
      complex128 value = 0;
      for (Index k = 0; k < components; ++k) value += axes(k, l) * sums[static_cast<std::size_t>(k * pixels + i)];
      modes[l * pixels + i] = Complex(value);
    }
  for (Index j = 0; j < members; ++j)
    for (Index l = 0; l < components; ++l)
      weights[active[static_cast<std::size_t>(j)] * components + l] = Complex(now(l, j));
}

/// Cuts outliers, and gives frames that take no part what lies between their neighbours in the scan.
template <class Real>
void ProbeRelaxation<Real>::finish_weights(State& state, const std::vector<Index>& active) const {
  const auto weights = state.opr_weights.view<Complex, 2>();
  for (Index l = 0; l < weights.extent[1]; ++l) {
    std::vector<double> sizes;
    for (const Index frame : active) sizes.push_back(std::abs(complex128(weights(frame, l))));
    const auto place = static_cast<std::ptrdiff_t>(outlier_quantile * static_cast<double>(sizes.size() - 1));
    std::nth_element(sizes.begin(), sizes.begin() + place, sizes.end());
    const double most = outlier_factor * sizes[static_cast<std::size_t>(place)];
    for (const Index frame : active) {
      const double size = std::abs(complex128(weights(frame, l)));
      if (size > most) weights(frame, l) *= static_cast<Real>(most / size);
    }
  }
  std::vector<Index> sorted = active;
  std::sort(sorted.begin(), sorted.end());
  for (Index frame = 0; frame < weights.extent[0]; ++frame) {
    const auto after = std::lower_bound(sorted.begin(), sorted.end(), frame);
    if (after != sorted.end() && *after == frame) continue;
    const Index right = after == sorted.end() ? sorted.back() : *after;
    const Index left = after == sorted.begin() ? sorted.front() : *(after - 1);
    const double share = right > left ? static_cast<double>(frame - left) / static_cast<double>(right - left) : 0;
    for (Index l = 0; l < weights.extent[1]; ++l)
      weights(frame, l) =
          static_cast<Real>(1 - share) * weights(left, l) + static_cast<Real>(share) * weights(right, l);
  }
}

template class ProbeRelaxation<float>;
template class ProbeRelaxation<double>;

}  // namespace sonde::ptycho
