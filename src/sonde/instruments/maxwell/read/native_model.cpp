// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/native_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/hdf5_writer.h"

namespace sonde::maxwell {
namespace {

/// A list of that many values is no list of axes or sides.
constexpr std::size_t longest_attribute = 6;
/// Texts of a survey.
constexpr Index most_words = 65536;

template <class Enum>
const std::string& word_of(const Words<Enum>& words, Enum value) {
  return std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.second == value; })->first;
}

class NativeReader {
 public:
  explicit NativeReader(const std::string& path) : file_(Hdf5File::open(path)) {}

  ExperimentDraft read() {
    require_format();
    title();
    model();
    grid();
    source();
    read_survey(file_, draft_);
    take("/time", "dt", draft_.dt);
    if (const auto steps = whole("/time", "nt")) draft_.steps = *steps;
    return std::move(draft_);
  }

 private:
  [[nodiscard]] Error bad(const std::string& what) const {
    return {ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what)};
  }
  [[nodiscard]] Error unfit(const std::string& object, const std::string& name, const Hdf5Value& value,
                            const std::string& expected) const {
    return bad(fmt::format("{} of {} = {}; expected {}", name, object, value.printed(), expected));
  }

  [[nodiscard]] std::optional<Hdf5Value> attribute(const std::string& object, const std::string& name) const {
    return file_.exists(object) ? file_.attribute(object, name) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> number(const std::string& object, const std::string& name) const {
    const std::optional<Hdf5Value> value = attribute(object, name);
    if (!value) return std::nullopt;
    const std::optional<double> read = value->number();
    if (!read || !std::isfinite(*read)) throw unfit(object, name, *value, "a finite number");
    return read;
  }
  [[nodiscard]] std::optional<Index> whole(const std::string& object, const std::string& name) const {
    const std::optional<Hdf5Value> value = attribute(object, name);
    if (!value) return std::nullopt;
    const std::optional<std::int64_t> read = value->integer();
    if (!read) throw unfit(object, name, *value, "a whole number");
    return *read;
  }
  [[nodiscard]] std::optional<std::string> text(const std::string& object, const std::string& name) const {
    const std::optional<Hdf5Value> value = attribute(object, name);
    if (!value) return std::nullopt;
    std::optional<std::string> read = value->text();
    if (!read) throw unfit(object, name, *value, "a text");
    return read;
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& object, const std::string& name) const {
    const std::optional<Hdf5Value> value = attribute(object, name);
    std::vector<double> made;
    if (!value) return made;
    if (value->elements.empty() || value->elements.size() > longest_attribute)
      throw bad(fmt::format("{} of {}: {} values; expected 1 to {}", name, object, value->elements.size(),
                            longest_attribute));
    for (const Hdf5Value::Scalar& each : value->elements) {
      const std::optional<double> read = Hdf5Value{{}, {each}}.number();
      if (!read || !std::isfinite(*read)) throw unfit(object, name, *value, "finite numbers");
      made.push_back(*read);
    }
    return made;
  }
  template <class T>
  void take(const std::string& object, const std::string& name, T& to) const {
    if (const std::optional<double> read = number(object, name)) to = *read;
  }
  template <class Enum>
  void take_word(const std::string& object, const std::string& name, const Words<Enum>& words, Enum& to) const {
    const std::optional<std::string> read = text(object, name);
    if (!read) return;
    std::vector<std::string> known;
    for (const auto& [word, value] : words) {
      if (word == *read) to = value;
      known.push_back(word);
    }
    if (std::find(known.begin(), known.end(), *read) == known.end())
      throw unfit(object, name, *attribute(object, name), join_words(known, " or "));
  }

  void require_format() const {
    const std::string format = text("/", "format").value_or("");
    if (format != native_format) throw bad(fmt::format("format = \"{}\"; expected \"{}\"", format, native_format));
  }
  void title() { draft_.title = text("/", "title").value_or(""); }

  void model() {
    const auto array = [&](const std::string& path, std::optional<NumberArray>& to) {
      if (file_.exists(path)) to = read_numbers(file_, path);
    };
    array("/model/eps_r", draft_.eps_r);
    array("/model/sigma", draft_.sigma);
    array("/model/mu_r", draft_.mu_r);
    array("/model/debye/deps", draft_.deps);
    array("/model/debye/tau", draft_.tau);
    draft_.spacing = numbers("/model", "spacing");
    draft_.origin = numbers("/model", "origin");
    take_word("/model", "material_location", material_location_words(), draft_.material_location);
    draft_.allow_sub_vacuum = whole("/model", "allow_sub_vacuum").value_or(0) != 0;
  }

  void grid() {
    if (const auto order = whole("/grid", "order")) draft_.order = static_cast<int>(std::clamp<Index>(*order, 0, 99));
    take_word("/grid", "dtype", precision_words(), draft_.precision);
    take_word("/grid", "time_dispersion", time_dispersion_words(), draft_.corrected);
    take("/grid", "courant", draft_.courant);
    if (const std::vector<double> widths = numbers("/grid", "pml"); !widths.empty()) draft_.pml = whole_widths(widths);
    PmlPreset preset = PmlPreset::graded;
    take_word("/grid", "pml_preset", pml_preset_words(), preset);
    PmlSettings& pml = draft_.pml_settings = settings_of(preset);
    take("/grid", "pml_grading", pml.grading);
    take("/grid", "pml_sigma_factor", pml.sigma_factor);
    take("/grid", "pml_kappa_max", pml.kappa_max);
    take("/grid", "pml_alpha_max", pml.alpha_max);
    take("/grid", "pml_alpha_min", pml.alpha_min);
    take_word("/grid", "pml_scale", pml_scale_words(), pml.scale);
  }

  [[nodiscard]] std::vector<Index> whole_widths(const std::vector<double>& widths) const {
    std::vector<Index> made;
    for (const double width : widths) {
      if (width < 0 || width > 1e9 || width != std::floor(width))
        throw bad(fmt::format("pml of /grid = {}; expected whole numbers of cells", width));
      made.push_back(static_cast<Index>(width));
    }
    return made;
  }

  void source() {
    if (file_.exists("/source/amplitude")) {
      draft_.amplitude = read_numbers(file_, "/source/amplitude");
      take("/source", "f0", draft_.dominant_frequency);
      return;
    }
    const std::optional<std::string> wavelet = text("/source", "wavelet");
    if (!wavelet) return;
    draft_.wavelet.emplace(Wavelet{.name = *wavelet});
    take("/source", "f0", draft_.wavelet->frequency);
    take("/source", "t0", draft_.wavelet->delay);
    take("/source", "amp", draft_.wavelet->amplitude);
    take("/source", "cycles", draft_.wavelet->cycles);
  }

  Hdf5File file_;
  ExperimentDraft draft_;
};

