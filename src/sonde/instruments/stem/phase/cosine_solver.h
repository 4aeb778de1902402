// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <vector>

#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/dct.h"

namespace sonde::stem {

/// Solves (L + regularise) phi = right-hand side in place, where L is the Laplacian (with the sign of a sum of squares)
/// of (rows, cols) positions with free borders. Its constant part is 0 unless `regularise` determines it.
class CosineSolver {
 public:
  CosineSolver(Index rows, Index cols, double step_row, double step_col, double regularise);
  void solve(std::vector<double>& image);

 private:
  Index rows_, cols_;
  std::vector<double> of_rows_, of_cols_;  // eigenvalues
  double regularise_;
  Dct<double> along_rows_, along_cols_;  // lines along a column of the image, and along a row
  Stream stream_;
};

}  // namespace sonde::stem
