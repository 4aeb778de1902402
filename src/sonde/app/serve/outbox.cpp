// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/outbox.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "sonde/engine/base/text.h"

namespace sonde::serve {
namespace {

bool same_slot(const panel::Frame& a, const panel::Frame& b) {
  return a.kind == b.kind && a.channel == b.channel && a.dataset == b.dataset;
}

bool is_file(const panel::Frame& frame) { return frame.kind == panel::FrameKind::file; }

}  // namespace

void Outbox::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
}

void Outbox::introduce(std::string text) {
  const std::lock_guard lock(mutex_);
  held_ = false;
  const std::size_t before = waiting_.size();
  push({std::move(text), std::nullopt}, "");
  if (waiting_.size() > before) waiting_.splice(waiting_.begin(), waiting_, std::prev(waiting_.end()));
}

void Outbox::push_text(std::string text) {
  const std::lock_guard lock(mutex_);
  push({std::move(text), std::nullopt}, "");
}

void Outbox::push_event(std::string_view name, std::string text) {
  const std::lock_guard lock(mutex_);
  const auto older =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) { return each.event == name; });
  if (older == waiting_.end()) return push({std::move(text), std::nullopt}, std::string(name));
  text_bytes_ += text.size() - older->message.text.size();
  older->message.text = std::move(text);
  waiting_.splice(waiting_.end(), waiting_, older);
}

void Outbox::push_frame(panel::Frame frame) {
  const std::lock_guard lock(mutex_);
  const auto older =
      is_file(frame) ? waiting_.end() : std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& each) {
        return each.message.frame && same_slot(*each.message.frame, frame);
      });
  if (older == waiting_.end()) return push({"", std::move(frame)}, "");
  frame_bytes_ += frame.payload.size() - older->message.frame->payload.size();
  older->message.frame = std::move(frame);
  ++dropped_;
}

void Outbox::push(Message message, std::string event) {
  if (closed()) return;
  if (!message.frame) {
    if (texts_ >= limits_.texts) return overflow(fmt::format("{} messages wait for it", texts_));
    if (texts_ > 0 && text_bytes_ + message.text.size() > limits_.text_bytes)
      return overflow(fmt::format("{} of messages wait for it", format_bytes(static_cast<double>(text_bytes_))));
    ++texts_;
    text_bytes_ += message.text.size();
  } else if (waiting_.size() > texts_ && frame_bytes_ + message.frame->payload.size() > limits_.frame_bytes) {
    return overflow(fmt::format("{} of frames wait for it", format_bytes(static_cast<double>(frame_bytes_))));
  } else if (is_file(*message.frame)) {
    if (files_ >= limits_.files) return overflow(fmt::format("{} files wait for it", files_));
    ++files_;
  } else {
    if (frames_ >= limits_.frames) return overflow(fmt::format("{} different frames wait for it", frames_));
    ++frames_;
  }
  if (message.frame) frame_bytes_ += message.frame->payload.size();
  waiting_.push_back({std::move(message), std::move(event)});
}

std::optional<Outbox::Message> Outbox::pop() {
  const std::lock_guard lock(mutex_);
  if (held_ || waiting_.empty()) return std::nullopt;
  Message next = std::move(waiting_.front().message);
  waiting_.pop_front();
  if (!next.frame) {
    --texts_;
    text_bytes_ -= next.text.size();
  } else {
    --(is_file(*next.frame) ? files_ : frames_);
    frame_bytes_ -= next.frame->payload.size();
  }
  return next;
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  forget();
}

void Outbox::forget() {
  waiting_.clear();
  text_bytes_ = texts_ = frames_ = files_ = frame_bytes_ = 0;
}

void Outbox::overflow(std::string reason) {
  overflow_ = std::move(reason);
  forget();  // nobody will read it; its memory is wanted back
}

std::string Outbox::overflow() const {
  const std::lock_guard lock(mutex_);
  return overflow_;
}

std::uint64_t Outbox::dropped_frames() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::size_t Outbox::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace sonde::serve
