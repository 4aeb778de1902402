// SPDX-License-Identifier: Apache-2.0
// Joins parsing, running and reporting; turns every error into a text on standard error and an exit status.
#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "sonde/app/cli/help_command.h"
#include "sonde/app/cli/parse.h"
#include "sonde/app/cli/terminal.h"
#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/json.h"

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

void show_plan(const Parsed& parsed, const Report& report) {
  const Value all = report.to_value();
  Value plan;
  plan["options"] = *all.find("options");
  plan["choices"] = *all.find("choices");
  if (parsed.common->json) {
    print_output(to_json(plan) + "\n");
    return;
  }
  std::string text = fmt::format("sonde {} would run with\n", parsed.command->name);
  for (const Field& field : parsed.fields.all()) {
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

/// While it lives, warnings and notes go to the report too. They come from any thread.
class Listener {
 public:
  explicit Listener(Report& report) : report_(report) {
    shown_ = set_log_sink([this](LogLevel level, const std::string& message) {
      if (level != LogLevel::debug) {
        const std::lock_guard lock(mutex_);
        report_.add_message(level == LogLevel::warning ? "warning" : "note", message);
      }
      if (shown_) shown_(level, message);
    });
  }
  ~Listener() { set_log_sink(shown_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  Report& report_;
  std::mutex mutex_;
  LogSink shown_;
};

void run(Parsed& parsed) {
  const CommonOptions& common = *parsed.common;
  attach_terminal(common.quiet);
  set_thread_count(static_cast<int>(common.threads));
  Report report(parsed.command->name);
  report.set_options(parsed.fields.echo());
  const Listener listener(report);
  Context context(common, parsed.fields, report);
  try {
    if (parsed.fields.is_set("device")) context.device();  // a device that is not there is an error of any command
    if (!common.dry_run || parsed.command->plans) parsed.invocation->run(context);
    if (common.dry_run && !context.silent())
      show_plan(parsed, report);
    else if (common.json && !common.dry_run && !context.silent())
      print_output(to_json(report.results()) + "\n");
  } catch (...) {
    if (common.json && !common.dry_run && !context.silent() && context.prints_results_of_failure())
      print_output(to_json(report.results()) + "\n");
    if (common.report && !context.silent()) {
      report.set_failed(as_error(std::current_exception()).message());
      try {
        report.write(*common.report);
      } catch (const Error& error) {
        terminal().print(fmt::format("warning: {}", error.message()));
      }
    }
    throw;
  }
  if (common.report && !common.dry_run && !context.silent()) {
    context.machine();
    report.write(*common.report);
  }
}

/// "sonde ptycho --help".
bool asks_for_group(const std::vector<std::string>& words) {
  return words.size() == 2 && (words[1] == "--help" || words[1] == "-h");
}

int start(const std::vector<std::string>& words) {
  install_signal_handlers();
  attach_terminal(false);
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
        print_output(command_help(*parsed.command));
      else
        run(parsed);
    }
    return 0;
  } catch (...) {
    const Error error = as_error(std::current_exception());
    terminal().print(error.what());
    end_all_ranks(exit_status(error.kind()));  // the others may be waiting for this one
    return exit_status(error.kind());
  }
}

}  // namespace
}  // namespace sonde::cli

int main(int argc, char** argv) { return sonde::cli::start({argv + 1, argv + argc}); }
