// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/load_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sonde/engine/base/printable.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/results/summary.h"

namespace sonde::stem {

void say_acquisition(const Run& run, const Acquisition& acquisition) {
  for (const std::string& line : acquisition_lines(acquisition, acquisition.calibration)) run.say(line);
  for (const std::string& line : note_lines(acquisition)) run.say(line);
}

void say_result(const Run& run, const Dataset& dataset) {
  for (const std::string& line : acquisition_lines(dataset.acquisition(), dataset.calibration())) run.say(line);
  for (const std::string& line : result_lines(dataset)) run.say(line);
}

void report_choice(Run& run, const Choice<std::string>& choice) {
  const std::size_t colon = choice.value.find(": ");
  const std::string what = colon == std::string::npos ? "note" : choice.value.substr(0, colon);
  const std::string value = colon == std::string::npos ? choice.value : choice.value.substr(colon + 2);
  run.report().add_choice(what, Value(value), choice.because);
  run.say(fmt::format("{:<24} {} ({})", what, value, choice.because));
}

void report_load(Run& run, const Dataset& dataset) {
  for (const auto& choice : dataset.choices()) report_choice(run, choice);
  const StageSeconds& s = dataset.seconds();
  const Shape shape = dataset.shape();
  const double stored = static_cast<double>(dataset.stored_bytes());
  const double decoded =
      static_cast<double>(dataset.acquisition().frames * dataset.acquisition().rows * dataset.acquisition().cols) *
      static_cast<double>(size_bytes(dataset.acquisition().stored));
  const double resident = static_cast<double>(shape.count()) * static_cast<double>(size_bytes(dataset.dtype()));
  Value& stages = run.results()["run"]["stages"];
  const MachineRates& machine = run.machine();
  std::vector<std::string> rates;
  // Seconds are summed over threads, which work side by side; a single thread reads.
  const auto stage = [&](const char* name, double seconds, double bytes_in, double bytes_out,
                         Traffic traffic = Traffic::memory) {
    Value& entry = stages[name];
    entry["seconds"] = seconds;
    entry["bytes_in"] = bytes_in;
    entry["bytes_out"] = bytes_out;
    const double rate = seconds > 0 ? std::max(bytes_in, bytes_out) / seconds : 0;
    entry["gb_per_s"] = 1e-9 * rate;
    if (rate <= 0) return;
    const bool disk = traffic == Traffic::disk;
    const double limit = disk ? machine.disk_bytes_per_s : machine.memory_bytes_per_s;
    const double moved = disk ? rate : (bytes_in + bytes_out) / seconds * thread_count();
    if (limit > 0) entry["bandwidth_fraction"] = moved / limit;
    rates.push_back(fmt::format(
        "{} {:.3g}{}", name, 1e-9 * rate,
        limit > 0 ? fmt::format(" ({:.0f} % of {})", 100 * moved / limit, disk ? "the disk" : "memory") : ""));
  };
  const double passes = dataset.passes();
  stage("validate", s.validate, 0, 0);
  stage("index", s.index, 0, 0);
  stage("read", s.read, passes * stored, passes * stored, Traffic::disk);
  stage("decode", s.decode, passes * stored, passes * decoded);
  stage("mask", s.mask, 0, 0);  // a few pixels of every frame; all of them only where sentinels were met
  stage("moments", s.moments, passes * decoded, 0);
  stage("bin", s.bin, passes * decoded, passes * resident);
  stage("layout", s.place, passes * resident, passes * resident);
  Value& load = run.results()["run"]["load"];
  load["seconds"] = s.wall;
  load["passes"] = dataset.passes();
  load["decoded_gb_per_s"] = s.wall > 0 ? 1e-9 * passes * decoded / s.wall : 0.0;
  run.say(
      fmt::format("stages    {}, GB/s of one core{}", fmt::join(rates, ", "),
                  machine.memory_bytes_per_s > 0 ? "" : "; `sonde machine` measures what this machine can do at most"));
  run.results()["ledger"] = dataset.ledger().to_value();
}

}  // namespace sonde::stem
