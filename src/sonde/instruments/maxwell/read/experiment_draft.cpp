// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/experiment_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/read/resampled_model.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"

namespace sonde::maxwell {
namespace {

Error misfit(const std::string& what) { return {ErrorKind::bad_input, what}; }

Shape shape_of(const std::vector<Index>& extents) {
  Shape made;
  for (const Index extent : extents) made.append(extent);
  return made;
}

/// The draft's own, or that of the first array.
Shape model_shape(const ExperimentDraft& draft) {
  Shape shape = shape_of(draft.shape);
  for (const auto* each : {&draft.eps_r, &draft.sigma, &draft.mu_r})
    if (shape.rank() == 0 && *each) shape = (*each)->shape;
  if (shape.rank() == 0) throw misfit("no shape; expected it, or eps_r as an array").hint("give shape = [NZ, NX]");
  if (shape.rank() != 2 && shape.rank() != 3)
    throw misfit(fmt::format("a model of shape {}; expected [z][x] or [z][y][x]", shape.text()));
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] < 1)
      throw misfit(fmt::format("a model of shape {}; expected at least one cell per axis", shape.text()));
  return shape;
}

/// One number for all axes, or one for each.
template <class List>
void require_count(const List& list, std::size_t each, const char* what) {
  if (list.size() != 1 && list.size() != each)
    throw misfit(fmt::format("{}: {} values; expected 1 or {}", what, list.size(), each));
}

/// Wider layers come from a wrong unit.
constexpr Index widest_layer = 10000;

GridSpec grid_of(const ExperimentDraft& draft, const Shape& shape) {
  GridSpec made{.mode = shape.rank() == 2 ? Mode::tm2d : Mode::em3d, .order = draft.order};
  const std::vector<Axis> axes = axes_of(made.mode);
  if (draft.spacing.empty()) throw misfit("no spacing; expected m, one value or one for each axis");
  require_count(draft.spacing, axes.size(), "spacing");
  require_count(draft.pml, 2 * axes.size(), "pml");
  for (const Index width : draft.pml)
    if (width < 0 || width > widest_layer)
      throw misfit(fmt::format("pml = {}: expected 0 to {} cells", width, widest_layer));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t a = dimension(axes[i]);
    made.cells[a] = shape[static_cast<int>(i)];
    made.spacing[a] = draft.spacing[draft.spacing.size() == 1 ? 0 : i];
    for (const std::size_t end : {0U, 1U}) made.pml[a][end] = draft.pml[draft.pml.size() == 1 ? 0 : 2 * i + end];
  }
  return made;
}

/// One number for all elements, or one for each.
std::vector<double> elements_of(std::optional<NumberArray>& given, const char* what, const Shape& shape) {
  if (given->shape.rank() == 0)
    return std::vector<double>(static_cast<std::size_t>(shape.count()), given->values.front());
  if (given->shape != shape)
    throw misfit(fmt::format("{}: shape {}; expected {}, that of the model", what, given->shape.text(), shape.text()));
  return std::move(given->values);
}

Model model_of(ExperimentDraft& draft, const Shape& shape) {
  if (!draft.eps_r) throw misfit("no eps_r; expected a number or an array");
  Model made{.eps_r = elements_of(draft.eps_r, "eps_r", shape), .sigma = {}, .location = draft.material_location};
  if (draft.sigma)
    made.sigma = elements_of(draft.sigma, "sigma", shape);
  else
    made.sigma.assign(made.eps_r.size(), 0.0);
  if (draft.mu_r) made.mu_r = elements_of(draft.mu_r, "mu_r", shape);
  return made;
}

