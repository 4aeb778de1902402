// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"

namespace sonde::maxwell {

/// A #geometry_view as VTK ImageData, in the layout of gprMax 3.1: of every cell in its steps the number of the
/// material, in Sources_PML 1 inside absorbing layers and from 2 on the sources of the first run, in Receivers from 1
/// on the receivers (no number above 127); names of all of them behind the document. `materials`:
/// gprmax_cell_materials().
void write_geometry_view(const std::string& path, const GprmaxInput& input, const GprmaxModel& model,
                         const GprmaxGeometryView& view, std::span<const std::uint32_t> materials);

/// The materials as a picture with sources and receivers: of a model in two dimensions all of it, else the three planes
/// through the first source, or through the middle where there is none.
[[nodiscard]] Chart model_chart(const GprmaxInput& input, const GprmaxModel& model,
                                std::span<const std::uint32_t> materials);

}  // namespace sonde::maxwell
