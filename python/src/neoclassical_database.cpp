// SPDX-License-Identifier: Apache-2.0
// Databases of coefficients, profiles of transport made of them, and files in Boozer angles.
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "neoclassical.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/neoclassical/boozer/transform.h"
#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "sonde/instruments/neoclassical/results/transport_result.h"
#include "sonde/instruments/neoclassical/run/settings.h"
#include "sonde/instruments/neoclassical/run/transport_settings.h"
#include "sonde/instruments/neoclassical/tabulate/build_database.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"
#include "sonde/instruments/neoclassical/tabulate/solved_equilibrium.h"
#include "sonde/instruments/neoclassical/transport/profile_file.h"
#include "sonde/instruments/neoclassical/transport/table_source.h"
#include "work.h"

namespace sonde::python {
namespace {

namespace nc = neoclassical;

using Numbers = std::optional<std::vector<double>>;

class Database {
 public:
  Database(nc::Database database, std::vector<std::string> notes, std::shared_ptr<const RunFiles> files)
      : database_(std::move(database)),
        derived_(nc::derived_fields(database_)),
        notes_(std::move(notes)),
        files_(std::move(files)) {}

  [[nodiscard]] const nc::Database& database() const { return database_; }
  [[nodiscard]] const nc::DerivedFields& derived() const { return derived_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  void save(const std::string& path) const {
    (void)Work(py::none(), files()).run([&] {
      nc::write_database(path, database_);
      return true;
    });
  }

  /// For one call: what the database was read or made from is an input of it too.
  [[nodiscard]] std::shared_ptr<RunFiles> files() const { return std::make_shared<RunFiles>(*files_); }

 private:
  nc::Database database_;
  nc::DerivedFields derived_;
  std::vector<std::string> notes_;  ///< what the file lacks, or what a user should know of how it was made
  std::shared_ptr<const RunFiles> files_;
};

std::shared_ptr<Database> load(const std::string& path) {
  Work work;
  nc::DatabaseFile file = work.run([&] { return nc::read_database(path); });
  return std::make_shared<Database>(std::move(file.database), std::move(file.missing), work.files());
}

/// Everything of a database under the names of its files: windows on its own arrays, None where it has none.
py::dict arrays_of(const py::object& self) {
  const auto& held = self.cast<const Database&>();
  const nc::Database& d = held.database();
  const nc::DerivedFields& derived = held.derived();
  const Index radii = d.axes.radii(), nu = d.axes.collisionalities(), fields = d.axes.fields();
  py::dict made;
  const auto add = [&](const char* name, const std::vector<double>& values, const std::vector<Index>& shape) {
    std::vector<Index> strides(shape.size(), 1);
    for (std::size_t i = shape.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * shape[i + 1];
    made[name] = values.empty() ? py::object(py::none()) : read_only(DType::f64, shape, strides, values.data(), self);
  };
  add("rho", d.axes.rho, {radii});
  add("nu_v", d.axes.nu_v, {nu});
  add("Er_tilde", d.axes.Er_tilde, {fields});
  for (const auto& [name, values] :
       {std::pair{"D11", &d.D11}, std::pair{"D31", &d.D31}, std::pair{"D13", &d.D13}, std::pair{"D33", &d.D33},
        std::pair{"D33_spitzer", &d.D33_spitzer}, std::pair{"onsager_residual", &d.onsager_residual},
        std::pair{"residual", &d.residual}, std::pair{"n_xi_used", &d.n_xi_used},
        std::pair{"precision_code", &d.precision_code}})
    add(name, *values, {radii, nu, fields});
  for (const auto& [name, values] :
       {std::pair{"B00", &d.geometry.B00}, std::pair{"R00", &d.geometry.R00}, std::pair{"G", &d.geometry.G},
        std::pair{"I", &d.geometry.I}, std::pair{"iota", &d.geometry.iota},
        std::pair{"B0_solver", &d.geometry.B0_solver}, std::pair{"drds", &derived.drds}})
    add(name, *values, {radii});
  add("Er", derived.Er, {radii, fields});
  add("Es", derived.Es, {radii, fields});
  return made;
}

nc::Equilibrium open_equilibrium(const std::string& path, const std::optional<std::string>& wout = {}) {
  nc::SurfaceOptions options;
  options.path = path;
  options.wout = wout;
  return nc::Equilibrium::open(options);
}

std::shared_ptr<Database> build(const std::string& wout, const std::optional<std::string>& booz, bool in_boozer_angles,
                                const Numbers& rho, const Numbers& nu_v, const Numbers& er_tilde, const py::dict& grid,
                                const py::dict& solver, const std::string& part, const std::string& device,
                                const std::optional<std::string>& memory, const py::object& progress) {
  const std::string call = "build_database()";
  const auto settings = options_of<nc::SolverSettings>(solver, call);
  require_no_processor(settings, call);
  nc::DatabaseRequest request;
  if (rho) request.axes.rho = *rho;
  if (nu_v) request.axes.nu_v = *nu_v;
  if (er_tilde) request.axes.Er_tilde = *er_tilde;
  request.grid = options_of<nc::GridSettings>(grid, "Grid()").spec();
  request.solver = settings.solver();
  request.adapt = settings.search();
  request.batch_size = settings.scan_batch_size;
  if (in_boozer_angles && !booz)
    throw Error(ErrorKind::usage, "surface_backend \"boozer\" needs booz").hint("sonde.neoclassical.boozer() makes it");
  Work work(progress);
  return work.run([&] {
    const nc::Equilibrium equilibrium = open_equilibrium(wout);
    const auto boozer = booz ? std::optional(open_equilibrium(*booz, wout)) : std::nullopt;
    nc::DatabaseBuild making(in_boozer_angles ? *boozer : equilibrium, boozer, request);
    if (const auto gpu = batch_device(device, making.why_not_in_batches(), memory)) making.use(*gpu);
    nc::PartFile kept(part, making.key());
    nc::Database made = making.run(kept, host_budget(memory));
    kept.remove();
    return std::make_shared<Database>(std::move(made), making.notes(), work.files());
  });
}

/// `table` is the text of a profile file, `file` the path of one; without both the standard profiles with `standard`.
struct Plasma {
  std::optional<nc::TabulatedProfiles> table{};
  nc::StandardProfiles standard{};

  Plasma(const std::optional<std::string>& file, const std::optional<std::string>& text,
         const std::optional<std::array<double, 4>>& numbers) {
    if (file) table = nc::read_profiles(*file);
    if (text) table = nc::parse_profiles(*text, "profiles");
    if (numbers) standard = {(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]};
  }
  [[nodiscard]] std::vector<nc::Population> at(double rho, double a_b) const {
    return table ? table->plasma(rho, a_b) : nc::standard_plasma(standard, rho, a_b);
  }
};

/// What `sonde neoclassical profile` writes, as a dictionary of the same names.
py::dict named_arrays(const Contents& contents) {
  py::dict made;
  for (const Contents::Variable& variable : contents.variables())
    made[variable.name.c_str()] =
        variable.text ? py::object(py::str(*variable.text)) : to_numpy(variable.values.clone());
  return made;
}

/// The plasma at each radius, in the field that is given for all, or in that of the profiles, or in none.
std::vector<nc::RadialInput> radii_of(const std::vector<double>& rho, const Plasma& plasma, double a_b,
                                      const std::optional<double>& E_r, double E_par) {
  std::vector<nc::RadialInput> radii;
  for (const double at : rho) {
    const std::optional<double> own = plasma.table ? plasma.table->radial_field(at) : std::nullopt;
    radii.push_back({at, plasma.at(at, a_b), E_r ? E_r : own, E_par});
  }
  return radii;
}

std::vector<nc::Species> species_of(const nc::RadialInput& radius) {
  std::vector<nc::Species> species;
  for (const nc::Population& population : radius.plasma) species.push_back(population.species);
  return species;
}

/// Saved to `output` when that is given.
py::dict profiles(const Database& database, const std::vector<double>& rho, const std::optional<std::string>& file,
                  const std::optional<std::string>& text, const std::optional<std::array<double, 4>>& standard,
                  const std::optional<double>& E_r, const py::dict& keywords, const std::optional<std::string>& output,
                  const py::object& progress) {
  const auto settings = options_of<nc::TransportSettings>(keywords, "profiles()");
  if (rho.empty()) throw Error(ErrorKind::bad_input, "rho names no radius");
  return named_arrays(Work(progress, database.files()).run([&] {
    if (output) require_contents_path(*output);
    const nc::TableSource source(database.database());
    const std::vector<nc::RadialInput> radii =
        radii_of(rho, Plasma(file, text, standard), source.minor_radius(), E_r, settings.E_par);
    const std::vector<nc::RadialResult> results = nc::radial_transport(source, radii, settings.transport());
    Contents made =
        nc::transport_contents(results, species_of(radii.front()), "database " + database.database().source_name,
                               nc::profile_settings_text(settings, file.value_or(""), std::nullopt));
    if (output) write_contents(*output, made);
    return made;
  }));
}

/// The same from coefficients that are solved at every energy. With `compare` also what interpolating that database
/// costs.
py::dict solved_profiles(const std::string& wout, const std::vector<double>& rho,
                         const std::optional<std::string>& file, const std::optional<std::string>& text,
                         const std::optional<std::array<double, 4>>& standard, const std::optional<double>& E_r,
                         const py::dict& grid, const py::dict& solver, bool exhaustive, const Database* compare,
                         const py::dict& keywords, const std::optional<std::string>& output,
                         const py::object& progress) {
  const auto settings = options_of<nc::TransportSettings>(keywords, "profiles()");
  const nc::DirectSettings how{.grid = options_of<nc::GridSettings>(grid, "Grid()"),
                               .solver = options_of<nc::SolverSettings>(solver, "profiles()"),
                               .search = exhaustive ? nc::FieldSearch::exhaustive : nc::FieldSearch::guided};
  const nc::GridSpec on = how.grid.spec();
  if (rho.empty()) throw Error(ErrorKind::bad_input, "rho names no radius");
  return named_arrays(Work(progress, compare != nullptr ? compare->files() : nullptr).run([&] {
    if (output) require_contents_path(*output);
    const nc::Equilibrium equilibrium = open_equilibrium(wout);
    nc::TransportOptions options = settings.transport();
    options.search = how.search;
    std::optional<ProgressMeter> meter;
    const nc::SolvedEquilibrium source(equilibrium, nc::minor_radius(equilibrium, std::nullopt), on,
                                       how.solver.solver(),
                                       {.adapt = how.solver.search(), .solved = [&] { meter->advance(); }});
    std::vector<nc::RadialInput> radii =
        radii_of(rho, Plasma(file, text, standard), source.minor_radius(), E_r, settings.E_par);
    meter.emplace("solving", nc::expected_solves(radii, options), "points");
    const std::vector<nc::RadialResult> results = nc::radial_transport(source, radii, options);
    Contents made = nc::transport_contents(results, species_of(radii.front()), "solved from " + wout,
                                           nc::profile_settings_text(settings, file.value_or(""), how));
    if (compare != nullptr)
      (void)add_interpolation_errors(
          made, results, nc::interpolated_again(nc::TableSource(compare->database()), radii, results, options));
    if (output) write_contents(*output, made);
    return made;
  }));
}

/// {"file", "s", "largest_defect", "jacobian_defect", "mboz", "nboz", "notes"}.
py::dict boozer(const std::string& wout, const std::string& output, const Numbers& s, const std::optional<int>& mboz,
                const std::optional<int>& nboz) {
  nc::Notes notes;
  const nc::BoozerFile made = Work().run([&] {
    require_place(output);
    const nc::Wout read = nc::read_wout(wout);
    nc::BoozerResolution resolution = nc::default_resolution(read);
    if (mboz) resolution.mboz = *mboz;
    if (nboz) resolution.nboz = *nboz;
    const std::vector<double> surfaces = s ? nc::on_half_mesh(read, *s, notes) : read.s;
    nc::BoozerFile file = nc::boozer_transform(read, surfaces, resolution, notes);
    nc::write_boozmn(output, file);
    return file;
  });
  py::dict told;
  told["file"] = output;
  told["s"] = array_of(made.s);
  told["largest_defect"] = array_of(made.largest_defect);
  told["jacobian_defect"] = array_of(made.jacobian_defect);
  told["mboz"] = made.mboz;
  told["nboz"] = made.nboz;
  told["notes"] = notes;
  return told;
}

}  // namespace

void add_neoclassical_database(py::module_& module) {
  py::class_<Database, std::shared_ptr<Database>>(module, "NeoclassicalDatabase")
      .def("save", &Database::save)
      .def("arrays", arrays_of)
      .def("profiles", profiles)
      .def("notes", &Database::notes)
      .def("source_name", [](const Database& of) { return of.database().source_name; })
      .def("psia", [](const Database& of) { return of.database().psia; })
      .def("a_b", [](const Database& of) { return of.database().a_b; });
  module.def("neoclassical_load_database", load);
  module.def("neoclassical_build_database", build);
  module.def("neoclassical_profiles", solved_profiles);
  module.def("neoclassical_boozer", boozer);
}

}  // namespace sonde::python
