// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// What this process works on when several reconstruct one scan: the frames of a compact region, and the part of the
/// object that their windows touch. Parts of neighbours overlap. The sums of a batch are added up where they do, in the
/// order of the ranks, so that all processes keep the same bits of object and probe there, and objects need never be
/// sent. Frames have two numbers: that of the scan, and that among the own ones.
/// All processes must make the same calls in the same order.
class Share {
 public:
  /// `placements` of all frames in the whole object of rows x cols pixels. Throws Error(bad_input) for fewer frames
  /// than processes.
  Share(const Ranks& ranks, std::vector<Placement> placements, Window window, Index rows, Index cols);

  [[nodiscard]] const Ranks& ranks() const { return ranks_; }
  /// Numbers in the scan, ascending.
  [[nodiscard]] const std::vector<Index>& frames() const { return frames_; }
  /// Of all frames of the scan, in the whole object.
  [[nodiscard]] const std::vector<Placement>& placements() const { return placements_; }
  /// The own part of the object.
  [[nodiscard]] const Box& box() const { return boxes_[static_cast<std::size_t>(ranks_.rank())]; }
  /// Those frames of a list by number in the scan that are here, by their own number.
  [[nodiscard]] std::vector<Index> own(std::span<const Index> of_scan) const;

  /// Sums of the own frames become those of all.
  template <class Real>
  void add_up(BatchSums& sums, Wanted wanted);
  /// values[i] becomes the sum, or the largest, over the processes.
  void sum(std::span<double> values) const { ranks_.all_reduce(values); }
  void largest(std::span<double> values) const { ranks_.largest(values); }
  /// The values of all processes, in the order of ranks.
  [[nodiscard]] std::vector<double> joined(std::span<const double> values) const;
  /// Whether any process says so.
  [[nodiscard]] bool any(bool here) const;
  /// Like check_interrupt(), for all processes at the same place.
  void check_interrupt() const;

  /// Re <a, b> over the whole object, from everybody's (S, rows, cols) parts: each pixel counts once.
  template <class Real>
  [[nodiscard]] double product(const Array& a, const Array& b) const;
  /// The mean of a real (S, rows, cols) over the whole object; 0 where nobody has a part.
  template <class Real>
  [[nodiscard]] double mean(const Array& part) const;
  /// sum |a - b|^2 and sum |b|^2 over the whole object.
  template <class Real>
  [[nodiscard]] std::pair<double, double> change(const Array& a, const Array& b) const;
  /// On rank 0 the whole (S, rows, cols) from everybody's parts, `outside` where nobody has one; empty on the others.
  template <class T>
  [[nodiscard]] Array assembled(const Array& part, T outside) const;
  /// This process's part of a whole (S, rows, cols).
  template <class T>
  [[nodiscard]] Array part_of(const Array& whole) const;
  /// Of the whole object.
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  /// The number of a frame of the scan among the own ones; -1: another process has it.
  [[nodiscard]] Index own_number(Index frame) const { return own_number_[static_cast<std::size_t>(frame)]; }
  /// The text of rank 0.
  [[nodiscard]] std::string of_first(const std::string& text) const;

 private:
  struct Neighbour {
    int rank;
    Box shared;  // in the own part
  };
  template <class T>
  void add_parts(Array& part, Array& scratch);
  template <class Body>
  void for_own_pixels(const Shape& part, Body&& body) const;

  Ranks ranks_;
  std::vector<Placement> placements_;
  std::vector<Index> frames_, own_number_;  // own_number_: by number in the scan; -1 elsewhere
  std::vector<Box> boxes_;                  // of all ranks
  std::vector<Neighbour> neighbours_;       // in the order of ranks
  std::vector<std::uint8_t> counts_here_;   // own part, row by row: no lower rank has the pixel
  Index rows_, cols_;
  Array object_scratch_, weight_scratch_;
};

}  // namespace sonde::ptycho
