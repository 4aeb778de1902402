// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<std::optional<T>> {
  using type = T;
};

Value plain_value(const std::string& text) { return text; }
Value plain_value(Index number) { return number; }
Value plain_value(double number) { return number; }
Value plain_value(bool toggle) { return toggle; }
Value plain_value(Bytes bytes) { return bytes.value; }
Value plain_value(const std::vector<std::string>& texts) { return texts; }
template <class T>
Value plain_value(const std::optional<T>& value) {
  return value ? plain_value(*value) : Value();
}

/// The shortest text that reads back as the same number.
std::string number_text(double number) { return fmt::format("{}", number); }

Error misfit(std::string_view where, const std::string& problem) {
  return Error(ErrorKind::usage, std::string(where) + ": " + problem);
}

std::string with_unit(const std::string& number, const FieldInfo& info) {
  return info.unit.empty() ? number : number + " " + info.unit;
}

std::string limit_text(double limit, const Field& field) {
  if (field.type == FieldType::bytes) return format_bytes(limit);
  return with_unit(field.type == FieldType::whole ? fmt::format("{:.0f}", limit) : number_text(limit), field.info);
}

template <class T>
std::optional<T> read_number(std::string_view text) {
  T number{};
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A number or a toggle as the text that a text field holds.
std::string scalar_text(const Value& value) {
  if (value.is_text()) return value.as_text();
  if (value.is_whole()) return std::to_string(value.as_whole());
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  return number_text(value.as_real());
}

bool are_numbers(const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [](const std::string& word) { return read_number<double>(word); });
}

bool is_scalar(const Value& value) { return value.is_text() || value.is_number() || value.is_bool(); }

/// The values of a list, or of the lists in it one after the other, as texts; nothing for other values.
std::vector<std::string> listed_texts(const Value& value) {
  if (!value.is_list()) return {};
  std::vector<std::string> texts;
  for (const Value& item : value.items()) {
    const Value::List alone{item};
    const Value::List& values = item.is_list() ? item.items() : alone;
    if (!std::all_of(values.begin(), values.end(), is_scalar)) return {};
    for (const Value& each : values) texts.push_back(scalar_text(each));
  }
  return texts;
}

std::string_view wanted_name(FieldType type) {
  switch (type) {
    case FieldType::text:
      return "text";
    case FieldType::whole:
      return "a whole number";
    case FieldType::real:
      return "a number";
    case FieldType::toggle:
      return "true or false";
    case FieldType::bytes:
      return "a size in bytes";
    case FieldType::choice:
      return "a word";
    case FieldType::list:
      return "a list of texts";
  }
  return "";
}

}  // namespace

void require_numbers(std::string_view text, std::string_view where) { (void)parse_numbers(text, where); }

std::string Field::flag() const {
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string Field::placeholder() const {
  if (type == FieldType::toggle) return "";
  if (!info.metavar.empty()) return info.metavar;
  switch (type) {
    case FieldType::whole:
      return "N";
    case FieldType::real:
      return "X";
    case FieldType::bytes:
      return "SIZE";
    case FieldType::choice: {
      std::string words;
      for (const std::string& word : choices) words += (words.empty() ? "" : "|") + word;
      return words;
    }
    default:
      return "TEXT";
  }
}

Value Field::value() const {
  return std::visit(Overload{[&](const Alternatives& alternatives) { return Value(choices[alternatives.get()]); },
                             [](const auto* target) { return plain_value(*target); }},
                    target_);
}

std::string Field::text() const {
  const Value now = value();
  if (now.is_null()) return "";
  if (type == FieldType::bytes) return format_bytes(now.as_real());
  if (!now.is_list()) return scalar_text(now);
  std::vector<std::string> words;
  for (const Value& item : now.items()) words.push_back(item.as_text());
  return join_words(words, ", ");
}

void Fields::insert(Field field) {
  const auto clashes = [&](const std::string& name) { return !name.empty() && find(name) != nullptr; };
  if (clashes(field.key) || clashes(field.info.alias))
    throw Error(ErrorKind::internal, fmt::format("field \"{}\" is described twice", field.key));
  field.heading = heading_;
  fields_.push_back(std::move(field));
}

template <class T>
void Fields::bind(std::string key, T& value, FieldType type, FieldInfo info) {
  Field field;
  field.key = std::move(key);
  field.info = std::move(info);
  field.type = type;
  field.nullable = !std::is_same_v<typename Plain<T>::type, T>;
  field.target_ = &value;
  insert(std::move(field));
}

void Fields::add(std::string key, std::string& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::text, std::move(info));
}
void Fields::add(std::string key, std::optional<std::string>& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::text, std::move(info));
}
void Fields::add(std::string key, Index& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::whole, std::move(info));
}
void Fields::add(std::string key, std::optional<Index>& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::whole, std::move(info));
}
void Fields::add(std::string key, double& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::real, std::move(info));
}
void Fields::add(std::string key, std::optional<double>& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::real, std::move(info));
}
void Fields::add(std::string key, bool& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::toggle, std::move(info));
}
void Fields::add(std::string key, Bytes& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::bytes, std::move(info));
}
void Fields::add(std::string key, std::optional<Bytes>& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::bytes, std::move(info));
}
void Fields::add(std::string key, std::vector<std::string>& value, FieldInfo info) {
  bind(std::move(key), value, FieldType::list, std::move(info));
}

