// SPDX-License-Identifier: Apache-2.0
// 3 x 3 convolutions on tiles of 4 x 4 pixels with 36 multiplications in place of 144: F(4 x 4, 3 x 3) of Lavin and
// Gray (2016), arXiv 1509.09308, with the points 0, 1, -1, 2, -2 and infinity. Channels are neighbours in memory, so
// that every loop below runs along them.
#pragma once

#include <span>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/separate/network/panels.h"

namespace sonde::separate::winograd {

constexpr Index tile = 4;   ///< pixels along each axis that a tile gives
constexpr Index patch = 6;  ///< pixels along each axis that it sees
constexpr Index planes = patch * patch;

/// Weights (outputs, inputs, 3, 3) as `planes` matrices (inputs, outputs), one behind the other.
void transform_weights(std::span<const float> weights, Index outputs, Index inputs, const MatrixPlaces& places,
                       float* transformed);

/// The patches of a row of tiles. `rows` are its 6 rows of pixels, from one pixel left of the first tile on. Tile t
/// goes to row t of matrix k, at patches + k * plane + t * channels.
void transform_patches(const float* const* rows, Index tiles, Index channels, float* patches, Index plane);

/// Back from products (tiles, channels), `plane` numbers apart, to 4 rows of pixels, of which `columns` exist and null
/// rows do not. `add`: on top of what is there.
void transform_products(const float* products, Index plane, Index tiles, Index channels, Index columns,
                        float* const* rows, bool add);

}  // namespace sonde::separate::winograd
