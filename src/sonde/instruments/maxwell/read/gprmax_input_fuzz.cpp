// SPDX-License-Identifier: Apache-2.0
// Any text is a model whose medium and points make sense, or an Error.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"

namespace {

using namespace sonde::maxwell;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const GprmaxModel& model) {
  const Grid grid(model.grid);
  require(model.dt > 0 && model.iterations > 0);
  for (const Component c : grid.components()) {
    if (!is_electric(c)) {
      for (const double value : model.medium.mu_r[place(c)]) require(value >= 1 && std::isfinite(value));
      continue;
    }
    for (const double value : model.medium.eps_r[place(c)]) require(value >= 1 && std::isfinite(value));
    for (const double value : model.medium.sigma[place(c)]) require(value >= 0);
  }
  const auto inside = [&](const Triple& at) {
    for (const std::size_t a : {0U, 1U, 2U}) require(at[a] >= 0 && at[a] < grid.extents()[a]);
  };
  for (const GprmaxSourcePoint& source : model.acquisition.sources) {
    inside(source.at);
    require(grid.has(source.component));
  }
  for (const GprmaxReceiverPoint& receiver : model.acquisition.receivers) inside(receiver.at);
}

/// A file that a text names is a part of the text itself.
std::string included(std::string_view text, const std::string& path) {
  if (path.find("waves") != std::string::npos) return "time a b\n0 1 2\n1e-9 3 4\n";
  return std::string(text.substr(text.size() / 2));
}

/// Any geometry file is these cells.
GprmaxVoxels voxels(const std::string& path) {
  GprmaxVoxels made{{1e-3, 1e-3, 1e-3}, {2, 2, 2}, {0, 1, -1, 0, 1, 1, 0, -1}};
  if (path.find("nodes") != std::string::npos) made.nodes.assign(std::size_t{6} * 27, path.size() % 2 == 0 ? 0 : -1);
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const GprmaxInput input = parse_gprmax_input(
        text, "fuzz.in", [&](const std::string& path) { return included(text, path); }, voxels);
    if (gprmax_model_bytes(input) > (std::size_t{1} << 18)) return 0;  // larger ones cost time and hold nothing new
    if (!input.receiver_arrays.empty() && input.receiver_arrays.size() > 4) return 0;  // each up to all cells
    check(make_gprmax_model(input));
  } catch (const sonde::Error&) {
  }
  return 0;
}
