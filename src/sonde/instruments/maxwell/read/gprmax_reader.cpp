// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/read/gprmax_excitation.h"
#include "sonde/instruments/maxwell/read/gprmax_input.h"
#include "sonde/instruments/maxwell/read/gprmax_values.h"

namespace sonde::maxwell {
namespace {

/// What gprMax 3.1 has beside the commands of `rules` below.
constexpr std::array unsupported_commands = {"python",
                                             "fractal_box",
                                             "soil_peplinski",
                                             "add_surface_roughness",
                                             "add_surface_water",
                                             "add_grass",
                                             "add_dispersion_lorentz",
                                             "add_dispersion_drude",
                                             "transmission_line",
                                             "geometry_objects_write",
                                             "pml_formulation",
                                             "taguchi",
                                             "end_taguchi"};
constexpr std::array waveform_types = {
    "gaussian", "gaussiandot",   "gaussiandotnorm",     "gaussiandotdot", "gaussiandotdotnorm",
    "ricker",   "gaussianprime", "gaussiandoubleprime", "sine",           "contsine",
    "impulse"};
/// The place of a profile of #pml_cfs is its power of the depth.
constexpr std::array cfs_profiles = {"constant", "linear", "quadratic", "cubic", "quartic", "quintic", "sextic"};

constexpr double most_cells = 1e12;
constexpr Index most_iterations = 1'000'000'000;
constexpr Index most_receivers = 1'000'000;

template <class List>
std::optional<std::size_t> place_in(const List& list, const std::string& word) {
  const auto found = std::find(list.begin(), list.end(), word);
  return found == list.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - list.begin()));
}

template <class List>
std::string alternatives(const List& list) {
  return join_words({list.begin(), list.end()}, " or ");
}

template <class List>
bool has_id(const List& list, const std::string& id) {
  return std::any_of(list.begin(), list.end(), [&](const auto& each) { return each.id == id; });
}

struct CfsProfile {
  std::size_t power = 0;
  bool reverse = false;
  double low = 0, high = 0;

  /// gprMax takes the maximum for a constant.
  [[nodiscard]] bool flat() const { return power == 0 || low == high; }
};

CfsProfile cfs_profile(const GprmaxValues& values, std::size_t at, const std::string& what, double least) {
  const auto power = place_in(cfs_profiles, values.word(at));
  if (!power)
    throw values.error(
        fmt::format("profile of {} = \"{}\"; expected {}", what, values.word(at), alternatives(cfs_profiles)));
  const std::string& direction = values.word(at + 1);
  if (direction != "forward" && direction != "reverse")
    throw values.error(fmt::format("direction of {} = \"{}\"; expected forward or reverse", what, direction));
  const bool by_medium = what == "sigma" && values.word(at + 3) == "None";
  return {*power, direction == "reverse", values.at_least(least, at + 2, "smallest " + what),
          by_medium ? 0 : values.at_least(0, at + 3, "largest " + what)};
}

/// Whether three points on planes have no area between them.
bool on_a_line(const std::array<XyzIndex, 3>& points) {
  const auto turned = [&](std::size_t u, std::size_t v) {
    return (points[1][u] - points[0][u]) * (points[2][v] - points[0][v]) -
           (points[2][u] - points[0][u]) * (points[1][v] - points[0][v]);
  };
  return turned(0, 1) == 0 && turned(1, 2) == 0 && turned(2, 0) == 0;
}

class Reader;
/// How a command is read. `fits` says which numbers of values it may have.
struct Rule {
  std::string_view name;
  bool (*fits)(std::size_t count);
  const char* values;
  bool once;
  void (Reader::*read)(const GprmaxValues& values);
};
const Rule* rule_of(std::string_view name);
std::vector<std::string> known_names();

template <std::size_t... counts>
constexpr bool any_of_these(std::size_t count) {
  return ((count == counts) || ...);
}
template <std::size_t least>
constexpr bool at_least_these(std::size_t count) {
  return count >= least;
}

class Reader {
 public:
  Reader(std::vector<GprmaxCommand> commands, const std::string& name, const TextReader& read_text,
         const GprmaxVoxelReader& read_voxels)
      : commands_(std::move(commands)), read_text_(read_text), read_voxels_(read_voxels) {
    made_.name = name;
    made_.materials = {{.id = "pec", .sigma = std::numeric_limits<double>::infinity()}, {.id = "free_space"}};
  }

  GprmaxInput read() {
    for (const GprmaxCommand& command : commands_)
      if (!attempt(command, [&] { take(command); })) definitions_hidden_ |= may_define(command);
    measure();
    for (const Check& check : checks_)
      if (check.needs == Needs::ids || (check.needs == Needs::cells ? measured_ : measured_ && timed_))
        attempt(*check.command, check.body);
    throw_problems();
    std::stable_sort(made_.sources.begin(), made_.sources.end(),
                     [](const GprmaxSource& a, const GprmaxSource& b) { return a.kind < b.kind; });
    return std::move(made_);
  }

