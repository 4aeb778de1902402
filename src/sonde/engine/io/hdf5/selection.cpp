// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5/selection.h"

#include <algorithm>
#include <set>

namespace sonde::hdf5 {
namespace {

constexpr const char* copy_it = "copy the data set into one file with h5repack";

Selection take_regular(Cursor& cursor, unsigned rank, unsigned bytes) {
  const std::uint64_t unlimited = ~std::uint64_t{0} >> (64 - 8 * bytes);
  Selection selection;
  for (unsigned i = 0; i < rank; ++i) {
    const std::uint64_t start = cursor.number(bytes), stride = cursor.number(bytes);
    const std::uint64_t count = cursor.number(bytes), block = cursor.number(bytes);
    if (count == unlimited || block == unlimited) {
      selection.grows = true;
      selection.dimensions.emplace_back(start, stride, 1, 1);
    } else {
      selection.dimensions.emplace_back(start, stride, count, block);
    }
  }
  return selection;
}

/// A list of boxes; as most programs write it, every combination of a few intervals along each dimension.
Selection take_boxes(Cursor& cursor, unsigned rank, unsigned bytes, std::uint64_t boxes) {
  if (boxes == 0 || boxes > cursor.left() / (2 * std::uint64_t{rank} * bytes))
    damaged(fmt::format("a selection of {} boxes", boxes));
  using Interval = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<std::set<Interval>> along(rank);
  std::set<std::vector<std::uint64_t>> corners;
  for (std::uint64_t k = 0; k < boxes; ++k) {
    std::vector<std::uint64_t> first, last;
    for (unsigned i = 0; i < rank; ++i) first.push_back(cursor.number(bytes));
    for (unsigned i = 0; i < rank; ++i) last.push_back(cursor.number(bytes));
    for (unsigned i = 0; i < rank; ++i) along[i].insert({first[i], last[i]});
    corners.insert(std::move(first));
  }
  std::uint64_t combinations = 1;
  Selection selection;
  for (const std::set<Interval>& intervals : along) {
    combinations = product(combinations, intervals.size(), "a selection");
    std::vector<Positions::Run> runs;
    for (const auto& [first, last] : intervals) {
      if (last < first || last >> 62 != 0) damaged("a selection of boxes that end before they begin");
      if (!runs.empty() && first < runs.back().first + runs.back().count)
        unsupported("a virtual data set with a selection of boxes of different sizes", copy_it);
      runs.push_back({first, last - first + 1});
    }
    selection.dimensions.emplace_back(std::move(runs));
  }
  if (combinations != boxes || corners.size() != boxes)
    unsupported("a virtual data set with a selection that is not a product of intervals", copy_it);
  return selection;
}

Selection take_hyperslab(Cursor& cursor, unsigned version) {
  if (version < 1 || version > 3) damaged(fmt::format("a hyperslab of version {}", version));
  unsigned bytes = version == 2 ? 8 : 4;
  bool regular = false;
  if (version >= 2) regular = (cursor.byte() & 1u) != 0;
  if (version == 3) bytes = cursor.byte();
  if (bytes != 2 && bytes != 4 && bytes != 8) damaged(fmt::format("a selection of numbers of {} bytes", bytes));
  if (version == 1) cursor.skip(4);
  if (version <= 2) cursor.skip(4);  // length of what follows
  const auto rank = cursor.take<std::uint32_t>();
  if (rank == 0 || rank > 32) damaged(fmt::format("a selection in {} dimensions", rank));
  if (regular) return take_regular(cursor, rank, bytes);
  return take_boxes(cursor, rank, bytes, cursor.number(bytes));
}

}  // namespace

Positions::Positions(std::uint64_t start, std::uint64_t stride, std::uint64_t count, std::uint64_t block)
    : start_(start), stride_(stride), block_(block) {
  if (block == 0 || count == 0 || (count > 1 && stride < block)) damaged("a selection whose blocks overlap");
  if (count == 1) stride_ = block;
  total_ = product(count, block, "a selection");
  if (start >> 61 != 0 || product(count, stride_, "a selection") >> 61 != 0) damaged("a selection beyond any file");
}

Positions::Positions(std::vector<Run> runs) : runs_(std::move(runs)) {
  for (const Run& run : runs_) {
    numbers_.push_back(total_);
    total_ += run.count;
  }
}

Positions::Run Positions::run_from(std::uint64_t number) const {
  if (runs_.empty()) {
    if (stride_ == block_) return {start_ + number, total_ - number};
    const std::uint64_t inside = number % block_;
    return {start_ + number / block_ * stride_ + inside, block_ - inside};
  }
  const auto next = std::upper_bound(numbers_.begin(), numbers_.end(), number);
  const auto k = static_cast<std::size_t>(next - numbers_.begin()) - 1;
  const std::uint64_t inside = number - numbers_[k];
  return {runs_[k].first + inside, runs_[k].count - inside};
}

std::uint64_t Positions::below(std::uint64_t position) const {
  if (runs_.empty()) {
    if (position <= start_) return 0;
    const std::uint64_t along = position - start_;
    return std::min(total_, along / stride_ * block_ + std::min(along % stride_, block_));
  }
  std::uint64_t count = 0;
  for (const Run& run : runs_)
    if (position > run.first) count += std::min(run.count, position - run.first);
  return count;
}

std::uint64_t Selection::count() const {
  std::uint64_t count = 1;
  for (const Positions& along : dimensions) count = product(count, along.count(), "a selection");
  return count;
}

Selection take_selection(Cursor& cursor) {
  const auto kind = cursor.take<std::uint32_t>(), version = cursor.take<std::uint32_t>();
  constexpr std::uint32_t none = 0, points = 1, hyperslab = 2, all = 3;
  switch (kind) {
    case hyperslab:
      return take_hyperslab(cursor, version);
    case all: {
      cursor.skip(8);
      Selection selection;
      selection.all = true;
      return selection;
    }
    case points:
      unsupported("a virtual data set with a list of points", copy_it);
    case none:
      unsupported("a virtual data set with an empty part", copy_it);
    default:
      damaged(fmt::format("a selection of kind {}", kind));
  }
}

Selection select_all(const std::vector<std::uint64_t>& extents) {
  Selection selection;
  selection.all = true;
  for (const std::uint64_t extent : extents)
    selection.dimensions.push_back(extent == 0 ? Positions() : Positions(0, extent, 1, extent));
  return selection;
}

}  // namespace sonde::hdf5
