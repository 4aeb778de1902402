// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/stem_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/results/provenance.h"

namespace sonde::cli {
namespace {

std::string quantity_text(const std::optional<stem::Quantity>& quantity, double factor, const char* unit) {
  if (!quantity) return "";
  return fmt::format("{:.6g} {}{}", quantity->value * factor, unit,
                     quantity->stated_by == stem::StatedBy::user ? " (given)" : "");
}

}  // namespace

void say_acquisition(const Context& context, const stem::Acquisition& a) {
  context.say(fmt::format("{}: {}, {} frames in {} file{}", a.path, a.format, a.frames, a.files.size(),
                          a.files.size() == 1 ? "" : "s"));
  context.say(fmt::format("scan      {} x {} ({})", a.scan.rows, a.scan.cols, a.scan_because));
  context.say(fmt::format("detector  {} x {} {}, {} bad pixels in the mask", a.rows, a.cols, name(a.stored),
                          std::count_if(a.pixel_mask.begin(), a.pixel_mask.end(), stem::mask_bit::is_bad)));
  std::vector<std::string> known;
  for (std::string text : {quantity_text(a.calibration.high_tension_v, 1e-3, "kV"),
                           quantity_text(a.calibration.camera_length_m, 1, "m camera length"),
                           quantity_text(a.calibration.scan_step_col_nm, 1, "nm scan step"),
                           quantity_text(a.calibration.detector_step_mrad, 1, "mrad per pixel")})
    if (!text.empty()) known.push_back(std::move(text));
  context.say("calibration  " +
              (known.empty() ? std::string("none in the file; axes are in px") : join_words(known, ", ")));
  for (const auto& note : a.notes) context.say(fmt::format("note      {} ({})", note.value, note.because));
}

void report_load(Context& context, const stem::Dataset& dataset) {
  for (const auto& choice : dataset.choices()) {
    const std::size_t colon = choice.value.find(": ");
    const std::string what = colon == std::string::npos ? "note" : choice.value.substr(0, colon);
    const std::string value = colon == std::string::npos ? choice.value : choice.value.substr(colon + 2);
    context.report().add_choice(what, Value(value), choice.because);
    context.say(fmt::format("{:<24} {} ({})", what, value, choice.because));
  }
  const stem::StageSeconds& s = dataset.seconds();
  const Shape shape = dataset.shape();
  const double stored = static_cast<double>(dataset.stored_bytes());
  const double decoded =
      static_cast<double>(dataset.acquisition().frames * dataset.acquisition().rows * dataset.acquisition().cols) *
      static_cast<double>(size_bytes(dataset.acquisition().stored));
  const bool array = dataset.layout() == stem::LayoutChoice::pixel || dataset.layout() == stem::LayoutChoice::frame;
  const double resident = static_cast<double>(shape.count()) * static_cast<double>(size_bytes(dataset.dtype()));
  const std::string held = array                                                ? format_bytes(resident)
                           : dataset.layout() == stem::LayoutChoice::compressed ? format_bytes(stored)
                                                                                : "nothing";
  Value& stages = context.results()["stages"];
  const MachineRates& machine = context.machine();
  std::vector<std::string> rates;
  // Seconds are summed over threads, which work side by side; one thread alone reads.
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
  Value& load = context.results()["load"];
  load["seconds"] = s.wall;
  load["passes"] = dataset.passes();
  load["decoded_gb_per_s"] = s.wall > 0 ? 1e-9 * passes * decoded / s.wall : 0.0;
  context.say(fmt::format("loaded    {} as {} {} in {} ({:.2f} GB/s decoded), {} held of {} stored", shape.text(),
                          stem::layout_name(dataset.layout()), name(dataset.dtype()), format_seconds(s.wall),
                          s.wall > 0 ? 1e-9 * passes * decoded / s.wall : 0.0, held, format_bytes(stored)));
  context.say(
      fmt::format("stages    {}, GB/s of one core{}", fmt::join(rates, ", "),
                  machine.memory_bytes_per_s > 0 ? "" : "; `sonde machine` measures what this machine can do at most"));
  const stem::Exactness& e = dataset.exactness();
  const bool counts = dataset.dtype() != DType::f32;
  context.say(fmt::format(
      "exactness {}: largest value {:.{}g}, {} saturated, {} sentinels, {} clipped, {} broken frames",
      !e.exact() ? "NOT exact"
      : counts   ? "every count is exact"
                 : "floating-point values",
      e.largest, counts ? 17 : 6, e.saturated, e.sentinels + e.masked_sentinels, e.clipped, e.failed_frames));
}

}  // namespace sonde::cli
