// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/ptycho/quality/diagnose.h"
#include "sonde/instruments/ptycho/quality/image.h"
#include "sonde/instruments/ptycho/quality/spectrum.h"

/// Private to this room: what diagnoses measure. Each returns no value when the evidence does not suffice.
namespace sonde::ptycho::symptom {

/// What several of them look at, made once.
struct View {
  const Evidence* evidence;
  Box box;      ///< field of view, inside of the object
  Image phase;  ///< in it
  Image power;  ///< its spectrum, zero frequency at [0,0]; zero where the phase is no number
  Rings rings;  ///< of the spectrum, 1/A
  std::vector<double> medians;

  explicit View(const Evidence& evidence);
  /// Without phase and spectrum, for those that do not look at them.
  [[nodiscard]] static View without_images(const Evidence& evidence) { return View(evidence, Box{}); }
  [[nodiscard]] const State& state() const { return *evidence->state; }

 private:
  View(const Evidence& of, Box nothing) : evidence(&of), box(nothing), rings(1, 1) {}
};

using Symptom = std::optional<double>;

// Of the phase and its spectrum, in symptoms_of_phase.cpp.
Symptom ringing(const View& view);        ///< largest ratio of a ring beyond the aperture to the rings around it
Symptom streaking(const View& view);      ///< |log2 of mean |d phi / dx| over mean |d phi / dy||
Symptom spectral_line(const View& view);  ///< median along an axis of the spectrum over that of the rings
Symptom checkerboard(const View& view);   ///< share of the power at the three corners of Nyquist
Symptom raster_grid(const View& view);    ///< rms of only what is on the scan's reciprocal lattice, over that of all
Symptom phase_wrap(const View& view);     ///< largest |difference of neighbours|, rad
Symptom blurring(const View& view);       ///< share of the power above half Nyquist that was lost

// Of everything else, in symptoms_of_run.cpp.
Symptom not_finite(const View& view);        ///< numbers of object and probe that are none
Symptom missing_overlap(const View& view);   ///< 1 - linear overlap
Symptom scan_distortion(const View& view);   ///< largest of stretch, rotation (rad) and shear of corrected positions
Symptom low_contrast(const View& view);      ///< R_I over three floors or 0.15, while it falls
Symptom low_dose(const View& view);          ///< detector pixels per count
Symptom probe_structure(const View& view);   ///< correlation of spectra of probe and object outside the aperture
Symptom outside_aperture(const View& view);  ///< share of the probe's power
Symptom mode_collapse(const View& view);     ///< largest overlap of two modes

}  // namespace sonde::ptycho::symptom
