// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde {

/// A plain tree of data as JSON and TOML know it: null, true or false, whole number, real number, text, list, object.
/// Objects keep the order in which members were set. Options echo themselves as one, reports hold their results in one.
///
///   Value results;                       // null; becomes an object or a list at its first member
///   results["frames"] = 16384;
///   results["centre"].push_back(95.5);
class Value {
 public:
  struct Member;
  using List = std::vector<Value>;
  using Object = std::vector<Member>;

  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(bool value);
  Value(double value);
  Value(const char* text);
  Value(std::string_view text);
  Value(std::string text);
  Value(List list);
  /// Any integer; one beyond 2^63 - 1 becomes the nearest real number.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T value) : Value() {
    if (std::in_range<Index>(value))
      set_whole(static_cast<Index>(value));
    else
      *this = Value(static_cast<double>(value));
  }
  template <class T>
  requires std::constructible_from<Value, const T&> Value(const std::vector<T>& values)
      : Value(List(values.begin(), values.end())) {}
  static Value list();
  static Value object();

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_bool() const;
  [[nodiscard]] bool is_whole() const;
  [[nodiscard]] bool is_real() const;
  [[nodiscard]] bool is_number() const { return is_whole() || is_real(); }
  [[nodiscard]] bool is_text() const;
  [[nodiscard]] bool is_list() const;
  [[nodiscard]] bool is_object() const;
  /// "null", "true or false", "whole number", "real number", "text", "list", "object".
  [[nodiscard]] std::string_view type_name() const;

  /// These throw Error(bad_input) naming both types when the value is of another type. A whole number is also a real
  /// one.
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] Index as_whole() const;
  [[nodiscard]] double as_real() const;
  [[nodiscard]] const std::string& as_text() const;
  [[nodiscard]] const List& items() const;
  [[nodiscard]] const Object& members() const;

  /// Items of a list, members of an object, 0 for everything else.
  [[nodiscard]] std::size_t size() const;
  /// The member, or nullptr when this is no object or has no such member.
  [[nodiscard]] const Value* find(std::string_view key) const;
  /// The member of that name, added as null when absent; null becomes an object first.
  Value& operator[](std::string_view key);
  /// Appends to a list; null becomes a list first. Returns the new item.
  Value& push_back(Value item);

  /// Objects are equal when they hold equal members in any order; 1 and 1.0 differ.
  friend bool operator==(const Value& a, const Value& b);

 private:
  void set_whole(Index value);

  std::variant<std::monostate, bool, Index, double, std::string, List, Object> data_;
};

struct Value::Member {
  std::string key;
  Value value;
  friend bool operator==(const Member& a, const Member& b) { return a.key == b.key && a.value == b.value; }
};

/// For trees that were read back and may lack a member: the member when it is a number, else 0.
[[nodiscard]] double number_at(const Value& object, std::string_view key);
/// The member when it is text, else empty.
[[nodiscard]] std::string text_at(const Value& object, std::string_view key);
/// One short line for people: real numbers with six digits, the first eight items of a list.
[[nodiscard]] std::string short_text(const Value& value);

}  // namespace sonde
