// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/math/optimise/objective.h"
#include "sonde/instruments/maxwell/invert/misfit.h"
#include "sonde/instruments/maxwell/invert/parameters.h"
#include "sonde/instruments/maxwell/invert/stage_filter.h"
#include "sonde/instruments/maxwell/invert/wave_operator.h"

namespace sonde {
class CheckpointReader;
class CheckpointWriter;
}  // namespace sonde

namespace sonde::maxwell {

/// What was measured of one shot.
struct Observation {
  Gather records;
  std::vector<double> weights{};  ///< of each sample, [receiver][step], 0 where it is muted; empty: 1
};

struct Measurements {
  std::vector<Observation> shots;
  std::vector<std::vector<double>> amplitudes;  ///< [shot] of [source][step]: the sources as they are believed to be
  double noise = 0;                             ///< standard deviation of a sample, in its unit; 0: not known
};

/// Which frequencies are inverted, and for how long at most.
struct InversionStage {
  Band band{};
  Index iterations = 20;
};

/// Where the filter of a stage is applied beside the measured records. The equations are linear in the source, so that
/// both are the same but at the ends: a source begins at t = 0, and what the filter would put before that is lost.
enum class FilterPlace {
  records,  ///< to the computed records: exact
  source    ///< to the source signals: for runs that must not have the higher frequencies
};

enum class OptimiserKind {
  lbfgs,        ///< BoundedLbfgs
  gauss_newton  ///< TruncatedNewton with the matrix of Gauss and Newton (Metivier et al. 2013, SIAM J. Sci. Comput. 35,
                ///< B401): of l2 misfits of plain traces
};

enum class SourceEstimation {
  off,
  per_shot,  ///< a correction for each shot
  global     ///< one for all
};

/// Added to the misfit over its value at the start of the stage: weights of integrals (regularisation.h) over the
/// scaled fields of Parameters, each in its unit squared or not times m to the power of the dimensions.
struct RegularisationSettings {
  double tv = 0, tikhonov = 0;
  double tv_epsilon = 0.1;  ///< per m
};

/// What ends a stage, or with the two limits the inversion, beside the iterations of a stage.
struct ExitCriteria {
  double change = 1e-4;    ///< relative decrease of the objective over one iteration; with batches over one of each
  double gradient = 1e-4;  ///< largest component of the projected gradient, over that at the start of the stage
  double chi2 = 1;  ///< where the noise is known; within two standard deviations of a mean square of so many samples
  Index evaluations = 0;  ///< limit of misfits with their gradient and of products, which cost the same; 0: none
  double seconds = 0;     ///< limit, checked between iterations; 0: none
};

/// How far the records leave the model open (Inversion::uncertainty()).
struct UncertaintySettings {
  Index rank = 0;    ///< directions of the model that the records decide, at most; 0: not computed
  double prior = 1;  ///< standard deviation of the unknowns before the records, each by itself; of Parameters' numbers
};

/// Of a model that fits records with noise.
struct Uncertainty {
  ModelChange deviation{};  ///< standard deviation of eps_r and sigma on the cells; of those that are unknown
  std::vector<double>
      information;  ///< of each direction: how often its variance before exceeds that of the noise, falling
};

struct InversionSettings {
  std::vector<InversionStage> stages{};
  MisfitSettings misfit{};
  FilterPlace filter = FilterPlace::records;
  RegularisationSettings regularisation{};
  SourceEstimation source_estimation = SourceEstimation::off;
  /// Iterations between estimates, from the start of each stage. A wrong source and a wrong model explain each other:
  /// the misfit of a wavelet 1 ns late falls ten times less in 25 iterations with 5 in the place of 1
  /// (inversion_waves_test).
  Index source_every = 1;
  double source_damping = 1e-4;  ///< of SourceEstimate
  Index shots_per_batch = 0;     ///< 0: all at once
  OptimiserKind optimiser = OptimiserKind::lbfgs;
  Index memory = 8;                              ///< pairs of lbfgs
  Index products = 10;                           ///< most products of an iteration of gauss_newton
  double first_change = 0.1;                     ///< largest change of a number in the first step of lbfgs in a stage
  std::optional<double> illumination_damping{};  ///< of Parameters::preconditioner(); unset: none
  ExitCriteria exit{};
  UncertaintySettings uncertainty{};
};
/// Throws Error(bad_input) for settings without meaning.
void require_valid(const InversionSettings& settings);

enum class StopReason {
  iterations,  ///< those of the stage are done
  small_change,
  small_gradient,
  noise_level,  ///< the records are explained as well as their noise allows
  no_descent,   ///< no step along the gradient lowers the objective
  evaluations,  ///< the limit of all
  wall_clock    ///< the limit of all
};
/// In words.
[[nodiscard]] std::string_view text_of(StopReason reason);

/// One iteration; iteration 0 is the start of a stage.
struct InversionRow {
  Index stage = 0, iteration = 0;
  double objective = 0;       ///< misfit over that at the start of the stage, and regularisation
  double misfit = 0;          ///< of the shots of the batch, in the unit of the misfit
  double regularisation = 0;  ///< its part of the objective
  double chi2 = 0;            ///< mean square of residuals over the noise that the filter leaves; NaN: noise not known
  double projected_gradient = 0;
  Index evaluations = 0;  ///< so far, of all stages
  double seconds = 0;     ///< so far
};

/// Why each stage has ended.
struct StageEnd {
  Index stage = 0;
  StopReason reason = StopReason::iterations;
};

/// Full-waveform inversion in stages of rising frequency: in each, projected L-BFGS or Gauss-Newton within bounds on
///   misfit(filtered records) / misfit at its start + regularisation,
/// whose memory begins anew with the stage and with every estimate of the source. With batches, iteration i sees the
/// shots s for which s mod batches = i mod batches; a step is judged by its own batch, at the price of a second
/// evaluation. Results depend on nothing but the arguments, except by a limit in seconds.
class Inversion {
 public:
  /// What an observer sees after an iteration; valid during the call.
  struct Progress {
    const InversionRow& row;
    const Model& model;
    const ModelChange& gradient;  ///< of the misfit of the batch; empty after a restart without a step
  };
  using Observer = std::function<void(const Progress&)>;

