// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "convert.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/instruments/neoclassical/read/equilibrium.h"
#include "sonde/instruments/neoclassical/run/field_axis.h"
#include "sonde/instruments/neoclassical/run/settings.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::python {

/// A flux surface, with what turns electric fields as people give them into those of the solver.
class FluxSurface {
 public:
  /// Of the table [surface] of a run file; `call` begins messages.
  FluxSurface(const py::dict& keywords, const std::string& call);

  [[nodiscard]] const neoclassical::Surface& surface() const { return surface_; }
  [[nodiscard]] const neoclassical::Notes& notes() const { return notes_; }
  /// For one call: the file of the surface is an input of it too.
  [[nodiscard]] std::shared_ptr<RunFiles> files() const { return std::make_shared<RunFiles>(*files_); }
  /// m and T m^2; 0 where the file does not say it, and of a surface that is no part of an equilibrium.
  struct Lengths {
    double a_b = 0, R0 = 0, psi_a = 0;
  };
  [[nodiscard]] Lengths lengths() const;
  /// E_hat of each field. The first er_hat or er_tilde on a surface of an equilibrium needs its minor radius, as do its
  /// lengths: for that the edge and the surface are transformed to Boozer angles, which takes as long as opening the
  /// file.
  [[nodiscard]] std::vector<double> epsi_hat(const neoclassical::FieldAxis& axis) const;

 private:
  neoclassical::Surface surface_;
  neoclassical::Notes notes_;
  std::shared_ptr<const RunFiles> files_;
  /// Makes scale_ and lengths_ where they are not there. Throws like neoclassical::lengths_at().
  void measure() const;

  mutable std::mutex mutex_;
  mutable std::optional<neoclassical::Equilibrium> equilibrium_;  ///< what is measured; gone when it has been
  mutable std::optional<neoclassical::FieldScale> scale_;
  mutable Lengths lengths_;
};

/// The options of a call, described; `call` without "neoclassical_".
[[nodiscard]] py::list neoclassical_fields(const std::string& call);

/// A NumPy array of its own with these numbers.
[[nodiscard]] py::array array_of(const std::vector<double>& values, const Shape& shape);
[[nodiscard]] py::array array_of(const std::vector<double>& values);

/// Throws Error(usage) when `call` was given threads, which are those of the process, or in its settings a device,
/// which is that of the points.
void require_no_processor(const neoclassical::SolverSettings& settings, const std::string& call);

/// What host memory a call may hold: `memory` as "8G", else what is free says.
[[nodiscard]] Budget host_budget(const std::optional<std::string>& memory);

/// The GPU that solves points in batches, as choose_batch_device() finds it; none for the CPU. `memory` is then what
/// may be held there.
[[nodiscard]] std::optional<neoclassical::BatchDevice> batch_device(const std::string& asked,
                                                                    const std::string& why_not,
                                                                    const std::optional<std::string>& memory);

/// NeoclassicalSurface.
void add_neoclassical_surface(py::module_& module);
/// NeoclassicalPlan: one surface on one grid, solved any number of times.
void add_neoclassical_plan(py::module_& module);
/// Points in the normalisations of other programs.
void add_neoclassical_convert(py::module_& module);
/// NeoclassicalDatabase, what makes one, and Boozer files.
void add_neoclassical_database(py::module_& module);

}  // namespace sonde::python
