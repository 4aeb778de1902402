// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/reconstructed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

bool contains(const NodeBox& box, const NodeBox& part) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (part.first[axis] < box.first[axis] || part.last[axis] > box.last[axis]) return false;
  return true;
}

/// Nodes whose E the step in reverse gives, and the box of those that it reads.
struct ReversedNodes {
  NodeBox inside, reached;
};

ReversedNodes reversed_nodes(const Grid& grid) {
  const Index m = grid.order() / 2;
  ReversedNodes made{{{}, grid.extents()}, {{}, grid.extents()}};
  for (const Axis axis : all_axes) {
    const std::size_t d = dimension(axis);
    if (grid.low(axis) > 0) {
      made.inside.first[d] = grid.low(axis) + m;
      made.reached.first[d] = std::max<Index>(0, grid.low(axis) - m + 1);
    }
    if (grid.high(axis) > 0) {
      const Index plane = grid.extent(axis) - grid.high(axis);
      made.inside.last[d] = plane - m + 1;
      made.reached.last[d] = std::min(grid.extent(axis), plane + m);
    }
  }
  return made;
}

/// Whether the model is wide enough for nodes inside.
bool has_inside(const Grid& grid) {
  return std::all_of(all_axes.begin(), all_axes.end(),
                     [&](Axis axis) { return !grid.has(axis) || grid.cells(axis) >= grid.order(); });
}

/// Over the nodes that are taken back: max sigma / eps.
double fastest_loss(const Problem& problem, const NodeBox& inside) {
  double most = 0;
  for (const Component c : problem.grid.components())
    for (Index k = inside.first[0]; is_electric(c) && k < inside.last[0]; ++k)
      for (Index j = inside.first[1]; j < inside.last[1]; ++j)
        for (Index x = inside.first[2]; x < inside.last[2]; ++x) {
          const auto node = static_cast<std::size_t>(problem.grid.index(k, j, x));
          const double sigma = problem.medium.sigma[place(c)][node];  // of a conductor infinite: E stays zero
          if (!std::isinf(sigma)) most = std::max(most, sigma / (eps0 * problem.medium.eps_r[place(c)][node]));
        }
  return most;
}

}  // namespace

Reconstruction reconstruction_of(const Problem& problem, const SampleLayout& wanted, Index steps, Precision precision) {
  Reconstruction made;
  const Grid& grid = problem.grid;
  if (!problem.medium.poles.empty()) {
    made.obstacle = "the medium has Debye poles, whose memory is lost backwards";
    return made;
  }
  if (!has_inside(grid)) {
    made.obstacle = fmt::format("an axis of the model has fewer than {} cells, those of the stencil", grid.order());
    return made;
  }
  const auto [inside, reached] = reversed_nodes(grid);
  const bool all = !contains(reached, wanted.box);
  made.shell.box = all ? NodeBox{{}, grid.extents()} : reached;
  made.shell.hollow = inside;
  // H of the model follows from E; in the layers only where it is stored.
  for (const Component c : grid.components())
    if (is_electric(c) ||
        (all && std::find(wanted.components.begin(), wanted.components.end(), c) != wanted.components.end()))
      made.shell.components.push_back(c);
  const std::size_t element = element_bytes(precision);
  made.work_bytes = (precision == Precision::f32 ? ReversedPropagator<float>::bytes_for(grid.spec(), made.shell.box)
                                                 : ReversedPropagator<double>::bytes_for(grid.spec(), made.shell.box)) +
                    element * wanted.components.size() * static_cast<std::size_t>(wanted.box.count());
  const double loss = fastest_loss(problem, inside);
  made.growth = loss * problem.dt * static_cast<double>(steps);
  if (problem.loss == LossForm::semi_implicit && loss * problem.dt >= 2)
    made.obstacle = "in a cell sigma dt / eps is 2 or more, where a step has no reverse";
  return made;
}

template <class T>
ReconstructedRun<T>::ReconstructedRun(const StoragePlan& plan, const TierBudgets& budgets)
    : wanted_(plan.layout),
      box_(plan.shell.box),
      host_(budgets.host),
      held_(host_.reserve(plan.work_bytes, "the fields that are taken back")),
      shell_(plan.shell, plan.steps, Tier::host, Encoding::raw, budgets) {
  for (const Component c : wanted_.components)
    after_[static_cast<std::size_t>(c)].resize(static_cast<std::size_t>(wanted_.box.count()));
}

template <class T>
void ReconstructedRun<T>::run(Propagator<T>& fields, const Acquisition& shot, Index steps,
                              std::span<const double> amplitudes, std::span<double> record,
                              const std::function<void()>& stepped) {
  run_.emplace(RecordedRun<T>{fields, shot, amplitudes, stepped});
  back_.reset();
  shell_.record(*run_, 0, steps, record);
  back_ = std::make_unique<ReversedPropagator<T>>(fields, box_, shot.sources);
  step_ = steps;
}

template <class T>
Index ReconstructedRun<T>::place_after(Index k, Index j) const {
  const NodeBox& box = wanted_.box;
  return ((k - box.first[0]) * box.extent(1) + j - box.first[1]) * box.extent(2);
}

template <class T>
void ReconstructedRun<T>::keep_after(bool electric, const PlaneRows& at) {
  const NodeBox& box = wanted_.box;
  const Index k = at.k, last = std::min(at.last, box.last[1]);
  if (k < box.first[0] || k >= box.last[0]) return;
  for (const Component c : wanted_.components)
    for (Index j = std::max(at.first, box.first[1]); is_electric(c) == electric && j < last; ++j)
      std::copy_n(back_->row(c, k, j) + box.first[2] - box_.first[2], box.extent(2),
                  after_[static_cast<std::size_t>(c)].data() + place_after(k, j));
}

template <class T>
bool ReconstructedRun<T>::begin_step(Index n) {
  const std::size_t sources = run_->shot.sources.size();
  const auto to = [this](Component c, Index k, Index j) { return back_->row(c, k, j); };
  while (step_ > n) {
    --step_;
    (void)shell_.begin_step(step_);
    back_->step(run_->amplitudes.subspan(static_cast<std::size_t>(step_) * sources, sources),
                {.before_magnetic = [&](const PlaneRows& at) { keep_after(false, at); },
                 .after_magnetic = [&](const PlaneRows& at) { shell_.paste_rows(false, step_, at, to); },
                 .before_electric = [&](const PlaneRows& at) { keep_after(true, at); },
                 .after_electric = [&](const PlaneRows& at) { shell_.paste_rows(true, step_, at, to); }});
    if (run_->stepped) run_->stepped();
  }
  return true;
}

template <class T>
typename KeptFields<T>::Row ReconstructedRun<T>::row(Index, Component c, Index k, Index j) const {
  return {.before = back_->row(c, k, j) + wanted_.box.first[2] - box_.first[2],
          .after = after_[static_cast<std::size_t>(c)].data() + place_after(k, j)};
}

template class ReconstructedRun<float>;
template class ReconstructedRun<double>;

}  // namespace sonde::maxwell
