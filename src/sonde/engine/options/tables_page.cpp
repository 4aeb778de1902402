// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/tables_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/help.h"
#include "sonde/engine/options/toml.h"

namespace sonde {
namespace {

const std::string& about(const TablesGuide& guide, const std::string& table) {
  const auto found = guide.about.find(table);
  if (found == guide.about.end()) throw Error(ErrorKind::internal, fmt::format("nothing is said about [{}]", table));
  return found->second;
}

std::string head_of(const Tables::Table& table) {
  return table.list ? fmt::format("[[{}]]", table.name) : fmt::format("[{}]", table.name);
}

const Fields& new_item(Tables& unset, const std::string& list, const std::string& kind) {
  const auto item = static_cast<std::size_t>(unset.append(list, kind, "name"));
  return unset.find(list)->items[item].fields;
}

/// "key = value" as in a file; nothing after the sign for unset ones.
std::string shown(const Field& field) {
  if (field.value().is_null()) return field.key + " = ";
  Value one = Value::object();
  one["t"][field.key] = field.value();
  const std::string text = to_toml(one);
  const std::size_t begin = text.find('\n') + 1;
  return text.substr(begin, text.size() - begin - 1);
}

class CommentedFile {
 public:
  CommentedFile(const TablesGuide& guide, const std::set<std::string>& missing) : guide_(guide), missing_(missing) {}

  void add(const Tables::Table& table, Tables& unset) {
    if (table.kinds.empty()) {
      for (const Tables::Item& item : table.items) add_plain(table, item.fields, "");
      if (table.items.empty()) add_plain(table, new_item(unset, table.name, ""), "# ");
      return;
    }
    text_ += "\n# ---- " + about(guide_, table.name) + "\n";
    for (const Tables::Item& item : table.items) add_item(table.name, item.kind, item.fields, "");
    const auto names = guide_.named_only.find(table.name);
    if (names != guide_.named_only.end()) text_ += names->second;
    for (const std::string& kind : table.kinds) {
      if (names != guide_.named_only.end())
        text_ += fmt::format("#   {:<12} {}\n", kind, guide_.about_kind(table.name, kind));
      else if (std::none_of(table.items.begin(), table.items.end(),
                            [&](const auto& item) { return item.kind == kind; }))
        add_item(table.name, kind, new_item(unset, table.name, kind), "# ");
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add_plain(const Tables::Table& table, const Fields& fields, const char* mark) {
    text_ += fmt::format("\n# ---- {}\n{}{}\n", about(guide_, table.name), mark, head_of(table));
    add_keys(fields, table.name);
  }
  /// Of a chosen kind, or of one that could be.
  void add_item(const std::string& list, const std::string& kind, const Fields& fields, const char* mark) {
    text_ += fmt::format("\n{}[[{}]]\n", mark, list);
    add_line(fmt::format("{}name = \"{}\"", mark, kind), guide_.about_kind(list, kind));
    add_keys(fields, list + "." + kind);
  }
  void add_keys(const Fields& fields, const std::string& table) {
    for (const Field& field : fields.all()) {
      std::string note = (missing_.contains(table + "." + field.key) ? "FILL IN: " : "") + field.info.help;
      if (!field.info.unit.empty()) note += ", " + field.info.unit;
      if (!field.choices.empty()) note += fmt::format(": {}", fmt::join(field.choices, " | "));
      add_line((field.origin == Origin::built_in ? "# " : "") + shown(field), note);
    }
  }
  void add_line(const std::string& setting, const std::string& note) {
    text_ += fmt::format("{:<{}} # {}\n", setting, guide_.comment_column, note);
  }

  const TablesGuide& guide_;
  const std::set<std::string>& missing_;
  std::string text_{};
};

}  // namespace

std::string tables_markdown(Tables& unset, const TablesGuide& guide) {
  std::string text;
  for (const std::string& name : unset.names()) {
    const Tables::Table& table = *unset.find(name);
    text += fmt::format("\n## {}\n\n{}\n", head_of(table), about(guide, name));
    if (table.kinds.empty()) {
      text += "\n" + keys_markdown(table.list ? new_item(unset, name, "") : table.items.front().fields);
      continue;
    }
    for (const std::string& kind : table.kinds)
      text += fmt::format("\n### name = \"{}\"\n\n{}\n\n", kind, guide.about_kind(name, kind)) +
              keys_markdown(new_item(unset, name, kind));
  }
  return text;
}

std::string commented_tables(const Tables& known, Tables& unset, const TablesGuide& guide,
                             const std::set<std::string>& missing) {
  CommentedFile made(guide, missing);
  for (const Tables::Table& table : known.all()) made.add(table, unset);
  return made.text();
}

}  // namespace sonde
