// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/panel/page.h"
#include "sonde/engine/report/report.h"
#include "sonde/engine/run/common_options.h"
#include "sonde/engine/run/frames.h"
#include "sonde/engine/run/input_arrays.h"
#include "sonde/engine/run/live_page.h"

namespace sonde {

class Run;
class WatchedRun;

/// A page that somebody looks at, as long as this lives.
class Shown {
 public:
  virtual ~Shown() = default;
  [[nodiscard]] virtual std::string url() const = 0;
};

/// What a run reaches of who started it. Each member may be empty. Settings in texts are marked (base/setting.h).
struct Surroundings {
  std::function<void(const std::string&)> say;    ///< text for people
  std::function<void(const std::string&)> print;  ///< text that is the product itself
  /// Text that is of use only while the work runs, also where nothing else is said: an address.
  std::function<void(const std::string&)> announce;
  std::function<void()> be_silent;              ///< another process speaks for this one: notes and progress end too
  std::function<void(Contents contents)> take;  ///< arrays of the result
  /// Inputs of the verb that are arrays of the caller; nullptr: all are files.
  const InputArrays* arrays = nullptr;
  /// Tables of a run file that the caller gives by themselves, as Tables::assign_all() takes them.
  Value tables = Value::object();
  /// Shows a page on this port of this machine; 0 takes a free one.
  std::function<std::unique_ptr<Shown>(panel::Page page, Index port)> show;
  /// Opens frames that another instrument reads. Throws what that throws, in the words of run files.
  std::function<Frames(const FramesRequest& request, Run& run)> open_frames;
};

/// What a verb works with while it runs. What it finds goes to results(), what it says to people to say(). It does not
/// know who started it.
class Run {
 public:
  Run(const CommonOptions& common, const Fields& fields, Report& report, const Surroundings& surroundings)
      : common_(common), fields_(fields), report_(report), surroundings_(surroundings) {}

  [[nodiscard]] Report& report() { return report_; }
  /// The product of the verb: `--json` prints it on standard output, `--report` keeps it, Python returns it.
  [[nodiscard]] Value& results() { return report_.results(); }
  /// True when only the choices are wanted: make them, then return before any work.
  [[nodiscard]] bool dry_run() const { return common_.dry_run; }
  [[nodiscard]] bool json() const { return common_.json; }
  /// The settings of the verb, with who gave them.
  [[nodiscard]] const Fields& settings() const { return fields_; }
  /// Whether the caller set this option.
  [[nodiscard]] bool given(std::string_view key) const;
  /// The file of `config`, for verbs with own_config.
  [[nodiscard]] const std::optional<std::string>& config_file() const { return common_.config; }
  /// Hands out results() also when the verb fails: for verbs whose findings are the result.
  void keep_results_of_failure() { keeps_results_of_failure_ = true; }
  [[nodiscard]] bool keeps_results_of_failure() const { return keeps_results_of_failure_; }