void Fields::positional(std::string key, std::string& value, FieldInfo info) {
  add(std::move(key), value, std::move(info));
  fields_.back().positional = true;
}
void Fields::positional(std::string key, std::vector<std::string>& value, FieldInfo info) {
  add(std::move(key), value, std::move(info));
  fields_.back().positional = true;
}

void Fields::add_choice(std::string key, std::vector<std::string> words, std::function<void(std::size_t)> set,
                        std::function<std::size_t()> get, FieldInfo info) {
  Field field;
  field.key = std::move(key);
  field.info = std::move(info);
  field.type = FieldType::choice;
  field.choices = std::move(words);
  field.target_ = Field::Alternatives{std::move(set), std::move(get)};
  insert(std::move(field));
}

const Field* Fields::find(std::string_view key) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return field.key == key || (!field.info.alias.empty() && field.info.alias == key);
  });
  return found == fields_.end() ? nullptr : &*found;
}

std::vector<std::string> Fields::names() const {
  std::vector<std::string> names;
  for (const Field& field : fields_) {
    names.push_back(field.key);
    if (!field.info.alias.empty()) names.push_back(field.info.alias);
  }
  return names;
}

bool Fields::is_set(std::string_view key) const {
  const Field* field = find(key);
  return field != nullptr && field->origin != Origin::built_in;
}

Field& Fields::require(std::string_view key, std::string_view where) {
  const Field* field = find(key);
  if (field != nullptr) return const_cast<Field&>(*field);
  throw Error(ErrorKind::usage,
              fmt::format("unknown key \"{}\"{}{}", key, where.empty() ? "" : fmt::format(" in {}", where),
                          did_you_mean(key, names())));
}

void Fields::store_number(Field& field, double number, std::optional<Index> whole, std::string_view where) {
  if (!std::isfinite(number)) throw misfit(where, fmt::format("{} is not a finite number", number));
  const std::string shown = field.type == FieldType::bytes   ? format_bytes(number)
                            : field.type == FieldType::whole ? std::to_string(*whole)
                                                             : number_text(number);
  if (field.info.min && number < *field.info.min)
    throw misfit(where,
                 fmt::format("{} is below the smallest allowed value, {}", shown, limit_text(*field.info.min, field)));
  if (field.info.max && number > *field.info.max)
    throw misfit(where,
                 fmt::format("{} is above the largest allowed value, {}", shown, limit_text(*field.info.max, field)));
  std::visit(
      Overload{[&](Index* target) { *target = *whole; }, [&](std::optional<Index>* target) { *target = *whole; },
               [&](double* target) { *target = number; }, [&](std::optional<double>* target) { *target = number; },
               [&](Bytes* target) { target->value = static_cast<std::size_t>(*whole); },
               [&](std::optional<Bytes>* target) { *target = Bytes{static_cast<std::size_t>(*whole)}; }, [](auto&) {}},
      field.target_);
}

void Fields::store_text(Field& field, std::string text, std::string_view where, Origin origin) {
  if (field.info.check != nullptr && !text.empty()) field.info.check(text, where);
  if (auto* single = std::get_if<std::string*>(&field.target_)) {
    **single = std::move(text);
  } else if (auto* nullable = std::get_if<std::optional<std::string>*>(&field.target_)) {
    **nullable = std::move(text);
  } else if (auto* list = std::get_if<std::vector<std::string>*>(&field.target_)) {
    if (field.origin != origin) (*list)->clear();
    (*list)->push_back(std::move(text));
  } else if (auto* words = std::get_if<Field::Alternatives>(&field.target_)) {
    const auto found = std::find(field.choices.begin(), field.choices.end(), text);
    if (found == field.choices.end())
      throw misfit(where, fmt::format("unknown word \"{}\"{}", text, did_you_mean(text, field.choices)))
          .hint("give one of " + join_words(field.choices, " or "));
    words->set(static_cast<std::size_t>(found - field.choices.begin()));
  }
}

