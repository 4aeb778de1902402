// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

// Layers from a gather, a line whose positions are distances of the receiver from one source (WARR, CMP). Reflectors
// are level; antennas are at the top of the first layer. All functions throw Error(bad_input) for a line with fewer
// than 16 traces, or whose positions do not rise from 0 or above.

/// The wave that arrives first: over ground that in air.
struct DirectWave {
  double velocity = 0;   ///< m/s
  double centre = 0;     ///< s after sample 0 of the middle of its pulse at distance 0: the zero of times of pulses
  double semblance = 0;  ///< as of Reflection
};
/// The line of largest semblance through the farther half of the traces, where other waves have fallen behind, within
/// 10 % and a period of that with the median of all slopes between the moments at which traces reach a tenth of their
/// largest magnitude (Sen 1968, J. Am. Stat. Assoc. 63, 1379): up to 29 % of the traces may have no such moment.
[[nodiscard]] DirectWave direct_wave(const FieldLine& gather);

/// A hyperbola t^2 = time^2 + (distance / velocity)^2 along which traces agree.
struct Reflection {
  double time = 0;       ///< s, to the reflector and back at distance 0
  double velocity = 0;   ///< m/s, to stack with: the root mean square of the layers' above
  double semblance = 0;  ///< energy of the sum over the sum of energies: 1 where all traces agree
};
struct ReflectionSearch {
  double earliest = 0, latest = 0;           ///< s, of Reflection::time; 0: five periods, half the record
  double slowest = 0.04e9, fastest = 0.2e9;  ///< m/s
  double least = 0.35;                       ///< semblance
};
/// The peaks of the semblance (Neidell and Taner 1971, Geophysics 36, 482) in windows of one period, of traces without
/// wow and with equal energy in four periods about each sample, where the hyperbola stretches a pulse by less than 1.4;
/// by time, which is that of the middle of the pulse. Those are left out of which a stronger one is within two periods,
/// or with which a layer would be faster than waves in vacuum. Times begin at `zero` s after sample 0.
[[nodiscard]] std::vector<Reflection> reflections(const FieldLine& gather, double zero,
                                                  const ReflectionSearch& search = {});

struct Layer {
  double velocity = 0;   ///< m/s
  double thickness = 0;  ///< m
};
/// Of root mean square velocities (Dix 1955, Geophysics 20, 68).
[[nodiscard]] std::vector<Layer> layers_of(const std::vector<Reflection>& found);
/// s from the source to the bottom of the last layer and back up at this distance, by Snell's law.
[[nodiscard]] double reflection_time(const std::vector<Layer>& layers, double distance);

struct LayerFit {
  std::vector<Layer> layers{};
  double before = 0, after = 0;  ///< s, root mean square of times measured less those of the layers
  Index times = 0;               ///< how many were measured
};
/// Layers whose times fit those of the reflections best, from layers_of(): each is measured as the shift by which a
/// trace agrees best with the sum of all along the hyperbola, at most half a period, where they agree by more than
/// half.
[[nodiscard]] LayerFit fit_layers(const FieldLine& gather, double zero, const std::vector<Reflection>& found);

}  // namespace sonde::maxwell
