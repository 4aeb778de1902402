// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/load/load_pass.h"

namespace sonde::stem {
namespace {

DType assumed_type(DType stored, ResultType asked) {
  switch (asked) {
    case ResultType::u8:
      return DType::u8;
    case ResultType::u16:
      return DType::u16;
    case ResultType::u32:
      return DType::u32;
    case ResultType::f32:
      return DType::f32;
    case ResultType::automatic:
      break;
  }
  if (is_float(stored)) return DType::f32;
  return size_bytes(stored) == 1 ? DType::u8 : DType::u16;
}

std::string bytes_text(std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); }

}  // namespace

std::string_view layout_name(LayoutChoice layout) {
  switch (layout) {
    case LayoutChoice::frame:
      return "frame-major";
    case LayoutChoice::compressed:
      return "compressed";
    case LayoutChoice::file:
      return "on file";
    default:
      return "pixel-major";
  }
}

LoadEstimate estimate_load(const LoadSizes& sizes, Index det_bin, Edge edge, Index scan_bin, LayoutChoice layout,
                           ResultType dtype) {
  const DetectorGrid grid = DetectorGrid::make(sizes.rows, sizes.cols, det_bin, edge);
  LoadEstimate estimate;
  estimate.det_bin = det_bin;
  estimate.rows = grid.out_rows;
  estimate.cols = grid.out_cols;
  estimate.layout = layout;
  estimate.dtype = assumed_type(sizes.stored, dtype);
  // A sum of bins of u8 counts needs more than u8 unless the user says otherwise.
  if (estimate.dtype == DType::u8 && dtype == ResultType::automatic && det_bin * scan_bin > 1)
    estimate.dtype = DType::u16;
  if (dtype == ResultType::automatic && sizes.needed && size_bytes(*sizes.needed) >= size_bytes(estimate.dtype))
    estimate.dtype = *sizes.needed;

  const auto positions = static_cast<std::size_t>(sizes.scan_rows * sizes.scan_cols);
  const auto pixels = static_cast<std::size_t>(grid.out_pixels());
  const std::size_t element_bytes = size_bytes(estimate.dtype);
  switch (layout) {
    case LayoutChoice::frame:
      estimate.resident_bytes = positions * pixels * element_bytes;
      break;
    case LayoutChoice::compressed:
      estimate.resident_bytes = sizes.stored_bytes;
      break;
    case LayoutChoice::file:
      estimate.resident_bytes = 0;
      break;
    default:
      estimate.resident_bytes = pixels * ((positions * element_bytes + 63) / 64 * 64);
  }
  PassSettings pass;
  pass.detector = grid;
  pass.scan.bin = scan_bin;
  pass.scan.out_rows = sizes.scan_rows;
  pass.scan.out_cols = sizes.scan_cols;
  const ResidentSettings resident{.out = estimate.dtype,
                                  .destination = layout == LayoutChoice::frame   ? Destination::frames
                                                 : layout == LayoutChoice::pixel ? Destination::planes
                                                                                 : Destination::none};
  estimate.index_bytes = 24 * static_cast<std::size_t>(sizes.frames);
  estimate.working_bytes =
      sizes.reading_bytes + sizes.beside_bytes +
      load_pass_bytes(pass, resident, sizes.stored, sizes.largest_batch_bytes, sizes.stored_bytes, sizes.workers);
  estimate.predicted_peak_bytes = estimate.resident_bytes + estimate.index_bytes + estimate.working_bytes;
  return estimate;
}

