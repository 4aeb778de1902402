// SPDX-License-Identifier: Apache-2.0
#pragma once

/// When the samples of a series are, in time steps: sample n is at (n + offset) dt. In the leapfrog scheme E is at
/// whole steps and H at half steps; step n uses M^n and J^{n+1/2} and makes H^{n+1/2} and E^{n+1}.
namespace sonde::maxwell::sample_offset {

inline constexpr double electric_source = 0.5;
inline constexpr double magnetic_source = 0;
inline constexpr double electric_record = 1;
inline constexpr double magnetic_record = 0.5;

}  // namespace sonde::maxwell::sample_offset
