// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/cepstrum_options.h"

#include <string_view>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/lattice/strain_options.h"
#include "sonde/instruments/stem/read/calibration_steps.h"

namespace sonde::stem {
namespace {

void check_cepstrum_basis(std::string_view text, std::string_view where) {
  if (text != "auto") (void)parse_basis(text, where);
}

}  // namespace

std::optional<Basis> CepstrumOptions::basis_asked() const {
  if (basis == "auto") return std::nullopt;
  return parse_basis(basis, setting("basis"));
}

void CepstrumOptions::check() const {
  (void)basis_asked();
  check_steps(skip_calibration, setting("skip_calibration"));
}

void CepstrumOptions::describe(Fields& fields) {
  fields.heading("Spectrum");
  fields.choice("kind", kind,
                {{"cepstrum", SpectrumKind::cepstrum},
                 {"power", SpectrumKind::power},
                 {"autocorrelation", SpectrumKind::autocorrelation}},
                {.help = "cepstrum: |F{log(1 + I)}|^2, with the vectors of every position; power: |F{I}|^2; "
                         "autocorrelation: the inverse transform of the power"});
  fields.choice("window", window, {{"hann", PatternWindow::hann}, {"none", PatternWindow::none}},
                {.help = "what patterns are multiplied by first: hann avoids streaks from the edges of the detector"});
  fields.add("basis", basis,
             {.help = "lattice vectors of the pattern in pixels of the detector, near whose inverse peaks are sought; "
                      "auto finds them in the mean cepstrum of some patterns",
              .metavar = "G1X,G1Y,G2X,G2Y|auto",
              .check = check_cepstrum_basis});
  fields.add("skip_calibration", skip_calibration,
             {.help = "steps of the calibration in the file that are not applied: pixel",
              .metavar = "STEP,...",
              .check = check_steps});
  fields.heading("");
}

}  // namespace sonde::stem
