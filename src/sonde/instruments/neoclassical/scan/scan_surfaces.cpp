// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/scan_surfaces.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/ranks/hand_out.h"

namespace sonde::neoclassical {
namespace {

/// A point on its way to rank 0; the message follows.
struct Head {
  Index surface = 0, which = 0;
  Coefficients coefficients;
  PointStatus status = PointStatus::ok;
  double error = 0, seconds = 0;
  bool in_batch = false;
};
static_assert(std::is_trivially_copyable_v<Head>);

std::vector<std::byte> packed(Index surface, Index which, const Point& point) {
  const Head head{.surface = surface,
                  .which = which,
                  .coefficients = point.coefficients,
                  .status = point.status,
                  .error = point.error,
                  .seconds = point.seconds,
                  .in_batch = point.in_batch};
  std::vector<std::byte> bytes(sizeof head + point.message.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::copy_n(reinterpret_cast<const std::byte*>(point.message.data()), point.message.size(),
              bytes.begin() + sizeof head);
  return bytes;
}

std::pair<Head, Point> unpacked(std::span<const std::byte> bytes) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto text = bytes.subspan(sizeof head);
  Point point{.coefficients = head.coefficients,
              .status = head.status,
              .message = std::string(reinterpret_cast<const char*>(text.data()), text.size()),
              .error = head.error,
              .seconds = head.seconds,
              .in_batch = head.in_batch};
  return {head, std::move(point)};
}

/// What is left of the work, in order: {surface, which, which, ...}.
class Pieces {
 public:
  Pieces(const SurfacesScan& work, int ranks) : ranks_(ranks), left_(work.cases.size()) {
    for (std::size_t surface = 0; surface < left_.size(); ++surface)
      for (Index i = 0; i < static_cast<Index>(work.cases[surface].size()); ++i)
        if (!work.skip || !work.skip(static_cast<Index>(surface), i)) {
          left_[surface].push_back(i);
          ++count_;
        }
  }
  Piece next() {
    while (surface_ < left_.size() && taken_ == left_[surface_].size()) {
      ++surface_;
      taken_ = 0;
    }
    if (surface_ == left_.size()) return {};
    const std::vector<Index>& here = left_[surface_];
    std::size_t size = here.size() - taken_;
    if (ranks_ > 1) {
      // Half of what would be a fair share of the rest: large pieces keep all threads of a rank busy, the small ones of
      // the end make good for those that took longer.
      const std::size_t parts = 2 * static_cast<std::size_t>(ranks_);
      size = std::min(size, std::max((count_ + parts - 1) / parts, static_cast<std::size_t>(thread_count())));
    }
    Piece piece{static_cast<std::int64_t>(surface_)};
    const auto first = here.begin() + static_cast<std::ptrdiff_t>(taken_);
    piece.insert(piece.end(), first, first + static_cast<std::ptrdiff_t>(size));
    taken_ += size;
    count_ -= size;
    return piece;
  }

 private:
  int ranks_;
  std::vector<std::vector<Index>> left_;
  std::size_t surface_ = 0, taken_ = 0;
  std::size_t count_ = 0;  // not yet given
};

}  // namespace

std::vector<Index> scan_surfaces(const Ranks& ranks, const SurfacesScan& work, const Budget& budget,
                                 const ScanOptions& options) {
  std::vector<Index> solved(static_cast<std::size_t>(ranks.size()), 0);
  std::optional<Pieces> pieces;
  if (ranks.rank() == 0) pieces.emplace(work, ranks.size());
  const Desk desk{.next = [&](int) { return pieces->next(); },
                  .receive =
                      [&](int rank, std::span<const std::byte> found) {
                        const auto [head, point] = unpacked(found);
                        ++solved[static_cast<std::size_t>(rank)];
                        if (work.finished) work.finished(head.surface, head.which, point);
                      }};
  std::optional<Plan> plan;  // of the surface that this rank was given last
  Index prepared = -1;
  const bool done = hand_out(ranks, desk, [&](const Piece& piece, const Deliver& deliver) {
    const Index surface = piece.front();
    if (surface != prepared) {
      plan.reset();  // two at a time would be too much
      plan.emplace(work.prepare(surface));
      prepared = surface;
    }
    const std::span<const Index> which = std::span(piece).subspan(1);
    std::vector<Case> cases;
    for (const Index i : which)
      cases.push_back(work.cases[static_cast<std::size_t>(surface)][static_cast<std::size_t>(i)]);
    ScanOptions here = options;
    here.finished = [&](Index i, const Point& point) {
      deliver(packed(surface, which[static_cast<std::size_t>(i)], point));
    };
    (void)scan(*plan, cases, budget, here);
  });
  if (!done || ranks.rank() != 0) solved.clear();
  return solved;
}

}  // namespace sonde::neoclassical
