// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "sonde/engine/base/paths.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/read/source.h"
#include "sonde/instruments/stem/simulate/simulate.h"
#include "sonde/instruments/stem/write/write_arina.h"

namespace sonde::stem {
namespace fs = std::filesystem;

PreparedCase prepare_validate(const BenchPoint& point) {
  const Index files = whole_size(point.size, "data files");
  const std::string master = (bench_folder(fmt::format("files{}", files)) / "scan_master.h5").string();
  if (!path_exists(master)) {
    ArinaDescription description;
    description.scan_rows = files;
    description.scan_cols = description.frames_per_file = 100;
    description.rows = description.cols = 192;
    ArinaWriter writer(master, description);
    const Array some = Array::zeros(Device::cpu(), {description.frames_per_file, 192, 192}, DType::u16);
    for (Index file = 0; file < files; ++file) writer.append(some);
    (void)writer.finish();
  }
  PreparedCase prepared;
  prepared.input = fmt::format("{} data files of 100 frames", files);
  prepared.operations.push_back({.name = "open and validate", .run = [=] { (void)open_source(master, {}); }});
  return prepared;
}

PreparedCase prepare_series(const BenchPoint& point) {
  const Index items = whole_size(point.size, "items");
  std::vector<std::string> masters;
  for (Index item = 0; item < items; ++item) {
    SimulateOptions options;
    options.output = (bench_folder("series") / fmt::format("tilt{}_master.h5", item)).string();
    options.scan_shape = "64,64";
    options.detector_shape = "96,96";
    options.seed = item + 1;
    options.truth = false;
    masters.push_back(options.output);
    if (!path_exists(options.output)) (void)simulate(options, Budget::automatic(Device::cpu()));
  }
  auto series = std::make_shared<Series>(Series::open(masters, {}, {}, Budget::automatic(Device::cpu())));
  for (Index item = 0; item < items; ++item) (void)series->item(item);
  auto next = std::make_shared<Index>(0);
  PreparedCase prepared;
  prepared.input = fmt::format("{} items of 64 x 64 x 96 x 96 in memory", items);
  prepared.operations.push_back({.name = "switch to the next item", .run = [=] {
                                   *next = (*next + 1) % series->size();
                                   (void)series->item(*next);
                                 }});
  return prepared;
}

}  // namespace sonde::stem