  /// The operator must outlive this. Throws Error(bad_input) for settings without meaning and for measurements that are
  /// not those of the operator.
  Inversion(WaveOperator& waves, Measurements measurements, Parameters parameters, InversionSettings settings);
  Inversion(const Inversion&) = delete;
  Inversion& operator=(const Inversion&) = delete;
  ~Inversion();

  /// Begins a stage, or does one iteration. False when there is nothing left to do. Throws what the operator throws,
  /// and Error(bad_input) when the misfit of the start is not finite.
  bool step(const Observer& observer = {});
  void run(const Observer& observer = {}) {
    while (step(observer)) {
    }
  }

  [[nodiscard]] Model model() const;
  [[nodiscard]] const std::vector<InversionRow>& history() const { return history_; }
  [[nodiscard]] const std::vector<StageEnd>& ends() const { return ends_; }
  /// The sources as they are estimated now, [shot] of [source][step].
  [[nodiscard]] const std::vector<std::vector<double>>& amplitudes() const { return measurements_.amplitudes; }
  /// Whether the first step of the first stage has found no descent: a gradient or records that are wrong.
  [[nodiscard]] bool failed() const;
  [[nodiscard]] bool finished() const { return finished_; }

  /// Of the model, when there is nothing left to do: the square roots of the diagonal of
  ///   (J' W J / noise^2 + 1 / prior^2)^-1
  /// in the numbers of Parameters, through the model's derivative by them, with the derivative J of all records as the
  /// last stage filters them; by the largest eigenvalues l of prior^2 J' W J / noise^2, as prior^2 (1 - sum l / (1 + l)
  /// v v') (Bui-Thanh et al. 2013, SIAM J. Sci. Comput. 35, A2494). What the others would tell is left out, so that
  /// the result is never too small for that. It is linear about the model and knows neither bounds nor regularisation,
  /// nor errors of the source, of the geometry or of the equations. Costs 2 (rank + 10) products.
  [[nodiscard]] Uncertainty uncertainty();

  /// Everything that step() depends on beside the arguments: an inversion of the same arguments that is restored goes
  /// on with the same bits. restore() throws Error(bad_file) for a checkpoint of other sizes.
  void save(CheckpointWriter& checkpoint) const;
  void restore(const CheckpointReader& checkpoint);

 private:
  /// The misfit and the rest at one list of numbers.
  struct Evaluation {
    double objective = 0, misfit = 0, squares = 0, regularisation = 0;
    ModelChange gradient{};
    ModelChange illumination{};
  };
  struct Stage;  // what belongs to the stage that runs

  [[nodiscard]] Index batches() const;
  void make_stage(Index number);
  void begin_stage();
  void make_signals();
  void choose_batch(Index batch);
  [[nodiscard]] double share_of_batch() const;
  void estimate_source();
  [[nodiscard]] RecordMisfit misfit_of(Index shot, const Gather& computed) const;
  struct Point;  // all that an optimiser begins from
  void make_optimiser(Point point);
  double evaluate(std::span<const double> numbers, std::span<double> gradient, Illumination illumination);
  double add_regularisation(std::span<const double> fields, std::span<double> gradient) const;
  [[nodiscard]] std::vector<double> misfit_product(std::span<const double> fields, std::span<const double> along);
  void multiply(std::span<const double> numbers, std::span<const double> direction, std::span<double> product);
  enum class Pairs { kept, cleared };
  void evaluate_again(Pairs pairs);
  [[nodiscard]] Descent iterate();
  void add_row();
  [[nodiscard]] const std::vector<double>& numbers() const;
  [[nodiscard]] double chi2() const;
  [[nodiscard]] double noise_allowance() const;
  [[nodiscard]] std::optional<StopReason> limit() const;
  [[nodiscard]] std::optional<StopReason> stage_end(Descent descent) const;
  void end_stage(StopReason reason);
  void restore_stage(const CheckpointReader& checkpoint, const std::vector<std::int64_t>& counters);

  WaveOperator* waves_;
  Measurements measurements_;
  Parameters parameters_;
  InversionSettings settings_;
  std::vector<double> numbers_;  // between stages; within one the optimiser has them
  std::unique_ptr<Stage> stage_;
  Index stage_number_ = 0, evaluations_ = 0;
  bool finished_ = false;
  Evaluation last_, at_;  // of the last evaluation, and at the numbers of the optimiser
  std::vector<InversionRow> history_;
  std::vector<StageEnd> ends_;
  Stopwatch watch_;
  double seconds_before_ = 0;
};

}  // namespace sonde::maxwell
