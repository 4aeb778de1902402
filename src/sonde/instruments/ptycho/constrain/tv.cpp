// SPDX-License-Identifier: Apache-2.0
// Least total variation, slice by slice: u minimises 1/2 sum |u - v|^2 + w sum |grad u|, where |grad u| joins both
// directions, and real and imaginary part (isotropic, vectorial). Chambolle, J. Math. Imaging Vis. 20 (2004) 89, in the
// dual variable p, |p| <= w:
//   u = v + div p,   p <- (p + tau grad u) / (1 + (tau / w) |grad u|).
// grad are forward differences, zero at the last row and column; div is minus their adjoint.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct TvSettings {
  double weight = 0.005;
  Index rounds = 40;
  double tolerance = 2e-4;

  void describe(Fields& fields) {
    fields.add("weight", weight, {.help = "strength; 0.001 to 0.01 is usual", .min = 0, .changeable = true});
    fields.add("rounds", rounds, {.help = "most rounds of its iteration", .min = 1});
    fields.add(
        "tolerance", tolerance,
        {.help = "ends when the energy changes by less than this part of the first one", .min = 0, .changeable = true});
  }
};

constexpr double tau = 1.0 / 4;  // 1 / (2 dimensions)

/// The dual iteration on one slice; buffers are those of the constraint.
template <class Real, class T>
class Slice {
 public:
  Slice(const TvSettings& settings, View<const T, 2> v, View<T, 2> u, View<T, 2> down, View<T, 2> across,
        std::vector<double>& energies)
      : weight_(static_cast<Real>(settings.weight)), v_(v), u_(u), down_(down), across_(across), energies_(energies) {}

  /// u from p.
  void primal() const {
    each_row([&](Index row) {
      for (Index col = 0; col < cols(); ++col) {
        T div = down_(row, col) + across_(row, col);
        if (row > 0) div -= down_(row - 1, col);
        if (col > 0) div -= across_(row, col - 1);
        u_(row, col) = v_(row, col) + div;
      }
    });
  }

  /// One step of p along grad u; returns the energy of u.
  double dual() const {
    constexpr Real step = Real(tau);
    each_row([&](Index row) {
      double energy = 0;
      for (Index col = 0; col < cols(); ++col) {
        const T here = u_(row, col);
        const T down = row + 1 < rows() ? u_(row + 1, col) - here : T{};
        const T across = col + 1 < cols() ? u_(row, col + 1) - here : T{};
        const Real slope = std::sqrt(std::norm(down) + std::norm(across));
        energy += 0.5 * std::norm(here - v_(row, col)) + static_cast<double>(weight_ * slope);
        const Real shorter = 1 / (1 + step / weight_ * slope);
        down_(row, col) = (down_(row, col) + step * down) * shorter;
        across_(row, col) = (across_(row, col) + step * across) * shorter;
      }
      energies_[static_cast<std::size_t>(row)] = energy;
    });
    return std::accumulate(energies_.begin(), energies_.end(), 0.0);
  }

 private:
  [[nodiscard]] Index rows() const { return v_.extent[0]; }
  [[nodiscard]] Index cols() const { return v_.extent[1]; }

  template <class Body>
  void each_row(const Body& body) const {
    parallel_for(rows(), 8, [&](Index first, Index last, Worker&) {
      for (Index row = first; row < last; ++row) body(row);
    });
  }

  Real weight_;
  View<const T, 2> v_;
  View<T, 2> u_, down_, across_;
  std::vector<double>& energies_;  // per row, added in their order
};

template <class Real>
class Tv final : public Constraint<Real> {
 public:
  Tv(const TvSettings& settings, const ConstraintContext&, const State& state) : settings_(settings) {
    const Array& values = state.type == ObjectType::complex ? state.object : state.phase;
    const Shape plane = values.shape().last(2);
    for (Array* buffer : {&measured_, &down_, &across_}) *buffer = Array(Device::cpu(), plane, values.dtype());
    energies_.resize(static_cast<std::size_t>(plane[0]));
  }

  void apply(State& state, const ConstraintContext&) override {
    if (settings_.weight == 0) return;
    change_values<Real>(state, [&]<class T>(View<T, 3> values) {
      for (Index s = 0; s < values.extent[0]; ++s) denoise(values[s]);
    });
  }

 private:
  template <class T>
  void denoise(View<T, 2> u) {
    const auto v = measured_.view<T, 2>(), down = down_.view<T, 2>(), across = across_.view<T, 2>();
    std::copy(u.data, u.data + u.count(), v.data);
    std::fill(down.data, down.data + down.count(), T{});
    std::fill(across.data, across.data + across.count(), T{});
    const Slice<Real, T> slice(settings_, v, u, down, across, energies_);
    double first = 0, before = 0;
    for (Index round = 0; round < settings_.rounds; ++round) {
      check_interrupt();
      const double energy = slice.dual();
      slice.primal();
      if (round == 0) first = energy;
      if (round > 0 && std::abs(before - energy) <= settings_.tolerance * first) break;
      before = energy;
    }
  }

  TvSettings settings_;
  Array measured_, down_, across_;  // (Y, X) of the object's values: v and both parts of p
  std::vector<double> energies_;
};

}  // namespace

std::unique_ptr<ConstraintSetup> tv() { return std::make_unique<ConstraintSetupOf<Tv, TvSettings>>(); }

}  // namespace sonde::ptycho::constrain
