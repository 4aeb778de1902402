// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/memory/encoding.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/engine/options/tables.h"
#include "sonde/instruments/ptycho/direct/settings.h"
#include "sonde/instruments/ptycho/positions/correct.h"
#include "sonde/instruments/ptycho/read/settings.h"
#include "sonde/instruments/ptycho/read/start_values.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/stop.h"
#include "sonde/instruments/ptycho/run/low_resolution.h"

namespace sonde::ptycho {

enum class ComputePrecision { f32, f64 };

/// [compute]: how numbers are held, and where random numbers begin.
struct ComputeSettings {
  ComputePrecision precision = ComputePrecision::f32;
  Index seed = 1;
  bool deterministic = false;      ///< no plans of transforms that were measured
  bool band_limit = true;          ///< of the free space between slices
  Encoding waves = Encoding::raw;  ///< of exit waves: raw (c64 or c128) or bf16
  std::optional<Tier> wave_tier;   ///< host or disk; unset: chosen
  std::string scratch;             ///< folder of what is on the disk; empty: $TMPDIR or /var/tmp

  void describe(Fields& fields);
  /// How plans of transforms are made, and why.
  [[nodiscard]] Choice<FftEffort> transforms() const;
};

/// [multi_start]: several first objects, of which the one that does best goes on.
struct MultiStartSettings {
  Index starts = 1, iterations = 10;
  Index at_once = 0;  ///< 0: as many as there are threads and memory

  void describe(Fields& fields);
};

/// [quality]: how the result is judged beside its own numbers.
struct QualitySettings {
  bool half_data = false;

  void describe(Fields& fields);
};

/// [output]: what is written.
struct OutputSettings {
  std::string file = "result.h5", log;  ///< file empty: write_nothing()
  bool pictures = true, report = true, level_phase = false;
  Index checkpoint_every = 0, preview_every = 0;
  double checkpoint_minutes = 0;

  /// Whether any are written; then SIGTERM leaves one too.
  [[nodiscard]] bool wants_checkpoints() const { return checkpoint_every > 0 || checkpoint_minutes > 0; }
  /// Where checkpoints go: beside the result.
  [[nodiscard]] std::string checkpoint() const;
  /// A picture of "phase" or "amplitude", beside the result.
  [[nodiscard]] std::string picture(const std::string& what) const;
  /// The page for people, beside the result.
  [[nodiscard]] std::string report_page() const;
  /// For who takes the result as arrays and names no file: `file` is empty. Throws Error(usage) when checkpoints or
  /// previews are asked for, which lie beside the result.
  void write_nothing();
  /// Every file that a run with these settings writes becomes an output of it, before the work (io/atomic_file.h).
  void require_places() const;

  void describe(Fields& fields);
};

/// A run file: everything that decides a reconstruction, in tables [data], [geometry], [probe], [object],
/// [low_resolution], [direct], [[engine]], [positions], [opr], [[constraint]], [stop], [compute], [multi_start],
/// [quality] and [output].
///
///   RunFile run;
///   run.read("recon.toml");
///   run.tables().assign_text("engine.0.iterations=200");
class RunFile {
 public:
  /// `engines`: those that [[engine]] may name.
  explicit RunFile(std::span<const EngineKind> engines = engine_kinds());
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  DataSettings data;
  GeometrySettings geometry;
  ProbeSettings probe;
  ObjectSettings object;
  LowResolutionSettings low_resolution;
  DirectSettings direct;
  PositionListSettings positions;
  PositionSettings correction;
  OprSettings opr;
  StopSettings stop;
  ComputeSettings compute;
  MultiStartSettings multi_start;
  QualitySettings quality;
  OutputSettings output;

  /// Reads a file; relative paths in it start at its folder from then on. Throws like read_toml().
  void read(const std::string& path);
  /// The same from text; paths stay as they are.
  void parse(std::string_view text, const std::string& name);

  [[nodiscard]] Tables& tables() { return tables_; }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  /// The engines in order; it shares the settings of engines and constraints with this. Throws Error(bad_input) when
  /// there are none.
  [[nodiscard]] Schedule schedule() const;
  /// The resolved settings as the text of a run file: reading it repeats the run.
  [[nodiscard]] std::string text() const;

 private:
  Fields append_engine(const std::string& kind);
  Fields append_constraint(const std::string& kind);

  std::span<const EngineKind> kinds_;
  Tables tables_;
  std::vector<std::unique_ptr<EngineRun>> engines_;
  std::vector<std::shared_ptr<EngineSetup>> setups_;
  std::vector<ChosenConstraint> constraints_;
};

}  // namespace sonde::ptycho
