// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/client.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sonde/app/serve/command.h"
#include "sonde/app/serve/messages.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/text.h"

namespace sonde::serve {
namespace {

constexpr std::size_t most_waiting = 64;  // commands

// Every page can be asked for its counts.
const panel::Action stats_action{.name = "stats", .help = "counts of commands and frames"};

std::vector<std::string> action_names(const panel::Page& page) {
  std::vector<std::string> names = {stats_action.name};
  for (const panel::Action& action : page.actions) names.push_back(action.name);
  return names;
}

}  // namespace

void ClientOutlet::send(panel::Frame frame) {
  outbox.push_frame(std::move(frame));
  wake_();
}

void ClientOutlet::reply(const panel::Command& command, Value result) {
  if (command.name == stats_action.name) {
    const Value own = counts();
    for (const auto& [key, value] : own.members()) result[key] = value;
  }
  text(reply_message(command, result));
}

void ClientOutlet::event(std::string_view name, Value what) {
  outbox.push_event(name, event_message(name, what));
  wake_();
}

void ClientOutlet::error(std::uint32_t id, std::string_view command, const Error& error) {
  text(error_message(id, command, error));
}

void ClientOutlet::introduce(std::string text) {
  outbox.introduce(std::move(text));
  wake_();
}

void ClientOutlet::text(std::string text) {
  outbox.push_text(std::move(text));
  wake_();
}

Value ClientOutlet::counts() const {
  Value counts;
  counts["commands"] = commands.load();
  counts["replaced"] = replaced.load();
  counts["frames"] = frames.load();
  counts["dropped"] = outbox.dropped_frames();
  return counts;
}

Client::Client(std::uint32_t number, const panel::Page& page, Turn turn, std::function<void()> wake,
               std::chrono::milliseconds patience)
    : number_(number),
      page_(page),
      turn_(std::move(turn)),
      outlet_(std::make_shared<ClientOutlet>(std::move(wake))),
      queue_(most_waiting, patience) {}

void Client::open() {
  turn_([self = shared_from_this()] {
    if (self->closed_) return;
    // The session listens before the page is described: what happens in between would be in neither. The client hears
    // of it after the description.
    self->outlet_->outbox.hold();
    std::string problem;
    const auto attempt = [&](const auto& part) {
      try {
        part();
      } catch (...) {
        const Error error = current_error();
        log_warning(fmt::format("client {}: the page could not be opened: {}", self->number_, error.message()));
        problem = error_message(0, "", error);
      }
    };
    std::string first;
    attempt([&] {
      if (self->page_.open) self->session_ = self->page_.open(self->outlet_);
    });
    attempt([&] { first = page_message(self->page_, self->number_); });
    if (first.empty()) std::swap(first, problem);
    self->outlet_->introduce(std::move(first));
    if (!problem.empty()) self->outlet_->text(std::move(problem));
  });
}

void Client::receive(std::string_view text) {
  panel::Command command;
  try {
    command = parse_command(text);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_file) throw;
    outlet_->error(0, "", error);
    return;
  }
  const panel::Action* action = page_.find_action(command.name);
  if (action == nullptr && command.name == stats_action.name) action = &stats_action;
  if (action == nullptr) {
    outlet_->error(command.id, command.name,
                   Error(ErrorKind::usage, fmt::format("no command \"{}\"{}", command.name,
                                                       did_you_mean(command.name, action_names(page_)))));
    return;
  }
  const std::uint32_t id = command.id;
  switch (queue_.push(std::move(command), *action)) {
    case CommandQueue::Outcome::queued:
      turn_([self = shared_from_this()] { self->run_next(); });
      break;
    case CommandQueue::Outcome::replaced:
      ++outlet_->replaced;
      break;
    case CommandQueue::Outcome::full:
      outlet_->error(id, action->name,
                     Error(ErrorKind::budget, fmt::format("{} commands wait already", queue_.size()))
                         .hint("wait for the answers before sending more"));
      break;
  }
}

void Client::run_next() {
  const auto begun = queue_.pop();
  if (!begun || closed_) return;
  const panel::Command* const command = &begun->command;
  ++outlet_->commands;
  const CancelScope scope(begun->cancel.get());
  try {
    if (page_.find_action(command->name) == nullptr)
      outlet_->reply(*command, Value::object());  // stats of a page that has none of its own
    else if (session_ == nullptr)
      throw Error(ErrorKind::not_supported, "the page takes no commands: it could not be opened");
    else
      session_->run(*command);
  } catch (...) {
    const Error error = current_error();
    if (error.kind() == ErrorKind::internal)
      log_warning(fmt::format("client {}: {}: {}", number_, command->name, error.message()));
    if (error.kind() == ErrorKind::interrupted && begun->cancel->requested()) {  // as if it had never begun
      --outlet_->commands;
      ++outlet_->replaced;
    } else {
      outlet_->error(command->id, command->name, error);
    }
  }
  queue_.end();
}

void Client::export_file(Value request, std::function<void(panel::File)> done,
                         std::function<void(const Error&)> failed) {
  turn_([self = shared_from_this(), request = std::move(request), done = std::move(done), failed = std::move(failed)] {
    panel::File file;
    const auto cancel = self->queue_.begin();
    const CancelScope scope(cancel.get());
    try {
      if (self->closed_) throw Error(ErrorKind::bad_input, fmt::format("client {} has gone", self->number_));
      if (self->session_ == nullptr) throw Error(ErrorKind::not_supported, "this page has no files");
      file = self->session_->export_file(request);
    } catch (...) {
      self->queue_.end();
      return failed(current_error());
    }
    self->queue_.end();
    done(std::move(file));
  });
}

void Client::close() {
  if (closed_.exchange(true)) return;
  outlet_->outbox.close();
  queue_.close();
  turn_([self = shared_from_this()] { self->session_.reset(); });
}

}  // namespace sonde::serve
