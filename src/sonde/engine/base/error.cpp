// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/error.h"

#include <algorithm>
#include <cassert>
#include <string_view>

#include "sonde/engine/base/printable.h"

namespace sonde {
namespace {

/// In printable form. Our own further lines are indented by two spaces and stay lines; a line end in a name does not.
std::string shown(const std::string& text) {
  constexpr std::string_view further = "\n  ";
  std::string made;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(further, begin);
    made += printable(std::string_view(text).substr(begin, end - begin));
    if (end == std::string::npos) return made;
    made += further;
    begin = end + further.size();
  }
}

/// A line for each problem, those of several in one below it.
void append(std::string& text, const std::vector<Error>& problems, const std::string& indent) {
  for (const Error& problem : problems) {
    text += "\n" + indent + "- " + shown(problem.message());
    append(text, problem.problems(), indent + "  ");
    if (!problem.hint().empty()) text += "\n" + indent + "  hint: " + shown(problem.hint());
  }
}

}  // namespace

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::bad_input:
    case ErrorKind::bad_file:
      return 3;
    case ErrorKind::budget:
      return 4;
    case ErrorKind::io:
      return 5;
    case ErrorKind::device:
      return 6;
    case ErrorKind::not_converged:
      return 7;
    case ErrorKind::not_supported:
      return 8;
    case ErrorKind::internal:
      return 70;
    case ErrorKind::interrupted:
      return 130;
    case ErrorKind::terminated:
      return 143;
  }
  return 70;
}

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::bad_input:
      return "bad_input";
    case ErrorKind::bad_file:
      return "bad_file";
    case ErrorKind::budget:
      return "budget";
    case ErrorKind::io:
      return "io";
    case ErrorKind::device:
      return "device";
    case ErrorKind::not_converged:
      return "not_converged";
    case ErrorKind::not_supported:
      return "not_supported";
    case ErrorKind::internal:
      return "internal";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::terminated:
      return "terminated";
  }
  return "internal";
}

Error::Error(ErrorKind kind, std::string message) : kind_(kind), marked_message_(std::move(message)) { compose(); }

Error Error::several(std::string summary, std::vector<Error> problems) {
  assert(!problems.empty());
  const auto first = std::min_element(problems.begin(), problems.end(), [](const Error& a, const Error& b) {
    return exit_status(a.kind()) < exit_status(b.kind());
  });
  Error error(first->kind(), std::move(summary));
  error.problems_ = std::move(problems);
  error.compose();
  return error;
}

Error& Error::hint(std::string remedy) & {
  marked_hint_ = std::move(remedy);
  compose();
  return *this;
}

Error&& Error::hint(std::string remedy) && {
  hint(std::move(remedy));
  return std::move(*this);
}

void Error::add_activity(std::string activity) {
  activities_.push_back(std::move(activity));
  compose();
}

Error Error::spelled(Spelling spelling) const {
  Error made = *this;
  made.spelling_ = spelling;
  for (Error& problem : made.problems_) problem = problem.spelled(spelling);
  made.compose();
  return made;
}

Error Error::changed(const std::function<std::string(const std::string& text)>& change) const {
  Error made = *this;
  made.marked_message_ = change(marked_message_);
  made.marked_hint_ = change(marked_hint_);
  for (std::string& activity : made.activities_) activity = change(activity);
  for (Error& problem : made.problems_) problem = problem.changed(change);
  made.compose();
  return made;
}

void Error::compose() {
  message_ = sonde::spelled(marked_message_, spelling_);
  hint_ = sonde::spelled(marked_hint_, spelling_);
  text_ = "error: " + shown(message_);
  append(text_, problems_, "  ");
  for (const std::string& activity : activities_) text_ += "\nwhile: " + shown(sonde::spelled(activity, spelling_));
  if (!hint_.empty()) text_ += "\nhint: " + shown(hint_);
}

void Problems::throw_if_any(const std::string& summary) const {
  if (errors_.empty()) return;
  if (errors_.size() == 1) throw errors_.front();
  throw Error::several(summary, errors_);
}

}  // namespace sonde
