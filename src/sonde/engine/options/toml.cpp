// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
// Values and syntax errors only: exceptions carry the place in the file.
#include <toml++/toml.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

/// Dates and times have no use in a setting and are distinguished from texts by the error.
std::optional<Value> value_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return Value(text->get());
  if (const auto* whole = node.as_integer()) return Value(whole->get());
  if (const auto* real = node.as_floating_point()) return Value(real->get());
  if (const auto* toggle = node.as_boolean()) return Value(toggle->get());
  if (const auto* array = node.as_array()) {
    Value list = Value::list();
    for (const toml::node& item : *array) {
      auto value = value_of(item);
      if (!value) return std::nullopt;
      list.push_back(std::move(*value));
    }
    return list;
  }
  return std::nullopt;
}

std::string place_of(const std::string& name, const toml::source_region& source) {
  return fmt::format("{} line {}", name, source.begin.line);
}

class Reader {
 public:
  Reader(const std::string& name, Fields& fields, std::string_view command, const std::vector<std::string>& commands)
      : name_(name), fields_(fields), command_(split(command, ' ')) {
    for (const std::string& each : commands) {
      std::string table;
      for (const std::string& word : split(each, ' ')) {
        table += (table.empty() ? "" : ".") + word;
        known_tables_.push_back(table);
      }
    }
  }

  /// Keys of this table are settings when its path is a beginning of the command's words ("" for all commands,
  /// [stem] for all of stem, [stem.load] for one).
  void read(const toml::table& table, std::size_t depth) {
    for (auto&& [key, node] : table) {
      const std::string word(key.str());
      const toml::table* inner = node.as_table();
      if (inner == nullptr) {
        set(word, node);
      } else if (depth < command_.size() && word == command_[depth]) {
        nested_.push_back(inner);
      } else if (fields_.find(word) != nullptr && !is_known(table_name(word, depth))) {  // [report.show], and `report`
        problems_.add(Error(ErrorKind::usage, fmt::format("{} in {}: expected a value, found a table", word,
                                                          place_of(name_, node.source()))));
      } else {
        check_known(word, depth, node);
      }
    }
    // A narrower table counts more, so it is read after everything beside it, wherever it stands.
    std::vector<const toml::table*> inner;
    inner.swap(nested_);
    for (const toml::table* each : inner) read(*each, depth + 1);
  }

  void finish() const {
    problems_.throw_if_any(fmt::format("{} settings in {} cannot be used", problems_.errors().size(), name_));
  }

 private:
  [[nodiscard]] std::string table_name(const std::string& word, std::size_t depth) const {
    std::string table;
    for (std::size_t i = 0; i < depth; ++i) table += command_[i] + ".";
    return table + word;
  }
  [[nodiscard]] bool is_known(const std::string& table) const {
    return std::find(known_tables_.begin(), known_tables_.end(), table) != known_tables_.end();
  }

  /// A table that is not for this command must at least be for another one.
  void check_known(const std::string& word, std::size_t depth, const toml::node& node) {
    const std::string table = table_name(word, depth);
    if (known_tables_.empty() || is_known(table)) return;
    problems_.add(
        Error(ErrorKind::usage, fmt::format("unknown table [{}] in {}{}", table, place_of(name_, node.source()),
                                            did_you_mean(table, known_tables_))));
  }

  void set(const std::string& key, const toml::node& node) {
    const std::string place = place_of(name_, node.source());
    problems_.collect([&] {
      const Field* field = fields_.find(key);
      if (field != nullptr && (field->info.flag_only || field->positional))
        throw Error(ErrorKind::usage, fmt::format("{} in {}: not allowed in a configuration file", key, place))
            .hint(field->positional ? "give it as an argument" : "give " + setting(field->key) + " by itself");
      const std::optional<Value> value = value_of(node);
      if (field != nullptr && !value)
        throw Error(ErrorKind::usage, fmt::format("{} in {}: a value of this kind is not a setting", key, place));
      fields_.assign(key, value.value_or(Value()), place, Origin::file);
    });
  }

  const std::string& name_;
  Fields& fields_;
  std::vector<std::string> command_;
  std::vector<std::string> known_tables_;
  std::vector<const toml::table*> nested_;
  Problems problems_;
};

toml::table parsed(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, std::string_view(name));
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", place_of(name, error.source()), error.description()));
  }
}

/// A file of several tables.
class TablesReader {
 public:
  TablesReader(const std::string& name, Tables& tables) : name_(name), tables_(tables) {}

  void read(const toml::table& file) {
    for (auto&& [key, node] : file)
      problems_.collect([&, &word = key, &value = node] { read_one(std::string(word.str()), value); });
    problems_.throw_if_any(fmt::format("{} settings in {} cannot be used", problems_.errors().size(), name_));
  }

