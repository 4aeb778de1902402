// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/parts.h"

#include <fmt/format.h>

#include <complex>
#include <span>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

/// body(T{}) for the type of number of an array.
template <class Body>
Array with_numbers(const Array& array, Body&& body) {
  switch (array.dtype()) {
    case DType::c64:
      return body(complex64{});
    case DType::c128:
      return body(complex128{});
    case DType::f32:
      return body(float{});
    case DType::f64:
      return body(double{});
    default:
      throw Error(ErrorKind::internal, fmt::format("no part of an array of {}", name(array.dtype())));
  }
}

}  // namespace

Array own_part(const Share& share, const Array& whole) {
  if (whole.shape().rank() != 3 || whole.shape()[1] != share.rows() || whole.shape()[2] != share.cols())
    throw Error(ErrorKind::bad_input, fmt::format("an object of shape {}, where the scan has one of {} x {} pixels",
                                                  whole.shape().text(), share.rows(), share.cols()));
  return with_numbers(whole, [&](auto number) { return share.part_of<decltype(number)>(whole); });
}

Array whole_of(const Share& share, const Array& part, float outside) {
  return with_numbers(part, [&](auto number) {
    using Number = decltype(number);
    return share.assembled<Number>(part, static_cast<Number>(outside));
  });
}

std::vector<Point> own_places(const Share& share, const std::vector<Point>& of_scan) {
  if (of_scan.size() != share.placements().size())
    throw Error(ErrorKind::bad_input,
                fmt::format("{} positions for a scan of {} frames", of_scan.size(), share.placements().size()));
  std::vector<Point> own;
  for (const Index frame : share.frames()) {
    const Point& at = of_scan[static_cast<std::size_t>(frame)];
    own.push_back({at.row - static_cast<double>(share.box().row), at.col - static_cast<double>(share.box().col)});
  }
  return own;
}

// What was taken off is a whole number below the place, so that the sums have the bits that were there.
std::vector<Point> places_of_scan(const Share& share, const std::vector<Point>& own) {
  std::vector<double> places(2 * share.placements().size(), 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto frame = static_cast<std::size_t>(share.frames()[i]);
    places[2 * frame] = own[i].row + static_cast<double>(share.box().row);
    places[2 * frame + 1] = own[i].col + static_cast<double>(share.box().col);
  }
  share.sum(places);
  std::vector<Point> of_scan;
  for (std::size_t i = 0; i < places.size(); i += 2) of_scan.push_back({places[i], places[i + 1]});
  return of_scan;
}

void cut_state(const Share& share, State& state) {
  state.positions = own_places(share, state.positions);
  state.object = own_part(share, state.object);
  if (!state.phase.empty()) state.phase = own_part(share, state.phase);
  state.placements = place_all(state.positions, state.window());
}

State assembled_state(const Share& share, const State& part) {
  State whole;
  whole.type = part.type;
  whole.object = whole_of(share, part.object, 1);
  if (!part.phase.empty()) whole.phase = whole_of(share, part.phase, 0);
  std::vector<Point> places = places_of_scan(share, part.positions);
  if (share.ranks().rank() != 0) return {};
  whole.probe = part.probe.clone();
  whole.positions = std::move(places);
  whole.placements = share.placements();
  return whole;
}

}  // namespace sonde::ptycho
