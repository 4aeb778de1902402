// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/live/shown_moves.h"

#include <algorithm>
#include <cmath>

#include "sonde/instruments/ptycho/positions/movement.h"

namespace sonde::ptycho {
namespace {

constexpr std::size_t most_arrows = 400;

/// Nobody sees a thousandth of an arrow, and as text it is three times as short.
double rounded(double value) { return std::round(1e3 * value) / 1e3; }

}  // namespace

Value shown_moves(const std::vector<Point>& from, const std::vector<Point>& to, const ShownView& view,
                  double scan_step) {
  const Movement movement = movement_of(from, to);
  if (!movement.any()) return {};
  const std::size_t count = std::min(from.size(), to.size());
  const std::size_t every = (count + most_arrows - 1) / most_arrows;
  const double longer = arrows_longer(movement, scan_step), scale = 1 / static_cast<double>(view.step);
  Value arrows = Value::list();
  for (std::size_t j = 0; j < count; j += every) {
    // A pixel's centre is a whole number and lies in the middle of its square.
    arrows.push_back(rounded(scale * (from[j].row - static_cast<double>(view.box.row) + 0.5)));
    arrows.push_back(rounded(scale * (from[j].col - static_cast<double>(view.box.col) + 0.5)));
    arrows.push_back(rounded(scale * longer * (to[j].row - from[j].row)) / longer);
    arrows.push_back(rounded(scale * longer * (to[j].col - from[j].col)) / longer);
  }
  Value value;
  value["arrows"] = std::move(arrows);
  value["longer"] = longer;
  value["one_of"] = every;
  value["rms_px"] = movement.rms;
  value["largest_px"] = movement.largest;
  return value;
}

}  // namespace sonde::ptycho
