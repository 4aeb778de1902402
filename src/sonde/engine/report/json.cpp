// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/printable.h"
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

/// How many bytes at `i` are a character that terminals obey and JSON leaves as it is: DEL, the control characters of
/// C1 and those that turn the direction of writing (base/printable.h). Its code point, or 0.
char32_t obeyed_at(std::string_view text, std::size_t i, std::size_t& bytes) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  bytes = byte(i) == 0x7f ? 1 : byte(i) == 0xc2 ? 2 : byte(i) == 0xe2 ? 3 : 0;
  if (bytes < 2) return bytes == 1 ? 0x7f : 0;
  const char32_t code = bytes == 2 ? (byte(i) & 0x1fu) << 6 | (byte(i + 1) & 0x3fu)
                                   : (byte(i) & 0x0fu) << 12 | (byte(i + 1) & 0x3fu) << 6 | (byte(i + 2) & 0x3fu);
  return is_control(code) ? code : 0;
}

}  // namespace

std::string to_json(const Value& value, int indent) {
  const std::string text = json_of(value).dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {  // they occur in texts only
    std::size_t bytes = 0;
    const char32_t code = obeyed_at(text, i, bytes);
    if (code == 0) continue;
    escaped.append(text, done, i - done);
    escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    i += bytes - 1;
    done = i + 1;
  }
  if (done == 0) return text;
  return escaped.append(text, done);
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
