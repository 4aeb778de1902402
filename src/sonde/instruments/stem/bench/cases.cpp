// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bench/cases.h"

#include "sonde/instruments/stem/bench/prepare.h"

namespace sonde::stem {

std::vector<BenchCase> bench_cases() {
  const std::vector<DeviceKind> cpu = {DeviceKind::cpu}, both = {DeviceKind::cpu, DeviceKind::cuda};
  return {
      {.name = "stem-decode",
       .summary = "Decode a scan whose stored bytes are in memory",
       .sizes = {"w1", "w2"},
       .devices = both,
       .prepare = prepare_decode},
      {.name = "stem-load",
       .summary = "Load a scan from its file into fresh memory",
       .sizes = {"w1"},
       .devices = both,
       .prepare = prepare_load},
      {.name = "stem-bin",
       .summary = "Decode, mask and bin by two",
       .sizes = {"w1"},
       .devices = both,
       .prepare = prepare_bin},
      {.name = "stem-bins",
       .summary = "The loading pass by the detector bin",
       .sizes = {"1", "2", "3", "4", "8"},
       .devices = both,
       .prepare = prepare_bins},
      {.name = "stem-bitplane",
       .summary = "Bright field straight from compressed bytes",
       .sizes = {"w1"},
       .devices = cpu,
       .prepare = prepare_bitplane},
      {.name = "stem-index",
       .summary = "Find the chunks of a file",
       .sizes = {"10000"},
       .devices = cpu,
       .prepare = prepare_index},
      {.name = "stem-image",
       .summary = "Virtual images of a resident scan",
       .sizes = {"w3"},
       .devices = both,
       .prepare = prepare_image},
      {.name = "stem-full",
       .summary = "Virtual images of a resident scan of full size (9.7 GB)",
       .sizes = {"512x512x192x192"},
       .devices = cpu,
       .prepare = prepare_full_size},
      {.name = "stem-validate",
       .summary = "Validate a scan of many data files, decoding nothing",
       .sizes = {"100"},
       .devices = cpu,
       .prepare = prepare_validate},
      {.name = "stem-series",
       .summary = "Switch between the items of a series in memory",
       .sizes = {"3"},
       .devices = cpu,
       .prepare = prepare_series},
      {.name = "stem-density",
       .summary = "Where dense, sparse and complement cross: masks of some percent of the detector",
       .sizes = {"1", "5", "20", "50", "80", "100"},
       .devices = cpu,
       .prepare = prepare_density},
      {.name = "stem-dose",
       .summary = "Decoding and bit planes by the mean counts per pixel",
       .sizes = {"0.01", "0.1", "1", "10", "100"},
       .devices = cpu,
       .prepare = prepare_dose},
  };
}

}  // namespace sonde::stem
