// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/terminal.h"
#include "sonde/app/join/join.h"
#include "sonde/app/serve/server.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/panel/report_page.h"
#include "sonde/engine/panel/stored_result.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/run/instrument.h"

namespace sonde::cli {
namespace {

/// Of the first instrument of this build that shows files; nullptr when none does.
std::unique_ptr<Viewing> viewing_of_files() {
  for (const Instrument* instrument : instruments())
    if (instrument->viewing != nullptr) return instrument->viewing();
  return nullptr;
}

struct ViewCommandOptions {
  std::vector<std::string> input;
  bool open = true;
  serve::ServeOptions serve;
  std::unique_ptr<Viewing> viewing = viewing_of_files();
  void describe(Fields& fields) {
    fields.positional(
        "input", input,
        {.help = "scans, folders of *_master.h5 (each a series), or one result of a command: .h5, .nc, .npz, "
                 "or its report (.json)"});
    fields.add("open", open, {.help = "open the page in the browser of this desktop"});
    fields.heading("Server");
    serve.describe(fields);
    fields.heading("");
    if (viewing) viewing->describe(fields);
  }
};

/// Starts the desktop's browser and does not wait for it. Without a desktop there is none to start.
bool open_browser(const std::string& url) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    // A child of the child belongs to nobody: it is never waited for, and Ctrl-C does not reach it.
    setsid();
    if (fork() != 0) _exit(0);
    execlp("xdg-open", "xdg-open", url.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  return true;
}

bool is_report(const std::string& path) {
  return to_lower(std::filesystem::path(path).extension().string()) == ".json";
}

/// What a command wrote has no settings of scans; what is given must not be silently without effect.
void require_single(const ViewCommandOptions& options, const Run& run, const std::string& what) {
  if (options.input.size() > 1)
    throw Error(ErrorKind::usage, fmt::format("a {} is viewed by itself", what))
        .hint("start another `sonde view` for the other files");
  Fields fields;
  if (options.viewing) options.viewing->describe(fields);
  for (const Field& field : fields.all())
    if (run.given(field.key))
      throw Error(ErrorKind::usage,
                  fmt::format("{} is a setting of scans, but {} is a {}", setting(field.key), options.input[0], what))
          .hint(fmt::format("leave {} out", setting(field.key)));
}

panel::Page page_of_report(const ViewCommandOptions& options, const Run& run) {
  require_single(options, run, "report");
  return panel::report_page(read_report(options.input.front()));
}

/// Archives and NetCDF files are no scans: who reads those would ask for another format.
bool holds_only_results(const std::string& path) {
  const std::string suffix = to_lower(std::filesystem::path(path).extension().string());
  return suffix == ".npz" || suffix == ".nc";
}

/// The result of a verb among the files; nothing when there are only scans.
std::optional<panel::StoredResult> find_result(const ViewCommandOptions& options, Run& run) {
  for (const std::string& path : options.input) {
    if (std::error_code failed; !std::filesystem::is_regular_file(path, failed)) continue;
    if (auto result = panel::StoredResult::open(path, run.host_budget())) {
      require_single(options, run, "result");
      return result;
    }
    if (holds_only_results(path))
      throw Error(ErrorKind::bad_file, fmt::format("{}: not a result: no command of sonde wrote it", path))
          .hint(
              "`sonde view` opens results and reports of commands, and scans: save an array of another program as "
              ".npy");
  }
  return std::nullopt;
}

/// The page of a folder that a verb wrote; nothing when there are only scans.
std::optional<panel::Page> find_folder(const ViewCommandOptions& options, Run& run) {
  for (const std::string& path : options.input) {
    if (!is_folder(path)) continue;
    for (const Instrument* instrument : instruments()) {
      if (instrument->folder_page == nullptr) continue;
      if (auto page = instrument->folder_page(path, run)) {
        require_single(options, run, "folder of results");
        return page;
      }
    }
  }
  return std::nullopt;
}

Viewing& viewing_in(const ViewCommandOptions& options) {
  if (!options.viewing)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: no result of a command, and this build shows nothing else", options.input.front()))
        .hint("build sonde with the instrument stem");
  return *options.viewing;
}

bool asks_for_report(const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), is_report);
}

panel::Page page_of(const ViewCommandOptions& options, Run& run) {
  if (asks_for_report(options.input)) return page_of_report(options, run);
  if (auto result = find_result(options, run)) return join::page_of_result(*std::move(result));
  if (auto page = find_folder(options, run)) return *std::move(page);
  return viewing_in(options).page(options.input, run);
}

void plan_view(const ViewCommandOptions& options, Run& run) {
  if (asks_for_report(options.input)) return (void)page_of_report(options, run);
  if (auto result = find_result(options, run)) return (void)join::page_of_result(*std::move(result));
  if (find_folder(options, run)) return;
  viewing_in(options).plan(options.input, run);
}

void run_view(const ViewCommandOptions& options, Run& run) {
  options.serve.check();  // before any work
  if (run.dry_run()) return plan_view(options, run);
  serve::Server server(page_of(options, run), options.serve);
  server.start();
  const std::string url = server.url();
  if (run.json()) {
    // Now, not at the end: whoever started the program reads where the page is. No report keeps the secret.
    Value where;
    where["url"] = url;
    print_output(to_json(where, -1) + "\n");
  }
  run.say(url);
  // With a code that works once: the words of a program can be read in the list of processes.
  const bool opened = options.open && open_browser(server.url_once());
  if (options.open && !opened) run.say("open this address in a browser on this machine");
  run.say("Ctrl-C ends the viewer");
  server.run();
}

}  // namespace

Verb view_command() {
  return {.name = "view",
          .summary = "Look at scans, series, results and reports in the browser",
          .details =
              "The address is printed at once and scans load in the background. It holds a secret: who has it sees the "
              "page.\n\nWith --json the first line on standard output is {\"url\": ...}. Ctrl-C ends the viewer. On "
              "another machine, forward the port: ssh -L PORT:127.0.0.1:PORT MACHINE.",
          .examples = {{"sonde view scan_master.h5", "Look at one scan"},
                       {"sonde view FOLDER --pattern tilt", "A series; scans that are finished meanwhile join it"},
                       {"sonde view result.h5", "What a command wrote: pictures and curves with axes and units"},
                       {"sonde view run.json", "The report of a run"},
                       {"sonde view stems/", "Stems of music: play and mix them, threshold of their events"},
                       {"sonde view scan_master.h5 --port 8000 --no-open", "On a machine without a screen"}},
          .plans = true,
          .invoke = invocation<ViewCommandOptions, run_view>};
}

}  // namespace sonde::cli