  void title(const GprmaxValues& values) { made_.title = values.command().text; }
  void output_dir(const GprmaxValues& values) { made_.output_dir = values.command().text; }
  void messages(const GprmaxValues& values) { made_.messages = values.yes(0, "messages"); }
  void num_threads(const GprmaxValues& values) { made_.num_threads = values.whole(1, 0, "threads"); }
  void domain(const GprmaxValues& values) { made_.domain = values.xyz(0); }
  void spacing(const GprmaxValues& values) {
    made_.spacing = {values.above_zero(0, "dx"), values.above_zero(1, "dy"), values.above_zero(2, "dz")};
  }
  void time_window(const GprmaxValues& values) { made_.time_window = values.time(0, "time window"); }
  void stability_factor(const GprmaxValues& values) {
    made_.stability_factor = values.above_zero(0, "factor");
    if (made_.stability_factor > 1) throw values.error(fmt::format("factor = {}; expected at most 1", values.word(0)));
  }
  void src_steps(const GprmaxValues& values) {
    check(values, Needs::cells, [this, values] { made_.src_steps = nearest_planes(values.xyz(0), made_.spacing); });
  }
  void rx_steps(const GprmaxValues& values) {
    check(values, Needs::cells, [this, values] { made_.rx_steps = nearest_planes(values.xyz(0), made_.spacing); });
  }

  void pml_cells(const GprmaxValues& values) {
    for (std::size_t u = 0; u < 3; ++u)
      for (std::size_t side = 0; side < 2; ++side)
        made_.pml_cells[u][side] = values.whole(0, values.count() == 1 ? 0 : 3 * side + u, "cells");
  }

  void pml_cfs(const GprmaxValues& values) {
    if (std::exchange(has_cfs_, true)) throw values.unsupported("a second #pml_cfs (a layer of second order)");
    const CfsProfile alpha = cfs_profile(values, 0, "alpha", 0), kappa = cfs_profile(values, 4, "kappa", 1),
                     sigma = cfs_profile(values, 8, "sigma", 0);
    PmlSettings& pml = made_.pml;
    if (sigma.power > 0 && (sigma.reverse || sigma.low != 0))
      throw values.unsupported("a sigma of #pml_cfs that does not grow forward from 0");
    pml.grading = static_cast<double>(sigma.power);
    if (sigma.high > 0) made_.pml_sigma_max = sigma.high;
    const bool as_sigma = kappa.power == sigma.power && !kappa.reverse && (kappa.power == 0 || kappa.low == 1);
    if (!as_sigma && !(kappa.flat() && kappa.high == 1))
      throw values.unsupported("a kappa of #pml_cfs that does not grow from 1 like sigma");
    if (kappa.high < 1) throw values.error(fmt::format("largest kappa = {}; expected at least 1", values.word(7)));
    pml.kappa_max = kappa.high;
    const bool falling = alpha.power == 1 && alpha.reverse && alpha.high >= alpha.low;
    if (!falling && !alpha.flat())
      throw values.unsupported("an alpha of #pml_cfs that is neither constant nor linear in reverse direction");
    pml.alpha_min = alpha.flat() ? alpha.high : alpha.low;
    pml.alpha_max = alpha.flat() ? 0 : alpha.high - alpha.low;
  }

  void material(const GprmaxValues& values) {
    GprmaxMaterial made{values.word(4), values.at_least(1, 0, "eps_r"), 0, values.at_least(1, 2, "mu_r")};
    made.sigma = values.word(1) == "inf" ? std::numeric_limits<double>::infinity() : values.at_least(0, 1, "sigma");
    if (has_id(made_.materials, made.id))
      throw values.error(fmt::format("the material \"{}\" exists already", made.id));
    made_.materials.push_back(std::move(made));
    if (values.at_least(0, 3, "sigma*") > 0) throw values.unsupported("magnetic loss (sigma* of #material above 0)");
  }

  void debye(const GprmaxValues& values) {
    const auto poles = static_cast<std::size_t>(std::min<Index>(values.whole(1, 0, "number of poles"), 1000));
    if (values.count() < 2 * poles + 2)
      throw values.error(fmt::format("{} values; expected deps and tau of {} poles, and the ids of materials",
                                     values.count(), values.word(0)));
    std::vector<GprmaxMaterial::Pole> read;
    for (std::size_t p = 0; p < poles; ++p)
      read.push_back({values.above_zero(2 * p + 1, "deps"), values.above_zero(2 * p + 2, "tau")});
    check(values, Needs::ids, [this, values, read] {
      for (std::size_t i = 2 * read.size() + 1; i < values.count(); ++i) {
        require_material(values, values.word(i));
        for (GprmaxMaterial& material : made_.materials)
          if (material.id == values.word(i)) material.poles.insert(material.poles.end(), read.begin(), read.end());
      }
    });
  }