std::vector<ModelPole> poles_of(const ExperimentDraft& draft, const Shape& shape) {
  if (!draft.deps && !draft.tau) return {};
  if (!draft.deps || !draft.tau) throw misfit(fmt::format("debye: no {}", draft.deps ? "tau" : "deps"));
  const Index poles = draft.deps->shape.rank() > 0 ? draft.deps->shape[0] : 0;
  Shape expected{poles};
  for (int i = 0; i < shape.rank(); ++i) expected.append(shape[i]);
  for (const auto& [what, given] : {std::pair{"deps", &*draft.deps}, std::pair{"tau", &*draft.tau}})
    if (given->shape != expected)
      throw misfit(fmt::format("debye/{}: shape {}; expected [pole] and {}", what, given->shape.text(), shape.text()));
  std::vector<ModelPole> made(static_cast<std::size_t>(poles));
  const auto share = [&](const std::vector<double>& all, std::size_t p) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(p) * shape.count();
    return std::vector<double>(first, first + shape.count());
  };
  for (std::size_t p = 0; p < made.size(); ++p) made[p] = {share(draft.deps->values, p), share(draft.tau->values, p)};
  return made;
}

/// A list of locations as [shot][point][axis].
struct Locations {
  const char* what;  ///< "source"
  Index shots = 0, points = 0;
  std::size_t axes = 0;
  const NumberArray* numbers = nullptr;

  [[nodiscard]] double at(Index shot, Index point, std::size_t axis) const {
    return numbers->values[static_cast<std::size_t>((shot * points + point)) * axes + axis];
  }
};

Locations locations_of(const std::optional<NumberArray>& given, const char* what, bool each_a_shot, std::size_t axes) {
  if (!given) throw misfit(fmt::format("no {0} locations; expected {0}_location or {0}s", what));
  const Shape& shape = given->shape;
  const auto per_point = static_cast<Index>(axes);
  const bool line = shape.rank() == 1 && shape[0] % per_point == 0;
  if (!line && (shape.rank() < 2 || shape.rank() > 3 || shape[shape.rank() - 1] != per_point))
    throw misfit(fmt::format("{}_location: shape {}; expected [shot][point][{}]", what, shape.text(), axes));
  const Index points = shape.rank() == 3 ? shape[1] : line ? shape[0] / per_point : shape[0];
  Locations made{what, 1, points, axes, &*given};
  if (shape.rank() == 3) made.shots = shape[0];
  if (shape.rank() < 3 && each_a_shot) std::swap(made.shots, made.points);
  if (made.shots < 1 || made.points < 1) throw misfit(fmt::format("{}_location: no locations", what));
  return made;
}

Component component_of(const std::vector<std::string>& given, const Locations& of, Index shot, Index point) {
  const auto count = static_cast<Index>(given.size());
  if (count != 1 && count != of.points && count != of.shots * of.points)
    throw misfit(fmt::format("{}_component: {} words for {} shots of {} points; expected one, or one for each point",
                             of.what, count, of.shots, of.points));
  const Index at = count == 1 ? 0 : count == of.points ? point : shot * of.points + point;
  return during(fmt::format("reading {}_component", of.what),
                [&] { return parse_component(given[static_cast<std::size_t>(at)]); });
}

class SurveyMaker {
 public:
  SurveyMaker(const ExperimentDraft& draft, Mode mode, const std::optional<Triple>& cells)
      : axes_(axes_of(mode)),
        cells_(cells),
        sources_(locations_of(draft.sources, "source", true, axes_.size())),
        receivers_(locations_of(draft.receivers, "receiver", false, axes_.size())),
        draft_(draft) {
    if (receivers_.shots != 1 && receivers_.shots != sources_.shots)
      throw misfit(fmt::format("receivers of {} shots, sources of {}; expected as many, or those of one shot",
                               receivers_.shots, sources_.shots));
  }

  [[nodiscard]] double points() const {
    return static_cast<double>(sources_.shots) * static_cast<double>(sources_.points + receivers_.points);
  }
  /// What points and amplitudes need in memory.
  [[nodiscard]] double bytes(Index steps) const {
    return points() * sizeof(SurveyPoint) + static_cast<double>(sources_.shots) * static_cast<double>(sources_.points) *
                                                static_cast<double>(steps) * sizeof(double);
  }