std::vector<std::string> words_in(const Hdf5File& file, const std::string& path) {
  const std::optional<Hdf5Value> value = file.value(path, most_words);
  std::vector<std::string> words;
  if (value)
    for (const Hdf5Value::Scalar& each : value->elements)
      if (const std::optional<std::string> text = Hdf5Value{{}, {each}}.text())
        for (const std::string& word : split(*text, ',')) words.emplace_back(trim(word));
  if (words.empty())
    throw Error(ErrorKind::bad_file, fmt::format("{}: {} has no texts; expected components as Ey", file.path(), path));
  return words;
}

/// Locations and components of one kind of points.
void list_points(const std::vector<SurveyShot>& shots, std::vector<SurveyPoint> SurveyShot::*which, Mode mode,
                 Array& location, std::vector<std::string>& components) {
  const std::vector<Axis> axes = axes_of(mode);
  const std::size_t points = (shots.front().*which).size();
  std::vector<double> at;
  for (const SurveyShot& shot : shots) {
    if ((shot.*which).size() != points)
      throw Error(ErrorKind::bad_input,
                  fmt::format("shots of {} and {} points; a file holds as many in each", points, (shot.*which).size()));
    for (const SurveyPoint& point : shot.*which) {
      for (const Axis axis : axes) at.push_back(point.at[dimension(axis)]);
      components.emplace_back(name(point.component));
    }
  }
  location =
      Array::from(at, {static_cast<Index>(shots.size()), static_cast<Index>(points), static_cast<Index>(axes.size())});
  if (std::equal(components.begin() + 1, components.end(), components.begin())) components.resize(1);
}

class NativeWriter {
 public:
  NativeWriter(const std::string& path, const Experiment& experiment, const OutputRole& role)
      : file_(path, role), from_(experiment), axes_(axes_of(experiment.grid.mode)) {}

  void write() {
    file_.text_attribute("/", "format", native_format);
    file_.text_attribute("/", "schema", "sonde.maxwell.model/1");  // by which sonde knows its own files
    file_.text_attribute("/", "title", from_.title);
    model();
    grid();
    survey();
    source();
    file_.group("/time");
    file_.attribute("/time", "dt", from_.dt);
    file_.attribute("/time", "nt", std::int64_t{from_.steps});
    file_.finish();
  }

 private:
  [[nodiscard]] Shape shape(std::optional<Index> first = std::nullopt) const {
    Shape made;
    if (first) made.append(*first);
    for (const Axis axis : axes_) made.append(from_.grid.cells[dimension(axis)]);
    return made;
  }
  template <class Of>
  [[nodiscard]] std::vector<double> of_axes(const Of& of) const {
    std::vector<double> made;
    for (const Axis axis : axes_) made.push_back(of[dimension(axis)]);
    return made;
  }
  template <class Enum>
  void word(const std::string& object, const std::string& name, const Words<Enum>& words, Enum value) {
    file_.text_attribute(object, name, word_of(words, value));
  }