  void waveform(const GprmaxValues& values) {
    GprmaxWaveform made{to_lower(values.word(0)), values.number(1, "amplitude"), values.above_zero(2, "frequency"),
                        values.word(3)};
    if (!place_in(waveform_types, made.type))
      throw values.error(fmt::format("type = \"{}\"; expected {}", values.word(0), alternatives(waveform_types)));
    require_new_waveform(values, made.id);
    made_.waveforms.push_back(std::move(made));
  }

  void excitation_file(const GprmaxValues& values);

  void voltage_source(const GprmaxValues& values) { source(values, GprmaxSourceKind::voltage_source); }
  void hertzian_dipole(const GprmaxValues& values) { source(values, GprmaxSourceKind::hertzian_dipole); }
  void magnetic_dipole(const GprmaxValues& values) { source(values, GprmaxSourceKind::magnetic_dipole); }

  void receiver(const GprmaxValues& values) {
    GprmaxReceiver made{"", values.xyz(0), {all_components.begin(), all_components.end()}, values.command().where()};
    if (values.count() > 3) {
      made.name = values.word(3);
      made.outputs.clear();
    }
    for (std::size_t i = 4; i < values.count(); ++i) made.outputs.push_back(output(values, values.word(i)));
    made_.receivers.push_back(std::move(made));
    check(values, Needs::cells, [this, values] { require_node(values, values.xyz(0)); });
  }

  void receiver_array(const GprmaxValues& values) {
    made_.receiver_arrays.push_back({values.xyz(0), values.xyz(3), values.xyz(6), values.command().where()});
    check(values, Needs::cells, [this, values] { check_receiver_array(values); });
  }

  void snapshot(const GprmaxValues& values) {
    made_.snapshots.push_back({values.xyz(0), values.xyz(3), values.xyz(6), values.time(9, "time"), values.word(10)});
    require_new_file(values, 10, ".h5");
    check(values, Needs::steps, [this, values, read = made_.snapshots.back()] {
      require_steps_in_box(values);
      if (const Index step = made_.snapshot_step(read); step > made_.iterations())
        throw values.error(
            fmt::format("time = {} is step {}; the run has {}", values.word(9), step, made_.iterations()));
    });
  }

  void geometry_view(const GprmaxValues& values) {
    made_.geometry_views.push_back({values.xyz(0), values.xyz(3), values.xyz(6), values.word(9)});
    require_new_file(values, 9, ".vti");
    check(values, Needs::cells, [this, values] { require_steps_in_box(values); });
    const std::string kind = to_lower(values.word(10));
    if (kind == "f") throw values.unsupported("a #geometry_view of edges (f)");
    if (kind != "n") throw values.error(fmt::format("kind = \"{}\"; expected n or f", values.word(10)));
  }

  void box(const GprmaxValues& values) {
    object(values, GprmaxBox{values.xyz(0), values.xyz(3)}, 6);
    check(values, Needs::cells, [this, values] { require_rising(values, values.xyz(0), values.xyz(3), 3); });
  }
  void sphere(const GprmaxValues& values) {
    object(values, GprmaxSphere{values.xyz(0), values.above_zero(3, "radius")}, 4);
  }
  void cylinder(const GprmaxValues& values) {
    object(values, GprmaxCylinder{values.xyz(0), values.xyz(3), values.above_zero(6, "radius")}, 7);
    check(values, Needs::cells, [this, values] {
      if (nearest_planes(values.xyz(0), made_.spacing) == nearest_planes(values.xyz(3), made_.spacing))
        throw values.error("both faces have one centre; expected two");
    });
  }
  void plate(const GprmaxValues& values) {
    object(values, GprmaxPlate{values.xyz(0), values.xyz(3)}, 6);
    check(values, Needs::cells, [this, values] { require_rising(values, values.xyz(0), values.xyz(3), 2); });
  }
  void edge(const GprmaxValues& values) {
    object(values, GprmaxEdge{values.xyz(0), values.xyz(3)}, 6);
    check(values, Needs::cells, [this, values] { require_rising(values, values.xyz(0), values.xyz(3), 1); });
  }

  void geometry_objects_read(const GprmaxValues& values);

  void triangle(const GprmaxValues& values) {
    const GprmaxTriangle made{{values.xyz(0), values.xyz(3), values.xyz(6)}, values.at_least(0, 9, "thickness")};
    object(values, made, 10);
    check(values, Needs::cells, [this, values, made] {
      std::array<XyzIndex, 3> planes{};
      for (std::size_t corner = 0; corner < 3; ++corner) planes[corner] = require_plane(values, made.corners[corner]);
      const auto equal = [&](std::size_t u) { return planes[0][u] == planes[1][u] && planes[1][u] == planes[2][u]; };
      if (on_a_line(planes)) throw values.error("the corners are on a line; expected a triangle");
      if (equal(0) || equal(1) || equal(2)) return;
      throw values.error("the corners are in no coordinate plane; expected one coordinate that is equal in all");
    });
  }

