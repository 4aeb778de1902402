// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/observed_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/read/native_model.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"

namespace sonde::maxwell {
namespace {

std::vector<Component> recorded_components(const ObservedData& data) {
  std::vector<Component> made;
  for (const Component c : all_components)
    for (const SurveyShot& shot : data.shots)
      if (std::any_of(shot.receivers.begin(), shot.receivers.end(),
                      [&](const SurveyPoint& each) { return each.component == c; })) {
        made.push_back(c);
        break;
      }
  return made;
}

Array samples_array(const ObservedData& data) {
  const Shape shape{data.steps, static_cast<Index>(data.shots.size()), data.receivers()};
  if (data.precision == Precision::f64) return Array::from(data.samples, shape);
  std::vector<float> single(data.samples.size());
  std::transform(data.samples.begin(), data.samples.end(), single.begin(),
                 [](double value) { return static_cast<float>(value); });
  return Array::from(single, shape);
}

class ObservedReader {
 public:
  explicit ObservedReader(const std::string& path) : file_(Hdf5File::open(path)) {}

  ObservedData read() {
    require_format();
    read_survey(file_, draft_);
    NumberArray samples = read_numbers(file_, "/receivers/data");
    made_.precision = file_.dataset("/receivers/data").info().dtype == DType::f64 ? Precision::f64 : Precision::f32;
    if (samples.integers || samples.shape.rank() != 3 || samples.shape[0] < 1)
      throw bad(fmt::format("/receivers/data: {} of shape {}; expected f32 or f64 [step][shot][receiver]",
                            samples.integers ? "integers" : "numbers", samples.shape.text()));
    made_.mode = mode();
    made_.spacing = lengths("spacing");
    made_.origin = lengths("origin");
    // Receivers of one shot may serve all: what that makes is not larger than the records.
    const Index most = samples.shape[1] * samples.shape[2] + draft_.sources->shape.count();
    made_.shots = during("reading " + file_.path(), [&] { return survey_of(draft_, made_.mode, most); });
    if (samples.shape[1] != static_cast<Index>(made_.shots.size()) || samples.shape[2] != made_.receivers())
      throw bad(fmt::format("/receivers/data: shape {}; expected (steps, {}, {}), those of /survey",
                            samples.shape.text(), made_.shots.size(), made_.receivers()));
    made_.steps = samples.shape[0];
    made_.samples = std::move(samples.values);
    require_finite();
    made_.dt = time_step();
    require_times();
    return std::move(made_);
  }

 private:
  [[nodiscard]] Error bad(const std::string& what) const {
    return {ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what)};
  }

  void require_format() {
    const std::optional<Hdf5Value> format = file_.attribute("/", "format");
    if (!format || format->text() != native_format)
      throw bad(fmt::format("format = {}; expected \"{}\"", format ? format->printed() : "nothing", native_format));
    if (const auto title = file_.attribute("/", "title")) made_.title = title->text().value_or("");
  }
  [[nodiscard]] Mode mode() const {
    if (!draft_.sources || !draft_.receivers) throw bad("no /survey/source_location and receiver_location");
    const Shape& shape = draft_.receivers->shape;
    return shape.rank() > 0 && shape[shape.rank() - 1] == 2 ? Mode::tm2d : Mode::em3d;
  }
  [[nodiscard]] double time_step() const {
    const std::optional<Hdf5Value> value = file_.attribute("/receivers", "dt");
    const std::optional<double> dt = value ? value->number() : std::nullopt;
    if (!dt || !(*dt > 0) || !std::isfinite(*dt))
      throw bad(fmt::format("dt of /receivers = {}; expected seconds above 0", value ? value->printed() : "nothing"));
    return *dt;
  }
  [[nodiscard]] std::array<double, 3> lengths(const std::string& name) const {
    std::array<double, 3> made{};
    const std::optional<Hdf5Value> value = file_.attribute("/survey", name);
    const std::vector<Axis> axes = axes_of(made_.mode);
    if (!value) return made;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::optional<double> length =
          value->elements.size() == axes.size() ? Hdf5Value{{}, {value->elements[i]}}.number() : std::nullopt;
      if (!length || !std::isfinite(*length))
        throw bad(fmt::format("{} of /survey = {}; expected {} numbers", name, value->printed(), axes.size()));
      made[dimension(axes[i])] = *length;
    }
    return made;
  }
  void require_finite() const {
    const auto found =
        std::find_if_not(made_.samples.begin(), made_.samples.end(), [](double each) { return std::isfinite(each); });
    if (found == made_.samples.end()) return;
    const auto at = static_cast<Index>(found - made_.samples.begin());
    const Index receivers = made_.receivers(), shots = static_cast<Index>(made_.shots.size());
    throw bad(fmt::format("/receivers/data [{}, {}, {}] = {}; expected a finite number", at / (receivers * shots),
                          at / receivers % shots, at % receivers, *found));
  }
  /// Other programs record at other times: a shift of a sample would go unnoticed.
  void require_times() const {
    const std::optional<Hdf5Value> times = file_.attribute("/receivers", "time_of_first_sample");
    if (!times) return;
    const std::vector<Component> components = recorded_components(made_);
    for (std::size_t i = 0; i < times->elements.size(); ++i) {
      const std::optional<double> time = Hdf5Value{{}, {times->elements[i]}}.number();
      const Component c = components[std::min(i, components.size() - 1)];
      const double expected = made_.start(c);
      if (times->elements.size() != components.size() || !time || !(std::abs(*time - expected) < 1e-6 * made_.dt))
        throw bad(fmt::format("time_of_first_sample = {}; expected {} s for {}", times->printed(), expected, name(c)));
    }
  }

