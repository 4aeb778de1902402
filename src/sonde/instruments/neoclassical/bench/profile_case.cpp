// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/paths.h"
#include "sonde/instruments/neoclassical/bench/prepare.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/transport/profiles.h"
#include "sonde/instruments/neoclassical/transport/radial_transport.h"
#include "sonde/instruments/neoclassical/transport/table_source.h"

namespace sonde::neoclassical {
namespace {

/// The default axes with coefficients like those of a stellarator; the time does not depend on them.
Database made_database() {
  Database made;
  made.axes = default_axes();
  made.psia = 0.35;
  made.a_b = 0.5;
  const std::size_t radii = made.axes.rho.size();
  made.geometry = {std::vector<double>(radii, 2.5), std::vector<double>(radii, 5.5), std::vector<double>(radii, 14),
                   std::vector<double>(radii, 0),   std::vector<double>(radii, 0.9), {}};
  for (const double rho : made.axes.rho)
    for (const double nu : made.axes.nu_v)
      for (const double er : made.axes.Er_tilde) {
        made.D11.push_back(rho * (nu + 1e-5 * nu / (nu * nu + er * er)));
        made.D31.push_back(0.1 / (1 + nu));
        made.D13.push_back(-0.1 / (1 + nu));
        made.D33.push_back(0.4 / nu);
        made.D33_spitzer.push_back(2.0 / 3 / nu);
      }
  return made;
}

std::string database_file() {
  const std::filesystem::path folder = temporary_folder() / "sonde-bench" / "neoclassical";
  make_folders(folder);
  return folder / "database.h5";
}

Operation profiles_of(std::string name, const std::shared_ptr<const TableSource>& source, Index radii,
                      std::optional<int> sonine_order, bool ambipolar) {
  std::vector<RadialInput> inputs;
  for (Index i = 0; i < radii; ++i) {
    const double rho = radii == 1 ? 0.5 : 0.1 + 0.8 * static_cast<double>(i) / static_cast<double>(radii - 1);
    inputs.push_back({rho, standard_plasma({}, rho, source->minor_radius()), std::nullopt});
    if (!ambipolar) inputs.back().E_r = -5e3;
  }
  TransportOptions options;
  options.sonine_order = sonine_order;
  return {.name = std::move(name),
          .run = [source, inputs, options] { (void)radial_transport(*source, inputs, options); }};
}

}  // namespace

PreparedCase prepare_workflow(const BenchPoint& point) {
  const Index radii = whole_size(point.size, "radii");
  const std::string file = database_file();
  write_database(file, made_database());
  const auto source = std::make_shared<const TableSource>(made_database());
  PreparedCase prepared;
  prepared.input = fmt::format("{} radii, 3 species, 64 energies, database of 7 x 16 x 12 points", radii);
  prepared.operations = {
      {.name = "load the database", .run = [file] { (void)TableSource(read_database(file).database); }},
      profiles_of("fluxes and current", source, radii, std::nullopt, false),
      profiles_of("the same, momentum corrected", source, radii, 2, false),
      profiles_of("the same, ambipolar E_r too", source, radii, 2, true)};
  return prepared;
}

}  // namespace sonde::neoclassical
