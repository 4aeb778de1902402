// SPDX-License-Identifier: Apache-2.0
// Small equilibria made for tests.
#pragma once

#include <functional>
#include <string>

#include "sonde/engine/io/netcdf_writer.h"

namespace sonde::testing {

/// A wout of five surfaces with three modes, (0,0), (1,0) and (1,3) of three field periods, whose numbers make sense to
/// the reader but are no equilibrium. `change` may replace values before they are written.
inline void write_small_wout(const std::string& path,
                             const std::function<void(std::map<std::string, std::vector<double>>&)>& change = {}) {
  constexpr Index ns = 5, modes = 3;
  std::map<std::string, std::vector<double>> values;
  for (const char* name : {"nfp", "ns", "mpol", "ntor", "signgs", "lasym__logical__"}) values[name] = {0};
  values["nfp"] = {3};
  values["ns"] = {ns};
  values["mpol"] = {2};
  values["ntor"] = {1};
  values["signgs"] = {-1};
  values["Rmajor_p"] = {2};
  values["Aminor_p"] = {0.5};
  values["volume_p"] = {9.8};
  values["phi"] = {0, 0.5, 1, 1.5, 2};
  values["iotas"] = {0, 0.41, 0.43, 0.47, 0.53};
  values["xm_nyq"] = values["xm"] = {0, 1, 1};
  values["xn_nyq"] = values["xn"] = {0, 0, 3};
  const std::map<std::string, double> scales = {{"bmnc", 2},     {"gmnc", -0.5},    {"bsubumnc", 0.1},
                                                {"bsubvmnc", 4}, {"bsupumnc", 0.3}, {"bsupvmnc", 0.6},
                                                {"lmns", 0.01},  {"rmnc", 2},       {"zmns", 0.2}};
  for (const auto& [name, scale] : scales)
    for (Index j = 0; j < ns; ++j)
      for (Index i = 0; i < modes; ++i)
        values[name].push_back(scale *
                               (i == 0 ? 1 + 0.01 * static_cast<double>(j * j) : 0.05 * static_cast<double>(i * j)));
  if (change) change(values);
  Contents contents;
  for (const auto& [name, list] : values) {
    const auto size = static_cast<Index>(list.size());
    if (size == 1)
      contents.add(name, list[0]);
    else if (size == ns * modes)
      contents.add(name, {"radius", "mn_mode"}, Array::from(list, {ns, modes}));
    else
      contents.add(name, {"dim_" + std::to_string(size)}, Array::from(list, {size}));
  }
  write_netcdf(path, contents, NetcdfFormat::classic);
}

}  // namespace sonde::testing
