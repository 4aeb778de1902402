// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/hdf5/bytes.h"

namespace sonde::hdf5 {

/// Positions along one dimension: `count` blocks of `block` positions, `stride` apart, or a list of such runs.
class Positions {
 public:
  struct Run {
    std::uint64_t first = 0, count = 0;
  };

  Positions() = default;
  Positions(std::uint64_t start, std::uint64_t stride, std::uint64_t count, std::uint64_t block);
  /// Runs in order, apart from each other.
  explicit Positions(std::vector<Run> runs);

  [[nodiscard]] std::uint64_t count() const { return total_; }
  [[nodiscard]] std::uint64_t first() const { return at(0); }
  [[nodiscard]] std::uint64_t last() const { return at(total_ - 1); }
  /// The position with this number, and how many positions follow each other from there on.
  [[nodiscard]] std::uint64_t at(std::uint64_t number) const { return run_from(number).first; }
  [[nodiscard]] Run run_from(std::uint64_t number) const;
  /// How many positions are below this one.
  [[nodiscard]] std::uint64_t below(std::uint64_t position) const;

 private:
  std::uint64_t start_ = 0, stride_ = 1, block_ = 0, total_ = 0;
  std::vector<Run> runs_;               // empty: regular
  std::vector<std::uint64_t> numbers_;  // of the first position of each run
};

/// A serialised selection (section VIII): everything, nothing, or a hyperslab that is a product of positions along each
/// dimension. Lists of points and blocks that form no product are a Fault(not_supported).
struct Selection {
  bool all = false, grows = false;    ///< grows: without limits in some dimension
  std::vector<Positions> dimensions;  ///< empty for all

  [[nodiscard]] std::uint64_t count() const;
};

[[nodiscard]] Selection take_selection(Cursor& cursor);
/// The selection of everything in these extents.
[[nodiscard]] Selection select_all(const std::vector<std::uint64_t>& extents);

}  // namespace sonde::hdf5
