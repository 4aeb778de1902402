// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/database_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"

namespace sonde::neoclassical {
namespace {

constexpr std::int64_t format_version = 2;

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(Hdf5File::open(path)) {}

  [[nodiscard]] Error bad(const std::string& what) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what));
  }

  [[nodiscard]] bool has(const std::string& name) const { return file_.is_dataset("/" + name); }

  [[nodiscard]] std::vector<double> values(const std::string& name, const Shape& shape) const {
    if (!has(name)) throw bad(fmt::format("there is no {}", name));
    const Hdf5Dataset dataset = file_.dataset("/" + name);
    const Hdf5DatasetInfo& info = dataset.info();
    if (info.dtype != DType::f64) throw bad(fmt::format("{} is {}, expected f64", name, info.type_text));
    if (info.shape != shape)
      throw bad(fmt::format("{} has the shape {}, expected {}", name, info.shape.text(), shape.text()));
    const Array array = dataset.read();
    const auto* first = static_cast<const double*>(array.data());
    return {first, first + array.count()};
  }

  /// Of any length above zero.
  [[nodiscard]] std::vector<double> axis(const std::string& name) const {
    if (!has(name)) throw bad(fmt::format("there is no {}", name));
    const Shape shape = file_.dataset("/" + name).info().shape;
    if (shape.rank() != 1 || shape.count() < 1 || shape.count() > most_on_an_axis)
      throw bad(fmt::format("{} has the shape {}, expected one line of values", name, shape.text()));
    return values(name, shape);
  }

  /// Empty, and its name noted, where the file has none.
  [[nodiscard]] std::vector<double> optional_values(const std::string& name, const Shape& shape) {
    if (has(name)) return values(name, shape);
    missing.push_back(name);
    return {};
  }

  /// One of ours, whose absence is no lack.
  [[nodiscard]] std::optional<double> own_attribute(const std::string& name) const {
    const auto value = file_.attribute("/", name);
    if (!value) return std::nullopt;
    if (const auto number = value->number()) return number;
    throw bad(fmt::format("the attribute {} is {}, expected a number", name, value->printed()));
  }
  [[nodiscard]] std::optional<double> optional_attribute(const std::string& name) {
    const std::optional<double> number = own_attribute(name);
    if (!number) missing.push_back("attribute " + name);
    return number;
  }

  /// Of our own additions, whose absence is no lack.
  [[nodiscard]] std::string own_text(const std::string& name) {
    const auto value = file_.attribute("/", name);
    return value ? value->printed() : "";
  }

  [[nodiscard]] std::optional<std::string> optional_text(const std::string& name) {
    if (const auto value = file_.attribute("/", name)) return value->printed();
    missing.push_back("attribute " + name);
    return std::nullopt;
  }

  std::vector<std::string> missing;

 private:
  static constexpr Index most_on_an_axis = 100000;
  Hdf5File file_;
};

