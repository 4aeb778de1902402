// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11: it splits words into flags, values and arguments. What they mean is up to Fields.
#include "sonde/app/cli/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <optional>

#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/options/help.h"

namespace sonde::cli {
namespace {

std::string usage_line(const Verb& command, const Fields& fields) {
  const std::string arguments = usage_arguments(fields);
  return fmt::format("sonde {}{}{} [settings]", command.name, arguments.empty() ? "" : " ", arguments);
}

std::string dashed(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

/// What one field was given on the command line.
struct Given {
  const Field* field = nullptr;
  std::vector<std::string> texts{};
  bool on = false, off = false;
};

/// "--det-bin", "-o": every flag of the command, for messages that name near misses.
std::vector<std::string> all_flags(const Fields& fields) {
  std::vector<std::string> flags = {"--help"};
  for (const Field& field : fields.all()) {
    if (field.positional) continue;
    flags.push_back(field.flag());
    if (field.type == FieldType::toggle && !field.info.flag_only) flags.push_back("--no-" + field.flag().substr(2));
    if (!field.info.alias.empty()) flags.push_back("--" + dashed(field.info.alias));
  }
  return flags;
}

void declare(CLI::App& app, Given& given) {
  const Field& field = *given.field;
  std::string names = field.flag();
  if (field.info.letter != 0) names += fmt::format(",-{}", field.info.letter);
  if (!field.info.alias.empty()) names += ",--" + dashed(field.info.alias);
  if (field.type == FieldType::toggle) {
    app.add_flag(names, given.on);
    if (!field.info.flag_only) app.add_flag("--no-" + field.flag().substr(2), given.off);
    return;
  }
  app.add_option(names, given.texts)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// CLI11 begins its messages with the option's name; the rest of its words is not ours.
Error split_error(const CLI::ParseError& error, const std::string& usage) {
  const std::string text = error.what();
  const std::string name = text.substr(0, text.find(':'));
  if (name.starts_with('-')) return Error(ErrorKind::usage, name + " needs a value").hint("usage: " + usage);
  return Error(ErrorKind::usage, text).hint("usage: " + usage);
}

void refuse_unknown_flags(const std::vector<std::string>& words, const Verb& command, const Fields& fields) {
  Problems problems;
  for (const std::string& word : words) {
    if (word.size() < 2 || !word.starts_with('-')) continue;
    const std::string flag = word.substr(0, word.find('='));
    problems.add(
        Error(ErrorKind::usage, fmt::format("unknown flag \"{}\"{}", flag, did_you_mean(flag, all_flags(fields))))
            .hint(fmt::format("`sonde help {}` lists the flags", command.name)));
  }
  problems.throw_if_any("the command line has several problems");
}

/// Deals the words that are no flags out to the positional arguments, in order; a list takes all that are left.
void give_positional(const std::vector<std::string>& words, std::deque<Given>& all_given, const std::string& usage) {
  auto word = words.begin();
  for (Given& given : all_given) {
    if (!given.field->positional) continue;
    const bool takes_all = given.field->type == FieldType::list;
    while (word != words.end() && (takes_all || given.texts.empty())) given.texts.push_back(*word++);
  }
  if (word != words.end())
    throw Error(ErrorKind::usage, fmt::format("unexpected argument \"{}\"", *word)).hint("usage: " + usage);
}

void assign_given(const Given& given, Fields& fields) {
  const Field& field = *given.field;
  const std::string where = field.positional ? field.key : field.flag();
  if (given.on && given.off)
    throw Error(ErrorKind::usage, fmt::format("{} and --no-{} contradict each other", where, where.substr(2)));
  if (given.on || given.off) fields.assign_text(field.key, given.on ? "true" : "false", where);
  if (given.texts.size() > 1 && field.type != FieldType::list)
    throw Error(ErrorKind::usage, fmt::format("{} is given {} times", where, given.texts.size()));
  const std::vector<std::string> flags = all_flags(fields);
  for (const std::string& text : given.texts) {
    if (!field.positional && std::find(flags.begin(), flags.end(), text) != flags.end())
      throw Error(ErrorKind::usage, fmt::format("{} needs a value, found the flag {}", where, text));
    fields.assign_text(field.key, text, where);
  }
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Verb& command : verbs()) names.push_back(command.name);
  return names;
}

}  // namespace

const Verb& find_command(const std::vector<std::string>& words) {
  std::string wanted;
  const Verb* found = nullptr;
  for (const std::string& word : words) {  // the longest name wins: "stem load" before "stem"
    if (word.starts_with('-')) break;
    wanted += (wanted.empty() ? "" : " ") + word;
    for (const Verb& command : verbs())
      if (command.name == wanted) found = &command;
  }
  if (found != nullptr) return *found;
  if (words.empty() || words.front().starts_with('-'))
    throw Error(ErrorKind::usage,
                words.empty() ? "no command" : fmt::format("expected a command, found \"{}\"", words.front()))
        .hint("`sonde help` lists the commands");

  const std::string& group = words.front();
  std::vector<std::string> members;
  for (const Verb& command : verbs())
    if (command.name.starts_with(group + " ")) members.push_back(command.name);
  if (members.empty()) {
    std::vector<std::string> first_words;
    for (const std::string& name : command_names()) first_words.push_back(name.substr(0, name.find(' ')));
    std::sort(first_words.begin(), first_words.end());
    first_words.erase(std::unique(first_words.begin(), first_words.end()), first_words.end());
    throw Error(ErrorKind::usage, fmt::format("unknown command \"{}\"{}", group, did_you_mean(group, first_words)))
        .hint("`sonde help` lists the commands");
  }
  const std::string rest = words.size() > 1 && !words[1].starts_with('-') ? words[1] : "";
  const std::string hint = "the commands of " + group + " are: " + join_words(members);
  if (rest.empty()) throw Error(ErrorKind::usage, fmt::format("\"{}\" needs a second word", group)).hint(hint);
  const std::string both = group + " " + rest;
  throw Error(ErrorKind::usage, fmt::format("unknown command \"{}\"{}", both, did_you_mean(both, members))).hint(hint);
}

Parsed parse(const std::vector<std::string>& words) {
  const Verb& command = find_command(words);
  Parsed parsed{Prepared(command)};
  Fields& fields = parsed.prepared.fields;

  std::vector<std::string> arguments(words.begin() + static_cast<std::ptrdiff_t>(split(command.name, ' ').size()),
                                     words.end());
  const auto end_of_flags = std::find(arguments.begin(), arguments.end(), "--");
  parsed.wants_help = std::any_of(arguments.begin(), end_of_flags,
                                  [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (parsed.wants_help) return parsed;

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();           // what is no flag stays in order for the positional arguments
  std::deque<Given> all_given;  // CLI11 keeps pointers to them
  for (const Field& field : fields.all()) {
    all_given.push_back({.field = &field});
    if (!field.positional) declare(app, all_given.back());
  }
  std::vector<std::string> flags_and_values(arguments.begin(), end_of_flags);
  try {
    std::reverse(flags_and_values.begin(), flags_and_values.end());  // CLI11 takes words from the back
    app.parse(flags_and_values);
  } catch (const CLI::ParseError& error) {
    throw split_error(error, usage_line(command, fields));
  }
  std::vector<std::string> rest = app.remaining();
  refuse_unknown_flags(rest, command, fields);
  if (end_of_flags != arguments.end()) rest.insert(rest.end(), end_of_flags + 1, arguments.end());
  give_positional(rest, all_given, usage_line(command, fields));

  Problems problems;
  std::optional<std::string> settings;
  for (const Given& given : all_given) {
    if (given.field->key == "config") problems.collect([&] { assign_given(given, fields); });
    if (given.field->positional && given.field->key == settings_key && !given.texts.empty())
      settings = given.texts.front();
  }
  problems.collect([&] { read_settings(parsed.prepared, settings, command_names()); });
  for (const Given& given : all_given) {
    if (given.field->positional && !given.field->info.optional && given.texts.empty())
      problems.add(Error(ErrorKind::usage, fmt::format("{} is missing", given.field->key))
                       .hint("usage: " + usage_line(command, fields)));
    if (given.field->key != "config") problems.collect([&] { assign_given(given, fields); });
  }
  problems.throw_if_any("the command line has several problems");
  return parsed;
}

}  // namespace sonde::cli
