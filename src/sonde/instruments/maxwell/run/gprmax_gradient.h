// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sonde/engine/memory/tier.h"
#include "sonde/instruments/maxwell/read/gprmax_output.h"
#include "sonde/instruments/maxwell/run/gprmax_run.h"

namespace sonde::maxwell {

/// 1/2 |traces - observed|^2 of the first run of a gprMax model, and its derivatives.
struct GprmaxGradient {
  double misfit = 0;
  /// By the medium of every edge and face (with poles eps_r is eps_inf), components and axes of the arrays.
  ComponentChange medium{};
  std::vector<std::vector<double>> sources{};  ///< [source][iteration - 1], by the samples of its waveform
};

/// The gradient of the first run of a gprMax model.
class GprmaxGradientRun {
 public:
  /// `run` must outlive this. Traces are compared where `observed`, read from `named`, has the component of a receiver.
  /// Throws Error(bad_input) for observed traces of another number of iterations, time step or receivers, for merged
  /// ones and for those without a component that the model records; and what plan_storage() throws.
  GprmaxGradientRun(GprmaxRun& run, GprmaxOutput observed, const std::string& named, const GradientOf& of,
                    const StorageSettings& storage, const TierBudgets& budgets);

  [[nodiscard]] const RunPlan& plan() const { return plan_; }
  [[nodiscard]] const StoragePlan& storage() const { return storage_; }
  [[nodiscard]] GprmaxGradient run(const std::function<void()>& stepped = {});

 private:
  GprmaxRun& run_;
  GprmaxOutput observed_;
  GradientOf of_;
  RunPlan plan_;
  StoragePlan storage_;
};

}  // namespace sonde::maxwell