  void sector(const GprmaxValues& values) {
    const GprmaxSector made{.axis = values.axis(0, "axis"),
                            .centre = {values.number(1, "first coordinate"), values.number(2, "second coordinate")},
                            .low = values.number(3, "lower end"),
                            .high = values.number(4, "upper end"),
                            .radius = values.above_zero(5, "radius"),
                            .start_degrees = values.at_least(0, 6, "starting angle"),
                            .sweep_degrees = values.above_zero(7, "sector angle")};
    if (made.start_degrees >= 360 || made.sweep_degrees >= 360)
      throw values.error(fmt::format("angles {} and {}; expected less than 360", values.word(6), values.word(7)));
    if (made.high < made.low)
      throw values.error(
          fmt::format("it reaches from {} to {}; expected the lower end first", values.word(3), values.word(4)));
    object(values, made, 8);
  }

 private:
  void take(const GprmaxCommand& command) {
    if (command.fault) throw *command.fault;
    const GprmaxValues values(command);
    if (place_in(unsupported_commands, command.name)) throw unsupported(values);
    const Rule* rule = rule_of(command.name);
    if (rule == nullptr)
      throw Error(ErrorKind::bad_file, fmt::format("{}: unknown command #{}{}", command.where(), command.name,
                                                   did_you_mean("#" + command.name, known_names())));
    if (rule->once && !first_.emplace(command.name, &command).second)
      throw values.error(fmt::format("given twice; the first is {}", first_.at(command.name)->where()));
    if (!rule->fits(values.count()))
      throw values.error(
          fmt::format("{} value{}; expected {}", values.count(), values.count() == 1 ? "" : "s", rule->values));
    (this->*rule->read)(values);
    if (rule->once) done_.insert(command.name);
  }

  Error unsupported(const GprmaxValues& values) const {
    Error error = values.unsupported("command #" + values.command().name);
    if (values.command().name == "python")
      error.hint(fmt::format("`python -m gprMax {} --write-processed` writes a file with the commands that it prints",
                             made_.name));
    return error;
  }

  /// Whether an id or an essential command may be missing because of what is wrong with this one.
  static bool may_define(const GprmaxCommand& command) {
    constexpr std::array defining = {"material", "waveform", "excitation_file", "python"};
    const bool unknown = rule_of(command.name) == nullptr && !place_in(unsupported_commands, command.name);
    return command.fault || unknown || place_in(defining, command.name);
  }

  /// What a check can only be made with, beside its own command.
  enum class Needs { ids, cells, steps };
  struct Check {
    const GprmaxCommand* command;
    Needs needs;
    std::function<void()> body;
  };
  void check(const GprmaxValues& values, Needs needs, std::function<void()> body) {
    checks_.push_back({&values.command(), needs, std::move(body)});
  }

  void note(const GprmaxCommand* command, Error error) { problems_.emplace_back(command, std::move(error)); }
  template <class Body>
  bool attempt(const GprmaxCommand& command, const Body& body) {
    try {
      body();
      return true;
    } catch (Error& error) {
      note(&command, std::move(error));
      return false;
    }
  }
  /// In the order of the commands.
  void throw_problems() {
    std::stable_sort(problems_.begin(), problems_.end(),
                     [](const auto& a, const auto& b) { return std::less<>()(a.first, b.first); });
    Problems sorted;
    for (auto& [command, error] : problems_) sorted.add(std::move(error));
    sorted.throw_if_any(fmt::format("{}: {} problems", made_.name, problems_.size()));
  }

  /// Cells and steps of what was read.
  void measure();
  void require_cells(const GprmaxValues& values) const;
  void require_room_for_layers(const GprmaxValues& values) const;
  void require_steps(const GprmaxValues& values) const;

  void require_material(const GprmaxValues& values, const std::string& id) const {
    if (!definitions_hidden_ && !has_id(made_.materials, id))
      throw values.error(fmt::format("there is no material \"{}\"{}", id, did_you_mean(id, ids_of(made_.materials))));
  }
  void require_new_waveform(const GprmaxValues& values, const std::string& id) const {
    if (has_id(made_.waveforms, id) || place_in(made_.excitation.ids, id))
      throw values.error(fmt::format("the waveform \"{}\" exists already", id));
  }
  void require_waveform(const GprmaxValues& values, const std::string& id) const {
    if (definitions_hidden_ || has_id(made_.waveforms, id) || place_in(made_.excitation.ids, id)) return;
    std::vector<std::string> ids = ids_of(made_.waveforms);
    ids.insert(ids.end(), made_.excitation.ids.begin(), made_.excitation.ids.end());
    throw values.error(fmt::format("there is no waveform \"{}\"{}", id, did_you_mean(id, ids)));
  }
  template <class List>
  static std::vector<std::string> ids_of(const List& list) {
    std::vector<std::string> ids;
    for (const auto& each : list) ids.push_back(each.id);
    return ids;
  }

