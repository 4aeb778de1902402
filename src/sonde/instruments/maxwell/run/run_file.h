// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sonde/engine/options/tables.h"
#include "sonde/instruments/maxwell/invert/settings.h"
#include "sonde/instruments/maxwell/read/experiment_draft.h"
#include "sonde/instruments/maxwell/trajectory/storage.h"

namespace sonde::maxwell {

/// [model]: what the waves run through, as a native file or as numbers and arrays.
struct ModelTable {
  std::string file;                ///< native model; what it says counts where this file says nothing
  std::string eps_r, sigma, mu_r;  ///< a number or an array
  std::string shape, spacing, origin;
  std::string title;
  bool allow_sub_vacuum = false;

  void describe(Fields& fields);
};

/// [survey]: where is excited and recorded.
struct SurveyTable {
  std::string sources, receivers;
  std::string source_component = "Ey", receiver_component = "Ey";
  LocationUnit location_unit = LocationUnit::by_type;

  void describe(Fields& fields);
};

/// [source]: the signal.
struct SourceTable {
  std::string wavelet = "ricker";
  std::optional<double> f0, t0;
  double amplitude = 1, cycles = 3;
  std::string file;  ///< amplitudes in place of a wavelet

  void describe(Fields& fields);
};

/// [time]: of sources and records.
struct TimeTable {
  std::optional<double> dt;
  std::optional<Index> nt;

  void describe(Fields& fields);
};

/// [grid]: how it is computed.
struct GridTable {
  Index order = 4;
  Precision dtype = Precision::f32;
  double courant = 0.9;
  std::string spacing;  ///< of the cells that are computed
  Index sub_steps = 1;
  std::string pml = "10";
  PmlPreset pml_preset = PmlPreset::graded;
  std::optional<double> pml_grading, pml_sigma_factor, pml_kappa_max, pml_alpha_max, pml_alpha_min;
  bool corrected = false;
  MaterialLocation material_location = MaterialLocation::node;

  void describe(Fields& fields);
};

/// [data]: records to compare with.
struct DataTable {
  std::string file, weight, mute, true_model;
  std::optional<double> noise;

  void describe(Fields& fields);
};

/// [storage]: where a gradient keeps the fields of its forward run.
struct StorageTable {
  StorageMode mode = StorageMode::automatic;
  Compression compression = Compression::none;
  std::string interval = "1";  ///< "auto": unset
  std::optional<Bytes> bytes_limit_device, bytes_limit_host;
  std::string path;

  [[nodiscard]] StorageSettings settings() const;
  void describe(Fields& fields);
};

/// [output]: what is written.
struct OutputTable {
  std::string file, folder;
  Index every = 0, checkpoint_every = 0;
  double checkpoint_minutes = 5;

  void describe(Fields& fields);
};

/// A run file: everything that decides a run on a native model.
///
///   RunFile run;
///   run.read("crosshole.toml");
///   run.tables().assign_text("grid.order=8");
///   const Experiment experiment = make_experiment(run, {}, usable_bytes(host_memory()));
class RunFile {
 public:
  RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  ModelTable model;
  SurveyTable survey;
  SourceTable source;
  TimeTable time;
  GridTable grid;
  DataTable data;
  StorageTable storage;
  InversionTables inversion;
  OutputTable output;

  /// Reads a file; relative paths in it start at its folder from then on. Throws like read_toml().
  void read(const std::string& path);
  /// The same from text; paths stay as they are.
  void parse(std::string_view text, const std::string& name);

  [[nodiscard]] Tables& tables() { return tables_; }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  /// The resolved settings; a file that they name is its name and the SHA-256 of its content, wherever it is.
  [[nodiscard]] Value echo_by_content() const;
  /// The resolved settings as the text of a run file: reading it repeats the run.
  [[nodiscard]] std::string text() const;

 private:
  Tables tables_;
};

/// What the tables from [model] to [grid] say, over the native model that they name. Settings may name arrays that
/// `find` knows in place of files. Throws like read_native_draft() and experiment_of(), naming the settings.
[[nodiscard]] Experiment make_experiment(const RunFile& run_file, const FindArray& find, std::size_t most_bytes);

/// The page of all tables and keys of a run file, in Markdown, from the descriptions that read it.
[[nodiscard]] std::string run_file_reference();
/// A run file to begin with: every table and key with its meaning, those that nobody set commented out. Settings named
/// in `missing` ("time.nt") are marked to be filled in.
[[nodiscard]] std::string commented_run_file(const RunFile& known, const std::set<std::string>& missing = {});

}  // namespace sonde::maxwell
