// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 200;  // conversion recurses; a report nests less than ten deep

Json json_of(const Value& value) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_whole()) return value.as_whole();
  if (value.is_real()) return value.as_real();
  if (value.is_text()) return value.as_text();
  if (value.is_list()) {
    Json list = Json::array();
    for (const Value& item : value.items()) list.push_back(json_of(item));
    return list;
  }
  if (value.is_object()) {
    Json object = Json::object();
    for (const auto& [key, member] : value.members()) object[key] = json_of(member);
    return object;
  }
  return nullptr;
}

Value value_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return json.get<bool>();
    case Json::value_t::number_integer:
      return json.get<std::int64_t>();
    case Json::value_t::number_unsigned:
      return json.get<std::uint64_t>();
    case Json::value_t::number_float:
      return json.get<double>();
    case Json::value_t::string:
      return json.get_ref<const std::string&>();
    case Json::value_t::array: {
      Value list = Value::list();
      for (const Json& item : json) list.push_back(value_of(item));
      return list;
    }
    case Json::value_t::object: {
      Value object = Value::object();
      for (const auto& [key, member] : json.items()) object[key] = value_of(member);
      return object;
    }
    default:
      return {};
  }
}

}  // namespace

std::string to_json(const Value& value, int indent) {
  return json_of(value).dump(indent, ' ', false, Json::error_handler_t::replace);
}

Value parse_json(std::string_view text, const std::string& name) {
  const auto limit_depth = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > deepest) throw Error(ErrorKind::bad_file, fmt::format("{}: nested deeper than {}", name, deepest));
    return true;
  };
  try {
    return value_of(Json::parse(text, limit_depth));
  } catch (const Json::parse_error& error) {
    throw Error(ErrorKind::bad_file, fmt::format("{}: not JSON from byte {} on", name, error.byte));
  } catch (const Json::exception&) {  // a number beyond the range of double
    throw Error(ErrorKind::bad_file, fmt::format("{}: holds a number that is out of range", name));
  }
}

Value read_json(const std::string& path) { return parse_json(read_text(path), path); }

}  // namespace sonde
