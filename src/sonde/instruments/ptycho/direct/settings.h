// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/options/fields.h"

namespace sonde::ptycho {

enum class DirectMethod { ssb, parallax };

/// What is fitted before: nothing, C10, C10 with C12 and phi12, or these and the rotation of the scan.
enum class DirectFit { none, defocus, aberrations, all };

/// What is done about the transfer of the method: nothing, signs made positive, or divided out.
enum class TransferUse { raw, flipped, corrected };

/// [direct]: one-shot reconstructions, by `sonde ptycho direct` or as the start of a run (object.init).
struct DirectSettings {
  DirectFit fit = DirectFit::all;
  std::optional<double> focus_range_a;
  std::optional<TransferUse> transfer;  ///< unset: raw of ssb, flipped of parallax, corrected where a run begins
  double wiener = 0.1;
  Index upsample = 1;

  void describe(Fields& fields);
};

}  // namespace sonde::ptycho
