// SPDX-License-Identifier: Apache-2.0
// Playing a series: everything that an item shows is made before it is asked for, by the catalogue's worker, nearest
// items first. After that an item is a look-up.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/view/session.h"

namespace sonde::stem {
namespace {

constexpr Index strip_rows = 64;

/// A small picture of an image: the mean of the pixels that fall into each of its own.
std::vector<float> thumbnail(const std::vector<double>& image, Index rows, Index cols, Index to_rows, Index to_cols) {
  std::vector<float> small;
  for (Index r = 0; r < to_rows; ++r)
    for (Index c = 0; c < to_cols; ++c) {
      const Index row0 = r * rows / to_rows, row1 = std::max(row0 + 1, (r + 1) * rows / to_rows);
      const Index col0 = c * cols / to_cols, col1 = std::max(col0 + 1, (c + 1) * cols / to_cols);
      double sum = 0;
      for (Index row = row0; row < row1; ++row)
        for (Index col = col0; col < col1; ++col) sum += image[static_cast<std::size_t>(row * cols + col)];
      small.push_back(static_cast<float>(sum / static_cast<double>((row1 - row0) * (col1 - col0))));
    }
  return small;
}

}  // namespace

Value ClientSession::play(const Arguments& arguments) {
  playing_ = arguments.truth_or("playing", true);
  if (arguments.has("fps") && !(arguments.real("fps") > 0)) arguments.fail("\"fps\" is more than 0");
  (void)arguments.truth_or("loop", true);  // the client steps; what it does at the end is its own
  (void)arguments.truth_or("boomerang", false);
  ++generation_;
  if (playing_) prepare_items();
  Value reply;
  reply["playing"] = playing_;
  reply["ready"] = ready_items(view_.dataset);
  return reply;
}

bool ClientSession::is_ready(const Target& target) const {
  const FrameCache& cache = catalogue_.cache();
  for (const ClientView::Channel& channel : view_.channels)
    if (!channel.detector.empty() && !cache.holds(image_key(target, channel.detector))) return false;
  return true;
}

std::vector<Index> ClientSession::ready_items(Index dataset) const {
  std::vector<Index> ready;
  Target target{catalogue_.entry(dataset), 0, nullptr};
  for (target.item = 0; target.item < target.entry->size(); ++target.item)
    if (is_ready(target)) ready.push_back(target.item);
  return ready;
}

void ClientSession::prepare_items() {
  ++generation_;
  prepare_in_order(false);
}

void ClientSession::prepare_when_at_rest() {
  ++generation_;  // what was begun for an earlier view is not worth finishing
  last_change_ = std::chrono::steady_clock::now();
  if (catalogue_.entry(view_.dataset)->size() > 1 && !waits_for_rest_) wait_for_rest(moment_of_rest);
}

void ClientSession::wait_for_rest(std::chrono::milliseconds rest) {
  // One job looks again and again: a drag of hundreds of steps wakes the worker a few times a second only.
  waits_for_rest_ = true;
  catalogue_.when_idle(
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        const std::lock_guard lock(self->mutex_);
        self->waits_for_rest_ = false;
        if (self->closed_ || self->playing_) return;
        const auto rested = std::chrono::steady_clock::now() - self->last_change_;
        if (rested < moment_of_rest)
          self->wait_for_rest(std::chrono::ceil<std::chrono::milliseconds>(moment_of_rest - rested));
        else
          self->prepare_in_order(true);
      },
      rest);
}

void ClientSession::prepare_in_order(bool held_only) {
  const Index current = view_.item(view_.dataset);
  std::vector<Index> items(static_cast<std::size_t>(catalogue_.entry(view_.dataset)->size()));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<Index>(i);
  std::stable_sort(items.begin(), items.end(),
                   [&](Index a, Index b) { return std::abs(a - current) < std::abs(b - current); });
  to_prepare_ = {generation_, view_.dataset, held_only, {items.begin(), items.end()}};
  if (!preparing_) prepare_next();
}