Choice<LoadEstimate> choose_load(const LoadSizes& sizes, std::optional<Index> det_bin, Edge edge, Index scan_bin,
                                 LayoutChoice layout, ResultType dtype, std::size_t budget_bytes) {
  std::vector<Index> bins = {1, 2, 4, 8, 16};
  if (det_bin) bins = {*det_bin};
  if (det_bin && *det_bin > std::min(sizes.rows, sizes.cols))
    throw Error(ErrorKind::bad_input, fmt::format("detector bin {} is larger than the detector of {} x {} pixels",
                                                  *det_bin, sizes.rows, sizes.cols))
        .hint("give " + setting("det_bin") + " 1, 2, 4, 8 or auto");
  std::vector<LayoutChoice> layouts = {layout};
  if (layout == LayoutChoice::automatic) {
    // Sums cost less from lists of electrons than from frames.
    layouts = {sizes.electrons ? LayoutChoice::compressed : LayoutChoice::pixel};
    // With bin auto a larger bin is preferred to decoding again for every image.
    if (sizes.electrons)
      layouts.push_back(LayoutChoice::file);
    else if (det_bin)
      layouts.insert(layouts.end(), {LayoutChoice::compressed, LayoutChoice::file});
  }

  std::optional<LoadEstimate> smallest;
  for (const LayoutChoice each : layouts)
    for (const Index bin : bins) {
      if (bin > std::min(sizes.rows, sizes.cols)) continue;
      LoadEstimate estimate = estimate_load(sizes, bin, edge, scan_bin, each, dtype);
      if (!smallest || estimate.predicted_peak_bytes < smallest->predicted_peak_bytes) smallest = estimate;
      if (estimate.predicted_peak_bytes > budget_bytes) continue;
      estimate.cache_bytes = std::min(sizes.useful_cache_bytes, budget_bytes - estimate.predicted_peak_bytes);
      estimate.predicted_peak_bytes += estimate.cache_bytes;
      estimate.because = fmt::format("bin {} {}: {} x {} x {} x {} {}, resident {}, predicted peak {}, budget {}", bin,
                                     layout_name(each), sizes.scan_rows, sizes.scan_cols, estimate.rows, estimate.cols,
                                     name(estimate.dtype), bytes_text(estimate.resident_bytes),
                                     bytes_text(estimate.predicted_peak_bytes), bytes_text(budget_bytes));
      return {estimate, estimate.because};
    }
  if (!smallest)
    throw Error(ErrorKind::bad_input, fmt::format("no detector bin suits {} x {} pixels", sizes.rows, sizes.cols));
  throw Error(ErrorKind::budget,
              fmt::format("the scan does not fit: the smallest need is {} (bin {}, {}), the budget is {}",
                          bytes_text(smallest->predicted_peak_bytes), smallest->det_bin, layout_name(smallest->layout),
                          bytes_text(budget_bytes)))
      .hint(det_bin ? "give " + setting("det_bin", "auto") + ", a smaller " + setting("scan_region") + ", or more " +
                          setting("memory")
                    : "give a " + setting("scan_bin") + ", a smaller " + setting("scan_region") + ", or more " +
                          setting("memory"));
}

MemoryPlan LoadEstimate::memory() const {
  MemoryPlan plan{.lasting_bytes = resident_bytes + index_bytes + cache_bytes, .peak_bytes = predicted_peak_bytes};
  plan.add("scan", resident_bytes,
           fmt::format("bin {}, {} x {} {}, {}", det_bin, rows, cols, name(dtype), layout_name(layout)));
  plan.add("index of frames", index_bytes, "24 B per stored frame");
  plan.add("decoded chunks", cache_bytes, "kept while space is left, for images made from the file");
  plan.add("while loading", working_bytes, "batches that are read, sums, and what each thread works with");
  return plan;
}

std::vector<std::pair<Index, double>> float32_table(const LoadSizes& sizes) {
  std::vector<std::pair<Index, double>> rows;
  for (const Index bin : {1, 2, 4, 8})
    rows.emplace_back(bin, static_cast<double>(sizes.scan_rows * sizes.scan_cols) *
                               static_cast<double>(sizes.rows * sizes.cols) / static_cast<double>(bin * bin) * 4.0);
  return rows;
}

}  // namespace sonde::stem
