// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>

#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

std::string given_text(StatedBy who) {
  if (who == StatedBy::file) return "";
  return who == StatedBy::user ? " (given)" : " (calibration file)";
}

std::string quantity_text(const std::optional<Quantity>& quantity, double factor, const char* unit) {
  if (!quantity) return "";
  return fmt::format("{:.6g} {}{}", quantity->value * factor, unit, given_text(quantity->stated_by));
}

std::string ellipse_text(const std::optional<Distortion>& ellipse) {
  if (!ellipse) return "";
  return fmt::format("ellipse {:.4g} : {:.4g} at {:.1f} degrees{}", ellipse->a, ellipse->b,
                     ellipse->theta * 180 / std::numbers::pi, given_text(ellipse->stated_by));
}

std::string calibration_text(const Calibration& calibration) {
  std::vector<std::string> known;
  for (std::string text :
       {quantity_text(calibration.high_tension_v, 1e-3, "kV"),
        quantity_text(calibration.camera_length_m, 1, "m camera length"),
        quantity_text(calibration.scan_step_col_nm, 1, "nm scan step"),
        quantity_text(calibration.detector_step_mrad, 1, "mrad per pixel"),
        calibration.detector_step_mrad ? std::string()
                                       : quantity_text(calibration.detector_step_inv_a, 1, "1/A per pixel"),
        quantity_text(calibration.rotation_rad, 180 / std::numbers::pi, "degrees from detector to scan"),
        std::string(calibration.transpose.value_or(false) ? "detector transposed" : ""),
        ellipse_text(calibration.ellipse), std::string(calibration.origin ? "origin of every frame" : "")})
    if (!text.empty()) known.push_back(std::move(text));
  return known.empty() ? std::string("none in the file; axes are in px") : join_words(known, ", ");
}

}  // namespace

std::vector<std::string> acquisition_lines(const Acquisition& a, const Calibration& calibration) {
  return {fmt::format("{}: {}, {} frames in {} file{}", a.path, a.format, a.frames, a.files.size(),
                      a.files.size() == 1 ? "" : "s"),
          fmt::format("scan      {} x {} ({})", a.scan.rows, a.scan.cols, a.scan_because),
          fmt::format("detector  {} x {} {}, {} bad pixels in the mask", a.rows, a.cols, name(a.stored),
                      std::count_if(a.pixel_mask.begin(), a.pixel_mask.end(), mask_bit::is_bad)),
          "calibration  " + calibration_text(calibration)};
}

std::vector<std::string> note_lines(const Acquisition& a) {
  std::vector<std::string> lines;
  for (const auto& note : a.notes) lines.push_back(fmt::format("note      {} ({})", note.value, note.because));
  return lines;
}

std::vector<std::string> result_lines(const Dataset& dataset) {
  const Shape shape = dataset.shape();
  const Acquisition& a = dataset.acquisition();
  const auto stored = static_cast<double>(dataset.stored_bytes());
  const bool array = dataset.layout() == LayoutChoice::pixel || dataset.layout() == LayoutChoice::frame;
  const double resident = static_cast<double>(shape.count()) * static_cast<double>(size_bytes(dataset.dtype()));
  const std::string held = array                                          ? format_bytes(resident)
                           : dataset.layout() == LayoutChoice::compressed ? format_bytes(stored)
                                                                          : "nothing";
  const double decoded =
      dataset.passes() * static_cast<double>(a.frames * a.rows * a.cols) * static_cast<double>(size_bytes(a.stored));
  const double seconds = dataset.seconds().wall;
  const Exactness& e = dataset.exactness();
  const bool counts = dataset.dtype() != DType::f32;
  if (!e.values_seen)
    return {fmt::format("summed    {} in {}, {} stored, nothing held", shape.text(), format_seconds(seconds),
                        format_bytes(stored)),
            fmt::format("exactness every count is exact: {} sentinels", e.sentinels + e.masked_sentinels),
            "ledger    " + dataset.ledger().text()};
  return {fmt::format("loaded    {} as {} {} in {} ({:.2f} GB/s decoded), {} held of {} stored", shape.text(),
                      layout_name(dataset.layout()), name(dataset.dtype()), format_seconds(seconds),
                      seconds > 0 ? 1e-9 * decoded / seconds : 0.0, held, format_bytes(stored)),
          fmt::format("exactness {}: largest value {:.{}g}, {} saturated, {} sentinels, {} clipped, {} broken frames",
                      !e.exact() ? "NOT exact"
                      : counts   ? "every count is exact"
                                 : "floating-point values",
                      e.largest, counts ? 17 : 6, e.saturated, e.sentinels + e.masked_sentinels, e.clipped,
                      e.failed_frames),
          "ledger    " + dataset.ledger().text()};
}

}  // namespace sonde::stem
