// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/engine/memory/tier.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/maxwell/grid/precision.h"
#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/run/live_fields.h"
#include "sonde/instruments/maxwell/trajectory/storage.h"

namespace sonde::maxwell {

/// Steps of the grid that make up one of the survey, at most.
constexpr Index most_sub_steps = 64;

/// What is excited and recorded together, on the padded grid: one shot, or on a GPU several that run at the same time,
/// whose points lie one behind the other and have their number (Point::shot). Fields at both ends are those of one.
struct Shot {
  Acquisition points;
  /// [source][step] at the times of sample_offset.h: moments as Acquisition has them, of hard sources fields.
  std::vector<double> amplitudes;
  std::shared_ptr<const State> start{};  ///< fields before the first step (LiveFields::state()); null: zero
  std::shared_ptr<const State> end{};    ///< for gradients: derivative of the loss by those behind the last one
};
/// Changes of the fields at both ends of a linearised run: `start` is what they are before the first step, `end`
/// becomes what they are behind the last one.
struct FieldChange {
  const State* start = nullptr;
  State* end = nullptr;
};

struct OperatorSettings {
  double dt = 0;  ///< s, of amplitudes and records
  Index steps = 0;
  Index least_ratio = 1;   ///< of inner steps to one of the survey
  bool corrected = false;  ///< takes the error of the time step out of sources and records (time_dispersion.h)
  Precision precision = Precision::f32;
  Threads threads = Threads::all;
  double least_eps_r = 0;         ///< of media that come later: the time step is stable for it too; 0: of none
  Device device = Device::cpu();  ///< that computes the steps
  Index shots = 1;                ///< that run at the same time at most; on the CPU 1
};

/// Which derivatives a gradient is asked for.
struct GradientOf {
  bool eps_r = true, sigma = true, mu_r = false, sources = false;
  bool start = false;         ///< by the fields before the first step
  bool poles = false;         ///< also deps and tau of Debye poles, on the CPU
  bool illumination = false;  ///< also illumination_of() the run, of eps_r and sigma where they are asked for
  PaddingGradient padding = PaddingGradient::exact;
  [[nodiscard]] bool medium() const { return eps_r || sigma || mu_r || poles; }
};

struct ShotGradient {
  double value = 0;
  ComponentChange medium{};       ///< those asked for; with poles eps_r is eps_inf
  std::vector<double> sources{};  ///< [source][step]
  State start{};
  ComponentChange illumination{};  ///< of eps_r and sigma
};

/// Runs of shots on a medium, prepared once: from amplitudes at the survey's time step to records at it, whatever
/// steps the stability limit demands between; and the derivatives of that, exact but for rounding. One shot at a time,
/// on all threads. Not thread-safe.
class Operator {
 public:
  /// Time step and layers of `problem` are made here; those of the layers stay as the first medium had them. Throws
  /// what pml_profiles() throws, and Error(bad_input) for a time step more than 64 times the largest stable one.
  Operator(Problem problem, const PmlSettings& layers, double dominant_frequency, const OperatorSettings& settings);
  /// On a problem that has its time step and its layers.
  Operator(Problem problem, const OperatorSettings& settings);
  ~Operator();
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;

  /// Of the problem what this rank of several has from now on. All of them make the same calls; points of shots stay
  /// on the undivided grid, records come to every rank and gradients of the medium to rank 0. Of forward() and
  /// gradient(), on the CPU. Throws what GridPart() throws.
  void divide(const Triple& parts, const Ranks& ranks);
  [[nodiscard]] const Problem& problem() const;
  /// Undivided.
  [[nodiscard]] const Grid& grid() const;
  [[nodiscard]] const OperatorSettings& settings() const;
  /// Steps of the propagator in one of the survey, and of a whole run.
  [[nodiscard]] Index ratio() const;
  [[nodiscard]] Index inner_steps() const;
  /// Another medium on the same grid, with the same layers. Throws Error(bad_input) where the time step is not stable
  /// for it.
  void set_medium(ComponentMedium medium);

  /// Called after each step that is computed.
  using Stepped = std::function<void()>;

  /// The record of a shot, [receiver][step]. Error(not_supported) for the energy on a GPU.
  [[nodiscard]] std::vector<double> forward(const Shot& shot, const Stepped& stepped = {}, const Watch& watch = {});
  /// How many steps it took through memory together (Propagator); 0 before it and on a GPU.
  [[nodiscard]] Index steps_together() const;
  /// The change of the record along a change of medium and amplitudes ([source][step], or empty), [receiver][step].
  [[nodiscard]] std::vector<double> born(const Shot& shot, const ComponentChange& change,
                                         std::span<const double> amplitude_changes, const Stepped& stepped = {},
                                         const FieldChange& fields = {});

  /// What storage has to do for a gradient of fields up to `highest_frequency` Hz; the free bytes are not filled in, on
  /// a GPU those of its memory neither.
  [[nodiscard]] StorageRequest storage_request(const GradientOf& of, double highest_frequency) const;
  /// For all gradients from now on; the first one reserves what the plan holds, which is used again as long as the plan
  /// stays the same.
  void prepare_gradient(const GradientOf& of, const StoragePlan& plan, const TierBudgets& budgets);
  /// The value of a loss of the record, [receiver][step], and its derivative, the residual.
  using Loss = std::function<double(std::span<const double> record, std::span<double> residual)>;
  /// Runs the shot, asks for the loss of its record and takes the run back. Error(not_supported) for hard sources.
  [[nodiscard]] ShotGradient gradient(const Shot& shot, const Loss& loss, const Stepped& stepped = {},
                                      const Watch& watch = {});
  /// Of `count` shots at the same time: the medium and the energy of each. The value of all, and what else is asked
  /// for, come with the first.
  [[nodiscard]] std::vector<ShotGradient> gradients(const Shot& shots, Index count, const Loss& loss,
                                                    const Stepped& stepped = {}, const Watch& watch = {});

  /// The loss and its first derivative as Loss, and the product of its second derivative with the change of the record.
  using SecondLoss = std::function<double(std::span<const double> record, std::span<const double> record_change,
                                          std::span<double> residual, std::span<double> residual_change)>;
  enum class Hessian {
    gauss_newton,  ///< J' W J v: symmetric, not negative
    full           ///< with the curvature of the record itself
  };
  /// The product of the loss's Hessian with a change of medium and amplitudes ([source][step], or empty): as a
  /// gradient, of what prepare_gradient() was given. `full` keeps the fields of two runs. The fields at both ends
  /// do not change and have no derivative. Error(not_supported) for a
  /// plan that computes fields again, for hard sources, for `full` with exponential loss, and on a GPU.
  [[nodiscard]] ShotGradient hessian_product(const Shot& shot, const ComponentChange& change,
                                             std::span<const double> amplitude_changes, const SecondLoss& loss,
                                             Hessian which, const Stepped& stepped = {});

  /// What a run holds of the host, with its gradient where `of` is not null; `sources` and `receivers` in a shot.
  void add_memory(MemoryPlan& memory, std::size_t sources, std::size_t receivers, const GradientOf* of = nullptr) const;
  /// What born() holds beside that, where it is computed.
  void add_born_memory(MemoryPlan& memory) const;
  /// And of a GPU, where one computes.
  void add_device_memory(MemoryPlan& memory, std::size_t sources, std::size_t receivers,
                         const GradientOf* of = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sonde::maxwell