  void model() {
    file_.array("/model/eps_r", Array::from(from_.model.eps_r, shape()));
    file_.array("/model/sigma", Array::from(from_.model.sigma, shape()));
    if (!from_.model.mu_r.empty()) file_.array("/model/mu_r", Array::from(from_.model.mu_r, shape()));
    if (!from_.poles.empty()) {
      poles("deps", &ModelPole::deps);
      poles("tau", &ModelPole::tau);
    }
    file_.attribute("/model", "spacing", of_axes(from_.grid.spacing));
    file_.attribute("/model", "origin", of_axes(from_.origin));
    word("/model", "material_location", material_location_words(), from_.model.location);
    if (from_.allow_sub_vacuum) file_.attribute("/model", "allow_sub_vacuum", std::int64_t{1});
  }
  void poles(const std::string& name, std::vector<double> ModelPole::*which) {
    std::vector<double> all;
    for (const ModelPole& pole : from_.poles) all.insert(all.end(), (pole.*which).begin(), (pole.*which).end());
    file_.array("/model/debye/" + name, Array::from(all, shape(static_cast<Index>(from_.poles.size()))));
  }

  void grid() {
    file_.group("/grid");
    file_.attribute("/grid", "order", std::int64_t{from_.grid.order});
    word("/grid", "dtype", precision_words(), from_.precision);
    word("/grid", "time_dispersion", time_dispersion_words(), from_.corrected);
    std::vector<double> widths;
    for (const Axis axis : axes_)
      for (const Index width : from_.grid.pml[dimension(axis)]) widths.push_back(static_cast<double>(width));
    file_.attribute("/grid", "pml", widths);
    file_.attribute("/grid", "pml_grading", from_.pml.grading);
    file_.attribute("/grid", "pml_sigma_factor", from_.pml.sigma_factor);
    file_.attribute("/grid", "pml_kappa_max", from_.pml.kappa_max);
    if (from_.pml.alpha_max) file_.attribute("/grid", "pml_alpha_max", *from_.pml.alpha_max);
    file_.attribute("/grid", "pml_alpha_min", from_.pml.alpha_min);
    word("/grid", "pml_scale", pml_scale_words(), from_.pml.scale);
  }

  void survey() {
    const SurveyLists lists = survey_lists(from_.shots, from_.grid.mode);
    file_.array("/survey/source_location", lists.source_location);
    file_.array("/survey/receiver_location", lists.receiver_location);
    file_.texts("/survey/source_component", lists.source_component);
    file_.texts("/survey/receiver_component", lists.receiver_component);
  }

  void source() {
    std::vector<double> all;
    for (const SurveyShot& shot : from_.shots) all.insert(all.end(), shot.amplitudes.begin(), shot.amplitudes.end());
    const auto sources = static_cast<Index>(from_.shots.front().sources.size());
    file_.array("/source/amplitude", Array::from(all, {static_cast<Index>(from_.shots.size()), sources, from_.steps}));
    if (from_.dominant_frequency > 0) file_.attribute("/source", "f0", from_.dominant_frequency);
  }

  Hdf5Writer file_;
  const Experiment& from_;
  std::vector<Axis> axes_;
};

}  // namespace

void read_survey(const Hdf5File& file, ExperimentDraft& draft) {
  for (const auto& [kind, locations, components] :
       {std::tuple{"source", &draft.sources, &draft.source_component},
        std::tuple{"receiver", &draft.receivers, &draft.receiver_component}}) {
    const std::string location = fmt::format("/survey/{}_location", kind);
    const std::string component = fmt::format("/survey/{}_component", kind);
    if (file.exists(location)) *locations = read_numbers(file, location);
    if (file.exists(component)) *components = words_in(file, component);
  }
}

SurveyLists survey_lists(const std::vector<SurveyShot>& shots, Mode mode) {
  SurveyLists made;
  list_points(shots, &SurveyShot::sources, mode, made.source_location, made.source_component);
  list_points(shots, &SurveyShot::receivers, mode, made.receiver_location, made.receiver_component);
  return made;
}

ExperimentDraft read_native_draft(const std::string& path) { return NativeReader(path).read(); }

Experiment read_native_model(const std::string& path, std::size_t most_bytes) {
  ExperimentDraft draft = read_native_draft(path);
  return during("reading " + path, [&] { return experiment_of(std::move(draft), most_bytes); });
}

void write_native_model(const std::string& path, const Experiment& experiment, const OutputRole& role) {
  NativeWriter(path, experiment, role).write();
}

}  // namespace sonde::maxwell
