// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/detector_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"

namespace sonde::stem {
namespace {

/// As f64, in place of whole numbers.
Array as_f64(const Array& image) {
  if (image.dtype() == DType::f64) return alias(image);
  Array made(Device::cpu(), image.shape(), DType::f64);
  const auto* from = static_cast<const std::uint64_t*>(image.data());
  std::transform(from, from + image.count(), static_cast<double*>(made.data()),
                 [](std::uint64_t value) { return static_cast<double>(value); });
  return made;
}

/// What every member's edges are, on the axis of detectors.
std::vector<ImageStack::Coordinate> edges_of(const DetectorSet& set, const DetectorGeometry& geometry) {
  const double per_unit = set.in_rho ? geometry.radius.value_or(1) : 1;
  const double turn = 2 * std::numbers::pi / static_cast<double>(set.sectors);
  std::vector<ImageStack::Coordinate> all = {{"inner_radius", "px", {}}, {"outer_radius", "px", {}}};
  if (set.sectors > 1) {
    all.push_back({"first_angle", "rad", {}});
    all.push_back({"last_angle", "rad", {}});
  }
  for (Index ring = 0; ring < set.rings; ++ring)
    for (Index sector = 0; sector < set.sectors; ++sector) {
      const auto r = static_cast<std::size_t>(ring);
      all[0].values.push_back(set.radii[r] * per_unit);
      all[1].values.push_back(set.radii[r + 1] * per_unit);
      if (set.sectors == 1) continue;
      all[2].values.push_back(set.first_angle + turn * static_cast<double>(sector));
      all[3].values.push_back(set.first_angle + turn * static_cast<double>(sector + 1));
    }
  return all;
}

}  // namespace

std::vector<DetectorSet> detector_sets(const DetectorOptions& options) {
  std::vector<DetectorSet> sets;
  for (const std::string& text : options.detector) {
    if (is_moment(text)) {
      sets.emplace_back();
      sets.back().text = text;
      sets.back().members = {text};
      continue;
    }
    sets.push_back(expand_detector(text));
    if (sets.back().several && options.inclusive)
      throw Error(ErrorKind::usage,
                  fmt::format("{}: its detectors would share the pixels on the edges between them", text))
          .hint("leave out " + setting("inclusive"));
  }
  return sets;
}

DetectorOptions with_members(DetectorOptions options, std::span<const DetectorSet> sets) {
  options.detector.clear();
  options.in_family.clear();
  for (const DetectorSet& set : sets) {
    options.detector.insert(options.detector.end(), set.members.begin(), set.members.end());
    options.in_family.insert(options.in_family.end(), set.members.size(), set.several ? 1 : 0);
  }
  return options;
}

DetectorStack stack_of(const DetectorSet& set, std::span<const DetectorImage> images) {
  DetectorStack stack;
  const Shape one = images.front().image.shape();
  const bool counts =
      std::ranges::all_of(images, [](const DetectorImage& each) { return each.image.dtype() == DType::u64; });
  stack.image.detector = set.text;
  stack.image.path = images.front().path;
  stack.image.image = Array(Device::cpu(), {std::ssize(images), one[0], one[1]}, counts ? DType::u64 : DType::f64);
  auto* to = static_cast<std::byte*>(stack.image.image.data());
  for (const DetectorImage& each : images) {
    const Array values = counts ? alias(each.image) : as_f64(each.image);
    const std::size_t bytes = 8 * static_cast<std::size_t>(values.count());
    std::memcpy(to, values.data(), bytes);
    to += bytes;
    stack.image.area += each.area;
    stack.image.mask_hash = 31 * stack.image.mask_hash + each.mask_hash;
    Value member;
    member["expression"] = each.detector;
    member["area_pixels"] = each.area;
    member["mask_hash"] = fmt::format("xxh3:{:016x}", each.mask_hash);
    stack.members.push_back(std::move(member));
  }
  return stack;
}

void save_stack(const std::string& path, const Dataset& dataset, const DetectorSet& set, const DetectorStack& stack,
                const DetectorGeometry& geometry, const PictureOptions& picture, Value record) {
  record["detector"]["members"] = stack.members;
  Depiction depiction;
  depiction.unit = stack.image.image.dtype() == DType::u64 ? "counts" : "";
  ImageStack layers;
  layers.coordinates = edges_of(set, geometry);
  layers.columns = set.sectors > 1 ? set.sectors : 0;
  layers.of_one_range = set.sectors;
  for (Index member = 0; member < std::ssize(set.members); ++member) layers.labels.push_back(set.label(member));
  save_image(path, stack.image.image, scan_scale(dataset.calibration(), dataset.scan_bin()), picture, std::move(record),
             depiction, &layers);
}

}  // namespace sonde::stem
