// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/maxwell/read/gprmax_words.h"

namespace sonde::maxwell {
namespace {

constexpr std::size_t most_input_bytes = std::size_t{256} << 20;
constexpr std::size_t most_include_depth = 16;
constexpr Index most_included_files = 1000;

std::string_view without_blanks_at_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of(blanks);
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

Error fault_of(const GprmaxCommand& command, const std::string& what) {
  return {ErrorKind::bad_file, fmt::format("{}: {}", command.where(), what)};
}

/// `line` begins with # and has no blanks at its end.
GprmaxCommand command_of(std::string_view line, const std::string& file, Index number) {
  GprmaxCommand command{file, number, {}, {}, {}};
  const std::size_t colon = line.find(':');
  command.name = line.substr(1, colon == std::string_view::npos ? colon : colon - 1);
  if (colon == std::string_view::npos) {
    command.fault = fault_of(command, fmt::format("\"{}\" has no colon; expected \"#name: values\"", line));
    command.fault->hint("comments begin with ##, or with another character than #");
    return command;
  }
  const std::string_view rest = line.substr(colon + 1);
  if (!rest.empty() && rest[0] != ' ')
    command.fault = fault_of(command, fmt::format("no space after \"#{}:\"", command.name));
  const std::size_t first = std::min(rest.find_first_not_of(blanks), rest.size());
  command.text = rest.substr(first);
  command.words = words_of(rest);
  return command;
}

/// Goes through a text and those that it includes.
class Collector {
 public:
  explicit Collector(const TextReader& read) : read_(read) {}

  void add(std::string_view text, const std::string& name) {
    open_.push_back(absolute_path(name).string());
    std::optional<GprmaxCommand> python;
    Index number = 0;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = without_blanks_at_end(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
      ++number;
      if (python) {
        if (!line.starts_with("#end_python:")) continue;
        commands.push_back(*std::exchange(python, std::nullopt));
      } else if (line.starts_with('#') && !line.starts_with("##")) {
        GprmaxCommand command = command_of(line, name, number);
        if (line.starts_with("#python:"))
          python = std::move(command);
        else if (command.name == "include_file" && !command.fault)
          include(std::move(command));
        else
          commands.push_back(std::move(command));
      }
    }
    if (python) {
      python->fault = fault_of(*python, "#python: without a line #end_python: after it");
      commands.push_back(std::move(*python));
    }
    open_.pop_back();
  }

  std::vector<GprmaxCommand> commands;

 private:
  void include(GprmaxCommand command) {
    try {
      const std::string path = path_of(command);
      add(content_of(path, command), path);
    } catch (const Error& error) {
      command.fault = error;
      commands.push_back(std::move(command));
    }
  }

  std::string path_of(const GprmaxCommand& command) {
    if (command.words.size() != 1)
      throw fault_of(command,
                     fmt::format("#include_file has {} values; expected the name of a file", command.words.size()));
    std::string path = beside(command.file, command.words[0]);
    if (std::find(open_.begin(), open_.end(), absolute_path(path).string()) != open_.end())
      throw fault_of(command, fmt::format("#include_file: {} includes itself", path));
    if (open_.size() > most_include_depth)
      throw fault_of(command,
                     fmt::format("#include_file: {} levels; expected at most {}", open_.size(), most_include_depth));
    if (++files_ > most_included_files)
      throw fault_of(command, fmt::format("#include_file: more than {} files", most_included_files));
    return path;
  }

  std::string content_of(const std::string& path, const GprmaxCommand& command) const {
    try {
      return read_(path);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: #include_file: {}", command.where(), error.message()))
          .hint(error.hint());
    }
  }

  const TextReader& read_;
  std::vector<std::string> open_;  // the files that lead to the current line
  Index files_ = 0;
};

}  // namespace

std::string GprmaxCommand::where() const { return fmt::format("{}, line {}", file, line); }

std::string read_input_text(const std::string& path) { return read_text(path, most_input_bytes); }

std::string beside(const std::string& file, const std::string& named) {
  return (std::filesystem::path(file).parent_path() / named).lexically_normal().string();
}

std::vector<GprmaxCommand> parse_gprmax_commands(std::string_view text, const std::string& name,
                                                 const TextReader& read) {
  Collector collector(read);
  collector.add(text, name);
  return std::move(collector.commands);
}

}  // namespace sonde::maxwell
