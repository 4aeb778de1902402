// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/phase/convention.h"
#include "sonde/instruments/stem/phase/integrate.h"
#include "sonde/instruments/stem/phase/origin.h"
#include "sonde/instruments/stem/phase/rotation.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// What the phase is given in. rad; cycles: rad / 2 pi; volts: the projected potential, V A; px: detector pixels times
/// scan steps, without any calibration. A field by itself is in 1/A (rad), V (volts), px, or mrad.
enum class PhaseUnit { rad, cycles, volts, px, mrad };

/// From which value on pixels count in a centre of mass.
struct CentreThreshold {
  bool automatic = false;          ///< found in the corners of the detector
  std::optional<double> counts{};  ///< pixels up to it count as zero; none: all count
};

/// How the phase of a scan is made. Texts are read when the work begins.
struct PhaseOptions {
  // Where deflections are measured from
  std::string fit = "mean";
  double min_counts = 1;
  std::string threshold = "none";
  // How the detector is turned
  std::string rotation = "auto", transpose = "auto";
  Convention convention = Convention::sonde;
  Contrast sign = Contrast::automatic;
  double rotation_blur = 1;
  std::string skip_calibration{};
  // The integral
  IntegralMethod method = IntegralMethod::dct;
  double regularise = 0;
  double padding = 2;
  std::optional<double> q_highpass{}, q_lowpass{};
  Index butterworth_order = 2;
  bool weigh_counts = true;
  Index kernel = 16;
  std::optional<double> kernel_lowest{}, kernel_highest{};
  bool normalise = true;
  // Calibration
  PhaseUnit units = PhaseUnit::rad;
  std::optional<double> q_pixel{};

  /// With method none only those of a field, whose units are its own.
  void describe(Fields& fields);

  /// The surface of `fit`; that of a reference scan is a parabola.
  [[nodiscard]] OriginFit origin_fit() const;
  /// The reference scan of `fit`, "file:SCAN"; empty: none.
  [[nodiscard]] std::string reference() const;
  [[nodiscard]] CentreThreshold centre_threshold() const;
  /// What `rotation`, `transpose` and `convention` say together. Throws Error(usage) where the convention of LiberTEM
  /// has an angle without its flip.
  [[nodiscard]] RotationRequest rotation_request() const;
  /// The calibration that is used: without the steps of `skip_calibration`.
  [[nodiscard]] Calibration used(Calibration calibration) const;
  /// What can be refused before any frame is read: texts, and a band of riCOM's kernel that lets nothing pass.
  void check() const;

 private:
  void describe_centres(Fields& fields);
  void describe_orientation(Fields& fields);
  void describe_integral(Fields& fields);
  void describe_units(Fields& fields);
};

/// Settings with the orientation of the detector that a calibration states, where both it and the transposition are
/// left to the data: rotation in degrees and transpose. Whether they are, `stated` says.
struct StatedOrientation {
  PhaseOptions options;
  bool stated = false;
};
[[nodiscard]] StatedOrientation with_orientation(PhaseOptions options, const Calibration& calibration);

}  // namespace sonde::stem
