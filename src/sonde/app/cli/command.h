// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/report/report.h"

namespace sonde::cli {

/// What every command takes.
struct CommonOptions {
  ComputeOptions compute;
  Index threads = 0;
  std::optional<std::string> report;
  std::optional<std::string> config;
  bool json = false;
  bool dry_run = false;
  bool quiet = false;
  void describe(Fields& fields);
};

/// What a running command works with. What it finds goes to results(), what it says to people to say().
class Context {
 public:
  Context(const CommonOptions& common, const Fields& fields, Report& report)
      : common_(common), fields_(fields), report_(report) {}

  [[nodiscard]] Report& report() { return report_; }
  /// The product of the command: `--json` prints it on standard output, `--report` keeps it.
  [[nodiscard]] Value& results() { return report_.results(); }
  /// True when only the choices are wanted: make them, then return before any work.
  [[nodiscard]] bool dry_run() const { return common_.dry_run; }
  [[nodiscard]] bool json() const { return common_.json; }
  /// The flag that set this option, or an empty text when the command line left it alone.
  [[nodiscard]] std::string given_flag(std::string_view key) const;
  /// The file of --config, for commands with own_config.
  [[nodiscard]] const std::optional<std::string>& config_file() const { return common_.config; }
  /// Lets --json print results() also when the command fails: for commands whose findings are the result.
  void print_results_of_failure() { prints_results_of_failure_ = true; }
  [[nodiscard]] bool prints_results_of_failure() const { return prints_results_of_failure_; }

  /// The device of --device; the choice is recorded at the first call. Throws Error(device) when it is not there.
  Device device();
  /// The same for work that a GPU cannot do for the reason given, unless that is empty: `auto` then takes the CPU, and
  /// the report says why; a GPU that was asked for is an Error(not_supported). After other work of the same command
  /// took a GPU, this one takes the CPU, and the report says so.
  Device device_for(const std::string& why_not_on_gpu);
  /// What --device says, or ask_device() where it says nothing.
  [[nodiscard]] const std::string& device_asked() const {
    return asked_device_ ? *asked_device_ : common_.compute.device;
  }
  /// The device that a run file asks for. Before the first device().
  void ask_device(const std::string& device);
  /// In place of device_for(), for work that finds its device in a way of its own; recorded as a choice.
  void use_device(const Choice<Device>& chosen);
  /// What may be held on that device: --memory, else what is free. Recorded at the first call.
  Budget budget();
  /// The same for host memory, for work that no other device does.
  Budget host_budget();
  /// What this machine can do on the threads of this run, when `sonde machine` has measured it: zeros otherwise. From
  /// then on the report gives its rates as fractions of it.
  const MachineRates& machine();
  /// Text for people, on standard error; nothing with --quiet. A line end is added.
  void say(const std::string& text) const;
  /// One of several processes speaks and writes for all; the others are silent from then on.
  void be_silent();
  [[nodiscard]] bool silent() const { return silent_; }
  /// So many processes share this machine: what is free is divided among them. --memory is that of one. Before the
  /// first budget().
  void share_machine(int processes) { processes_here_ = processes; }

 private:
  Budget budget_of(Device device);

  const CommonOptions& common_;
  const Fields& fields_;
  Report& report_;
  std::optional<std::string> asked_device_;
  std::optional<Device> device_;
  std::optional<Budget> budget_, host_budget_;
  bool prints_results_of_failure_ = false, asked_machine_ = false, silent_ = false;
  int processes_here_ = 1;
};

/// One use of a command: its options, bound to what runs them.
class Invocation {
 public:
  virtual ~Invocation() = default;
  virtual void describe(Fields& fields) = 0;
  virtual void run(Context& context) = 0;
};

struct Example {
  std::string line;     ///< "sonde stem load scan_master.h5 --det-bin 2"
  std::string meaning;  ///< one sentence
};

/// A reference page that is no command's own: the format of a file that commands read.
struct Page {
  std::string name{};   ///< of the file, without .md
  std::string title{};  ///< "The run file of ptychography"
  std::string (*text)() = nullptr;
};

/// A command as data: its words, what it does, its options and its function.
struct Command {
  std::string name{};     ///< "stem load"
  std::string summary{};  ///< one line, imperative, without a full stop
  std::string details{};  ///< paragraphs for `help`, separated by empty lines
  std::vector<Example> examples{};
  std::vector<Page> pages{};  ///< written beside the command's own
  bool own_config = false;    ///< --config names a file that run() reads itself (Context::config_file)
  bool plans = false;         ///< run() honours dry_run(); otherwise a dry run only shows the resolved options
  std::unique_ptr<Invocation> (*invoke)() = nullptr;
};

/// Binds an options struct (with describe(Fields&)) and `void run(const Options&, Context&)`.
template <class Options, void (*run_command)(const Options&, Context&)>
std::unique_ptr<Invocation> invocation() {
  class Bound final : public Invocation {
   public:
    void describe(Fields& fields) override { options_.describe(fields); }
    void run(Context& context) override { run_command(options_, context); }

   private:
    Options options_;
  };
  return std::make_unique<Bound>();
}

/// Options of a command that has none of its own.
struct NoOptions {
  void describe(Fields&) {}
};

/// Every command of the program, in the order of the overview. A new command is one line in commands.cpp.
[[nodiscard]] const std::vector<Command>& commands();

}  // namespace sonde::cli
