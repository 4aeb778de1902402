// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/clusters.h"

#include <algorithm>
#include <limits>

namespace sonde::stem {
namespace {

constexpr Ticks never = std::numeric_limits<Ticks>::min() / 2;

}  // namespace

Clusterer::Clusterer(Index rows, Index cols, Ticks window) : cols_(cols), stride_(cols + 2), window_(window) {
  if (window_ > 0) latest_.assign(static_cast<std::size_t>((rows + 2) * stride_), Latest{never, 0});
}

std::size_t Clusterer::bytes(Index rows, Index cols) {
  return static_cast<std::size_t>((rows + 2) * (cols + 2)) * sizeof(Latest);
}

std::uint32_t Clusterer::root_of(std::uint32_t id) {
  while (node(id).parent != id) {
    node(id).parent = node(node(id).parent).parent;
    id = node(id).parent;
  }
  return id;
}

/// The older one stays: ids ascend with the times of first hits.
std::uint32_t Clusterer::joined(std::uint32_t a, std::uint32_t b) {
  if (b - first_id_ < a - first_id_) std::swap(a, b);
  Node& into = node(a);
  Node& from = node(b);
  from.parent = a;
  into.hits += from.hits;
  into.last = std::max(into.last, from.last);
  into.weight += from.weight;
  into.by_row += from.by_row;
  into.by_col += from.by_col;
  return a;
}

void Clusterer::take(std::span<const Hit> hits) {
  const Ticks longest = longest_windows * window_;
  for (const Hit& hit : hits) {
    const auto fresh = static_cast<std::uint32_t>(first_id_ + nodes_.size());
    std::uint32_t own = fresh;
    if (window_ > 0) {
      bool cut = false;
      Latest* const above = latest_.data() + hit.row * stride_ + hit.col;  // the pixel is in the middle of 3 x 3
      for (Index line = 0; line < 3; ++line)
        for (const Latest* near = above + line * stride_; near < above + line * stride_ + 3; ++near) {
          if (hit.time - near->time > window_) continue;
          const std::uint32_t root = root_of(near->node);
          if (root == own) continue;
          if (hit.time - node(root).first > longest)
            cut = true;
          else
            own = own == fresh ? root : joined(own, root);
        }
      above[stride_ + 1] = {hit.time, own};
      if (cut) ++cut_;
    }
    if (own == fresh) nodes_.push_back({.parent = own, .first = hit.time});
    Node& mine = node(own);
    const std::uint64_t weight = std::max<std::uint64_t>(hit.tot, 1);
    ++mine.hits;
    mine.last = hit.time;
    mine.weight += weight;
    mine.by_row += weight * hit.row;
    mine.by_col += weight * hit.col;
  }
}

void Clusterer::give(Ticks now, std::vector<Electron>& electrons) {
  std::size_t given = 0;
  for (; given < nodes_.size(); ++given) {
    const Node& mine = nodes_[given];
    if (mine.parent != first_id_ + static_cast<std::uint32_t>(given)) continue;  // counted in an older one
    if (mine.last >= now - window_ && window_ > 0) break;
    const auto nearest = [&](std::uint64_t sum) { return (2 * sum + mine.weight) / (2 * mine.weight); };
    electrons.push_back(
        {mine.first,
         static_cast<std::uint32_t>(nearest(mine.by_row) * static_cast<std::uint64_t>(cols_) + nearest(mine.by_col)),
         mine.hits});
  }
  nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(given));
  first_id_ += static_cast<std::uint32_t>(given);
}

}  // namespace sonde::stem
