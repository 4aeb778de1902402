// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/clock.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/options/value.h"

namespace sonde {

/// What a phase moves its bytes through, so that its rate is compared with the right limit of the machine.
enum class Traffic { memory, disk, link };

/// Limits of this machine as measured by `sonde machine`; 0 where not measured.
struct MachineRates {
  double memory_bytes_per_s = 0;
  double disk_bytes_per_s = 0;
  double link_bytes_per_s = 0;  ///< host to device, pinned
  double flops_per_s = 0;       ///< multiply-add in f32, two operations each
};

class Report;

/// The time between construction and destruction as one call of a phase. Phases begun inside it are its children; a
/// phase begun again under the same name and parent is a further call: the first call is kept apart, the others are the
/// steady state. Use it from the thread that runs the command. With a stream, time on the device is included.
class Phase {
 public:
  Phase(Phase&& other) noexcept;
  Phase& operator=(Phase&&) = delete;
  ~Phase();

  /// Everything until now was preparation (counted as prepare_s); the call itself starts here.
  void prepared();
  /// Adds to the traffic and the operations of this call.
  void add_bytes(double bytes, Traffic traffic = Traffic::memory);
  void add_flops(double flops);
  /// Ends the call before the scope does.
  void end();

 private:
  friend class Report;
  struct Node;
  Phase(Report& report, Node& node, Stream* stream);

  Report* report_;
  Node* node_;
  Stream* stream_;
  Stopwatch watch_;
};

/// What one run of a command did: "sonde.report/1". Collects in memory and writes once, complete or not at all. Not
/// thread-safe: it belongs to the thread that runs the command.
///
///   Report report("stem load");
///   report.set_options(fields.echo());
///   { auto phase = report.phase("decode"); decode(); phase.add_bytes(1.2e9); }
///   report.results()["frames"] = 16384;
///   report.write("run.json");
class Report {
 public:
  explicit Report(std::string command);
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report();

  void set_device(Device device);
  void set_options(Value echo) { options_ = std::move(echo); }
  /// Settings that came another way than by options: a run file, resolved.
  void add_options(const std::string& name, Value settings) { options_[name] = std::move(settings); }
  /// Rates become fractions of these.
  void set_machine(const MachineRates& rates) { machine_ = rates; }
  [[nodiscard]] const MachineRates& machine() const { return machine_; }
  /// "ok" until set; the program sets "failed" and the error's text.
  void set_failed(const std::string& error);

  void add_choice(std::string what, Value value, std::string because);
  template <class T>
  void add_choice(std::string what, const Choice<T>& choice) {
    add_choice(std::move(what), Value(choice.value), choice.because);
  }

  /// What was said on the way that is neither an error nor a result: a warning, or a note.
  void add_message(const std::string& level, const std::string& text);

  /// Begins a call of a phase (see Phase).
  [[nodiscard]] Phase phase(const std::string& name, Stream* stream = nullptr);

  /// Records |value| <= tolerance and returns it. Not-a-number does not pass.
  bool check(std::string name, double value, double tolerance);
  /// A limit that held during the run, for instance ("host", bytes, "0.6 of the available memory").
  void set_memory_limit(const std::string& tier, std::size_t bytes, const std::string& because);

  /// What the command found: any members.
  [[nodiscard]] Value& results() { return results_; }
  [[nodiscard]] const Value& results() const { return results_; }
  [[nodiscard]] bool all_checks_pass() const;

  /// The report as it stands, with the peak memory until now.
  [[nodiscard]] Value to_value() const;
  /// Writes to_value() as JSON under a temporary name and renames it. Throws Error(io).
  void write(const std::string& path) const;
  /// Phases as an indented table with times, rates and fractions, for people.
  [[nodiscard]] std::string to_text() const;

 private:
  friend class Phase;

  std::string command_;
  Device device_;
  std::string error_;
  Value options_ = Value::object();
  Value choices_ = Value::list();
  Value checks_ = Value::list();
  Value messages_ = Value::list();
  Stopwatch watch_;
  Value limits_ = Value::object();
  Value results_ = Value::object();
  MachineRates machine_;
  std::unique_ptr<Phase::Node> root_;
  Phase::Node* current_;
};

/// The table of phases of a report that was read back; what Report::to_text() prints.
[[nodiscard]] std::string report_text(const Value& report);

/// Reads a report and checks its schema. Throws Error(bad_file) naming the schema that was found.
[[nodiscard]] Value read_report(const std::string& path);

}  // namespace sonde