  /// On planes 0 to `most` less than the number of cells.
  XyzIndex require_planes(const GprmaxValues& values, const Xyz& position, Index most) const {
    const XyzIndex planes = nearest_planes(position, made_.spacing);
    for (std::size_t u = 0; u < 3; ++u)
      if (const Index last = made_.cells[u] - most; planes[u] < 0 || planes[u] > last)
        throw values.error(fmt::format("{} = {:.6g} m is outside the domain; expected 0 to {:.6g} m", xyz_letters[u],
                                       position[u], static_cast<double>(last) * made_.spacing[u]));
    return planes;
  }
  /// A plane of the domain, its walls included.
  XyzIndex require_plane(const GprmaxValues& values, const Xyz& position) const {
    return require_planes(values, position, 0);
  }
  /// An index at which fields are kept: the last plane is a wall, on which they are zero.
  XyzIndex require_node(const GprmaxValues& values, const Xyz& position) const {
    return require_planes(values, position, 1);
  }
  /// From low to high, with an extent along so many axes.
  void require_rising(const GprmaxValues& values, const Xyz& low, const Xyz& high, int extended) const {
    const XyzIndex first = require_plane(values, low), last = require_plane(values, high);
    int rising = 0;
    for (std::size_t u = 0; u < 3; ++u) {
      if (first[u] > last[u])
        throw values.error(fmt::format("from {0} = {1:.6g} to {0} = {2:.6g} m; expected the lower end first",
                                       xyz_letters[u], low[u], high[u]));
      if (first[u] < last[u]) ++rising;
    }
    if (rising != extended) throw values.error(fmt::format("an extent along {} axes; expected {}", rising, extended));
  }

  /// A box in the first six values, in steps of whole cells in the next three.
  void require_steps_in_box(const GprmaxValues& values) const {
    require_rising(values, values.xyz(0), values.xyz(3), 3);
    for (std::size_t u = 0; u < 3; ++u)
      if (nearest_planes(values.xyz(6), made_.spacing)[u] < 1)
        throw values.error(
            fmt::format("step along {} = {}; expected at least one cell", xyz_letters[u], values.word(6 + u)));
  }
  /// The name of a result, which no command before has; `ending` may be left out.
  void require_new_file(const GprmaxValues& values, std::size_t at, std::string_view ending) {
    std::string file = values.word(at);
    if (file.find('/') != std::string::npos || file == "." || file == "..")
      throw values.error(fmt::format("file = \"{}\"; expected a name without a folder", file));
    if (file.ends_with(ending)) file.resize(file.size() - ending.size());
    if (!files_.emplace(values.command().name, file).second)
      throw values.error(fmt::format("the file \"{}\" is written by an earlier command", values.word(at)));
  }

  void source(const GprmaxValues& values, GprmaxSourceKind kind) {
    const std::size_t at = kind == GprmaxSourceKind::voltage_source ? 5 : 4;
    GprmaxSource made{.kind = kind,
                      .polarisation = values.axis(0, "polarisation"),
                      .position = values.xyz(1),
                      .resistance = at == 5 ? values.at_least(0, 4, "resistance") : 0,
                      .waveform = values.word(at),
                      .where = values.command().where()};
    if (values.count() > at + 1) {
      made.start = values.at_least(0, at + 1, "start");
      made.stop = values.number(at + 2, "stop");
      if (*made.stop <= made.start)
        throw values.error(
            fmt::format("start = {}, stop = {}; expected stop after start", values.word(at + 1), values.word(at + 2)));
    }
    check(values, Needs::ids, [this, values, at] { require_waveform(values, values.word(at)); });
    check(values, Needs::cells, [this, values, kind, polarisation = made.polarisation] {
      require_node(values, values.xyz(1));
      require_coupling(values, kind, polarisation);
    });
    made_.sources.push_back(std::move(made));
  }

  /// In two dimensions E along the flat axis and H across it are excited.
  void require_coupling(const GprmaxValues& values, GprmaxSourceKind kind, std::size_t polarisation) const {
    const std::optional<std::size_t> flat = made_.flat_axis();
    const bool magnetic = kind == GprmaxSourceKind::magnetic_dipole;
    if (!flat || (polarisation == *flat) != magnetic) return;
    std::string expected(1, xyz_letters[*flat]);
    if (magnetic) expected = fmt::format("{} or {}", xyz_letters[*flat == 0 ? 1 : 0], xyz_letters[*flat == 2 ? 1 : 2]);
    throw values.error(fmt::format("polarisation {} in a domain of one cell along {}; expected {}",
                                   xyz_letters[polarisation], xyz_letters[*flat], expected));
  }

