// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/scan_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/survey.h"

namespace sonde::stem {
namespace {

// Below this a disk in the mean of a sample may be noise that the mean of the whole scan does not have; a disk that
// most rays from its centre meet at one radius has 0.9 and more.
constexpr double least_confidence = 0.5;

/// Why the images need a load; empty when one pass over the frames is enough.
std::string why_loaded(const Source& source, const LoadOptions& load, const DetectorOptions& detectors, Device device) {
  if (!device.is_cpu()) return "on " + device.name();
  if (std::any_of(detectors.detector.begin(), detectors.detector.end(),
                  [](const std::string& text) { return is_moment(text); }))
    return "first moments are computed by a load";
  if (detectors.antialias) return "weighted masks need decoded frames";
  if (!can_survey(source, load)) return "the settings or the file ask for decoded frames";
  return "";
}

/// The images in one walk; else why they need a load.
std::string try_survey(ScanImages& made, std::unique_ptr<Source> source, const LoadOptions& load,
                       const DetectorOptions& detectors, const Budget& budget) {
  made.dataset = survey(std::move(source), load, budget);
  try {
    made.geometry = detector_geometry(made.dataset, detectors, made.centre);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    return "no disk was found in a sample of the frames";
  }
  if (made.centre && made.centre->confidence < least_confidence)
    return fmt::format("the centre has a confidence of {:.2f} in a sample of the frames", made.centre->confidence);
  const std::vector<Mask> masks = detector_masks(detectors, made.geometry);
  if (!std::all_of(masks.begin(), masks.end(), [](const Mask& mask) { return mask.boolean(); }))
    return "weighted masks need decoded frames";
  std::vector<Array> sums = sum_masks(made.dataset, masks);
  const char* path = sums_on_planes(made.dataset, masks.size())      ? "bit planes"
                     : sums_of_electrons(made.dataset, masks.size()) ? "electrons"
                                                                     : "decoded frames";
  for (std::size_t i = 0; i < masks.size(); ++i)
    made.images.push_back(
        {"", path, masks[i].area(), masks[i].hash, std::move(sums[i]).reshaped(made.dataset.shape().first(2))});
  complete(made.images, detectors);
  return "";
}

}  // namespace

ScanImages image_scan(const OpenScan& open, const LoadOptions& load_options, const DetectorOptions& detectors,
                      const Budget& budget, Device device) {
  const Stopwatch opening;
  std::unique_ptr<Source> source = open();
  const double validate_s = opening.seconds();
  std::string because = why_loaded(*source, load_options, detectors, device);
  ScanImages made;
  if (because.empty()) {
    because = try_survey(made, std::move(source), load_options, detectors, budget);
    if (because.empty()) {
      record_opening(made.dataset, {"way to the images: one pass over the frames", "sums over masks need nothing else"},
                     validate_s);
      return made;
    }
    made = {};
    source = open();
  }
  made.dataset = load(std::move(source), load_options, budget, device);
  record_opening(made.dataset, {"way to the images: a load of the scan", std::move(because)}, validate_s);
  made.geometry = detector_geometry(made.dataset, detectors, made.centre);
  made.images = detector_images(made.dataset, detectors, made.geometry);
  return made;
}

}  // namespace sonde::stem
