// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "sonde/engine/array/visit_real.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/bragg/bragg_faults.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/visit_frames.h"
#include "sonde/instruments/stem/results/detector_images.h"

namespace sonde::stem {
namespace {

View<const double, 2> seen(const Array& pattern) { return pattern.view<double, 2>(); }

Value settings_value(const Probe& probe, const KernelSettings& kernel, const DiskSettings& disks) {
  Value value;
  value["probe_radius"] = probe.radius;
  value["probe_edge"] = probe.edge;
  value["probe_measured"] = !probe.image.empty();
  value["kernel"] = name(kernel.shape);
  value["kernel_inner"] = kernel.inner > 0 ? kernel.inner : probe.radius;
  value["kernel_outer"] = kernel.outer > 0 ? kernel.outer : 2 * probe.radius;
  value["gain"] = disks.gain;
  value["background"] = name(disks.background);
  if (disks.background == PatternBackground::dog) value["background_sigma"] = disks.background_sigma;
  if (disks.background == PatternBackground::radial_median) {
    value["background_row"] = disks.background_row;
    value["background_col"] = disks.background_col;
  }
  value["corr_power"] = disks.corr_power;
  value["sigma_dp"] = disks.sigma_dp;
  value["sigma_cc"] = disks.sigma_cc;
  value["subpixel"] = name(disks.subpixel);
  value["upsample_factor"] = disks.upsample_factor;
  value["min_absolute_intensity"] = disks.min_absolute_intensity;
  value["min_relative_intensity"] = disks.min_relative_intensity;
  value["relative_to_peak"] = disks.relative_to_peak;
  value["min_peak_spacing"] = disks.min_peak_spacing;
  value["edge_boundary"] = disks.edge_boundary;
  value["max_num_peaks"] = disks.max_num_peaks;
  return value;
}

std::string background_reason(const BraggOptions& options, const DiskSettings& disks) {
  if (disks.background == PatternBackground::dog)
    return fmt::format("less a Gaussian of {:.2f} px, {}", disks.background_sigma,
                       options.background_sigma ? "given" : "two radii");
  if (disks.background != PatternBackground::radial_median) return "given";
  return fmt::format("about row {:.2f}, col {:.2f}, {}", disks.background_row, disks.background_col,
                     options.probe == "auto" ? "the direct disk" : "where the mean pattern is symmetric");
}

/// The origin of rings: the direct disk; of a template that was not measured here, where the mean pattern is symmetric.
void find_origin(const Dataset& dataset, const Probe& probe, const BraggOptions& options, const Array& mean,
                 DiskSettings& disks) {
  if (disks.background != PatternBackground::radial_median) return;
  disks.background_row = probe.row;
  disks.background_col = probe.col;
  if (options.probe == "auto") return;
  const Centre centre = find_centre(seen(mean), dataset.good(), CentreMethod::friedel);
  disks.background_row = centre.row;
  disks.background_col = centre.col;
}

std::vector<Choice<std::string>> choices_of(const Probe& probe, const KernelSettings& kernel,
                                            const BraggOptions& options, const DiskSettings& disks,
                                            const std::optional<double>& spacing) {
  std::vector<Choice<std::string>> made;
  if (options.radius())
    made.push_back({fmt::format("probe     soft disk of radius {:.2f} px", probe.radius), "given"});
  else if (!options.vacuum().empty())
    made.push_back(
        {fmt::format("probe     radius {:.2f} px at row {:.2f}, col {:.2f}", probe.radius, probe.row, probe.col),
         "the disk of the vacuum scan"});
  else
    made.push_back({fmt::format("probe     radius {:.2f} px, edge {:.2f} px", probe.radius, probe.edge),
                    fmt::format("the brightest disk of the mean pattern, at row {:.2f}, col {:.2f}, round to {:.2f}",
                                probe.row, probe.col, probe.confidence)});
  const double inner = kernel.inner > 0 ? kernel.inner : probe.radius;
  std::string because = options.kernel_outer ? "given" : "two radii";
  if (!options.kernel_outer && spacing)
    because = fmt::format("neighbours are {:.1f} px away, and a trench over them pushes disks away", *spacing);
  made.push_back(
      {fmt::format("kernel    {}, trench {:.2f} to {:.2f} px", name(kernel.shape), inner, kernel.outer), because});
  if (disks.background != PatternBackground::none)
    made.push_back({fmt::format("backgr.   {}", name(disks.background)), background_reason(options, disks)});
  made.push_back({fmt::format("spacing   {:.2f} px", disks.min_peak_spacing),
                  options.min_peak_spacing ? "given" : "1.5 radii: disks that touch are 2 radii apart"});
  made.push_back({fmt::format("edge      {} px", disks.edge_boundary),
                  options.edge_boundary ? "given" : "one radius and a pixel: disks that are cut off are misplaced"});
  return made;
}

/// How far apart the disks of the mean pattern are at least, px; nothing where it has one.
std::optional<double> disk_spacing(const Array& mean, const Probe& probe, DiskSettings settings,
                                   std::span<const std::uint8_t> good) {
  settings.subpixel = Refinement::poly;
  settings.corr_power = 1;
  // Of the mean of many patterns what is weaker may be the background's.
  settings.min_relative_intensity = 0.02;
  const Index rows = mean.shape()[0], cols = mean.shape()[1];
  const KernelSettings narrow{.inner = probe.radius, .outer = probe.radius + 2};
  const BraggPlan plan = BraggPlan::prepare(rows, cols, soft_probe(probe.radius, probe.edge), narrow, settings, good);
  BraggPlan::Scratch scratch(plan);
  DiskList found;
  plan.run(static_cast<const double*>(mean.data()), 1, scratch, found);
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < found.disks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      nearest = std::min(nearest, std::hypot(static_cast<double>(found.disks[i].qy - found.disks[j].qy),
                                             static_cast<double>(found.disks[i].qx - found.disks[j].qx)));
  return std::isfinite(nearest) ? std::optional(nearest) : std::nullopt;
}

/// A trench over a neighbour that is brighter pushes a disk away from it: it ends where neighbours begin, three edge
/// widths and two of the smoothing before their radius, but is a pixel and a quarter of the radius wide. In simulated
/// patterns (radius 4 px, neighbours 12.4 px away and three times as bright) a trench to 2 R moved disks by 0.4 px, of
/// a pixel by 0.07 px; with disks of 16 px, 36 px apart, places scatter by 0.5 px with a trench of a pixel, by 0.2 px
/// with one of a quarter of the radius.
double trench_end(const Probe& probe, const std::optional<double>& spacing, double smoothing) {
  const double widest = std::max(2 * probe.radius, probe.radius + 1);
  if (!spacing) return widest;
  const double narrowest = probe.radius + std::max(1.0, probe.radius / 4);
  return std::clamp(*spacing - probe.radius - 3 * probe.edge - 2 * smoothing, narrowest, widest);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<double> typical_sigma(const BraggVectors& vectors) {
  std::vector<double> sigmas;
  for (std::size_t i = 0; i < vectors.var_y.size(); ++i) {
    const double mean = 0.5 * (static_cast<double>(vectors.var_y[i]) + static_cast<double>(vectors.var_x[i]));
    if (std::isfinite(mean)) sigmas.push_back(std::sqrt(mean));
  }
  if (sigmas.empty()) return std::nullopt;
  return median(std::move(sigmas));
}

/// The pattern with as many disks as half of the patterns have that is nearest to the middle of the scan.
Index typical_position(const BraggVectors& vectors) {
  std::vector<double> counts;
  for (Index p = 0; p < vectors.positions(); ++p)
    if (vectors.valid[static_cast<std::size_t>(p)] != 0) counts.push_back(static_cast<double>(vectors.count(p)));
  const double usual = median(std::move(counts));
  Index best = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (Index p = 0; p < vectors.positions(); ++p) {
    if (vectors.valid[static_cast<std::size_t>(p)] == 0 || static_cast<double>(vectors.count(p)) < usual) continue;
    const double distance = std::hypot(static_cast<double>(2 * (p / vectors.scan_cols) - vectors.scan_rows + 1),
                                       static_cast<double>(2 * (p % vectors.scan_cols) - vectors.scan_cols + 1));
    if (distance >= nearest) continue;
    nearest = distance;
    best = p;
  }
  return best;
}

}  // namespace

Probe find_probe(const Dataset& dataset, const BraggOptions& options) {
  if (const auto radius = options.radius()) return soft_probe(*radius);
  try {
    const Array mean = mean_pattern(dataset);
    return measure_probe(seen(mean), dataset.good());
  } catch (const Error&) {
    throw Error(
        ErrorKind::bad_input,
        dataset.acquisition().path +
            ": no central disk was found in the mean pattern: it may be behind a beam stop or beside the detector")
        .hint("give the radius of a disk, " + setting("probe", "RADIUS") + ", or a vacuum scan, " +
              setting("probe", "FILE"));
  }
}

Probe vacuum_probe(const Dataset& vacuum) {
  const Array mean = mean_pattern(vacuum);
  return measure_vacuum_probe(seen(mean), vacuum.good());
}

Array vector_map(const BraggVectors& vectors) {
  Array map = Array::zeros(Device::cpu(), {vectors.rows, vectors.cols}, DType::f64);
  const View<double, 2> sums = map.view<double, 2>();
  for (std::size_t i = 0; i < vectors.qy.size(); ++i) {
    const auto y = static_cast<double>(vectors.qy[i]), x = static_cast<double>(vectors.qx[i]);
    const auto row = static_cast<Index>(std::floor(y)), col = static_cast<Index>(std::floor(x));
    const double fy = y - std::floor(y), fx = x - std::floor(x);
    const auto add = [&](Index r, Index c, double share) {
      if (r >= 0 && r < vectors.rows && c >= 0 && c < vectors.cols)
        sums(r, c) += share * static_cast<double>(vectors.intensity[i]);
    };
    add(row, col, (1 - fy) * (1 - fx));
    add(row, col + 1, (1 - fy) * fx);
    add(row + 1, col, fy * (1 - fx));
    add(row + 1, col + 1, fy * fx);
  }
  return map;
}

BraggSearch choose_search(const Dataset& dataset, const Probe& probe, const BraggOptions& options) {
  BraggSearch search{.mean = mean_pattern(dataset),
                     .spacing = {},
                     .kernel = options.kernel_settings(),
                     .disks = options.disk_settings(probe)};
  find_origin(dataset, probe, options, search.mean, search.disks);
  search.spacing = disk_spacing(search.mean, probe, search.disks, dataset.good());
  if (!options.kernel_outer)
    search.kernel.outer =
        std::max(trench_end(probe, search.spacing, search.disks.sigma_refine()), search.kernel.inner + 1);
  return search;
}

BraggResult make_bragg(const Dataset& dataset, const Probe& probe, const BraggOptions& options, Budget budget) {
  BraggResult result;
  result.probe = probe;
  const Shape shape = dataset.shape();
  BraggSearch search = choose_search(dataset, probe, options);
  const DiskSettings& settings = search.disks;
  const KernelSettings& kernel = search.kernel;
  result.mean = std::move(search.mean);
  result.choices = choices_of(probe, kernel, options, settings, search.spacing);
  const BraggPlan plan = BraggPlan::prepare(shape[2], shape[3], probe, kernel, settings, dataset.good());
  const Reservation room =
      budget.reserve(BraggDisks::most_bytes(dataset.positions(), settings.max_num_peaks), "lists of disks",
                     "give a smaller " + setting("max_num_peaks") + " or more " + setting("memory"));
  BraggDisks disks(plan);
  Operation* const operation = &disks;
  visit_frames(dataset, "Bragg disks", std::span(&operation, 1));
  result.vectors = std::move(disks.vectors);
  result.filters = disks.filters;
  BraggVectors& vectors = result.vectors;
  vectors.probe_radius = probe.radius;
  vectors.calibration = calibration_of(dataset);
  vectors.parameters = to_json(settings_value(probe, kernel, settings), -1);
  for (Index p = 0; p < vectors.positions(); ++p) {
    if (vectors.valid[static_cast<std::size_t>(p)] == 0) continue;
    ++result.patterns;
    if (vectors.count(p) == 0) ++result.without;
  }
  result.nearest = nearest_distance(vectors);
  result.sigma = typical_sigma(vectors);
  result.map = vector_map(vectors);
  result.shown = typical_position(vectors);
  result.pattern = dataset.pattern(result.shown / vectors.scan_cols, result.shown % vectors.scan_cols);
  result.warnings = bragg_faults(result, options, dataset);
  return result;
}

Value BraggResult::to_value() const {
  Value value = parse_json(vectors.parameters, "parameters");
  value["probe_row"] = probe.row;
  value["probe_col"] = probe.col;
  value["patterns"] = patterns;
  value["patterns_without_disks"] = without;
  value["disks"] = vectors.disks();
  value["maxima_found"] = static_cast<Index>(filters.found);
  value["removed_by_edge_boundary"] = static_cast<Index>(filters.edge);
  value["removed_by_min_absolute_intensity"] = static_cast<Index>(filters.absolute);
  value["removed_by_min_relative_intensity"] = static_cast<Index>(filters.relative);
  value["removed_by_min_peak_spacing"] = static_cast<Index>(filters.spacing);
  value["removed_by_max_num_peaks"] = static_cast<Index>(filters.number);
  value["nearest_neighbour_px"] = nearest;
  if (sigma) value["median_sigma_px"] = *sigma;
  value["status"] = converged() ? "converged" : "not converged";
  value["warnings"] = warnings;
  return value;
}

std::vector<std::string> BraggResult::lines() const {
  std::vector<std::string> lines;
  for (const Choice<std::string>& choice : choices) lines.push_back(choice.value + " (" + choice.because + ")");
  lines.push_back(
      fmt::format("maxima    {} found; removed: {} edge, {} absolute and {} relative intensity, {} spacing, {} number",
                  filters.found, filters.edge, filters.absolute, filters.relative, filters.spacing, filters.number));
  lines.push_back(
      fmt::format("disks     {} in {} patterns, {:.1f} each; {} patterns without", vectors.disks(), patterns,
                  patterns > 0 ? static_cast<double>(vectors.disks()) / static_cast<double>(patterns) : 0, without));
  if (sigma)
    lines.push_back(fmt::format("places    known to {:.3f} px along each axis (median; by the counts)", *sigma));
  return lines;
}

Contents BraggResult::contents(const std::string& command) const {
  Contents contents = vectors.contents(command);
  Contents::Variable& variable = contents.add("bragg/vector_map", {"row", "column"}, alias(map)).unit("counts");
  variable.attributes.emplace_back("frame", std::string("detector"));
  variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
  variable.attributes.emplace_back("command", command);
  return contents;
}

Array BraggResult::picture() const {
  ImageStyle style{.colours = ColourMap::magma, .stretch = Stretch::log};
  std::vector<Panel> panels;
  style.overlays = {Circle{probe.row, probe.col, probe.radius}};
  // A given radius has no place.
  if (probe.row == 0 && probe.col == 0) style.overlays.clear();
  panels.push_back({"mean pattern", render_image(mean, style)});
  style.overlays.clear();
  for (Index i = vectors.first(shown); i < vectors.last(shown); ++i)
    style.overlays.emplace_back(Circle{static_cast<double>(vectors.qy[static_cast<std::size_t>(i)]),
                                       static_cast<double>(vectors.qx[static_cast<std::size_t>(i)]), probe.radius});
  panels.push_back({fmt::format("disks at row {}, col {}", shown / vectors.scan_cols, shown % vectors.scan_cols),
                    render_image(pattern, style)});
  style.overlays.clear();
  panels.push_back({"Bragg vector map", render_image(map, style)});
  return montage(panels, 3);
}

}  // namespace sonde::stem
