// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/value.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

[[noreturn]] void wrong_type(const Value& value, std::string_view wanted) {
  throw Error(ErrorKind::bad_input, "expected " + std::string(wanted) + ", found " + std::string(value.type_name()));
}

}  // namespace

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
Value::Value(bool value) : data_(value) {}
Value::Value(double value) : data_(value) {}
Value::Value(const char* text) : data_(std::string(text)) {}
Value::Value(std::string_view text) : data_(std::string(text)) {}
Value::Value(std::string text) : data_(std::move(text)) {}
Value::Value(List list) : data_(std::move(list)) {}
void Value::set_whole(Index value) { data_ = value; }
Value Value::list() { return Value(List()); }

Value Value::object() {
  Value value;
  value.data_ = Object();
  return value;
}

bool Value::is_null() const { return std::holds_alternative<std::monostate>(data_); }
bool Value::is_bool() const { return std::holds_alternative<bool>(data_); }
bool Value::is_whole() const { return std::holds_alternative<Index>(data_); }
bool Value::is_real() const { return std::holds_alternative<double>(data_); }
bool Value::is_text() const { return std::holds_alternative<std::string>(data_); }
bool Value::is_list() const { return std::holds_alternative<List>(data_); }
bool Value::is_object() const { return std::holds_alternative<Object>(data_); }

std::string_view Value::type_name() const {
  static constexpr std::string_view names[] = {"null", "true or false", "whole number", "real number",
                                               "text", "list",          "object"};
  return names[data_.index()];
}

bool Value::as_bool() const {
  if (!is_bool()) wrong_type(*this, "true or false");
  return std::get<bool>(data_);
}

Index Value::as_whole() const {
  if (!is_whole()) wrong_type(*this, "whole number");
  return std::get<Index>(data_);
}

double Value::as_real() const {
  if (is_whole()) return static_cast<double>(std::get<Index>(data_));
  if (!is_real()) wrong_type(*this, "real number");
  return std::get<double>(data_);
}

const std::string& Value::as_text() const {
  if (!is_text()) wrong_type(*this, "text");
  return std::get<std::string>(data_);
}

const Value::List& Value::items() const {
  if (!is_list()) wrong_type(*this, "list");
  return std::get<List>(data_);
}

const Value::Object& Value::members() const {
  if (!is_object()) wrong_type(*this, "object");
  return std::get<Object>(data_);
}

std::size_t Value::size() const {
  if (is_list()) return std::get<List>(data_).size();
  if (is_object()) return std::get<Object>(data_).size();
  return 0;
}

const Value* Value::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Object& object = std::get<Object>(data_);
  const auto member = std::find_if(object.begin(), object.end(), [&](const Member& each) { return each.key == key; });
  return member == object.end() ? nullptr : &member->value;
}

Value& Value::operator[](std::string_view key) {
  if (is_null()) data_ = Object();
  if (!is_object()) wrong_type(*this, "object");
  Object& object = std::get<Object>(data_);
  for (Member& member : object)
    if (member.key == key) return member.value;
  return object.emplace_back(Member{std::string(key), Value()}).value;
}

Value& Value::push_back(Value item) {
  if (is_null()) data_ = List();
  if (!is_list()) wrong_type(*this, "list");
  return std::get<List>(data_).emplace_back(std::move(item));
}

bool operator==(const Value& a, const Value& b) {
  if (!a.is_object() || !b.is_object()) return a.data_ == b.data_;
  const Value::Object& left = a.members();
  return left.size() == b.members().size() && std::all_of(left.begin(), left.end(), [&](const Value::Member& member) {
           const Value* other = b.find(member.key);
           return other != nullptr && *other == member.value;
         });
}

double number_at(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_number() ? value->as_real() : 0;
}

std::string text_at(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_text() ? value->as_text() : "";
}

std::string short_text(const Value& value) {
  if (value.is_text()) return value.as_text();
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_whole()) return std::to_string(value.as_whole());
  if (value.is_real()) return fmt::format("{:.6g}", value.as_real());
  if (value.is_object()) return fmt::format("{{{} members}}", value.size());
  if (!value.is_list()) return "none";
  std::string text = "[";
  for (std::size_t i = 0; i < std::min<std::size_t>(value.size(), 8); ++i)
    text += (i > 0 ? ", " : "") + short_text(value.items()[i]);
  return text + (value.size() > 8 ? fmt::format(", ... {} in all]", value.size()) : "]");
}

}  // namespace sonde
