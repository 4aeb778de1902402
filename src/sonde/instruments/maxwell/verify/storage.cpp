// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "sonde/instruments/maxwell/run/experiment_waves.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/ground_trial.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"
#include "sonde/instruments/maxwell/verify/wave_trial.h"

namespace sonde::maxwell {
namespace {

// Where the spectrum of a Ricker wavelet is 40 dB down.
constexpr double ground_highest = 2.76 * ground_frequency;

constexpr std::size_t plenty_bytes = std::size_t{1} << 30U;

/// The gradient of one shot over uneven ground.
ModelChange ground_gradient(const StorageSettings& storage) {
  Experiment experiment = uneven_ground();
  experiment.shots.resize(1);
  ExperimentWaves waves(experiment, {.highest_frequency = ground_highest, .storage = storage},
                        TierBudgets::around(Device::cpu(), Budget(plenty_bytes, "the checks")));
  return waves.gradient(experiment.model, signals_of(experiment), energy_of_record, Illumination::skipped).gradient;
}

double relative_error(const std::vector<double>& made, const std::vector<double>& wanted) {
  return distance(made, wanted) / norm(wanted);
}

std::vector<double> in_one_list(ModelChange of) {
  of.eps_r.insert(of.eps_r.end(), of.sigma.begin(), of.sigma.end());
  return std::move(of.eps_r);
}

/// A way to keep the same numbers.
struct KeptWay {
  std::string id, what;
  StorageSettings storage;
};

/// Memory for a quarter of the samples of `experiment`'s fields, of float32 at every step.
std::size_t quarter_of_need(const Experiment& experiment) {
  const Grid grid(experiment.grid);
  return sizeof(float) * static_cast<std::size_t>(grid.count() * (experiment.steps + 1)) / 4;
}

Direction trial_gradient(const WaveCase& which, Precision precision, StorageMode mode) {
  WaveTrial trial(which, precision, {.mode = mode});
  return trial.transposed(trial.residual(10));
}

Index differences_of_trial(const WaveCase& which, StorageMode mode) {
  const Direction host = trial_gradient(which, Precision::f32, StorageMode::host);
  const Direction other = trial_gradient(which, Precision::f32, mode);
  Index count = 0;
  for (std::size_t kind = 0; kind < host.size(); ++kind) count += different_bits(host[kind], other[kind]);
  return count;
}

}  // namespace

std::vector<VerifyRow> check_compression(VerifySize) {
  const double dt = uneven_ground().dt;
  const Index safe = safe_interval(ground_highest, dt);
  const auto beyond = static_cast<Index>(std::ceil(1.5 * longest_interval(ground_highest, dt)));
  const ModelChange exact = ground_gradient({});
  std::vector<VerifyRow> rows;
  const auto add = [&](const std::string& id, const std::string& how, const StorageSettings& storage, double limit) {
    const ModelChange made = ground_gradient(storage);
    for (const auto& [name, a, b] :
         {std::tuple("eps_r", &made.eps_r, &exact.eps_r), std::tuple("sigma", &made.sigma, &exact.sigma)}) {
      rows.push_back({fmt::format("compression.{}_{}", id, name),
                      fmt::format("relative L2 error of the gradient by {}, {}", name, how), relative_error(*a, *b),
                      limit});
      rows.push_back({fmt::format("compression.{}_{}_angle", id, name),
                      fmt::format("1 - cosine of the angle between it and the exact one, {}", how),
                      1 - dot(*a, *b) / (norm(*a) * norm(*b)), 1e-5});
    }
  };
  // bf16 keeps 8 bits; the products average. Beyond its highest frequency the wavelet is 40 dB down, and its aliases
  // are that small.
  add("bf16", "fields in bf16", {.compression = Compression::bf16}, 2e-3);
  add("interval", fmt::format("fields at every step {}", safe), {.interval = safe}, 1e-3);
  add("both", fmt::format("fields in bf16 at every step {}", safe),
      {.compression = Compression::bf16, .interval = safe}, 2e-3);
  rows.push_back({"compression.aliased",
                  fmt::format("relative L2 error by eps_r at every step {}, 1.5 times the longest interval", beyond),
                  relative_error(ground_gradient({.interval = beyond, .force = true}).eps_r, exact.eps_r), 1e-2, true});
  return rows;
}

std::vector<VerifyRow> check_storage(VerifySize size) {
  const Experiment ground = uneven_ground();
  const std::size_t quarter = quarter_of_need(ground);
  const Index safe = safe_interval(ground_highest, ground.dt);
  std::vector<VerifyRow> rows;
  const auto compare = [&](const StorageSettings& host, const std::vector<KeptWay>& ways) {
    const std::vector<double> wanted = in_one_list(ground_gradient(host));
    for (const KeptWay& way : ways)
      rows.push_back({"storage." + way.id, "numbers of a gradient with other bits than from memory, " + way.what,
                      static_cast<double>(different_bits(in_one_list(ground_gradient(way.storage)), wanted)), 0});
  };
  compare({.mode = StorageMode::host}, {{"disk", "disk", {.mode = StorageMode::disk}},
                                        {"recompute", "computed again", {.mode = StorageMode::recompute}},
                                        {"recompute_quarter",
                                         "computed again in a quarter of the memory",
                                         {.mode = StorageMode::recompute, .bytes_limit_host = quarter}},
                                        {"quarter", "memory limited to a quarter", {.bytes_limit_host = quarter}}});
  StorageSettings packed{.mode = StorageMode::host, .compression = Compression::bf16, .interval = safe};
  StorageSettings on_disk = packed, again = packed;
  on_disk.mode = StorageMode::disk;
  again.mode = StorageMode::recompute;
  compare(packed, {{"disk_packed", "disk, bf16 at intervals", on_disk},
                   {"recompute_packed", "computed again, bf16 at intervals", again}});
  for (const WaveCase& which : wave_cases(size))
    for (const auto& [mode, name] :
         {std::pair(StorageMode::disk, "disk"), std::pair(StorageMode::recompute, "recompute")})
      rows.push_back({fmt::format("storage.{}_{}", name, id_of(which)),
                      fmt::format("numbers of a gradient with other bits than from memory, {}", name),
                      static_cast<double>(differences_of_trial(which, mode)), 0});
  for (const WaveCase& which : wave_cases(size)) {
    if (which.poles > 0) continue;
    for (const auto& [precision, name, limit] :
         {std::tuple(Precision::f32, "f32", 1e-3), std::tuple(Precision::f64, "f64", 1e-9)})
      rows.push_back({fmt::format("storage.reconstruct_{}_{}", id_of(which), name),
                      "largest difference over largest value of a gradient by fields taken back in time, to that by "
                      "stored ones",
                      relative_difference(trial_gradient(which, precision, StorageMode::reconstruct),
                                          trial_gradient(which, precision, StorageMode::host)),
                      limit});
  }
  return rows;
}

}  // namespace sonde::maxwell