  /// The device of `device`; the choice is recorded at the first call. Throws Error(device) when it is not there.
  Device device();
  /// The same for work that a GPU cannot do for the reason given, unless that is empty: `auto` then takes the CPU, and
  /// the report says why; a GPU that was asked for is an Error(not_supported). After other work of the same verb took a
  /// GPU, this one takes the CPU, and the report says so.
  Device device_for(const std::string& why_not_on_gpu);
  /// What `device` says, or ask_device() where it says nothing.
  [[nodiscard]] const std::string& device_asked() const {
    return asked_device_ ? *asked_device_ : common_.compute.device;
  }
  /// The device that a run file asks for. Before the first device().
  void ask_device(const std::string& device);
  /// In place of device_for(), for work that finds its device in a way of its own; recorded as a choice.
  void use_device(const Choice<Device>& chosen);
  /// What may be held on that device: `memory`, else what is free. Recorded at the first call.
  Budget budget();
  /// The same for host memory, for work that no other device does.
  Budget host_budget();
  /// What the work will hold of this budget: says it as a table under `title`, which is a choice of a dry run too.
  void show_memory(const MemoryPlan& plan, const Budget& budget, const std::string& title = "memory");
  /// For work that holds a file as a whole. Throws Error(budget) when it is larger than what may be held.
  void require_room_for(const std::string& file);
  /// What this machine can do on the threads of this run, when `sonde machine` has measured it: zeros otherwise. From
  /// then on the report gives its rates as fractions of it.
  const MachineRates& machine();
  /// Text for people; nothing with `quiet`. A line end is added.
  void say(const std::string& text) const;
  /// Text that is of use only while the work runs, with `quiet` too.
  void announce(const std::string& text) const;
  /// The product, where that is a text: for standard output.
  void print(const std::string& text) const;
  /// Whether somebody takes the arrays of the result: for those that must be made first.
  [[nodiscard]] bool gives_arrays() const { return surroundings_.take != nullptr && !silent_; }
  /// For verbs whose product is files: throws Error(usage) where the caller takes results and named no file, because
  /// nothing is written then. `named` says that a file of settings did.
  void require_named_output(bool named = false) const;
  /// Throws Error(usage) where nothing could become of the result: no file is named and nobody takes its arrays; and
  /// what require_contents_path() throws for the file. Before any work.
  void require_output(const std::string& path, const std::vector<std::string>& suffixes = {".nc", ".h5", ".npz"}) const;
  /// Writes arrays of the result to the file (write_contents()), unless its name is empty, and gives them to who takes
  /// them.
  void give(const Contents& contents, const std::string& path = "", const OutputRole& role = {}) const;
  /// One of several processes speaks and writes for all; the others are silent from then on.
  void be_silent();
  [[nodiscard]] bool silent() const { return silent_; }
  /// So many processes share this machine: what is free is divided among them. `memory` is that of one. Before the
  /// first budget().
  void share_machine(int processes) { processes_here_ = processes; }
  /// In place of what was free here: what all processes have.
  void limit_host(const Budget& budget);

  /// The array that stands for an input; nullptr where `input` names a file.
  [[nodiscard]] std::shared_ptr<const Array> array(const std::string& input) const {
    return surroundings_.arrays != nullptr ? surroundings_.arrays->find(input) : nullptr;
  }
  /// Tables of settings that count more than those of a run file, and less than settings that the verb has by
  /// themselves.
  [[nodiscard]] const Value& tables() const { return surroundings_.tables; }
  /// Where nobody watches by `live`, this does nothing. Else the panels of Verb::watched have, until the result ends,
  /// the options and the frames that `state` gives. It is called between two steps by the thread that counts them
  /// (ProgressMeter), and by this thread in the end: what both touch is to be guarded.
  [[nodiscard]] std::shared_ptr<void> live(std::function<LiveState()> state);
  /// For verbs with a page of their own: where `live` wants it.
  [[nodiscard]] std::optional<Index> live_port() const { return common_.live; }
  /// Adds settings of a run file, resolved, to the report and to what those see who watch.
  void add_settings(const std::string& name, Value settings);
  /// The page of `live`, which has to live as long as this; start() makes it.
  void watch(WatchedRun* page) { watched_ = page; }
  /// Shows a page in the browser while the result lives. Throws Error(not_supported) where nobody can.
  [[nodiscard]] std::unique_ptr<Shown> show(panel::Page page, Index port);
  /// Frames of a file that another instrument reads. This run must live as long as they do. Throws Error(not_supported)
  /// when the build has no reader.
  [[nodiscard]] Frames open_frames(const FramesRequest& request);

 private:
  Budget budget_of(Device device);

  const CommonOptions& common_;
  const Fields& fields_;
  Report& report_;
  const Surroundings& surroundings_;
  std::optional<std::string> asked_device_;
  std::optional<Device> device_;
  std::optional<Budget> budget_, host_budget_;
  bool keeps_results_of_failure_ = false, asked_machine_ = false, silent_ = false;
  int processes_here_ = 1;
  WatchedRun* watched_ = nullptr;
};

}  // namespace sonde