 private:
  void read_one(const std::string& word, const toml::node& node) {
    const std::string place = place_of(name_, node.source());
    const bool one = node.is_table(), several = node.is_array_of_tables();
    const Tables::Table* known = tables_.find(word);
    if (known == nullptr) {
      if (one || several)
        throw Error(ErrorKind::usage,
                    fmt::format("unknown table [{}] in {}{}", word, place, did_you_mean(word, tables_.names())));
      throw Error(ErrorKind::usage, fmt::format("\"{}\" in {} is not in a table", word, place))
          .hint("the tables are " + join_words(tables_.names()));
    }
    const std::string written = known->list ? fmt::format("[[{}]]", word) : fmt::format("[{}]", word);
    if (known->list ? !several : !one)
      throw Error(ErrorKind::usage,
                  fmt::format("{} in {}: expected {}", word, place, known->list ? "a list of tables" : "one table"))
          .hint(fmt::format("begin {} with {}", known->list ? "each" : "it", written));
    if (one) return settings(word, 0, *node.as_table());
    for (const toml::node& each : *node.as_array())
      problems_.collect([&, &item = *each.as_table()] { append(word, item); });
  }

  void append(const std::string& word, const toml::table& item) {
    if (tables_.find(word)->kinds.empty()) return settings(word, tables_.append(word, "", ""), item);
    const toml::node* kind = item.get("name");
    const std::string place = place_of(name_, (kind != nullptr ? *kind : item).source());
    if (kind == nullptr || !kind->is_string())
      throw Error(ErrorKind::usage, fmt::format("[[{}]] in {} has no name", word, place))
          .hint("add name = \"" + tables_.find(word)->kinds.front() + "\"");
    settings(word, tables_.append(word, kind->as_string()->get(), "name in " + place), item);
  }

  /// Whether a key below a table begins another one, known or not.
  [[nodiscard]] bool is_part(const Tables::Table& table, Index at, std::string_view key,
                             const toml::node& value) const {
    const bool setting = table.items[static_cast<std::size_t>(at)].fields.find(key) != nullptr;
    return tables_.find_in(table, key) != nullptr || (!setting && (value.is_array_of_tables() || value.is_table()));
  }

  void settings(const std::string& word, Index at, const toml::table& values) {
    const Tables::Table& table = *tables_.find(word);
    for (auto&& [key, node] : values) {
      if (!table.kinds.empty() && key.str() == "name") continue;
      problems_.collect([&, &name = key, &value = node] {
        if (is_part(table, at, name.str(), value)) return read_one(fmt::format("{}.{}", word, name.str()), value);
        const std::string place = fmt::format("[{}] of {}", word, place_of(name_, value.source()));
        const std::optional<Value> plain = value_of(value);
        if (!plain)
          throw Error(ErrorKind::usage,
                      fmt::format("{} in {}: a value of this kind is not a setting", name.str(), place));
        tables_.assign(word, at, name.str(), *plain, place, Origin::file);
      });
    }
  }

  const std::string& name_;
  Tables& tables_;
  Problems problems_;
};

std::string toml_text(const std::string& text) {
  std::string written = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (written += '\\') += c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      written += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      written += c;
  }
  return written + '"';
}

std::string toml_value(const Value& value) {
  if (value.is_text()) return toml_text(value.as_text());
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_whole()) return fmt::to_string(value.as_whole());
  if (value.is_real()) {
    const std::string number = fmt::to_string(value.as_real());
    return number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
  }
  std::vector<std::string> items;
  for (const Value& item : value.items()) items.push_back(toml_value(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

void write_settings(std::string& text, const Value& settings) {
  for (const auto& [key, value] : settings.members())
    if (!value.is_null()) text += fmt::format("{} = {}\n", key, toml_value(value));
}

}  // namespace

void parse_toml(std::string_view text, const std::string& name, Fields& fields, std::string_view command,
                const std::vector<std::string>& commands) {
  take_from_file([&] {
    const toml::table table = parsed(text, name);
    Reader reader(name, fields, command, commands);
    reader.read(table, 0);
    reader.finish();
  });
}

void read_toml(const std::string& path, Fields& fields, std::string_view command,
               const std::vector<std::string>& commands) {
  parse_toml(read_text(path), path, fields, command, commands);
}

void parse_toml(std::string_view text, const std::string& name, Tables& tables) {
  take_from_file([&] { TablesReader(name, tables).read(parsed(text, name)); });
}

void read_toml(const std::string& path, Tables& tables) { parse_toml(read_text(path), path, tables); }

std::string path_from_file(const std::string& path, const std::string& file) {
  if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
  return absolute_path(std::filesystem::path(file).parent_path() / path).string();
}

std::string to_toml(const Value& tables) {
  std::string text;
  for (const auto& [name, content] : tables.members()) {
    const std::string between = text.empty() ? "" : "\n";
    if (content.is_list()) {
      for (const Value& item : content.items()) {
        text += fmt::format("{}[[{}]]\n", text.empty() ? "" : "\n", name);
        write_settings(text, item);
      }
    } else {
      text += fmt::format("{}[{}]\n", between, name);
      write_settings(text, content);
    }
  }
  return text;
}

}  // namespace sonde
