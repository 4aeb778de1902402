// SPDX-License-Identifier: Apache-2.0
// Loads a scan and writes a dark-field image, in thirty lines: virtual_image SCAN_master.h5 OUT.tif
#include <cstdio>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/image_record.h"
#include "sonde/instruments/stem/results/save_image.h"

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 3) return std::fprintf(stderr, "usage: virtual_image SCAN_master.h5 OUT.tif\n"), 2;
  try {
    stem::LoadOptions load;
    load.det_bin = "2";
    stem::Dataset dataset = stem::load(argv[1], load, Budget::automatic(Device::cpu()));

    stem::DetectorOptions detectors;
    detectors.detector = {"annulus(auto,auto,1.5rho,3rho)"};
    std::optional<stem::Centre> centre;
    const stem::DetectorGeometry geometry = stem::detector_geometry(dataset, detectors, centre);
    const stem::DetectorImage image = std::move(stem::detector_images(dataset, detectors, geometry).front());

    stem::save_image(argv[2], image.image, stem::scan_scale(dataset.calibration(), dataset.scan_bin()), {},
                     stem::image_record(dataset, image, detectors, {}, geometry, centre));
    std::printf("%s: %lld detector pixels, centre %.2f, %.2f\n", argv[2], static_cast<long long>(image.area),
                *geometry.centre_row, *geometry.centre_col);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exit_status(error.kind());
  }
}
