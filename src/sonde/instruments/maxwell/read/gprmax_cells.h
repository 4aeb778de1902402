// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell {

/// Why a model can only have the cells of its file; empty where it may have others: voltage sources, plates, edges and
/// other objects without a thickness are as thick as a cell, and those of #geometry_objects_read are cells.
[[nodiscard]] std::string why_cells_stay(const GprmaxInput& input);

/// The same model on cells `factor` times as large, as if its #dx_dy_dz said so: objects, positions, window and times
/// keep their metres and seconds, Hertzian dipoles their moment, and absorbing layers are not thinner than they are and
/// have no fewer cells. The flat axis of two dimensions keeps its cell. Nothing where another model would come out:
/// - where why_cells_stay();
/// - where the file has no whole number of such cells: only whole fractions, 1/2, 1/3, ..., always fit. Otherwise
///   domain, boxes, sources, receivers, their steps and results must begin and end on planes of the new cells, and
///   there may be no round or slanting object, which larger cells would change;
/// - where a layer would reach a source or receiver that it does not reach in the file, in one of so many `runs`, or
/// the
///   layers would leave no cell between them.
[[nodiscard]] std::optional<GprmaxInput> with_cells(const GprmaxInput& input, double factor, Index runs);

/// The same model with another time step, s, as if its #time_step_stability_factor said so. Window, snapshots and rows
/// of an excitation file keep their seconds where the file counts them in steps.
[[nodiscard]] GprmaxInput with_time_step(const GprmaxInput& input, double dt);

}  // namespace sonde::maxwell