  static Component output(const GprmaxValues& values, const std::string& word) {
    for (const Component c : all_components)
      if (name(c) == word) return c;
    if (word == "Ix" || word == "Iy" || word == "Iz") throw values.unsupported(fmt::format("output {} of #rx", word));
    throw values.error(fmt::format("output \"{}\"; expected Ex, Ey, Ez, Hx, Hy or Hz", word));
  }

  void check_receiver_array(const GprmaxValues& values) const {
    const XyzIndex first = require_node(values, values.xyz(0)), last = require_node(values, values.xyz(3)),
                   step = nearest_planes(values.xyz(6), made_.spacing);
    Index count = 1;
    for (std::size_t u = 0; u < 3; ++u) {
      if (first[u] > last[u])
        throw values.error(fmt::format("the upper end along {} is below the lower one", xyz_letters[u]));
      if (step[u] < 1 && values.number(6 + u, "step") != 0)
        throw values.error(
            fmt::format("step along {} = {}; expected 0 or at least one cell", xyz_letters[u], values.word(6 + u)));
      count = std::min(most_receivers + 1, count * ((last[u] - first[u]) / std::max<Index>(step[u], 1) + 1));
    }
    if (count > most_receivers)
      throw values.error(fmt::format("more receivers than {}; expected a larger step", most_receivers));
  }

  /// What reading the file that a value names gives; what is wrong there is reported with the line of the command too.
  template <class Read>
  static auto from_file(const GprmaxValues& values, const Read& read, const std::string& path) {
    try {
      return read(path);
    } catch (const Error& error) {
      throw Error(error.kind(), values.error(error.message()).message()).hint(error.hint());
    }
  }
  template <class Shape>
  void object(const GprmaxValues& values, const Shape& shape, std::size_t numbers);

  std::vector<GprmaxCommand> commands_;
  std::deque<GprmaxCommand> imported_;  // of materials files; others point at them
  const TextReader& read_text_;
  const GprmaxVoxelReader& read_voxels_;
  GprmaxInput made_;
  std::vector<std::pair<const GprmaxCommand*, Error>> problems_;
  std::map<std::string, const GprmaxCommand*> first_;    // of those that may be given once
  std::set<std::string> done_;                           // of these, those whose values are right
  std::set<std::pair<std::string, std::string>> files_;  // of results, by the command that writes them
  std::vector<Check> checks_;                            // when all commands have been read
  bool definitions_hidden_ = false, has_cfs_ = false, measured_ = false, timed_ = false;
};

constexpr std::array rules = {
    Rule{"title", at_least_these<0>, "", true, &Reader::title},
    Rule{"domain", any_of_these<3>, "x y z", true, &Reader::domain},
    Rule{"dx_dy_dz", any_of_these<3>, "dx dy dz", true, &Reader::spacing},
    Rule{"time_window", any_of_these<1>, "seconds or a number of steps", true, &Reader::time_window},
    Rule{"time_step_stability_factor", any_of_these<1>, "a factor", true, &Reader::stability_factor},
    Rule{"messages", any_of_these<1>, "y or n", true, &Reader::messages},
    Rule{"num_threads", any_of_these<1>, "a number", true, &Reader::num_threads},
    Rule{"output_dir", at_least_these<1>, "a folder", true, &Reader::output_dir},
    Rule{"pml_cells", any_of_these<1, 6>, "cells, or x0 y0 z0 xmax ymax zmax", true, &Reader::pml_cells},
    Rule{"pml_cfs", any_of_these<12>, "profile, direction, min and max of alpha, kappa and sigma", false,
         &Reader::pml_cfs},
    Rule{"src_steps", any_of_these<3>, "dx dy dz", true, &Reader::src_steps},
    Rule{"rx_steps", any_of_these<3>, "dx dy dz", true, &Reader::rx_steps},
    Rule{"material", any_of_these<5>, "eps_r sigma mu_r sigma* id", false, &Reader::material},
    Rule{"add_dispersion_debye", at_least_these<4>, "number, deps and tau of each pole, ids", false, &Reader::debye},
    Rule{"waveform", any_of_these<4>, "type amplitude frequency id", false, &Reader::waveform},
    Rule{"excitation_file", any_of_these<1, 3>, "file [interpolation fill]", true, &Reader::excitation_file},
    Rule{"voltage_source", any_of_these<6, 8>, "axis x y z resistance waveform [start stop]", false,
         &Reader::voltage_source},
    Rule{"hertzian_dipole", any_of_these<5, 7>, "axis x y z waveform [start stop]", false, &Reader::hertzian_dipole},
    Rule{"magnetic_dipole", any_of_these<5, 7>, "axis x y z waveform [start stop]", false, &Reader::magnetic_dipole},
    Rule{"rx", [](std::size_t n) { return n == 3 || n > 4; }, "x y z [name outputs]", false, &Reader::receiver},
    Rule{"rx_array", any_of_these<9>, "x1 y1 z1 x2 y2 z2 dx dy dz", false, &Reader::receiver_array},
    Rule{"snapshot", any_of_these<11>, "x1 y1 z1 x2 y2 z2 dx dy dz time file", false, &Reader::snapshot},
    Rule{"geometry_view", any_of_these<11>, "x1 y1 z1 x2 y2 z2 dx dy dz file n|f", false, &Reader::geometry_view},
    Rule{"box", any_of_these<7, 8, 9>, "x1 y1 z1 x2 y2 z2 material [y|n], or three materials", false, &Reader::box},
    Rule{"sphere", any_of_these<5, 6, 7>, "x y z radius material [y|n], or three materials", false, &Reader::sphere},
    Rule{"cylinder", any_of_these<8, 9, 10>, "x1 y1 z1 x2 y2 z2 radius material [y|n], or three materials", false,
         &Reader::cylinder},
    Rule{"plate", any_of_these<7, 8>, "x1 y1 z1 x2 y2 z2 material, or two materials", false, &Reader::plate},
    Rule{"edge", any_of_these<7>, "x1 y1 z1 x2 y2 z2 material", false, &Reader::edge},
    Rule{"geometry_objects_read", any_of_these<5>, "x y z file materials", false, &Reader::geometry_objects_read},
    Rule{"triangle", any_of_these<11, 12, 13>,
         "x1 y1 z1 x2 y2 z2 x3 y3 z3 thickness material [y|n], or three materials", false, &Reader::triangle},
    Rule{"cylindrical_sector", any_of_these<9, 10, 11>,
         "axis c1 c2 lower upper radius start sweep material [y|n], or three materials", false, &Reader::sector},
};

