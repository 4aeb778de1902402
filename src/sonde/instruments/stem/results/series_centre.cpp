// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/series_centre.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/stem/load/trusted.h"

namespace sonde::stem {

double SeriesCentre::largest_shift() const {
  double largest = 0;
  for (const ScanShift& shift : shifts)
    if (shift.row && shift.col) largest = std::max(largest, std::hypot(*shift.row, *shift.col));
  return largest;
}

Value SeriesCentre::to_value() const {
  Value value;
  value["row"] = centre.row;
  value["col"] = centre.col;
  value["radius"] = centre.radius;
  value["residual_rms"] = centre.residual_rms;
  value["confidence"] = centre.confidence;
  value["method"] = name(centre.method);
  value["notes"] = centre.notes;
  value["largest_shift_px"] = largest_shift();
  value["shifts"] = Value::list();
  for (const ScanShift& shift : shifts) {
    Value entry;
    entry["scan"] = shift.label;
    if (shift.row && shift.col) {
      entry["row"] = *shift.row;
      entry["col"] = *shift.col;
    } else {
      entry["error"] = shift.reason;
    }
    value["shifts"].push_back(std::move(entry));
  }
  return value;
}

Value SeriesCentre::of_scan(Index i) const {
  const ScanShift& shift = shifts.at(static_cast<std::size_t>(i));
  Value value;
  value["scans"] = static_cast<Index>(shifts.size());
  value["shift_row"] = shift.row ? Value(*shift.row) : Value();
  value["shift_col"] = shift.col ? Value(*shift.col) : Value();
  return value;
}

std::vector<std::string> SeriesCentre::lines() const {
  std::vector<std::string> lines = {
      fmt::format("centre    row {:.3f}, col {:.3f}, radius {:.3f} px (confidence {:.2f}, {}) in the mean of {} scans",
                  centre.row, centre.col, centre.radius, centre.confidence, name(centre.method), shifts.size())};
  for (const std::string& note : centre.notes) lines.push_back("          " + note);
  for (const ScanShift& shift : shifts)
    lines.push_back(shift.row && shift.col
                        ? fmt::format("shift     {}: row {:+.3f}, col {:+.3f} px", shift.label, *shift.row, *shift.col)
                        : fmt::format("shift     {}: not found: {}", shift.label, shift.reason));
  return lines;
}

Centre SeriesCentreFinder::centre_of(View<const double, 2> pattern, std::span<const std::uint8_t> trusted) const {
  return disk_ ? find_disk(pattern, trusted, method_) : find_centre(pattern, trusted, method_);
}

void SeriesCentreFinder::add(const Dataset& dataset, const std::string& label) {
  const Array mean = mean_pattern(dataset);
  const std::vector<std::uint8_t> trusted = trusted_pixels(dataset);
  if (own_.empty()) {
    shape_ = mean.shape();
    bin_ = dataset.det_bin();
    sum_.assign(static_cast<std::size_t>(mean.count()), 0.0);
    trusted_.assign(sum_.size(), 1);
  } else if (mean.shape() != shape_) {
    unequal_ = fmt::format("{}: patterns of {} pixels in bins of {}; those before have {} in bins of {}", label,
                           mean.shape().text(), dataset.det_bin(), shape_.text(), bin_);
    return;
  }
  const auto* values = static_cast<const double*>(mean.data());
  for (std::size_t q = 0; q < sum_.size(); ++q) {
    sum_[q] += values[q];
    trusted_[q] = trusted_[q] != 0 && trusted[q] != 0 ? 1 : 0;
  }
  Own own{label, {}, {}};
  try {
    own.centre = centre_of(mean.view<double, 2>(), trusted);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    own.reason = error.message();
  }
  own_.push_back(std::move(own));
}

SeriesCentre SeriesCentreFinder::find() const {
  if (!unequal_.empty())
    throw Error(ErrorKind::bad_input, unequal_)
        .hint(setting("det_bin") + " with a number gives all scans of the series the same bins");
  std::vector<double> mean = sum_;
  for (double& value : mean) value /= static_cast<double>(own_.size());
  SeriesCentre found{centre_of(View<const double, 2>(mean.data(), shape_[0], shape_[1]), trusted_), {}};
  for (const Own& own : own_) {
    ScanShift shift{own.label, {}, {}, own.reason};
    if (own.centre) {
      shift.row = own.centre->row - found.centre.row;
      shift.col = own.centre->col - found.centre.col;
    }
    found.shifts.push_back(std::move(shift));
  }
  constexpr double noticeable_px = 1;
  if (const double largest = found.largest_shift(); largest > noticeable_px)
    found.centre.notes.push_back(
        fmt::format("the beam moves by up to {:.2f} px between the scans, the detectors do not; a scan that is loaded "
                    "without the others has its own centre",
                    largest));
  return found;
}

SeriesCentre find_series_centre(Series& series, CentreMethod method, bool disk) {
  SeriesCentreFinder finder(method, disk);
  for (Index i = 0; i < series.size(); ++i) {
    check_interrupt();
    finder.add(*series.item(i), series.items()[static_cast<std::size_t>(i)].label);
  }
  return finder.find();
}

std::optional<SeriesCentre> series_centre_for(Series& series, const DetectorOptions& options) {
  const CentreNeed need = centre_need(options);
  if (need == CentreNeed::none) return std::nullopt;
  try {
    return find_series_centre(series, options.centre_method, need == CentreNeed::disk);
  } catch (const Error& error) {
    if (need == CentreNeed::disk || error.kind() != ErrorKind::bad_input) throw;
    return std::nullopt;  // each image has the mean of its scan as its origin
  }
}

}  // namespace sonde::stem