void Fields::assign_text(std::string_view key, std::string_view text, std::string_view where, Origin origin) {
  Field& field = require(key, "");
  const auto wrong = [&] { return misfit(where, fmt::format("\"{}\" is not {}", text, wanted_name(field.type))); };
  switch (field.type) {
    case FieldType::whole: {
      const auto number = read_number<Index>(text);
      if (!number) throw wrong();
      store_number(field, static_cast<double>(*number), number, where);
      break;
    }
    case FieldType::real: {
      const auto number = read_number<double>(text);
      if (!number) throw wrong();
      store_number(field, *number, std::nullopt, where);
      break;
    }
    case FieldType::bytes:
      try {
        const std::size_t bytes = parse_bytes(text);
        store_number(field, static_cast<double>(bytes), static_cast<Index>(bytes), where);
      } catch (const Error& error) {
        if (error.hint().empty()) throw;  // a limit, already placed
        throw misfit(where, error.message()).hint(error.marked_hint());
      }
      break;
    case FieldType::toggle:
      if (text != "true" && text != "false") throw wrong();
      *std::get<bool*>(field.target_) = text == "true";
      break;
    default:
      store_text(field, std::string(text), where, origin);
  }
  field.origin = origin;
}

void Fields::assign(std::string_view key, const Value& value, std::string_view where, Origin origin) {
  Field& field = require(key, where);
  const std::string place = where.empty() ? std::string(key) : fmt::format("{} in {}", key, where);
  const auto wrong = [&] {
    return misfit(place, fmt::format("expected {}, found {}", wanted_name(field.type), value.type_name()));
  };

  if (value.is_null()) {
    if (!field.nullable) throw wrong();
    std::visit(Overload{[](std::optional<std::string>* target) { target->reset(); },
                        [](std::optional<Index>* target) { target->reset(); },
                        [](std::optional<double>* target) { target->reset(); },
                        [](std::optional<Bytes>* target) { target->reset(); }, [](auto&) {}},
               field.target_);
  } else if (field.type == FieldType::list && value.is_list()) {
    if (!std::all_of(value.items().begin(), value.items().end(), is_scalar)) throw wrong();
    auto& target = *std::get<std::vector<std::string>*>(field.target_);
    std::vector<std::string> texts;
    for (const Value& item : value.items()) texts.push_back(scalar_text(item));
    if (field.info.check != nullptr)
      for (const std::string& text : texts) field.info.check(text, place);
    target = std::move(texts);
  } else if (const std::vector<std::string> parts = listed_texts(value);
             field.type == FieldType::text && !parts.empty()) {
    store_text(field, fmt::format("{}", fmt::join(parts, ",")), place, origin);
  } else if (!is_scalar(value)) {
    throw wrong();
  } else if (field.type == FieldType::toggle) {
    if (!value.is_bool()) throw wrong();
    *std::get<bool*>(field.target_) = value.as_bool();
  } else if (field.type == FieldType::real) {
    if (!value.is_number()) throw wrong();
    store_number(field, value.as_real(), std::nullopt, place);
  } else if (field.type == FieldType::whole || (field.type == FieldType::bytes && !value.is_text())) {
    if (!value.is_whole()) throw wrong();
    if (field.type == FieldType::bytes && value.as_whole() < 0) throw misfit(place, "a size in bytes is not negative");
    store_number(field, value.as_real(), value.as_whole(), place);
  } else if (field.type == FieldType::bytes) {
    assign_text(key, value.as_text(), place, origin);
  } else {
    // Words may be written like numbers: the order "4" is 4 too.
    if (field.type == FieldType::choice && !value.is_text() && !(value.is_number() && are_numbers(field.choices)))
      throw wrong();
    store_text(field, scalar_text(value), place, origin);
  }
  field.origin = origin;
}

void Fields::assign_all(const Value& object, std::string_view where, Origin origin) {
  Problems problems;
  for (const auto& [key, value] : object.members())
    problems.collect([&, &name = key, &setting = value] { assign(name, setting, where, origin); });
  problems.throw_if_any(fmt::format("{} settings{} cannot be used", problems.errors().size(),
                                    where.empty() ? "" : fmt::format(" in {}", where)));
}

Error of_file(const Error& error) {
  if (error.kind() != ErrorKind::usage) return error;
  std::vector<Error> problems;
  for (const Error& problem : error.problems()) problems.push_back(of_file(problem));
  Error made = problems.empty() ? Error(ErrorKind::bad_file, error.message())
                                : Error::several(error.message(), std::move(problems));
  if (!error.hint().empty()) made.hint(error.marked_hint());
  for (const std::string& activity : error.activities()) made.add_activity(activity);
  return made;
}

Value Fields::echo() const {
  Value object = Value::object();
  for (const Field& field : fields_) {
    const bool elsewhere = !field.info.stands_for.empty() && field.origin == Origin::built_in;
    object[field.key] = elsewhere ? Value() : field.value();
  }
  return object;
}

}  // namespace sonde