const Rule* rule_of(std::string_view name) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.name == name; });
  return found == rules.end() ? nullptr : &*found;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names{"#include_file"};
  for (const Rule& rule : rules) names.push_back(fmt::format("#{}", rule.name));
  return names;
}

void Reader::measure() {
  std::vector<std::string> missing;
  for (const char* name : {"domain", "dx_dy_dz", "time_window"})
    if (!first_.contains(name)) missing.push_back(fmt::format("#{}", name));
  if (!missing.empty() && !definitions_hidden_)
    note(nullptr, Error(ErrorKind::bad_file, fmt::format("{}: {} {} missing", made_.name, join_words(missing),
                                                         missing.size() == 1 ? "is" : "are")));
  if (!done_.contains("domain") || !done_.contains("dx_dy_dz")) return;
  made_.cells = nearest_planes(made_.domain, made_.spacing);
  const GprmaxCommand& domain = *first_.at("domain");
  measured_ = attempt(domain, [&] { require_cells(GprmaxValues(domain)); });
  if (!measured_) return;
  const GprmaxCommand& layers = first_.contains("pml_cells") ? *first_.at("pml_cells") : domain;
  attempt(layers, [&] { require_room_for_layers(GprmaxValues(layers)); });
  if (!done_.contains("time_window")) return;
  timed_ = attempt(*first_.at("time_window"), [&] { require_steps(GprmaxValues(*first_.at("time_window"))); });
}

void Reader::require_cells(const GprmaxValues& values) const {
  double all = 1;
  std::vector<std::string> flat;
  for (std::size_t u = 0; u < 3; ++u) {
    if (made_.cells[u] < 1)
      throw values.error(fmt::format("{} cells along {}; expected at least 1", made_.cells[u], xyz_letters[u]));
    if (made_.cells[u] == 1) flat.emplace_back(1, xyz_letters[u]);
    all *= static_cast<double>(made_.cells[u]);
  }
  if (flat.size() > 1)
    throw values.error(fmt::format("one cell along {}; expected one such axis at most", join_words(flat)));
  if (all > most_cells) throw values.error(fmt::format("{:.3g} cells; expected at most {:.3g}", all, most_cells));
}

void Reader::require_room_for_layers(const GprmaxValues& values) const {
  for (std::size_t u = 0; u < 3; ++u) {
    const auto [low, high] = made_.pml_cells[u];
    if (u != made_.flat_axis() && (low >= made_.cells[u] || high >= made_.cells[u] - low))
      throw values
          .error(fmt::format("absorbing layers of {} and {} cells along {}, which has {}; expected less in all", low,
                             high, xyz_letters[u], made_.cells[u]))
          .hint("a line `#pml_cells: 5` makes them thinner than the 10 cells they have by default");
  }
}

