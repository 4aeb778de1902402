// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/start.h"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/options/toml.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/report_role.h"
#include "sonde/engine/run/watched_run.h"

namespace sonde {
namespace {

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

/// The page of `live`, as long as the verb works and its results are handed out. Of several processes only the first
/// shows one.
class Watching {
 public:
  Watching(const Prepared& prepared, Run& run) {
    const std::optional<Index> port = prepared.common->live;
    if (!port || prepared.common->dry_run || prepared.verb->watched->own_page || Ranks::world().rank() != 0) return;
    page_ = std::make_unique<WatchedRun>(*prepared.verb, prepared.fields);
    run.watch(page_.get());
    shown_ = run.show(page_->page(), *port);
    run.announce("live      " + shown_->url());
  }
  void end_well() {
    if (page_) page_->end_well();
  }
  void end_badly() {
    if (page_) page_->end_by(as_error(std::current_exception()));
  }

 private:
  std::unique_ptr<WatchedRun> page_;
  std::unique_ptr<Shown> shown_;  // ends before what it shows
};

/// The report of a run that failed; that it cannot be written is a warning beside the error.
void write_failed(Report& report, const std::string& path) {
  report.set_failed(as_error(std::current_exception()).message());
  try {
    report.write(path);
  } catch (const Error& error) {
    log_warning(error.message());
  }
}

}  // namespace

Prepared::Prepared(const Verb& prepared)
    : verb(&prepared), invocation(prepared.invoke()), common(std::make_unique<CommonOptions>()) {
  invocation->describe(fields);
  common->describe(fields, verb->watched.has_value());
}

void read_settings(Prepared& prepared, const std::optional<std::string>& argument,
                   const std::vector<std::string>& verbs) {
  std::optional<std::string> file = prepared.verb->own_config ? std::nullopt : prepared.common->config;
  if (file && argument)
    throw Error(ErrorKind::usage, "settings are named twice: as the argument and with " + setting("config"));
  if (argument) file = argument;
  if (file) read_toml(*file, prepared.fields, prepared.verb->name, verbs);
}

void start(Prepared& prepared, const Door& door) {
  if (door.owns_process && !prepared.verb->ranks && Ranks::world().size() > 1)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: several processes cannot share this work", prepared.verb->name))
        .hint("start one process");
  const CommonOptions& common = *prepared.common;
  if (common.report) require_place(*common.report, report_role());
  if (door.owns_process || common.threads != 0) set_thread_count(static_cast<int>(common.threads));
  Report report(prepared.verb->name);
  report.set_options(prepared.fields.echo());
  const Listener listener(report);
  Run run(common, prepared.fields, report, door.surroundings);
  const auto hand_out = [&](const auto& take) {
    if (!run.silent() && take) take(report);
  };
  const auto write_report = [&] {
    if (!common.report || common.dry_run || run.silent()) return;
    run.machine();
    report.write(*common.report);
  };
  std::optional<Watching> watching;
  try {
    watching.emplace(prepared, run);
    if (prepared.fields.is_set("device")) run.device();  // a device that is not there is an error of any verb
    if (!common.dry_run || prepared.verb->plans) prepared.invocation->run(run);
    watching->end_well();
  } catch (...) {
    if (watching) watching->end_badly();
    if (!common.dry_run && run.keeps_results_of_failure()) hand_out(door.take_results);
    if (common.report && !run.silent()) write_failed(report, *common.report);
    throw;
  }
  try {
    hand_out(common.dry_run ? door.take_plan : door.take_results);
  } catch (...) {  // who takes them has gone: the work is done all the same
    write_report();
    throw;
  }
  write_report();
}

}  // namespace sonde
