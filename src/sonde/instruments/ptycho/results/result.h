// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/sampling.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

/// A finished reconstruction, or what a result file holds. Positions are in object pixels in the frame of the scan, in
/// which the object's pixel [0,0] lies at `origin`.
struct Result {
  ObjectType type = ObjectType::complex;
  Array object;                  ///< (S, Y, X) complex
  Array phase;                   ///< (S, Y, X) real: potential only
  Array probe;                   ///< (M, Ny, Nx) complex, centred
  Array opr_modes, opr_weights;  ///< (L, Ny, Nx) and (J, L) complex: how the first mode varies; empty when it does not
  std::vector<double> slice_thickness_a;  ///< one for all slices, or one of each; empty: not known
  Sampling sampling;
  Point origin;
  std::vector<Point> positions, initial_positions;     ///< now and at the start
  std::map<std::string, std::vector<double>> metrics;  ///< by the names of metric_names(), one number per iteration
  std::string settings;                                ///< the run file, resolved
  Value provenance = Value::object(), timing = Value::object(), diagnostics = Value::object();

  /// exp(i phase) or the object, (S, Y, X) complex128.
  [[nodiscard]] Array transmission() const;
  /// The box of the object that the positions span.
  [[nodiscard]] Box field_of_view() const;
};

/// The state of a run, copied; `offset` is what was added to the scan's positions so that they lie inside the object.
[[nodiscard]] Result result_of(const State& state, const Sampling& sampling, Point offset,
                               const std::vector<Point>& initial, const std::vector<IterationRecord>& history);

/// R_I, R_A, NMSE, LL, loss, dO, dP, power_ratio, power_total, phase_roughness, opr_share, R_free and position_move
/// (not-a-number where there is none), seconds, engine: what every iteration is remembered by.
[[nodiscard]] const std::vector<std::string>& metric_names();
[[nodiscard]] Value metrics_value(const IterationRecord& record);

/// What a result file holds:
///   /object (S, Y, X) complex, or /object_phase real; attributes type, pixel_size_A, origin_A, slice_thickness_A
///   (one number, or one of each slice), and origin_px, the position of pixel [0,0] in object pixels; /probe (1, M, Ny,
///   Nx) complex, centred, with pixel_size_A and occupancy; /opr_modes (L, Ny, Nx) and /opr_weights (J, L) complex
///   where the probe varies; /positions_A, /positions_initial_A (J, 2); /metrics/*; /fov_mask; /settings; /provenance;
///   /diagnostics; and in /run what belongs to the moment (start, host and paths as moment, timing, seconds of the
///   iterations): equal runs are equal outside of it. Without a calibration there is no *_A: /positions_px and
///   /positions_initial_px instead.
/// The arrays are those of `result`, which must live as long.
[[nodiscard]] Contents contents_of(const Result& result);

/// Writes it as HDF5; the file has its name only when it is complete.
void write_result(const std::string& path, const Result& result, const OutputRole& role = {});

/// Reads a result file. Throws Error(bad_file) for files that are none, naming what is missing.
[[nodiscard]] Result read_result(const std::string& path);

}  // namespace sonde::ptycho
