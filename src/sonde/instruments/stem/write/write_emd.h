// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Writes one scan as EMD 1.0 (the HDF5 dialect that py4DSTEM, HyperSpy and LiberTEM read): a contiguous, uncompressed
/// (scan rows, scan cols, rows, cols) data set with its four axes. Axes without calibration are labelled px.
class EmdWriter {
 public:
  /// `shape` has four dimensions. `attributes` go to the group of the data cube, for provenance.
  EmdWriter(const std::string& path, const Shape& shape, DType dtype, const Calibration& calibration,
            const std::map<std::string, Hdf5Value::Scalar>& attributes = {});

  /// Writes whole frames in scan order, (n, rows, cols) or (scan rows, scan cols, rows, cols); may be called
  /// repeatedly.
  void append(const Array& frames);

  /// Completes the file and gives it its name. Throws Error(bad_input) when frames are missing.
  void finish();

 private:
  Hdf5Writer writer_;
  Shape shape_;
  DType dtype_;
  Index written_ = 0;  ///< frames
};

}  // namespace sonde::stem
