// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/help_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/parse.h"
#include "sonde/app/cli/terminal.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/options/help.h"
#include "sonde/engine/run/start.h"

namespace sonde::cli {
namespace {

std::string usage(const Verb& command, const Fields& fields) {
  const std::string arguments = usage_arguments(fields);
  return fmt::format("sonde {}{}{} [settings]", command.name, arguments.empty() ? "" : " ", arguments);
}

std::string page_name(const Verb& command) {
  std::string name = "sonde " + command.name + ".md";
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

void write_page(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string(), side_output("the page", FileMark::text));
  file.write(text);
  file.commit();
}

void write_reference(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(ErrorKind::io, fmt::format("{}: cannot be made: {}", folder, failed.message()));
  std::string index = "# Commands\n\nWritten by `sonde help --markdown` from the program's own descriptions.\n\n";
  index += "| command | what it does |\n|---|---|\n";
  std::string files;
  for (const Verb& command : verbs()) {
    write_page(std::filesystem::path(folder) / page_name(command), command_page(command));
    for (const ReferencePage& page : command.pages) {
      write_page(std::filesystem::path(folder) / (page.name + ".md"), page.text());
      files +=
          fmt::format("| [{}]({}.md) | [`sonde {}`]({}) |\n", page.title, page.name, command.name, page_name(command));
    }
    index += fmt::format("| [`sonde {}`]({}) | {} |\n", command.name, page_name(command), command.summary);
  }
  if (!files.empty()) index += "\n## Files\n\n| page | is read by |\n|---|---|\n" + files;
  index +=
      "\n## Exit status\n\n| status | meaning |\n|---|---|\n"
      "| 0 | done |\n| 2 | unknown command, flag, key or value |\n| 3 | input or file that makes no sense |\n"
      "| 4 | the work does not fit into the memory it may use |\n| 5 | reading or writing failed |\n"
      "| 6 | no such device, or it failed |\n| 7 | not converged |\n| 8 | not supported |\n"
      "| 70 | a fault of the program |\n| 130, 143 | interrupted, terminated |\n";
  write_page(std::filesystem::path(folder) / "README.md", index);
}

struct HelpOptions {
  std::vector<std::string> command;
  std::optional<std::string> markdown;
  void describe(Fields& fields) {
    fields.positional("command", command, {.help = "command to explain", .optional = true});
    fields.add("markdown", markdown,
               {.help = "write one page per command into this folder", .metavar = "FOLDER", .flag_only = true});
  }
};

void run_help(const HelpOptions& options, Run& run) {
  if (options.markdown) {
    write_reference(*options.markdown);
    std::size_t pages = verbs().size() + 1;
    for (const Verb& command : verbs()) pages += command.pages.size();
    run.say(fmt::format("{}: {} pages", *options.markdown, pages));
    return;
  }
  if (options.command.empty()) {
    print_output(overview());
    return;
  }
  // A group by itself ("stem") shows its members.
  std::string members;
  for (const Verb& command : verbs())
    if (options.command.size() == 1 && command.name.starts_with(options.command.front() + " "))
      members += (members.empty() ? "" : "\n") + command_help(command);
  print_output(members.empty() ? command_help(find_command(options.command)) : members);
}

}  // namespace

std::string overview() {
  std::string text =
      fmt::format("sonde {}: five instruments on one engine\n\nusage: sonde COMMAND [arguments] [settings]\n\n",
                  build_info().version);
  std::size_t width = 0;
  for (const Verb& command : verbs()) width = std::max(width, command.name.size());
  for (const Verb& command : verbs()) text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
  return text + "\n`sonde help COMMAND` explains one; `sonde --version` prints the version.\n";
}

std::string group_overview(const std::string& group) {
  std::size_t width = 0;
  for (const Verb& command : verbs()) {
    if (command.name == group) return "";
    if (command.name.starts_with(group + " ")) width = std::max(width, command.name.size());
  }
  if (width == 0) return "";
  std::string text = fmt::format("usage: sonde {} COMMAND [arguments] [settings]\n\n", group);
  for (const Verb& command : verbs())
    if (command.name.starts_with(group + " "))
      text += fmt::format("  {:<{}}  {}\n", command.name, width, command.summary);
  return text + fmt::format("\n`sonde {} COMMAND --help` explains one.\n", group);
}

std::string command_help(const Verb& command) {
  const Prepared described(command);
  std::string text =
      fmt::format("sonde {}: {}\n\nusage: {}\n", command.name, command.summary, usage(command, described.fields));
  if (!command.details.empty()) text += "\n" + spelled(command.details, Spelling::flags) + "\n";
  text += "\n" + help_text(described.fields);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const Example& example : command.examples)
    text += fmt::format("  {}\n      {}\n", example.line, example.meaning);
  return text;
}

std::string command_page(const Verb& command) {
  const Prepared described(command);
  std::string text = fmt::format("# sonde {}\n\n{}.\n\n```\n{}\n```\n", command.name, command.summary,
                                 usage(command, described.fields));
  if (!command.details.empty()) text += "\n" + spelled(command.details, Spelling::flags) + "\n";
  for (const ReferencePage& page : command.pages)
    text += fmt::format("\n{}: [{}.md]({}.md).\n", page.title, page.name, page.name);
  if (!command.examples.empty()) text += "\n## Examples\n";
  for (const Example& example : command.examples)
    text += fmt::format("\n{}:\n\n```\n{}\n```\n", example.meaning, example.line);
  return text + "\n## Settings\n\n" + help_markdown(described.fields);
}

Verb help_command() {
  return {.name = "help",
          .summary = "Explain a command, or list all of them",
          .examples = {{"sonde help report compare", "Explain one command"}},
          .invoke = invocation<HelpOptions, run_help>};
}

}  // namespace sonde::cli
