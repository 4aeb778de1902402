// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/run_file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/options/tables_page.h"
#include "sonde/engine/options/toml.h"
#include "sonde/instruments/maxwell/read/native_model.h"

namespace sonde::maxwell {
namespace {

const TablesGuide& guide() {
  static const TablesGuide texts{
      .about = {{"model",
                 "What the waves run through. A native model says all of an experiment; the tables here replace what "
                 "they name."},
                {"survey",
                 "Where is excited and recorded. Coordinates are in the order of the arrays: z downwards, x along the "
                 "line."},
                {"source", "The signal of all sources."},
                {"time", "Times of sources and records."},
                {"grid", "How it is computed."},
                {"data", "Records to compare with, for gradients and inversions."},
                {"storage", "Where a gradient keeps the fields of its forward run."},
                {"inversion", "What is sought, and how. The model above is the start."},
                {"inversion.stage", "Frequencies one after the other, the low ones first; one table for each stage."},
                {"output", "What is written. Relative paths of a run file start at its folder."}}};
  return texts;
}

/// Numbers of a setting as a list of whole ones.
std::vector<Index> whole_list(const std::string& text, const char* what) {
  std::vector<Index> made;
  for (const double value : parse_numbers(text, what)) {
    if (value != std::floor(value) || std::abs(value) > 1e15)
      throw Error(ErrorKind::bad_input, fmt::format("{} = \"{}\": expected whole numbers", what, text));
    made.push_back(static_cast<Index>(value));
  }
  return made;
}

std::vector<std::string> words_of_list(const std::string& text) {
  std::vector<std::string> made;
  for (const std::string& word : split(text, ',')) made.emplace_back(trim(word));
  return made;
}

/// Takes what the tables set over a draft that may come from a file.
class DraftMaker {
 public:
  DraftMaker(const RunFile& run_file, const FindArray& find)
      : from_(run_file),
        find_(find),
        bare_(run_file.model.file.empty()),
        draft_(bare_ ? ExperimentDraft{} : read_native_draft(run_file.model.file)) {}

  ExperimentDraft make() {
    model();
    survey();
    source();
    if (from_.time.dt) draft_.dt = from_.time.dt;
    if (from_.time.nt) draft_.steps = from_.time.nt;
    grid();
    return std::move(draft_);
  }

 private:
  /// Whether a setting counts: defaults do where no file says otherwise.
  [[nodiscard]] bool counts(const char* setting) const { return bare_ || from_.tables().is_set(setting); }

  void numbers(const std::string& text, const char* what, std::optional<NumberArray>& to) {
    if (!text.empty()) to = given_numbers(text, what, find_);
  }

  void model() {
    const ModelTable& model = from_.model;
    if (!model.shape.empty()) draft_.shape = whole_list(model.shape, "model.shape");
    if (!model.spacing.empty()) draft_.spacing = parse_numbers(model.spacing, "model.spacing");
    if (!model.origin.empty()) draft_.origin = parse_numbers(model.origin, "model.origin");
    if (!model.title.empty()) draft_.title = model.title;
    // A number over an array of the file keeps the array's shape.
    if (draft_.shape.empty() && draft_.eps_r)
      for (int i = 0; i < draft_.eps_r->shape.rank(); ++i) draft_.shape.push_back(draft_.eps_r->shape[i]);
    numbers(model.eps_r, "model.eps_r", draft_.eps_r);
    numbers(model.sigma, "model.sigma", draft_.sigma);
    numbers(model.mu_r, "model.mu_r", draft_.mu_r);
    if (counts("model.allow_sub_vacuum")) draft_.allow_sub_vacuum = model.allow_sub_vacuum;
  }

  void survey() {
    const SurveyTable& survey = from_.survey;
    numbers(survey.sources, "survey.sources", draft_.sources);
    numbers(survey.receivers, "survey.receivers", draft_.receivers);
    if (counts("survey.source_component")) draft_.source_component = words_of_list(survey.source_component);
    if (counts("survey.receiver_component")) draft_.receiver_component = words_of_list(survey.receiver_component);
    draft_.location_unit = survey.location_unit;
  }

  void source() {
    const SourceTable& source = from_.source;
    const bool wavelet = source.f0 || counts("source.wavelet");
    if (source.f0) draft_.dominant_frequency = *source.f0;
    if (!source.file.empty()) return numbers(source.file, "source.file", draft_.amplitude);
    if (!wavelet) return;
    if (!source.f0 && !(draft_.wavelet && !bare_))
      throw Error(ErrorKind::bad_input, "no source.f0: expected the centre frequency of the wavelet in Hz");
    Wavelet made = draft_.wavelet.value_or(Wavelet{});
    if (counts("source.wavelet")) made.name = source.wavelet;
    if (source.f0) made.frequency = *source.f0;
    if (source.t0) made.delay = source.t0;
    if (counts("source.amplitude")) made.amplitude = source.amplitude;
    if (counts("source.cycles")) made.cycles = source.cycles;
    draft_.amplitude.reset();
    draft_.wavelet = made;
  }

