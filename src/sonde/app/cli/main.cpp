// SPDX-License-Identifier: Apache-2.0
// Joins parsing, running and reporting; turns every error into a text on standard error and an exit status.
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "sonde/app/cli/help_command.h"
#include "sonde/app/cli/parse.h"
#include "sonde/app/cli/terminal.h"
#include "sonde/app/join/join.h"
#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/run/start.h"

namespace sonde::cli {
namespace {

void print_version() {
  const BuildInfo& build = build_info();
  print_output(fmt::format("sonde {} ({})\n{}, {}, {}, licence {}\n", build.version, build.revision, build.compiler,
                           build.build_type, build.cuda.empty() ? "without CUDA" : fmt::format("CUDA {}", build.cuda),
                           build.licence));
}

/// The settings of a table as lines of a plan: "grid.n_xi  60".
std::string plan_lines(const std::string& name, const Value& value) {
  if (!value.is_object()) return fmt::format("  {:<20} {}\n", name, to_json(value, -1));
  std::string text;
  for (const Value::Member& member : value.members())
    text += plan_lines(name.empty() ? member.key : name + "." + member.key, member.value);
  return text;
}

void show_plan(const Prepared& prepared, const Report& report) {
  const Value all = report.to_value();
  Value plan;
  plan["options"] = *all.find("options");
  plan["choices"] = *all.find("choices");
  if (prepared.common->json) {
    print_output(to_json(plan) + "\n");
    return;
  }
  std::string text = fmt::format("sonde {} would run with\n", prepared.verb->name);
  for (const Field& field : prepared.fields.all()) {
    if (field.info.flag_only) continue;
    const char* origin = field.origin == Origin::file ? " (file)" : field.origin == Origin::caller ? " (given)" : "";
    text += fmt::format("  {:<20} {}{}\n", field.key, to_json(field.value(), -1), origin);
  }
  if (const Value* run_file = plan.find("options")->find("run_file")) text += plan_lines("", *run_file);
  for (const Value& choice : plan.find("choices")->items())
    text += fmt::format("  {}: {} ({})\n", choice.find("what")->as_text(), to_json(*choice.find("value"), -1),
                        choice.find("because")->as_text());
  terminal().print(text);
}

void run(Prepared& prepared) {
  attach_terminal(prepared.common->quiet);
  Door door{.surroundings = join::surroundings()};
  door.surroundings.say = [](const std::string& text) { terminal().print(spelled(text, Spelling::flags)); };
  door.surroundings.announce = door.surroundings.say;
  door.surroundings.print = print_output;
  door.surroundings.be_silent = [] { attach_terminal(/*quiet=*/true); };
  door.take_plan = [&](const Report& report) { show_plan(prepared, report); };
  if (prepared.common->json)
    door.take_results = [](const Report& report) { print_output(to_json(report.results()) + "\n"); };
  sonde::start(prepared, door);
}

/// "sonde ptycho --help".
bool asks_for_group(const std::vector<std::string>& words) {
  return words.size() == 2 && (words[1] == "--help" || words[1] == "-h");
}

int start(const std::vector<std::string>& words) {
  install_signal_handlers();
  attach_terminal(false);
  const auto files = std::make_shared<RunFiles>();
  const InRun joined(files.get());
  try {
    if (words.empty()) {
      terminal().print(overview());
      return exit_status(ErrorKind::usage);
    }
    if (words.front() == "--version") {
      print_version();
    } else if (words.front() == "--help" || words.front() == "-h") {
      print_output(overview());
    } else if (const std::string group = asks_for_group(words) ? group_overview(words.front()) : ""; !group.empty()) {
      print_output(group);
    } else {
      Parsed parsed = parse(words);
      if (parsed.wants_help)
        print_output(command_help(*parsed.prepared.verb));
      else
        run(parsed.prepared);
    }
    return 0;
  } catch (const OutputClosed&) {
    end_all_ranks(OutputClosed::status);
    return OutputClosed::status;
  } catch (...) {
    const Error error = as_error(std::current_exception());
    terminal().print(error.spelled(Spelling::flags).what());
    end_all_ranks(status_of(error));  // the others may be waiting for this one
    return status_of(error);
  }
}

}  // namespace
}  // namespace sonde::cli

int main(int argc, char** argv) { return sonde::cli::start({argv + 1, argv + argc}); }