/// The largest difference of a stored field and what the definitions give, relative to the field's largest value.
double departure(const std::vector<double>& stored, const std::vector<double>& made) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    largest = std::max(largest, std::abs(made[i]));
    difference = std::max(difference, std::abs(stored[i] - made[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

/// The fields that every layout has and that say in what label the coefficients are.
struct Labels {
  std::vector<double> drds, dr_tildedr, Er, Es;
};

void recover_lengths(const Labels& labels, Database& database) {
  const Axes& axes = database.axes;
  if (!(database.a_b > 0)) database.a_b = 2 * axes.rho[0] * labels.drds[0];
  if (database.geometry.B00.empty())
    for (std::size_t r = 0; r < axes.rho.size(); ++r) {
      const double largest = axes.Er_tilde.back();  // Er = Er_tilde dr_tildedr B00
      database.geometry.B00.push_back(labels.Er[(r + 1) * axes.Er_tilde.size() - 1] / (largest * labels.dr_tildedr[r]));
    }
  if (!(database.psia > 0))
    database.psia = labels.dr_tildedr[0] * database.a_b * database.a_b * database.geometry.B00[0] / 2;
}

}  // namespace

std::size_t database_bytes(const Axes& axes) {
  return sizeof(double) * static_cast<std::size_t>(8 * axes.count() + 3 * axes.radii() * axes.fields());
}

Contents database_contents(const Database& database) {
  require_valid(database);
  const RadialGeometry& geometry = database.geometry;
  for (const auto& [name, values] :
       {std::pair{"R00", &geometry.R00}, std::pair{"G", &geometry.G}, std::pair{"I", &geometry.I},
        std::pair{"iota", &geometry.iota}, std::pair{"D33_spitzer", &database.D33_spitzer}})
    if (values->empty()) throw Error(ErrorKind::bad_input, fmt::format("{} is missing", name));
  if (const Index bad = points_without_positive_d11(database); bad > 0)
    throw Error(ErrorKind::bad_input, fmt::format("D11 of {} points is not above zero", bad))
        .hint("raise the resolution, or use the discretisation skew, whose D11 is always above zero");
  const DerivedFields derived = derived_fields(database);
  const Axes& axes = database.axes;
  const std::map<std::string, Index> extents = {
      {"rho", axes.radii()}, {"nu_v", axes.collisionalities()}, {"Er_tilde", axes.fields()}};
  const std::vector<std::string> radial{"rho"}, by_field{"rho", "Er_tilde"}, full{"rho", "nu_v", "Er_tilde"};

  Contents contents;
  contents.attribute("schema", std::string("sonde.neoclassical.database/1"));
  const auto put = [&](const std::string& name, const std::vector<double>& values, const std::vector<std::string>& over,
                       const std::string& unit = "") {
    Shape shape;
    for (const std::string& axis : over) shape.append(extents.at(axis));
    contents.add(name, over, Array::from(values, shape)).unit(unit);
  };
  put("rho", axes.rho, radial);
  put("nu_v", axes.nu_v, {"nu_v"}, "m^-1");
  put("Er_tilde", axes.Er_tilde, {"Er_tilde"});
  put("Er", derived.Er, by_field, "T");
  put("Es", derived.Es, by_field, "T m");
  put("Er_to_Ertilde", derived.Er_to_Ertilde, by_field);
  put("drds", derived.drds, radial, "m");
  put("dr_tildedr", derived.dr_tildedr, radial);
  put("dr_tildeds", derived.dr_tildeds, radial, "m");
  put("D11", database.D11, full, "m^-3 T^-2");
  put("D13", database.D13, full, "m^-1 T^-1");
  put("D31", database.D31, full, "m^-1 T^-1");
  put("D33", database.D33, full, "m");
  put("D33_spitzer", database.D33_spitzer, full, "m");
  put("B00", geometry.B00, radial, "T");
  put("R00", geometry.R00, radial, "m");
  put("I", geometry.I, radial, "T m");
  put("G", geometry.G, radial, "T m");
  put("iota", geometry.iota, radial);
  for (const char* from : {"MONKES", "REFERENCE"}) {
    const std::string name = fmt::format("Fac_{}_TO_SFINCS_", from);
    put(name + "11", derived.monkes_to_sfincs_11, radial);
    put(name + "31", derived.monkes_to_sfincs_31, radial);
    put(name + "33", derived.monkes_to_sfincs_33, radial);
  }
  put("Fac_SFINCS_TO_DKES_11", derived.sfincs_to_dkes_11, radial);
  put("Fac_SFINCS_TO_DKES_31", derived.sfincs_to_dkes_31, radial);
  put("Fac_SFINCS_TO_DKES_33", derived.sfincs_to_dkes_33, radial);
  put("Fac_DKES_TO_D11star", derived.dkes_to_d11_star, radial);
  put("Fac_DKES_TO_D31star", derived.dkes_to_d31_star, radial);
  contents.add("Fac_DKES_TO_D33star", derived.dkes_to_d33_star);
  if (!geometry.B0_solver.empty()) put("B0_solver", geometry.B0_solver, radial, "T");
  if (!geometry.signgs.empty()) put("signgs", geometry.signgs, radial);
  for (const auto& [name, values] :
       {std::pair{"onsager_residual", &database.onsager_residual}, std::pair{"residual", &database.residual},
        std::pair{"n_xi_used", &database.n_xi_used}, std::pair{"precision_code", &database.precision_code}})
    if (!values->empty()) put(name, *values, full);
  contents.attribute("a_b", database.a_b);
  contents.attribute("psia", database.psia);
  contents.attribute("source_name", database.source_name);
  for (const auto& [name, text] : {std::pair{"equilibrium", &database.equilibrium}, std::pair{"grid", &database.grid}})
    if (!text->empty()) contents.attribute(name, *text);
  contents.attribute("format_version", format_version);
  std::string comment = "the factors _33 to SFINCS and to DKES have the sign minus";
  if (!database.symmetric) {
    contents.attribute("stellarator_symmetric", std::int64_t{0});
    comment +=
        "; no stellarator symmetry: even and odd parts were not separated, and D13 = -D31 holds only at Er_tilde = 0, "
        "so that onsager_residual of other points says nothing";
  }
  contents.attribute("comment", comment);
  return contents;
}

void write_database(const std::string& path, const Database& database) {
  write_contents(path, during("writing " + path, [&] { return database_contents(database); }));
}

DatabaseFile read_database(const std::string& path) {
  Reader reader(path);
  DatabaseFile read;
  Database& database = read.database;
  Axes& axes = database.axes;
  axes = {reader.axis("rho"), reader.axis("nu_v"), reader.axis("Er_tilde")};
  const Shape radial{axes.radii()}, by_field{axes.radii(), axes.fields()},
      full{axes.radii(), axes.collisionalities(), axes.fields()};
  const auto version = reader.optional_attribute("format_version");
  if (version && *version > static_cast<double>(format_version))
    throw reader.bad(fmt::format("format_version is {}, known are those up to {}", *version, format_version))
        .hint("a newer program wrote it");
  database.a_b = reader.optional_attribute("a_b").value_or(0);
  database.psia = reader.optional_attribute("psia").value_or(0);
  database.symmetric = reader.own_attribute("stellarator_symmetric").value_or(1) != 0;
  database.source_name = reader.optional_text("source_name").value_or("");
  database.equilibrium = reader.own_text("equilibrium");
  database.grid = reader.own_text("grid");
  database.D11 = reader.values("D11", full);
  database.D13 = reader.values("D13", full);
  database.D31 = reader.values("D31", full);
  database.D33 = reader.values("D33", full);
  database.D33_spitzer = reader.optional_values("D33_spitzer", full);
  RadialGeometry& geometry = database.geometry;
  for (const auto& [name, values] :
       {std::pair{"B00", &geometry.B00}, std::pair{"R00", &geometry.R00}, std::pair{"G", &geometry.G},
        std::pair{"I", &geometry.I}, std::pair{"iota", &geometry.iota}})
    *values = reader.optional_values(name, radial);
  // These are our own additions: their absence is no lack.
  if (reader.has("B0_solver")) geometry.B0_solver = reader.values("B0_solver", radial);
  if (reader.has("signgs")) geometry.signgs = reader.values("signgs", radial);
  for (const auto& [name, values] :
       {std::pair{"onsager_residual", &database.onsager_residual}, std::pair{"residual", &database.residual},
        std::pair{"n_xi_used", &database.n_xi_used}, std::pair{"precision_code", &database.precision_code}})
    if (reader.has(name)) *values = reader.values(name, full);
  const Labels labels{reader.values("drds", radial), reader.values("dr_tildedr", radial), reader.values("Er", by_field),
                      reader.values("Es", by_field)};
  try {
    require_valid(axes);
    recover_lengths(labels, database);
    require_valid(database);
  } catch (const Error& error) {
    throw reader.bad(error.message());
  }
  const DerivedFields derived = derived_fields(database);
  constexpr double agree = 1e-6;  // files of other programs may have their geometry in single precision
  for (const auto& [name, stored, made] :
       {std::tuple{"drds", &labels.drds, &derived.drds},
        std::tuple{"dr_tildedr", &labels.dr_tildedr, &derived.dr_tildedr}, std::tuple{"Er", &labels.Er, &derived.Er},
        std::tuple{"Es", &labels.Es, &derived.Es}})
    if (const double apart = departure(*stored, *made); !(apart <= agree))
      throw reader.bad(fmt::format("{} differs by {:.1e} from what psia, a_b, B00 and Er_tilde give", name, apart));
  read.missing = std::move(reader.missing);
  return read;
}

}  // namespace sonde::neoclassical
