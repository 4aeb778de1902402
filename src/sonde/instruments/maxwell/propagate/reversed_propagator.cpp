// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/reversed_propagator.h"

#include <algorithm>

#include "sonde/instruments/maxwell/propagate/boxes.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell {
namespace {

GridSpec spec_of(GridSpec spec, const NodeBox& box) {
  for (std::size_t axis = 0; axis < 3; ++axis) spec.cells[axis] = box.extent(axis);
  spec.pml = {};
  return spec;
}

/// On plane 0 a grid has a wall: one more where the box does not begin at one.
NodeBox widened(NodeBox box) {
  for (Index& first : box.first) first = std::max<Index>(0, first - 1);
  return box;
}

/// Conductors, where all is zero, keep it.
template <class T>
Coefficients reversed(const Propagator<T>& run, const NodeBox& box) {
  Coefficients made;
  for (const Component c : run.grid().components())
    for (Index k = box.first[0]; k < box.last[0]; ++k)
      for (Index j = box.first[1]; j < box.last[1]; ++j) {
        const auto [ca, cb, cq] = run.factors(c, k, j);
        for (Index x = box.first[2]; x < box.last[2]; ++x) {
          if (!is_electric(c)) {
            made.cq[place(c)].push_back(-static_cast<double>(cq[x]));
            continue;
          }
          const auto factor = static_cast<double>(ca[x]);
          made.ca[place(c)].push_back(factor == 0 ? 0 : 1 / factor);
          made.cb[place(c)].push_back(factor == 0 ? 0 : -static_cast<double>(cb[x]) / factor);
        }
      }
  return made;
}

}  // namespace

template <class T>
struct ReversedPropagator<T>::Impl {
  NodeBox asked, box;
  stepping::Stepper<T> fields;
  stepping::Injections<T> sources;

  Impl(const Propagator<T>& run, const NodeBox& in, const std::vector<Point>& points)
      : asked(in),
        box(widened(in)),
        fields({Grid(spec_of(run.problem().grid.spec(), box)), {}, {}, run.problem().dt, run.problem().loss},
               reversed(run, box), stepping::Sense::forward, run.threads()),
        sources(fields.injections(points_in(box, run.problem().grid, points, fields.problem.grid, box.first))) {
    for (const Component c : fields.problem.grid.components())
      for (Index k = 0; k < box.extent(0); ++k) {
        for (Index j = 0; j < box.extent(1); ++j) {
          std::copy_n(run.row(c, box.first[0] + k, box.first[1] + j) + box.first[2], box.extent(2),
                      fields.row_of(c, k, j));
          fields.fill_ends(c, fields.row_of(c, k, j));
        }
      }
  }

  /// In the rows of the box; what `after` writes has its images too.
  [[nodiscard]] PlaneHooks local(const PlaneHooks& hooks) {
    const auto moved = [this](const PlaneHooks::Hook& hook, bool after, bool electric) {
      if (!hook) return PlaneHooks::Hook{};
      return PlaneHooks::Hook([this, &hook, after, electric](const PlaneRows& at) {
        const PlaneRows whole{at.step, at.k + box.first[0], std::max(at.first + box.first[1], asked.first[1]),
                              at.last + box.first[1]};
        if (whole.k >= asked.first[0]) hook(whole);
        for (const Component c : fields.problem.grid.components())
          for (Index j = at.first; after && is_electric(c) == electric && j < at.last; ++j)
            fields.fill_ends(c, fields.row_of(c, at.k, j));
      });
    };
    return {.before_magnetic = moved(hooks.before_magnetic, false, false),
            .after_magnetic = moved(hooks.after_magnetic, true, false),
            .before_electric = moved(hooks.before_electric, false, true),
            .after_electric = moved(hooks.after_electric, true, true)};
  }
};

template <class T>
ReversedPropagator<T>::ReversedPropagator(const Propagator<T>& run, const NodeBox& box,
                                          const std::vector<Point>& sources)
    : impl_(std::make_unique<Impl>(run, box, sources)) {}
template <class T>
ReversedPropagator<T>::~ReversedPropagator() = default;

template <class T>
void ReversedPropagator<T>::step(std::span<const double> amplitudes, const PlaneHooks& hooks) {
  const PlaneHooks beside = impl_->local(hooks);
  for (const bool electric : {true, false})
    impl_->fields.make_half(electric, {.sources = impl_->sources, .amplitudes = amplitudes, .hooks = beside});
}

template <class T>
T* ReversedPropagator<T>::row(Component c, Index k, Index j) {
  return impl_->fields.row_of(c, k - impl_->box.first[0], j - impl_->box.first[1]) + impl_->asked.first[2] -
         impl_->box.first[2];
}

template <class T>
std::size_t ReversedPropagator<T>::bytes_for(const GridSpec& of, const NodeBox& box) {
  return Propagator<T>::bytes_for(Grid(spec_of(of, widened(box))), 0).lasting;
}

template class ReversedPropagator<float>;
template class ReversedPropagator<double>;

}  // namespace sonde::maxwell
