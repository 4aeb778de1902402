// SPDX-License-Identifier: Apache-2.0
// Bragg disks in files of py4DSTEM (EMD 1.0, its class BraggVectors). Its x is the row of scan and detector.
#pragma once

#include <string>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/stem/bragg/bragg_vectors.h"

namespace sonde::stem {

/// Writes disks and calibration as py4DSTEM does: /braggvectors_root/braggvectors with the lists {qx, qy, intensity} of
/// every position and the shapes, and the calibration of the root. Standard errors are not part of that layout. The
/// size of a pixel is that for py4DSTEM's own correction of an ellipse, which keeps its b.
void write_emd_vectors(const std::string& path, const BraggVectors& vectors, const std::string& command);

/// The path of the first lists of disks in a file, ".../_v_uncal/data"; empty where there are none.
[[nodiscard]] std::string emd_vectors_in(const Hdf5File& file);

/// Those disks, the brightest of each position first, with the calibration. Throws Error(bad_file) "FILE: damaged:
/// FACT" where lists and shapes contradict each other.
[[nodiscard]] BraggVectors read_emd_vectors(const Hdf5File& file);

}  // namespace sonde::stem