  Hdf5File file_;
  ExperimentDraft draft_;
  ObservedData made_;
};

/// `cells` of the experiment have the length of one of the data.
void require_same_points(const std::vector<SurveyPoint>& expected, const std::vector<SurveyPoint>& found,
                         const std::array<double, 3>& cells, const std::string& what) {
  if (expected.size() != found.size())
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {}; the experiment has {}", what, found.size(), expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (const std::size_t a : {0U, 1U, 2U})
      // A millionth of a cell is rounding of a unit.
      if (expected[i].component != found[i].component ||
          !(std::abs(expected[i].at[a] - found[i].at[a] * cells[a]) < 1e-6))
        throw Error(ErrorKind::bad_input,
                    fmt::format("{} {}: {} at [{}] cells (z, y, x); the experiment has {} at [{}]", what, i,
                                name(found[i].component), fmt::join(found[i].at, ", "), name(expected[i].component),
                                fmt::join(expected[i].at, ", ")));
}

}  // namespace

double ObservedData::start(Component c) const {
  return dt * (is_electric(c) ? sample_offset::electric_record : sample_offset::magnetic_record);
}

ObservedData empty_data(const Experiment& experiment) {
  ObservedData made{.title = experiment.title,
                    .mode = experiment.grid.mode,
                    .spacing = Grid(experiment.grid).spec().spacing,
                    .origin = experiment.origin,
                    .dt = experiment.dt,
                    .steps = experiment.steps,
                    .precision = experiment.precision};
  (void)survey_lists(experiment.shots, experiment.grid.mode);
  for (const SurveyShot& shot : experiment.shots)
    made.shots.push_back({.sources = shot.sources, .receivers = shot.receivers, .amplitudes = {}});
  made.samples.resize(static_cast<std::size_t>(made.steps * made.receivers()) * made.shots.size());
  return made;
}

Contents contents_of(const ObservedData& data) {
  Contents made;
  made.attribute("format", std::string(native_format));
  made.attribute("schema", std::string("sonde.maxwell.records/1"));
  made.attribute("title", data.title);
  const std::vector<Component> components = recorded_components(data);
  const bool one_unit = std::all_of(components.begin(), components.end(),
                                    [&](Component c) { return is_electric(c) == is_electric(components.front()); });
  Contents::Variable& samples = made.add("receivers/data", {"time", "shot", "receiver"}, samples_array(data));
  if (one_unit && !components.empty()) samples.unit(is_electric(components.front()) ? "V/m" : "A/m");
  std::vector<std::string> names;
  std::vector<double> times;
  for (const Component c : components) {
    names.emplace_back(name(c));
    times.push_back(data.start(c));
  }
  made.attribute("receivers/dt", data.dt);
  made.attribute("receivers/components", fmt::format("{}", fmt::join(names, ",")));
  made.attribute("receivers/time_of_first_sample", times);
  SurveyLists lists = survey_lists(data.shots, data.mode);
  made.add("survey/source_location", {"shot", "source", "axis"}, std::move(lists.source_location));
  made.add("survey/receiver_location", {"shot", "receiver", "axis"}, std::move(lists.receiver_location));
  made.add_text("survey/source_component", fmt::format("{}", fmt::join(lists.source_component, ",")));
  std::vector<double> spacing, origin;
  for (const Axis axis : axes_of(data.mode)) {
    spacing.push_back(data.spacing[dimension(axis)]);
    origin.push_back(data.origin[dimension(axis)]);
  }
  made.attribute("survey/spacing", spacing);
  made.attribute("survey/origin", origin);
  made.add_text("survey/receiver_component", fmt::format("{}", fmt::join(lists.receiver_component, ",")));
  return made;
}

ObservedData read_observed_data(const std::string& path) { return ObservedReader(path).read(); }

void require_recorded_by(const Experiment& experiment, const ObservedData& data, const std::string& what) {
  const auto differ = [&](const std::string& which, const auto& found, const auto& expected) {
    return Error(ErrorKind::bad_input, fmt::format("{}: {} = {}; the experiment has {}", what, which, found, expected));
  };
  if (!(std::abs(data.dt - experiment.dt) < 1e-6 * experiment.dt)) throw differ("dt", data.dt, experiment.dt);
  if (data.steps != experiment.steps) throw differ("nt", data.steps, experiment.steps);
  if (data.shots.size() != experiment.shots.size()) throw differ("shots", data.shots.size(), experiment.shots.size());
  // Records of the same survey may have been computed on cells of another size.
  std::array<double, 3> cells{1, 1, 1};
  for (const Axis axis : axes_of(experiment.grid.mode)) {
    const std::size_t a = dimension(axis);
    if (data.spacing[a] > 0) cells[a] = data.spacing[a] / experiment.grid.spacing[a];
  }
  for (std::size_t s = 0; s < data.shots.size(); ++s) {
    const std::string shot = fmt::format("{}: shot {}, ", what, s);
    require_same_points(experiment.shots[s].sources, data.shots[s].sources, cells, shot + "sources");
    require_same_points(experiment.shots[s].receivers, data.shots[s].receivers, cells, shot + "receivers");
  }
}

}  // namespace sonde::maxwell
