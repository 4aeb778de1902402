// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sonde/instruments/maxwell/grid/grid.h"

namespace sonde::maxwell {

/// Where the numbers of a model are located.
enum class MaterialLocation {
  node,  ///< element i belongs to plane i and half plane i + 1/2: every component takes the element of its own index
  cell   ///< an E edge takes the arithmetic mean of eps_r and of sigma of its four cells, an H face that of mu_r of two
};

/// One pole of Debye relaxation, eps_r + deps / (1 + j omega tau), at every E node of a component.
struct DebyePole {
  std::array<std::vector<double>, 3> deps{}, tau{};  ///< -, s; empty where the grid lacks a component
};

/// The medium at every node of every component on the padded grid, [z][y][x]; vectors of components that the grid lacks
/// are empty. sigma = infinity is a perfect conductor.
struct ComponentMedium {
  std::array<std::vector<double>, 3> eps_r{}, sigma{};  ///< at Ex, Ey, Ez; -, S/m
  std::array<std::vector<double>, 3> mu_r{};            ///< at Hx, Hy, Hz
  std::vector<DebyePole> poles{};
};

/// A model on its own cells, without layers: [z][y][x].
struct Model {
  std::vector<double> eps_r, sigma;
  std::vector<double> mu_r{};  ///< empty: 1
  MaterialLocation location = MaterialLocation::node;
};

/// A pole of Debye relaxation on the cells of a model.
struct ModelPole {
  std::vector<double> deps, tau;  ///< -, s
};

/// Throws Error(bad_input) naming the first element that is not finite, eps_r or mu_r <= 0, sigma < 0, and sizes that
/// are not those of the grid. sigma may be infinity.
void require_model(const Model& model, const Grid& grid);

/// Medium of the components: replicated outwards into the layers, then located. A linear map of the elements.
[[nodiscard]] ComponentMedium locate(const Model& model, const Grid& grid);

/// What becomes of the layers' share of a gradient.
enum class PaddingGradient {
  exact,  ///< a cell at the edge gets what its copies in the layer get
  frozen  ///< the layers are a constant
};

/// Perturbations or gradients by component, as ComponentMedium; what is empty does not change.
struct ComponentChange {
  std::array<std::vector<double>, 3> eps_r{}, sigma{}, mu_r{};
  std::vector<DebyePole> poles{};
};
struct ModelChange {
  std::vector<double> eps_r, sigma, mu_r;
  std::vector<ModelPole> poles{};
};
/// The derivative of locate() and its transpose: <locate_change(m), g> = <m, gather_change(g)>.
[[nodiscard]] ComponentChange locate_change(const ModelChange& change, MaterialLocation location,
                                            PaddingGradient padding, const Grid& grid);
[[nodiscard]] ModelChange gather_change(const ComponentChange& gradient, MaterialLocation location,
                                        PaddingGradient padding, const Grid& grid);

}  // namespace sonde::maxwell
