// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/messages.h"

#include <exception>
#include <utility>

#include "sonde/engine/base/as_error.h"
#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

std::string message(Value head, const Value& rest) {
  if (rest.is_object())
    for (const auto& [key, value] : rest.members())
      if (head.find(key) == nullptr) head[key] = value;
  return to_json(head, -1);
}

}  // namespace

std::string page_message(const panel::Page& page, std::uint32_t client) {
  Value head;
  head["type"] = "page";
  head["protocol"] = "sonde.view.v1";
  head["client"] = client;
  return message(std::move(head), page.describe());
}

std::string reply_message(const panel::Command& command, const Value& result) {
  Value head;
  head["type"] = "reply";
  head["id"] = command.id;
  head["command"] = command.name;
  return message(std::move(head), result);
}

std::string event_message(std::string_view name, const Value& what) {
  Value head;
  head["type"] = "event";
  head["event"] = name;
  return message(std::move(head), what);
}

std::string error_message(std::uint32_t id, std::string_view command, const Error& error) {
  std::string text = error.message();
  for (const Error& problem : error.problems()) text += "\n" + problem.message();
  std::string activity;
  for (const std::string& each : error.activities()) activity += (activity.empty() ? "" : "\n") + each;
  Value value;
  value["type"] = "error";
  value["id"] = id;
  value["command"] = command;
  value["kind"] = name(error.kind());
  value["message"] = text;
  value["hint"] = error.hint();
  value["activity"] = activity;
  return to_json(value, -1);
}

Error current_error() { return as_error(std::current_exception(), "release what is not looked at"); }

}  // namespace sonde::serve