void ClientSession::prepare_next() {
  // One job at a time: however often a client asks anew, only one waits for the worker.
  preparing_ = true;
  catalogue_.when_idle([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    ToPrepare next;
    {
      const std::lock_guard lock(self->mutex_);
      self->preparing_ = false;
      if (self->closed_ || self->to_prepare_.generation != self->generation_ || self->to_prepare_.items.empty()) return;
      next = self->to_prepare_;
      self->to_prepare_.items.pop_front();
      self->prepare_next();
    }
    self->prepare_item(next.generation, next.dataset, next.items.front(), next.held_only);
  });
}

void ClientSession::prepare_item(std::uint64_t generation, Index dataset, Index item, bool held_only) {
  // Piece by piece: a command that comes meanwhile waits for one of them, and the rest is not made any more.
  // Between them nothing keeps the item from being released.
  const auto entry = catalogue_.entry(dataset);
  const auto still_wanted = [&](const auto& make) {
    const std::lock_guard lock(mutex_);
    const Target target{entry, item, entry->peek(item)};
    if (closed_ || generation != generation_ || !target.dataset) return false;
    make(target);
    return true;
  };
  try {
    if (!held_only) {
      {
        const std::lock_guard lock(mutex_);
        if (closed_ || generation != generation_) return;
      }
      if (entry->problem(item)) return;  // it is tried again when it is chosen
      (void)entry->load(item);           // without the lock: commands go on meanwhile
    }
    if (!still_wanted([&](const Target& target) { (void)pattern(target); })) return;
    if (!still_wanted([&](const Target& target) { (void)reduced(target); })) return;
    for (const ClientView::Channel& channel : view_.channels)
      if (!still_wanted([&](const Target& target) {
            if (!channel.detector.empty()) (void)image(target, channel.detector);
          }))
        return;
  } catch (const Error&) {
    return;  // kept by the entry, reported when the item itself is looked at
  }
  const std::lock_guard lock(mutex_);
  if (closed_ || generation != generation_) return;
  const std::vector<Index> ready = ready_items(dataset);
  if (!playing_ && (ready == ready_ || std::none_of(view_.channels.begin(), view_.channels.end(),
                                                    [](const auto& each) { return !each.detector.empty(); })))
    return;
  ready_ = ready;
  Value what;
  what["dataset"] = dataset;
  what["ready"] = ready;
  outlet_->event("series", what);
  if (!playing_) return;
  Index done = static_cast<Index>(ready.size());
  for (Index each = 0; each < entry->size(); ++each) done += entry->problem(each) ? 1 : 0;
  if (done < entry->size()) return;
  const Target target{entry, item, nullptr};
  request_ = 0;
  for (Index channel = 0; channel < most_channels; ++channel)
    if (!view_.channels[static_cast<std::size_t>(channel)].detector.empty()) send(strip(dataset, channel), target);
}

panel::Frame ClientSession::strip(Index dataset, Index channel) {
  Target target{catalogue_.entry(dataset), 0, nullptr};
  const Shape shape = target.entry->shape();
  const Index rows = std::min(shape[0], strip_rows);
  const Index cols = std::max<Index>(1, rows * shape[1] / shape[0]), items = target.entry->size();
  std::vector<float> all(static_cast<std::size_t>(rows * cols * items));
  for (target.item = 0; target.item < items; ++target.item) {
    const auto shown =
        catalogue_.cache().find(image_key(target, view_.channels[static_cast<std::size_t>(channel)].detector));
    if (!shown) continue;  // let go of meanwhile: its place stays empty
    const PanelValues values{shown->frame, {}};
    const std::vector<float> small = thumbnail(values.numbers(), shape[0], shape[1], rows, cols);
    for (Index r = 0; r < rows; ++r)
      std::copy_n(small.begin() + r * cols, cols, all.begin() + (r * items + target.item) * cols);
  }
  panel::Frame frame = panel::make_frame<float>(panel::FrameKind::strip, rows, cols * items, all);
  frame.channel = static_cast<std::uint16_t>(channel);
  return frame;
}

}  // namespace sonde::stem
