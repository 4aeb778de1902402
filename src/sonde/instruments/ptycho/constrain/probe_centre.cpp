// SPDX-License-Identifier: Apache-2.0
// P(r) -> P(r + c), O(r) -> O(r + c), with c the probe's centre of mass in whole pixels: every exit wave moves by -c
// and is otherwise what it was, so the patterns stay. Whole pixels, because between them the object would have to be
// interpolated, again and again; a probe off by less than half a pixel does no harm.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"

namespace sonde::ptycho::constrain {
namespace {

struct ProbeCentreSettings {
  void describe(Fields&) {}
};

struct Move {
  Index rows = 0, cols = 0;
};

/// Element (row, col) becomes what (row + rows, col + cols) was. Cyclic, or filled with vacuum.
enum class Beyond { cyclic, vacuum };

template <class T>
void move_plane(View<T, 2> plane, Move by, Beyond beyond, std::vector<T>& room) {
  const Index rows = plane.extent[0], cols = plane.extent[1];
  room.assign(plane.data, plane.data + plane.count());
  const auto wrapped = [](Index i, Index n) { return ((i % n) + n) % n; };
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const Index from_row = row + by.rows, from_col = col + by.cols;
      if (beyond == Beyond::cyclic)
        plane(row, col) = room[static_cast<std::size_t>(wrapped(from_row, rows) * cols + wrapped(from_col, cols))];
      else if (from_row >= 0 && from_row < rows && from_col >= 0 && from_col < cols)
        plane(row, col) = room[static_cast<std::size_t>(from_row * cols + from_col)];
      else
        plane(row, col) = vacuum<T>;
    }
}

/// Of sum_m |P_m|^2, from index floor(n / 2), rounded.
template <class Real>
Move centre_of_mass(const View<std::complex<Real>, 3>& probe) {
  double sum = 0, sum_row = 0, sum_col = 0;
  for (Index m = 0; m < probe.extent[0]; ++m)
    for (Index row = 0; row < probe.extent[1]; ++row)
      for (Index col = 0; col < probe.extent[2]; ++col) {
        const double power = std::norm(probe(m, row, col));
        sum += power;
        sum_row += power * static_cast<double>(row - probe.extent[1] / 2);
        sum_col += power * static_cast<double>(col - probe.extent[2] / 2);
      }
  if (!(sum > 0)) return {};
  return {static_cast<Index>(std::lround(sum_row / sum)), static_cast<Index>(std::lround(sum_col / sum))};
}

template <class T>
void move_planes(View<T, 3> planes, Move by, Beyond beyond) {
  PerWorker<std::vector<T>> room;
  parallel_for(planes.extent[0], 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) move_plane(planes[i], by, beyond, room[worker]);
  });
}

template <class Real>
class ProbeCentre final : public Constraint<Real> {
 public:
  ProbeCentre(const ProbeCentreSettings&, const ConstraintContext&, const State&) {}

  void apply(State& state, const ConstraintContext&) override {
    const auto probe = state.probe.view<std::complex<Real>, 3>();
    const Move by = centre_of_mass<Real>(probe);
    if (by.rows == 0 && by.cols == 0) return;
    move_planes(probe, by, Beyond::cyclic);
    if (state.components() > 0) move_planes(state.opr_modes.view<std::complex<Real>, 3>(), by, Beyond::cyclic);
    change_values<Real>(state, [&]<class T>(View<T, 3> values) { move_planes(values, by, Beyond::vacuum); });
  }
};

}  // namespace

std::unique_ptr<ConstraintSetup> probe_centre() {
  return std::make_unique<ConstraintSetupOf<ProbeCentre, ProbeCentreSettings>>();
}

}  // namespace sonde::ptycho::constrain
