// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/engines/work_sizes.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/loss.h"

namespace sonde::ptycho {

/// A piece of an engine's memory that a checkpoint keeps: an array of the host, or as a whole too much for it, a slot
/// of `slot` elements for each frame in a store or in an array (frames, slot...) on any device. Several processes have
/// slots of their own frames, their parts of what lies on the object, and all else alike.
struct EngineMemory {
  std::string_view name;
  Array* array = nullptr;  ///< this, or
  Store* store = nullptr;  ///< this
  Shape slot{};            ///< of three dimensions, when there are slots
  bool on_object = false;  ///< an element for each of the object

  [[nodiscard]] bool in_slots() const { return slot.rank() > 0; }
};

/// How one iteration combines the shared pieces. It fills Workbench::fit() for every active frame, with the fit before
/// the frame's own update, unless it judges_result.
template <class Real>
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void iterate(Workbench<Real>& bench, const Iteration& iteration) = 0;
  /// What the next iteration needs of this one, beside the state.
  virtual std::vector<EngineMemory> memory() { return {}; }
  /// Called when the state has been changed by somebody else, or filled from a checkpoint together with memory().
  virtual void state_changed() {}
  /// Called when positions were corrected; `from`: where every frame lay before.
  virtual void positions_changed(Workbench<Real>& /*bench*/, std::span<const Placement> /*from*/) { state_changed(); }
};

/// What is true of an engine whatever its settings.
struct EngineTraits {
  bool has_kernels = false;      ///< computes with Workbench::device_pass() when there is one
  bool keeps_waves = false;      ///< the exit waves of all frames, where and as WorkLimits say
  bool judges_result = false;    ///< Workbench::fit() is of the estimate that the iteration ends with
  bool can_be_shared = false;    ///< by several processes: frames meet only in sums over batches
  bool knows_slices = true;      ///< objects of several slices
  bool knows_potentials = true;  ///< objects that are only a phase
  bool has_steps = true;         ///< that can be shortened; projections have none and fluctuate around the solution
};

/// Which engine, and its own settings: one [[engine]] table of a run file. All that planning, reconstruction and
/// messages must know of an engine they ask it here.
class EngineSetup {
 public:
  virtual ~EngineSetup() = default;
  virtual void describe(Fields& fields) = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine<float>> make(Workbench<float>& bench) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine<double>> make(Workbench<double>& bench) const = 0;
  /// Gives an engine that this has made, and that has worked since, the settings as they are now. What decides its
  /// memory must be as it was.
  virtual void renew(Engine<float>& engine, Workbench<float>& bench) const = 0;
  virtual void renew(Engine<double>& engine, Workbench<double>& bench) const = 0;
  [[nodiscard]] virtual const EngineTraits& traits() const = 0;
  [[nodiscard]] virtual Passes passes() const = 0;
  /// What it holds in the host's memory beside the estimate.
  [[nodiscard]] virtual MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& batch) const = 0;
  /// What it holds on a GPU beside the estimate and its sums, with so many patterns in flight; for those with kernels.
  [[nodiscard]] virtual MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& batch,
                                                Index in_flight) const = 0;
  /// Of the residual that the engine asks the model for.
  [[nodiscard]] virtual Loss loss() const { return Loss::amplitude; }
  [[nodiscard]] bool knows(ObjectType type, Index slices) const {
    return (traits().knows_slices || slices == 1) && (traits().knows_potentials || type == ObjectType::complex);
  }
};

/// A row of the table of engines.
struct EngineKind {
  std::string_view name, summary;
  std::unique_ptr<EngineSetup> (*setup)();
  std::string_view same_work_as{};  ///< an engine above whose iteration costs as much: one measurement does for both
};

/// Every engine there is, in the order of the documentation.
[[nodiscard]] std::span<const EngineKind> engine_kinds();
/// The row of a name. Throws Error(usage) with the names that there are.
[[nodiscard]] const EngineKind& engine_kind(std::string_view name, std::span<const EngineKind> kinds = engine_kinds());
/// The names of those whose default setup is as `asked`, for messages: "gd, adam".
[[nodiscard]] std::string engines_that(bool (*asked)(const EngineSetup& setup));
/// Throws Error(not_supported) when the engine does not know such objects.
void require_knows(std::string_view name, const EngineSetup& setup, ObjectType type, Index slices);

/// An engine from its settings: Own<Real> is made of (settings, bench), and take()s such when they have changed.
/// Settings have describe(), a static member
/// `traits`, passes() and memory(); with kernels memory_there(), and `loss` where it differs from the default.
template <template <class> class Own, class Settings>
class SetupOf final : public EngineSetup {
 public:
  explicit SetupOf(Settings settings = {}) : settings_(std::move(settings)) {}
  void describe(Fields& fields) override { settings_.describe(fields); }
  [[nodiscard]] std::unique_ptr<Engine<float>> make(Workbench<float>& bench) const override {
    return std::make_unique<Own<float>>(settings_, bench);
  }
  [[nodiscard]] std::unique_ptr<Engine<double>> make(Workbench<double>& bench) const override {
    return std::make_unique<Own<double>>(settings_, bench);
  }
  void renew(Engine<float>& engine, Workbench<float>& bench) const override {
    static_cast<Own<float>&>(engine).take(settings_, bench);
    bench.settings_changed();
  }
  void renew(Engine<double>& engine, Workbench<double>& bench) const override {
    static_cast<Own<double>&>(engine).take(settings_, bench);
    bench.settings_changed();
  }
  [[nodiscard]] const EngineTraits& traits() const override { return Settings::traits; }
  [[nodiscard]] Passes passes() const override { return settings_.passes(); }
  [[nodiscard]] MemoryNeed memory(const WorkSizes& sizes, const BatchSizes& batch) const override {
    return settings_.memory(sizes, batch);
  }
  [[nodiscard]] MemoryNeed memory_there(const WorkSizes& sizes, const BatchSizes& batch,
                                        Index in_flight) const override {
    if constexpr (Settings::traits.has_kernels)
      return settings_.memory_there(sizes, batch, in_flight);
    else
      return {};
  }
  [[nodiscard]] Loss loss() const override {
    if constexpr (requires { settings_.loss; })
      return settings_.loss;
    else
      return Loss::amplitude;
  }

 private:
  Settings settings_;
};

}  // namespace sonde::ptycho