  void grid() {
    const GridTable& grid = from_.grid;
    if (counts("grid.order")) draft_.order = static_cast<int>(grid.order);
    if (counts("grid.dtype")) draft_.precision = grid.dtype;
    if (counts("grid.courant")) draft_.courant = grid.courant;
    if (!grid.spacing.empty()) draft_.computed_spacing = parse_numbers(grid.spacing, "grid.spacing");
    if (counts("grid.sub_steps")) draft_.least_sub_steps = grid.sub_steps;
    if (counts("grid.pml")) draft_.pml = whole_list(grid.pml, "grid.pml");
    if (counts("grid.time_dispersion")) draft_.corrected = grid.corrected;
    if (counts("grid.material_location")) draft_.material_location = grid.material_location;
    PmlSettings& pml = draft_.pml_settings;
    if (counts("grid.pml_preset")) pml = settings_of(grid.pml_preset);
    if (grid.pml_grading) pml.grading = *grid.pml_grading;
    if (grid.pml_sigma_factor) pml.sigma_factor = *grid.pml_sigma_factor;
    if (grid.pml_kappa_max) pml.kappa_max = *grid.pml_kappa_max;
    if (grid.pml_alpha_max) pml.alpha_max = grid.pml_alpha_max;
    if (grid.pml_alpha_min) pml.alpha_min = *grid.pml_alpha_min;
  }

  const RunFile& from_;
  const FindArray& find_;
  bool bare_;
  ExperimentDraft draft_;
};

/// "FILE.h5:DATASET" or "FILE.npy" as the name without its folder and what is in the file; other texts as they are.
std::string by_content(const std::string& text) {
  const std::string path = is_plain_file(text) ? text : text.substr(0, text.rfind(':'));
  std::ifstream file(path, std::ios::binary);
  if (!is_plain_file(path) || !file) return text;
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return fmt::format("{}{}, SHA-256 {}", std::filesystem::path(path).filename().string(), text.substr(path.size()),
                     hexadecimal(sha256(bytes)));
}

}  // namespace

RunFile::RunFile() {
  tables_.add("model", Fields(model));
  tables_.add("survey", Fields(survey));
  tables_.add("source", Fields(source));
  tables_.add("time", Fields(time));
  tables_.add("grid", Fields(grid));
  tables_.add("data", Fields(data));
  tables_.add("storage", Fields(storage));
  inversion.add_to(tables_);
  tables_.add("output", Fields(output));
}

void RunFile::read(const std::string& path) {
  read_toml(path, tables_);
  for (std::string* each : {&model.file, &data.file, &data.true_model, &storage.path, &output.file, &output.folder})
    *each = path_from_file(*each, path);
  for (std::string* each : {&model.eps_r, &model.sigma, &model.mu_r, &survey.sources, &survey.receivers, &source.file,
                            &data.weight, &data.mute, &inversion.inversion.mask})
    if (names_number_file(*each)) *each = path_from_file(*each, path);
}

void RunFile::parse(std::string_view text, const std::string& name) { parse_toml(text, name, tables_); }

Value RunFile::echo_by_content() const {
  constexpr std::array<std::pair<const char*, const char*>, 12> inputs{{{"model", "file"},
                                                                        {"model", "eps_r"},
                                                                        {"model", "sigma"},
                                                                        {"model", "mu_r"},
                                                                        {"survey", "sources"},
                                                                        {"survey", "receivers"},
                                                                        {"source", "file"},
                                                                        {"data", "file"},
                                                                        {"data", "true_model"},
                                                                        {"data", "weight"},
                                                                        {"data", "mute"},
                                                                        {"inversion", "mask"}}};
  Value made = tables_.echo();
  for (const auto& [table, key] : inputs) {
    Value& setting = made[table][key];
    if (setting.is_text()) setting = Value(by_content(setting.as_text()));
  }
  return made;
}

std::string RunFile::text() const { return to_toml(tables_.echo()); }

Experiment make_experiment(const RunFile& run_file, const FindArray& find, std::size_t most_bytes) {
  ExperimentDraft draft = DraftMaker(run_file, find).make();
  const auto make = [&] { return experiment_of(std::move(draft), most_bytes); };
  return run_file.model.file.empty() ? make() : during("reading " + run_file.model.file, make);
}

std::string run_file_reference() {
  const std::string text =
      "# The run file of radar models\n\n"
      "Written by `sonde help --markdown` from the descriptions that read it. A run file is TOML; `sonde maxwell init` "
      "writes one with every key. `--set TABLE.KEY=VALUE` changes one of them. In Python the same tables are "
      "dictionaries, and arrays may take the place of files.\n";
  RunFile unset;
  return text + tables_markdown(unset.tables(), guide());
}

std::string commented_run_file(const RunFile& known, const std::set<std::string>& missing) {
  std::string text =
      "# A radar model: `sonde maxwell run THIS_FILE --dry-run` says what it needs; the same without the flag runs\n"
      "# it. Lines behind # are the defaults: take the # away to change one.\n";
  if (!missing.empty()) text += "# Lines with FILL IN are needed, and nothing says them yet.\n";
  RunFile unset;
  return text + commented_tables(known.tables(), unset.tables(), guide(), missing);
}

}  // namespace sonde::maxwell
