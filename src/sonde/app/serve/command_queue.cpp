// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/command_queue.h"

#include <utility>

#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

std::string key_of(const panel::Command& command, const panel::Action& action) {
  if (!action.latest) return "";
  Value key = Value::list();
  key.push_back(command.name);
  for (const std::string& argument : action.distinct) {
    const Value* value = command.arguments.find(argument);
    key.push_back(value != nullptr ? *value : Value());
  }
  return to_json(key, -1);
}

}  // namespace

CommandQueue::Outcome CommandQueue::push(panel::Command command, const panel::Action& action) {
  std::string key = key_of(command, action);
  const std::lock_guard lock(mutex_);
  if (cancel_ != nullptr && !key.empty() && key == begun_key_) cancel_->request_at(begun_at_ + patience_);
  bool passes = false;
  for (auto each = waiting_.rbegin(); each != waiting_.rend() && !key.empty(); ++each) {
    if (each->key == key) {
      if (passes) {
        waiting_.erase(std::next(each).base());
        waiting_.push_back({std::move(command), std::move(key)});
      } else {
        each->command = std::move(command);
      }
      return Outcome::replaced;
    }
    passes = passes || each->key.empty();
  }
  if (waiting_.size() >= capacity_) return Outcome::full;
  waiting_.push_back({std::move(command), std::move(key)});
  return Outcome::queued;
}

std::shared_ptr<Cancel> CommandQueue::start(std::string key) {
  cancel_ = std::make_shared<Cancel>();
  if (closed_) cancel_->request();
  begun_key_ = std::move(key);
  begun_at_ = std::chrono::steady_clock::now();
  return cancel_;
}

std::optional<CommandQueue::Begun> CommandQueue::pop() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  return Begun{std::move(next.command), start(std::move(next.key))};
}

std::shared_ptr<const Cancel> CommandQueue::begin() {
  const std::lock_guard lock(mutex_);
  return start("");
}

void CommandQueue::end() {
  const std::lock_guard lock(mutex_);
  cancel_.reset();
}

void CommandQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
  if (cancel_ != nullptr) cancel_->request();
}

std::size_t CommandQueue::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace sonde::serve