  /// Without amplitudes.
  [[nodiscard]] std::vector<SurveyShot> shots() const {
    std::vector<SurveyShot> made(static_cast<std::size_t>(sources_.shots));
    for (Index s = 0; s < sources_.shots; ++s) {
      SurveyShot& shot = made[static_cast<std::size_t>(s)];
      for (Index i = 0; i < sources_.points; ++i)
        shot.sources.push_back(point(sources_, draft_.source_component, s, i));
      for (Index i = 0; i < receivers_.points; ++i)
        shot.receivers.push_back(point(receivers_, draft_.receiver_component, receivers_.shots == 1 ? 0 : s, i));
    }
    return made;
  }

 private:
  [[nodiscard]] SurveyPoint point(const Locations& of, const std::vector<std::string>& components, Index shot,
                                  Index which) const {
    SurveyPoint made{.component = component_of(components, of, shot, which)};
    for (std::size_t i = 0; i < axes_.size(); ++i)
      made.at[dimension(axes_[i])] = position(of, shot, which, i, made.component);
    return made;
  }

  [[nodiscard]] double position(const Locations& of, Index shot, Index which, std::size_t axis, Component c) const {
    const double given = of.at(shot, which, axis);
    const bool indices = draft_.location_unit == LocationUnit::by_type ? of.numbers->integers
                                                                       : draft_.location_unit == LocationUnit::index;
    if (!indices) return given;
    const Index last = cells_ ? (*cells_)[dimension(axes_[axis])] - 1 : std::numeric_limits<int>::max();
    if (given < 0 || given > static_cast<double>(last) || given != std::floor(given))
      throw misfit(fmt::format("{}_location [{}, {}, {}] = {}: expected an index along {} of 0 to {}", of.what, shot,
                               which, axis, given, "zyx"[dimension(axes_[axis])], last));
    return given + (is_half(c, axes_[axis]) ? 0.5 : 0);
  }

  std::vector<Axis> axes_;
  std::optional<Triple> cells_;
  Locations sources_, receivers_;
  const ExperimentDraft& draft_;
};

Index steps_of(const ExperimentDraft& draft) {
  if (draft.steps) return *draft.steps;
  if (draft.amplitude && draft.amplitude->shape.rank() > 0)
    return draft.amplitude->shape[draft.amplitude->shape.rank() - 1];
  throw misfit("no nt; expected the number of time steps");
}

/// Copies a wavelet, or the amplitudes that belong to them, to the sources.
void set_amplitudes(const ExperimentDraft& draft, Experiment& made) {
  if (!draft.amplitude) {
    if (!draft.wavelet) throw misfit("no source signal; expected amplitudes, or a wavelet with its frequency");
    const std::array<std::vector<double>, 2> signals{
        sampled(*draft.wavelet, made.steps, made.dt, sample_offset::electric_source),
        sampled(*draft.wavelet, made.steps, made.dt, sample_offset::magnetic_source)};
    for (SurveyShot& shot : made.shots)
      for (const SurveyPoint& source : shot.sources) {
        const std::vector<double>& signal = signals[is_electric(source.component) ? 0 : 1];
        shot.amplitudes.insert(shot.amplitudes.end(), signal.begin(), signal.end());
      }
    return;
  }
  const NumberArray& given = *draft.amplitude;
  const auto shots = static_cast<Index>(made.shots.size());
  const auto sources = static_cast<Index>(made.shots.front().sources.size());
  const std::array<Shape, 3> allowed{Shape{made.steps}, Shape{sources, made.steps}, Shape{shots, sources, made.steps}};
  if (std::find(allowed.begin(), allowed.end(), given.shape) == allowed.end())
    throw misfit(fmt::format("amplitude: shape {}; expected {}, {} or {}", given.shape.text(), allowed[0].text(),
                             allowed[1].text(), allowed[2].text()));
  const auto of_shot = static_cast<std::size_t>(sources * made.steps);
  for (std::size_t s = 0; s < made.shots.size(); ++s)
    for (std::size_t i = 0; i < of_shot; ++i)
      made.shots[s].amplitudes.push_back(given.values[(s * of_shot + i) % given.values.size()]);
}

