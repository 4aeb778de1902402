// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/energy_meter.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <numeric>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/propagate/grid_part.h"
#include "sonde/instruments/maxwell/propagate/kept_fields.h"

namespace sonde::maxwell {

template <class T>
struct EnergyMeter<T>::Impl {
  using Plane = std::vector<T>;

  const Problem& problem;
  const Propagator<T>& fields;
  NodeBox box{};
  std::vector<double> electric, magnetic;  // [z]
  bool measured = false;
  // H of rows of a plane before their step: from before_magnetic to after_magnetic, so that as many are in use as
  // threads.
  std::vector<Plane> old;  // [z], empty where none is in use
  std::vector<Plane> unused;
  std::mutex guard;  // of `unused`

  Impl(const Problem& p, const Propagator<T>& f)
      : problem(p),
        fields(f),
        electric(static_cast<std::size_t>(p.grid.extent(Axis::z))),
        magnetic(electric.size()),
        old(electric.size()) {
    for (const Axis axis : all_axes) {
      const std::size_t a = dimension(axis);
      box.first[a] = p.grid.low(axis);
      box.last[a] = p.grid.low(axis) + p.grid.cells(axis);
      if (!p.part) continue;
      box.first[a] = std::max(box.first[a], p.part->own().first[a]);
      box.last[a] = std::max(box.first[a], std::min(box.last[a], p.part->own().last[a]));
    }
  }

  [[nodiscard]] bool counts(Index k) const { return measured && k >= box.first[0] && k < box.last[0]; }

  /// body(component, node of the row's first element, row from the box's first x on).
  template <class Body>
  void for_each_row(bool electric_ones, const PlaneRows& at, const Body& body) const {
    for (const Component c : problem.grid.components())
      for (Index j = std::max(at.first, box.first[1]);
           is_electric(c) == electric_ones && j < std::min(at.last, box.last[1]); ++j)
        body(c, static_cast<std::size_t>(problem.grid.index(at.k, j, box.first[2])),
             fields.row(c, at.k, j) + box.first[2]);
  }

  void add_electric(const PlaneRows& at) {
    double sum = 0;
    for_each_row(true, at, [&](Component c, std::size_t node, const T* e) {
      const double* eps_r = problem.medium.eps_r[place(c)].data() + node;
      for (Index x = 0; x < box.extent(2); ++x) sum += eps_r[x] * static_cast<double>(e[x]) * static_cast<double>(e[x]);
    });
    electric[static_cast<std::size_t>(at.k)] += sum;
  }

  void keep_magnetic(const PlaneRows& at) {
    Plane plane;
    {
      const std::lock_guard lock(guard);
      if (!unused.empty()) {
        plane = std::move(unused.back());
        unused.pop_back();
      }
    }
    plane.clear();
    for_each_row(false, at,
                 [&](Component, std::size_t, const T* h) { plane.insert(plane.end(), h, h + box.extent(2)); });
    old[static_cast<std::size_t>(at.k)] = std::move(plane);
  }

  void add_magnetic(const PlaneRows& at) {
    Plane plane = std::move(old[static_cast<std::size_t>(at.k)]);
    const T* before = plane.data();
    double sum = 0;
    for_each_row(false, at, [&](Component c, std::size_t node, const T* h) {
      const double* mu_r = problem.medium.mu_r[place(c)].data() + node;
      for (Index x = 0; x < box.extent(2); ++x)
        sum += mu_r[x] * static_cast<double>(before[x]) * static_cast<double>(h[x]);
      before += box.extent(2);
    });
    magnetic[static_cast<std::size_t>(at.k)] += sum;
    const std::lock_guard lock(guard);
    unused.push_back(std::move(plane));
  }
};

template <class T>
EnergyMeter<T>::EnergyMeter(const Problem& problem, const Propagator<T>& fields)
    : impl_(std::make_unique<Impl>(problem, fields)) {}
template <class T>
EnergyMeter<T>::~EnergyMeter() = default;
template <class T>
EnergyMeter<T>::EnergyMeter(EnergyMeter&&) noexcept = default;

template <class T>
PlaneHooks EnergyMeter<T>::hooks() {
  const auto when_counted = [at = impl_.get()](void (Impl::*body)(const PlaneRows&)) {
    return [at, body](const PlaneRows& rows) {
      if (at->counts(rows.k)) (at->*body)(rows);
    };
  };
  return {.before_magnetic = when_counted(&Impl::keep_magnetic),
          .after_magnetic = when_counted(&Impl::add_magnetic),
          .before_electric = when_counted(&Impl::add_electric)};
}

template <class T>
void EnergyMeter<T>::measure_next(bool measured) {
  impl_->measured = measured;
  // Added to by the strips of rows of a plane, which follow one another in the order of y.
  for (auto* planes : {&impl_->electric, &impl_->magnetic}) std::fill(planes->begin(), planes->end(), 0.0);
}

template <class T>
FieldEnergy EnergyMeter<T>::taken() const {
  const auto sum = [](const std::vector<double>& planes) { return std::accumulate(planes.begin(), planes.end(), 0.0); };
  std::array<double, 2> sums{sum(impl_->electric), sum(impl_->magnetic)};
  const Problem& problem = impl_->problem;
  if (problem.part) problem.part->add_up(sums);
  return {eps0 / 2 * problem.grid.cell_volume() * sums[0], mu0 / 2 * problem.grid.cell_volume() * sums[1]};
}

template class EnergyMeter<float>;
template class EnergyMeter<double>;

}  // namespace sonde::maxwell
