// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/positions.h"

namespace sonde::ptycho {

/// The pixels of an object: pixel [i, j] lies at (i pixel_row, j pixel_col), A. Phases are float64 (rows, cols), rad.
struct Grid {
  Index rows = 0, cols = 0;
  double pixel_row = 0, pixel_col = 0;  ///< A
};

/// An atom, or a column of them: the phase it adds at its middle.
struct Site {
  double row = 0, col = 0;  ///< A
  double peak = 0;          ///< rad
};

/// phase(r) = sum over the sites of peak exp(-|r - site|^2 / (2 rms^2)), without a cut-off that double precision could
/// see. Sites may lie outside of the grid.
[[nodiscard]] Array atom_phase(std::span<const Site> sites, double rms, const Grid& grid);

enum class LatticeKind { square, hexagonal };

/// A layer of atoms on a regular lattice, not quite where they should be, some missing.
struct Lattice {
  LatticeKind kind = LatticeKind::square;
  double spacing = 4;         ///< A, between nearest neighbours
  double turn = 0;            ///< rad
  double peak = 0.75;         ///< rad
  double second_peak = 0.45;  ///< rad, of every other atom
  double displacement = 0.1;  ///< A, rms along each axis
  double vacancies = 0;       ///< share of the sites that are empty
};

/// The sites of a lattice on the grid and two spacings around it, where their tails reach in. The same
/// sites are displaced by the same amounts whatever share is missing. Throws Error(bad_input) for a spacing that is not
/// above zero.
[[nodiscard]] std::vector<Site> lattice_sites(const Lattice& lattice, const Grid& grid, std::uint64_t seed);

/// Noise of mean 0 and rms 1 over the grid without frequencies above `limit` (1/A): an amorphous film.
[[nodiscard]] Array band_limited_noise(const Grid& grid, double limit, std::uint64_t seed);

/// Adds rms times that noise within `radius` (A) of a place, with a border one tenth of the radius wide.
void add_amorphous_patch(Array& phase, const Grid& grid, Point centre, double radius, double rms, std::uint64_t seed);

/// Adds a step of `height` rad along a line through `place` with the normal direction `angle` (rad, from columns
/// towards rows): height / (1 + exp(-2 distance / width)).
void add_step(Array& phase, const Grid& grid, Point place, double angle, double height, double width);

/// exp(i phase), complex128, of any shape.
[[nodiscard]] Array transmission(const Array& phase);

}  // namespace sonde::ptycho
