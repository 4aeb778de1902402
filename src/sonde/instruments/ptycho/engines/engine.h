// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/loss.h"

namespace sonde::ptycho {

/// A piece of an engine's memory that a checkpoint keeps: an array of the host, or as a whole too much for it, a slot
/// of `slot` elements for each frame in a store or in an array (frames, slot...) on any device.
struct EngineMemory {
  std::string_view name;
  Array* array = nullptr;  ///< this, or
  Store* store = nullptr;  ///< this
  Shape slot{};            ///< of three dimensions, when there are slots

  [[nodiscard]] bool in_slots() const { return slot.rank() > 0; }
};

/// How one iteration combines the shared pieces. It fills Workbench::fit() for every active frame, with the fit before
/// the frame's own update where it updates frame by frame.
template <class Real>
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void iterate(Workbench<Real>& bench, const Iteration& iteration) = 0;
  /// What the next iteration needs of this one, beside the state.
  virtual std::vector<EngineMemory> memory() { return {}; }
  /// Called when the state has been changed by somebody else: filled from a checkpoint together with memory(), or with
  /// positions corrected.
  virtual void state_changed() {}
};

/// Which engine, and its own settings: one [[engine]] table of a run file.
class EngineSetup {
 public:
  virtual ~EngineSetup() = default;
  virtual void describe(Fields& fields) = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine<float>> make(Workbench<float>& bench) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Engine<double>> make(Workbench<double>& bench) const = 0;
  /// Of the residual that the engine asks the model for.
  [[nodiscard]] virtual Loss loss() const { return Loss::amplitude; }
  /// Which of the settings keeps an engine that has kernels from using them; empty: none.
  [[nodiscard]] virtual std::string why_no_kernels() const { return ""; }
};

/// A row of the table of engines.
struct EngineKind {
  std::string_view name, summary;
  std::unique_ptr<EngineSetup> (*setup)();
  bool has_kernels = false;  ///< computes with Workbench::device_pass() when there is one
  bool keeps_waves = false;  ///< the exit waves of all frames
};

/// Every engine there is, in the order of the documentation.
[[nodiscard]] std::span<const EngineKind> engine_kinds();
/// The names of those that have kernels, for messages: "gd".
[[nodiscard]] std::string engines_with_kernels();
/// Throws Error(usage) naming the nearest.
[[nodiscard]] const EngineKind& engine_kind(std::string_view name);

/// An engine from its settings: Own<Real> is made of (settings, bench).
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
  [[nodiscard]] Loss loss() const override {
    if constexpr (requires { settings_.loss; })
      return settings_.loss;
    else
      return Loss::amplitude;
  }
  [[nodiscard]] std::string why_no_kernels() const override {
    if constexpr (requires { settings_.why_no_kernels(); })
      return settings_.why_no_kernels();
    else
      return "";
  }

 private:
  Settings settings_;
};

}  // namespace sonde::ptycho