void Reader::require_steps(const GprmaxValues& values) const {
  const double dt = made_.time_step();
  if (!(dt > 0) || !std::isfinite(dt)) throw values.error(fmt::format("the time step is {} s; expected above 0", dt));
  if (made_.iterations() > most_iterations)
    throw values.error(
        fmt::format("{} steps of {:.3g} s; expected at most {}", made_.iterations(), dt, most_iterations));
}

void Reader::excitation_file(const GprmaxValues& values) {
  constexpr std::array others = {"nearest", "nearest-up", "zero", "quadratic", "cubic", "previous", "next"};
  bool extrapolate = false;
  if (values.count() == 3) {
    const std::string& kind = values.word(1);
    if (place_in(others, kind)) throw values.unsupported(fmt::format("interpolation {} of #excitation_file", kind));
    if (kind != "linear" && kind != "slinear")
      throw values.error(fmt::format("interpolation = \"{}\"; expected linear", kind));
    extrapolate = values.word(2) == "extrapolate";
    if (!extrapolate && values.word(2) != "0")
      throw values.error(fmt::format("fill = \"{}\"; expected 0 or extrapolate", values.word(2)));
  }
  const std::string path = beside(values.command().file, values.word(0));
  GprmaxExcitation read = parse_gprmax_excitation(from_file(values, read_text_, path), path);
  for (const std::string& id : read.ids) require_new_waveform(values, id);
  made_.excitation = std::move(read);
  made_.excitation.extrapolate = extrapolate;
}

/// The materials of the file get its name behind theirs, {name}, as gprMax gives it.
void Reader::geometry_objects_read(const GprmaxValues& values) {
  const Xyz low = values.xyz(0);
  const auto voxels = std::make_shared<const GprmaxVoxels>(
      from_file(values, read_voxels_, beside(values.command().file, values.word(3))));
  const std::string path = beside(values.command().file, values.word(4));
  const std::string text = from_file(values, read_text_, path);
  const std::size_t before = made_.materials.size();
  bool all_read = true;
  for (GprmaxCommand& command : parse_gprmax_commands(text, path, read_text_)) {
    imported_.push_back(std::move(command));
    GprmaxCommand& one = imported_.back();
    all_read &= attempt(one, [&] {
      constexpr std::array allowed = {"material", "add_dispersion_debye"};
      if (rule_of(one.name) != nullptr && !place_in(allowed, one.name))
        throw GprmaxValues(one).error("it is not a material; expected #material or #add_dispersion_debye");
      if (!one.words.empty()) one.words.back() += "{" + std::filesystem::path(path).stem().string() + "}";
      take(one);
    });
  }
  definitions_hidden_ |= !all_read;
  GprmaxObject made{GprmaxVoxelBlock{low, voxels}, {}, !voxels->nodes.empty()};
  for (std::size_t i = before; i < made_.materials.size(); ++i) made.materials.push_back(made_.materials[i].id);
  if (const Index most = voxels->largest(); all_read && most >= static_cast<Index>(made.materials.size()))
    throw values.error(
        fmt::format("{} has material {}; {} has {}", values.word(3), most, values.word(4), made.materials.size()));
  check(values, Needs::cells, [this, values, voxels] {
    require_plane(values, values.xyz(0));
    for (std::size_t u = 0; u < 3; ++u)
      if (rounded_half_down(voxels->spacing[u] / made_.spacing[u]) != 1)
        throw values.error(fmt::format("{} has cells of {:.6g} m along {}; expected {:.6g} m as in the model",
                                       values.word(3), voxels->spacing[u], xyz_letters[u], made_.spacing[u]));
  });
  if (!made.materials.empty()) made_.objects.push_back(std::move(made));
}

/// Materials follow after so many numbers: one, one with a flag, or several.
template <class Shape>
void Reader::object(const GprmaxValues& values, const Shape& shape, std::size_t numbers) {
  const std::size_t count = values.count() - numbers;
  const bool flag = count == 2 && !std::is_same_v<Shape, GprmaxPlate>;
  GprmaxObject made{shape, {}, flag ? values.yes(numbers + 1, "averaging") : count == 1};
  for (std::size_t i = numbers; i < values.count() - (flag ? 1 : 0); ++i) {
    made.materials.push_back(values.word(i));
    check(values, Needs::ids, [this, values, i] { require_material(values, values.word(i)); });
  }
  made_.objects.push_back(std::move(made));
}

}  // namespace

GprmaxInput parse_gprmax_input(std::string_view text, const std::string& name, const TextReader& read,
                               const GprmaxVoxelReader& read_voxels) {
  return Reader(parse_gprmax_commands(text, name, read), name, read, read_voxels).read();
}

GprmaxInput read_gprmax_input(const std::string& path) { return parse_gprmax_input(read_input_text(path), path); }

}  // namespace sonde::maxwell
