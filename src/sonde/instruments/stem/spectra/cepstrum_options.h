// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/lattice/basis.h"
#include "sonde/instruments/stem/spectra/pattern_power.h"

namespace sonde::stem {

/// What is made of each pattern: |F{log(1 + I)}|^2, |F{I}|^2, or the inverse transform of that.
enum class SpectrumKind { cepstrum, power, autocorrelation };

struct CepstrumOptions {
  SpectrumKind kind = SpectrumKind::cepstrum;
  PatternWindow window = PatternWindow::hann;
  std::string basis = "auto";  ///< or "G1X,G1Y,G2X,G2Y", px of the detector
  std::string skip_calibration;

  void describe(Fields& fields);
  /// Empty: auto. Throws Error(usage).
  [[nodiscard]] std::optional<Basis> basis_asked() const;
  /// What can be refused before any file is read. Throws Error(usage).
  void check() const;
};

}  // namespace sonde::stem
