// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

constexpr std::size_t text_column = 28;  // where the explanations begin

std::string number(double value) { return fmt::format("{}", value); }

/// "0 to 100", "at least 1", "at most 5", or nothing.
std::string limits(const Field& field) {
  const auto text = [&](double limit) { return field.type == FieldType::bytes ? format_bytes(limit) : number(limit); };
  if (field.info.min && field.info.max) return fmt::format("{} to {}", text(*field.info.min), text(*field.info.max));
  if (field.info.min) return "at least " + text(*field.info.min);
  if (field.info.max) return "at most " + text(*field.info.max);
  return "";
}

std::string positional_name(const Field& field) {
  std::string name = field.info.metavar.empty() ? field.key : field.info.metavar;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (field.type == FieldType::list) name += "...";
  return name;
}

/// "-o, --output FILE", "--centre, --center ROW,COL", "--[no-]hot-pixels".
std::string invocation(const Field& field) {
  if (field.positional) return positional_name(field);
  std::string text = field.info.letter != 0 ? fmt::format("-{}, ", field.info.letter) : "";
  const std::string flag = field.flag();
  // A run-only toggle (--quiet) is off unless given; only lasting settings need a way back.
  text += field.type == FieldType::toggle && !field.info.flag_only ? "--[no-]" + flag.substr(2) : flag;
  if (!field.info.alias.empty()) {
    std::string alias = field.info.alias;
    std::replace(alias.begin(), alias.end(), '_', '-');
    text += ", --" + alias;
  }
  const std::string placeholder = field.placeholder();
  return placeholder.empty() ? text : text + " " + placeholder;
}

std::string default_text(const Field& field) {
  if (field.positional || (field.type == FieldType::toggle && field.info.flag_only)) return "";
  const std::string text = field.text();
  return text.empty() || field.info.unit.empty() ? text : text + " " + field.info.unit;
}

std::vector<std::string> headings(const Fields& fields) {
  std::vector<std::string> titles;
  for (const Field& field : fields.all())
    if (std::find(titles.begin(), titles.end(), field.heading) == titles.end()) titles.push_back(field.heading);
  return titles;
}

/// "a; b; c".
std::string listed(const std::vector<std::string>& facts) {
  std::string text;
  for (const std::string& fact : facts) text += (text.empty() ? "" : "; ") + fact;
  return text;
}

/// Everything to say about a field in one paragraph.
std::string paragraph(const Field& field) {
  std::string text = spelled(field.info.help, Spelling::flags);
  std::vector<std::string> facts;
  const std::string shown = default_text(field);
  if (!field.info.unit.empty() && shown.empty()) facts.push_back("in " + field.info.unit);
  if (const std::string range = limits(field); !range.empty()) facts.push_back(range);
  if (!shown.empty()) facts.push_back("default " + shown);
  if (field.type == FieldType::list && !field.positional) facts.push_back("may be repeated");
  if (!field.info.stands_for.empty()) facts.push_back(field.info.stands_for + " of a run file");
  if (facts.empty()) return text;
  return text + " (" + listed(facts) + ")";
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns) {
  std::string lines;
  std::size_t column = indent;
  for (const std::string& word : split(text, ' ')) {
    if (column > indent && column + 1 + word.size() > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

/// What may stand behind the equals sign of a configuration file.
std::string file_value(const Field& field) {
  switch (field.type) {
    case FieldType::whole:
      return "whole number";
    case FieldType::real:
      return "number";
    case FieldType::toggle:
      return "true or false";
    case FieldType::choice: {
      std::string words;
      for (const std::string& word : field.choices) words += fmt::format("{}`\"{}\"`", words.empty() ? "" : ", ", word);
      return words;
    }
    default:
      return field.info.metavar.empty() ? "text" : fmt::format("`\"{}\"`", field.info.metavar);
  }
}

/// The default as it would be written there; empty for settings that begin unset.
std::string file_default(const Field& field) {
  const std::string text = field.text();
  if (text.empty()) return "";
  return field.type == FieldType::text || field.type == FieldType::choice ? "\"" + text + "\"" : text;
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  return text;
}

}  // namespace

std::string usage_arguments(const Fields& fields) {
  std::string text;
  for (const Field& field : fields.all()) {
    if (!field.positional) continue;
    const std::string name = positional_name(field);
    text += (text.empty() ? "" : " ") + (field.info.optional ? "[" + name + "]" : name);
  }
  return text;
}

std::string help_text(const Fields& fields, std::size_t columns) {
  std::string text;
  for (const std::string& heading : headings(fields)) {
    text += (text.empty() ? "" : "\n") + (heading.empty() ? std::string("Settings") : heading) + ":\n";
    for (const Field& field : fields.all()) {
      if (field.heading != heading) continue;
      std::string line = "  " + invocation(field);
      if (line.size() + 2 > text_column)
        line += "\n" + std::string(text_column, ' ');
      else
        line.resize(text_column, ' ');
      text += line + wrapped(paragraph(field), text_column, columns) + "\n";
    }
  }
  return text;
}

std::string keys_markdown(const Fields& fields) {
  std::string text = "| key | value | default | unit, limits | meaning |\n|---|---|---|---|---|\n";
  for (const Field& field : fields.all()) {
    std::vector<std::string> facts;
    if (!field.info.unit.empty()) facts.push_back(field.info.unit);
    if (const std::string range = limits(field); !range.empty()) facts.push_back(range);
    const std::string by_default = file_default(field);
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.key, cell(file_value(field)),
                        by_default.empty() ? "" : "`" + cell(by_default) + "`", cell(listed(facts)),
                        cell(spelled(field.info.help, Spelling::keys)));
  }
  return text;
}

std::string help_markdown(const Fields& fields) {
  std::string text;
  for (const std::string& heading : headings(fields)) {
    text += fmt::format("{}### {}\n\n| setting | default | unit, limits | meaning |\n|---|---|---|---|\n",
                        text.empty() ? "" : "\n", heading.empty() ? "Settings" : heading);
    for (const Field& field : fields.all()) {
      if (field.heading != heading) continue;
      std::vector<std::string> facts;
      if (!field.info.unit.empty()) facts.push_back(field.info.unit);
      if (const std::string range = limits(field); !range.empty()) facts.push_back(range);
      if (field.type == FieldType::list && !field.positional) facts.push_back("may be repeated");
      if (!field.info.stands_for.empty()) facts.push_back("`" + field.info.stands_for + "` of a run file");
      const bool has_default = !default_text(field).empty();
      text += fmt::format("| `{}` | {} | {} | {} |\n", cell(invocation(field)),
                          has_default ? "`" + cell(field.text()) + "`" : "", cell(listed(facts)),
                          cell(spelled(field.info.help, Spelling::flags)));
    }
  }
  return text;
}

}  // namespace sonde
