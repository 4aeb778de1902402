// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/contents.h"
#include "sonde/instruments/neoclassical/results/result_file.h"
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

namespace sonde::neoclassical {

/// Which fluxes the ambipolar roots are those of: "corrected" or "without correction".
[[nodiscard]] std::string roots_of(std::span<const RadialResult> results);

/// Profiles of transport: rho, E_r; without_root (1: no stable ambipolar field, all NaN),
/// without_u2 (1: the correction leaves out flows that vary along B); on (rho, species) gamma, q,
/// u_par, current, A1, A2, A3, L11 ... L33, beyond, left_out, and with
/// momentum correction the same three and the current as corrected_..., and sonine_change, what the last order has
/// changed of the total; total_current; the ambipolar roots on
/// (rho, root), NaN where there are fewer, with roots_of as text, root_is_stable and root_uncertainty (V/m; above half
/// of the root it is doubtful and not taken). Of a guided search search_table_points and search_fields_solved on rho,
/// search_table_error_L11, ..._L31 and ..._L33 on (rho, species): how far its tables were off at the field that was
/// taken. SI units, as attributes.
/// Text `settings` is what was asked for.
[[nodiscard]] Contents transport_contents(std::span<const RadialResult> results, std::span<const Species> species,
                                          const std::string& source, const std::string& settings);

struct LargestError {
  std::string of{};  ///< "L22"
  double value = 0;  ///< relative
};

/// Adds what interpolation of a database costs: interpolation_error_L11, L12, L22, L31, L32 and L33 on (rho, species),
/// relative to what was solved at the same field. Returns the largest of them. Both have the same radii and species.
LargestError add_interpolation_errors(Contents& contents, std::span<const RadialResult> solved,
                                      std::span<const RadialResult> interpolated);

/// What transport_chart() draws, of each radius, with the names of the species.
struct StoredTransport {
  std::vector<RadialResult> results;
  std::vector<Species> species;
};

/// That of the profiles in a file, whose fields, roots, fluxes and currents it holds and nothing else. Throws
/// Error(bad_file) for a quantity that is not there or not of the axes' size.
[[nodiscard]] StoredTransport read_transport(const ResultFile& file);

/// What of it is drawn.
struct TransportPanels {
  bool fluxes = true, ambipolar = true, bootstrap = true;
};

/// Fluxes per species (corrected where there is a correction, as their titles say), all ambipolar roots with the one
/// that was taken, the doubtful ones apart, bootstrap current without and with momentum correction: over rho. Without
/// facets where there is nothing to draw.
[[nodiscard]] Chart transport_chart(std::span<const RadialResult> results, std::span<const Species> species,
                                    const TransportPanels& panels);

}  // namespace sonde::neoclassical