/// Places in cells of another size.
void move_points(std::vector<SurveyShot>& shots, const std::array<double, 3>& from, const std::array<double, 3>& to) {
  for (SurveyShot& shot : shots)
    for (auto* points : {&shot.sources, &shot.receivers})
      for (SurveyPoint& point : *points)
        for (const std::size_t a : {0U, 1U, 2U}) point.at[a] *= from[a] / to[a];
}

void require_room(double bytes, std::size_t most_bytes) {
  if (bytes <= static_cast<double>(most_bytes)) return;
  throw Error(ErrorKind::budget, fmt::format("the experiment needs {}, {} are free", format_bytes(bytes),
                                             format_bytes(static_cast<double>(most_bytes))))
      .hint("fewer cells, shots or time steps need less");
}

}  // namespace

Experiment experiment_of(ExperimentDraft draft, std::size_t most_bytes) {
  const Shape shape = model_shape(draft);
  Experiment made{.title = std::move(draft.title), .grid = grid_of(draft, shape), .model = {}};
  const std::vector<Axis> axes = axes_of(made.grid.mode);
  if (!draft.origin.empty() && draft.origin.size() != axes.size())
    throw misfit(fmt::format("origin: {} values; expected {}", draft.origin.size(), axes.size()));
  for (std::size_t i = 0; i < draft.origin.size(); ++i) made.origin[dimension(axes[i])] = draft.origin[i];
  const double model_bytes = 3 * sizeof(double) * static_cast<double>(shape.count());
  require_room(model_bytes, most_bytes);
  made.model = model_of(draft, shape);
  made.poles = poles_of(draft, shape);
  made.allow_sub_vacuum = draft.allow_sub_vacuum;
  made.pml = draft.pml_settings;
  made.corrected = draft.corrected;
  made.precision = draft.precision;
  made.dominant_frequency = draft.amplitude || !draft.wavelet ? draft.dominant_frequency : draft.wavelet->frequency;
  require_medium(made);
  const GridSpec given = made.grid;
  if (!draft.computed_spacing.empty()) {
    require_count(draft.computed_spacing, axes.size(), "spacing of the computed cells");
    std::array<double, 3> spacing = given.spacing;
    for (std::size_t i = 0; i < axes.size(); ++i)
      spacing[dimension(axes[i])] = draft.computed_spacing[draft.computed_spacing.size() == 1 ? 0 : i];
    double growth = 1;
    for (const Axis axis : axes) growth *= given.spacing[dimension(axis)] / spacing[dimension(axis)];
    require_room(model_bytes * (1 + std::max(0.0, growth)), most_bytes);
    resample(made, spacing);
    require_medium(made);
  }
  if (!draft.dt && !(draft.courant > 0 && draft.courant <= 1))
    throw misfit(fmt::format("courant = {}: expected above 0, at most 1", draft.courant));
  made.dt = draft.dt ? *draft.dt : draft.courant * largest_time_step(made);
  made.dt_follows = !draft.dt && !draft.amplitude;
  made.least_sub_steps = draft.least_sub_steps;
  made.steps = steps_of(draft);
  if (made.steps < 1) throw misfit(fmt::format("nt = {}: expected at least 1", made.steps));
  const SurveyMaker survey(draft, made.grid.mode, given.cells);
  require_room(model_bytes + survey.bytes(made.steps), most_bytes);
  made.shots = survey.shots();
  move_points(made.shots, given.spacing, made.grid.spacing);
  set_amplitudes(draft, made);
  require_valid(made);
  return made;
}

std::vector<SurveyShot> survey_of(const ExperimentDraft& draft, Mode mode, Index most_points) {
  const SurveyMaker survey(draft, mode, std::nullopt);
  if (survey.points() > static_cast<double>(most_points))
    throw misfit(fmt::format("a survey of {:g} points; expected at most {}", survey.points(), most_points));
  return survey.shots();
}

}  // namespace sonde::maxwell
