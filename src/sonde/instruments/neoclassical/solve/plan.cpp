// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/solve/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/instruments/neoclassical/solve/assemble.h"
#include "sonde/instruments/neoclassical/solve/elimination.h"
#include "sonde/instruments/neoclassical/solve/refinement.h"
#include "sonde/instruments/neoclassical/solve/substitution.h"
#include "sonde/instruments/neoclassical/solve/weak_fields.h"

namespace sonde::neoclassical {
namespace {

using Field = std::vector<double>;

void require_legendre(Index n_xi) {
  if (n_xi < 2)
    throw Error(ErrorKind::bad_input, fmt::format("n_xi = {}: the sources reach to Legendre index 2", n_xi))
        .hint("take 2 or more; converged results need some dozens");
}

void require_case(const Case& at) {
  if (!(at.nu_hat > 0) || !std::isfinite(at.nu_hat))
    throw Error(ErrorKind::bad_input, fmt::format("nu_hat = {}: expected a finite number above zero", at.nu_hat));
  if (!std::isfinite(at.epsi_hat))
    throw Error(ErrorKind::bad_input, fmt::format("epsi_hat = {}: expected a finite number", at.epsi_hat));
}

}  // namespace

struct Plan::Prepared {
  GridSpec grid;
  SolverOptions options;
  SampledSurface surface;
  DriftKinetic equation;
  std::optional<ParityBasis> basis;  // with `skew` and stellarator symmetry
  std::optional<ParityBlocks> blocks;
  bool resonant = false;

  /// Whether weak fields are solved together: not on small grids, where a field's own elimination takes as little (16
  /// cases on 9x11x6 would take half as long again), nor where the factors of every Legendre index would take more than
  /// 64 MiB (25x25x60: 58), nor on a rational surface, whose factors of E_hat = 0 are singular.
  [[nodiscard]] bool keeps_weak_fields() const {
    return options.krylov_reuse && blocks && !options.path && equation.undamped.empty() && equation.points() >= 250 &&
           weak_fields_bytes() <= std::size_t{64} << 20U;
  }
  [[nodiscard]] std::size_t weak_fields_bytes() const { return WeakFields::bytes(equation.points(), grid.n_xi); }
  [[nodiscard]] std::unique_ptr<Elimination> elimination(Path path) const {
    const ParityBasis* parity = basis ? &*basis : nullptr;
    const ParityBlocks* parts = blocks ? &*blocks : nullptr;
    switch (path) {
      case Path::dense:
        return dense_elimination(equation);
      case Path::spd:
        return spd_elimination(equation, parity, parts);
      case Path::quasidefinite:
      case Path::krylov:  // what it spares
        return quasidefinite_elimination(*parity, *parts, equation);
    }
    return nullptr;
  }
};

struct Plan::Workspace::State {
  const Prepared* owner = nullptr;
  std::array<std::unique_ptr<Elimination>, 3> eliminations;  // one for each path, made when first needed
  std::unique_ptr<Refinement> refinement;
  std::unique_ptr<WeakFields> weak_fields;

  Elimination& elimination(Path path) {
    std::unique_ptr<Elimination>& made = eliminations[static_cast<std::size_t>(path)];
    if (made == nullptr) {
      made = owner->elimination(path);
      made->step = step;
    }
    return *made;
  }
  BlockStep step;               // of all of them
  std::array<Field, 3> u1, u3;  // solutions
  std::optional<Substitution> substitution;
  bool solved = false;
};

Plan::Plan(std::unique_ptr<const Prepared> prepared) : prepared_(std::move(prepared)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;
Plan::Workspace::Workspace() = default;
Plan::Workspace::Workspace(Workspace&&) noexcept = default;
Plan::Workspace& Plan::Workspace::operator=(Workspace&&) noexcept = default;
Plan::Workspace::~Workspace() = default;

const GridSpec& Plan::grid() const { return prepared_->grid; }
const SolverOptions& Plan::options() const { return prepared_->options; }
const SampledSurface& Plan::surface() const { return prepared_->surface; }
const DriftKinetic& Plan::equation() const { return prepared_->equation; }
const ParityBasis* Plan::basis() const { return prepared_->basis ? &*prepared_->basis : nullptr; }
const ParityBlocks* Plan::blocks() const { return prepared_->blocks ? &*prepared_->blocks : nullptr; }

Plan Plan::prepare(const Surface& surface, const GridSpec& grid, const SolverOptions& options) {
  require_legendre(grid.n_xi);
  if (!(options.tolerance > 0))
    throw Error(ErrorKind::bad_input, fmt::format("tolerance = {}: expected a number above zero", options.tolerance));
  auto made = std::make_unique<Prepared>();
  made->grid = grid;
  made->options = options;
  made->surface = sample(surface, grid.n_theta, grid.n_zeta);
  made->equation = drift_kinetic(made->surface, grid.discretisation);
  if (grid.discretisation == Discretisation::skew && made->surface.symmetric) {
    made->basis.emplace(made->equation.grid);
    made->blocks = parity_blocks(made->equation, *made->basis);
  }
  if (const auto mode = resonance(surface.iota, made->equation.grid)) {
    made->resonant = true;
    std::string what =
        fmt::format("{}: rational surface, iota m + n N_fp = {:.1e} for the mode ({},{}) of the grid", surface.source,
                    surface.iota * mode->m + mode->n * surface.periods, mode->m, mode->n);
    if (!made->equation.undamped.empty() && made->equation.undamped_share <= most_undamped)
      what += fmt::format("; without an electric field such modes, {:.1e} of the radial drive, are left out of f_0",
                          made->equation.undamped_share);
    log_warning(what);
  }
  return Plan(std::move(made));
}

double least_flops(Path path, const GridSpec& grid, bool symmetric) {
  const double n = static_cast<double>(grid.n_theta * grid.n_zeta), whole = n * n * n, half = whole / 8;
  switch (path) {
    case Path::dense:
      return 4.67 * whole * static_cast<double>(grid.n_xi);
    case Path::spd:
      return 2.33 * (symmetric ? half : whole) * static_cast<double>(grid.n_xi);
    case Path::quasidefinite:
      return 12.7 * half * static_cast<double>(grid.n_xi);
    case Path::krylov:
      return 0;
  }
  return 0;
}

Plan::Route Plan::route(double epsi_hat) const {
  const bool skew = prepared_->grid.discretisation == Discretisation::skew, symmetric = prepared_->blocks.has_value();
  if (const auto asked = prepared_->options.path) {
    const bool possible = *asked == Path::dense || (*asked == Path::spd && skew && epsi_hat == 0) ||
                          (*asked == Path::quasidefinite && skew && symmetric);
    if (!possible)
      throw Error(ErrorKind::bad_input, fmt::format("path = \"{}\": {}", name(*asked),
                                                    !skew                 ? "`collocation` has no such structure"
                                                    : *asked == Path::spd ? "only for E_hat = 0"
                                                                          : "only for stellarator-symmetric surfaces"))
          .hint("path = \"dense\" solves every case");
    return {*asked, "as asked"};
  }
  if (!skew) return {Path::dense, "`collocation` has no structure to use"};
  if (epsi_hat == 0)
    return {Path::spd, symmetric
                           ? "E_hat = 0 and stellarator symmetry: symmetric positive definite blocks of half the size"
                           : "E_hat = 0: symmetric positive definite blocks"};
  if (symmetric) return {Path::quasidefinite, "E_hat != 0 and stellarator symmetry: quasi-definite blocks"};
  return {Path::dense, "E_hat != 0 without stellarator symmetry"};
}

Choice<Path> Plan::path(double epsi_hat) const {
  const Route found = route(epsi_hat);
  return {found.path, found.because};
}

Plan::Workspace Plan::workspace(std::function<void()> notify) const {
  Workspace made;
  made.state_ = std::make_unique<Workspace::State>();
  made.state_->owner = prepared_.get();
  made.state_->step.notify = std::move(notify);
  const auto n = static_cast<std::size_t>(prepared_->equation.points());
  for (auto* fields : {&made.state_->u1, &made.state_->u3})
    for (Field& each : *fields) each.resize(n);
  made.state_->substitution.emplace(prepared_->equation);
  return made;
}

std::size_t Plan::workspace_bytes(Path path) const { return workspace_bytes(path, prepared_->grid.n_xi); }

std::size_t Plan::workspace_bytes(Path path, Index n_xi) const {
  const Index n = prepared_->equation.points();
  const bool both = prepared_->options.precision == Precision::f32_refine;
  const Extent extent{n, both ? std::optional(n_xi) : std::nullopt};
  std::size_t bytes = 6 * static_cast<std::size_t>(n) * sizeof(double) + Substitution::bytes(n);
  if (both) bytes += Refinement::bytes(n, n_xi);
  switch (path) {
    case Path::dense:
      return bytes + dense_elimination_bytes(extent);
    case Path::spd:
      return bytes + spd_elimination_bytes(extent, prepared_->blocks.has_value());
    case Path::quasidefinite:
    case Path::krylov:
      return bytes + quasidefinite_elimination_bytes(extent);
  }
  return bytes;
}

std::size_t Plan::fallback_bytes(Path path) const {
  if (path != Path::quasidefinite || prepared_->options.path) return 0;
  const std::size_t dense = dense_elimination_bytes(Extent{prepared_->equation.points(), std::nullopt});
  return prepared_->keeps_weak_fields() ? std::max(dense, prepared_->weak_fields_bytes()) : dense;
}

std::size_t Plan::bytes() const {
  const DriftKinetic& equation = prepared_->equation;
  const std::size_t n = static_cast<std::size_t>(equation.points());
  std::size_t doubles = 30 * n + 3 * (equation.streaming.value.size() + equation.drift.value.size());
  if (prepared_->blocks) doubles += 4 * prepared_->blocks->streaming_even_odd.size();
  doubles += 3 * equation.undamped.size() * n / 2;  // with their parities
  return doubles * sizeof(double);
}

std::size_t Plan::bytes_for(const GridSpec& grid, bool symmetric) {
  const auto theta = static_cast<double>(grid.n_theta), zeta = static_cast<double>(grid.n_zeta), n = theta * zeta;
  double doubles = 30 * n + 6 * n * (theta + zeta);  // a row meets its own lines of the grid
  if (symmetric && grid.discretisation == Discretisation::skew) doubles += n * n;
  if (grid.discretisation == Discretisation::skew)
    doubles += 1.5 * n * theta;  // a rational surface: one mode for each m
  return static_cast<std::size_t>(std::min(doubles * sizeof(double), 1e18));
}

Coefficients Plan::solve(const Case& at, Workspace& workspace) const {
  return solve(at, prepared_->grid.n_xi, workspace);
}

Coefficients Plan::solve(const Case& at) const {
  Workspace once = workspace();
  return solve(at, once);
}

Coefficients Plan::solve_in_float64(const Case& at, Path path, Index n_xi, Workspace::State& state) const {
  const DriftKinetic& equation = prepared_->equation;
  Elimination& elimination = state.elimination(path);
  elimination.eliminate(at, n_xi);
  const auto respond = [&](const DriftKinetic::Drive& sources, std::array<Field, 3>& u) {
    return state.substitution->run(at, elimination, sources, prepared_->options.tolerance, u);
  };
  const Response of_radial = respond(equation.radial, state.u1), of_parallel = respond(equation.parallel, state.u3);
  return assemble(equation, at, path, n_xi, of_radial, of_parallel, prepared_->options.tolerance);
}

std::optional<Coefficients> Plan::solve_weak_field(const Case& at, Index n_xi, Workspace::State& state) const {
  const DriftKinetic& equation = prepared_->equation;
  if (!prepared_->keeps_weak_fields() || n_xi > prepared_->grid.n_xi || !WeakFields::suits(equation, at))
    return std::nullopt;
  if (state.weak_fields == nullptr) {
    // Both take much memory, and few cases need the first: one at a time, as fallback_bytes() has it.
    state.eliminations[static_cast<std::size_t>(Path::dense)] = nullptr;
    state.weak_fields = std::make_unique<WeakFields>(equation, *prepared_->basis, *prepared_->blocks, state.step);
  }
  std::array<double, 2> residual{};
  const Index vectors = state.weak_fields->solve(at, n_xi, state.u1, state.u3, residual);
  if (vectors == 0 || !(std::max(residual[0], residual[1]) <= prepared_->options.tolerance)) return std::nullopt;
  Coefficients made = assemble(equation, at, Path::krylov, n_xi, response(equation, state.u1, residual[0]),
                               response(equation, state.u3, residual[1]), prepared_->options.tolerance);
  made.vectors = vectors;
  return made;
}

Coefficients Plan::solve_by_any(const Case& at, Path path, Index n_xi, Workspace::State& state) const {
  const bool may_change = path == Path::quasidefinite && !prepared_->options.path;
  if (!may_change) return solve_in_float64(at, path, n_xi, state);
  if (std::optional<Coefficients> made = solve_weak_field(at, n_xi, state)) return *made;
  std::string why_not;
  try {
    return solve_in_float64(at, path, n_xi, state);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    why_not = error.message();
  }
  state.weak_fields = nullptr;
  try {
    return solve_in_float64(at, Path::dense, n_xi, state);
  } catch (Error& error) {
    error.add_activity(fmt::format("solving by `dense`, after `{}`: {}", name(path), why_not));
    throw;
  }
}

std::optional<Coefficients> Plan::solve_in_float32(const Case& at, Path path, Index n_xi, Workspace::State& state,
                                                   Index& iterations) const {
  const DriftKinetic& equation = prepared_->equation;
  // A rational surface goes without functions that only float64 distinguishes from others, or is refused by a
  // condition.
  if (prepared_->resonant && (path == Path::dense || !equation.left_out(at).empty())) return std::nullopt;
  Elimination& elimination = state.elimination(path);
  if (state.refinement == nullptr) state.refinement = std::make_unique<Refinement>(equation);
  try {
    elimination.eliminate_in_float32(at, n_xi);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    return std::nullopt;
  }
  const Refinement::Outcome outcome = state.refinement->run(at, n_xi, elimination, prepared_->options.tolerance);
  iterations = outcome.iterations;
  if (!outcome.converged) return std::nullopt;
  state.refinement->copy_lowest(state.u1, state.u3);
  Coefficients made =
      assemble(equation, at, path, n_xi, outcome.radial, outcome.parallel, prepared_->options.tolerance);
  made.precision = Precision::f32_refine;
  return made;
}

Coefficients Plan::solve(const Case& at, Index n_xi, Workspace& workspace) const {
  require_case(at);
  require_legendre(n_xi);
  require_undriven(prepared_->equation, at);
  if (workspace.state_ == nullptr || workspace.state_->owner != prepared_.get())
    throw Error(ErrorKind::internal, "a workspace of another plan");
  Workspace::State& state = *workspace.state_;
  state.solved = false;

  const Path path = route(at.epsi_hat).path;
  Index iterations = 0;
  std::optional<Coefficients> made;
  if (prepared_->options.precision == Precision::f32_refine) made = solve_in_float32(at, path, n_xi, state, iterations);
  if (!made) made = solve_by_any(at, path, n_xi, state);
  made->iterations = iterations;
  state.solved = true;
  return *made;
}

Modes Plan::modes(const Workspace& workspace) const {
  if (workspace.state_ == nullptr || workspace.state_->owner != prepared_.get() || !workspace.state_->solved)
    throw Error(ErrorKind::internal, "modes of a workspace that holds no solution of this plan");
  const Workspace::State& state = *workspace.state_;
  const DriftKinetic& equation = prepared_->equation;
  Modes made{state.u1, state.u3};
  if (equation.discretisation == Discretisation::skew)
    for (auto* modes : {&made.f1, &made.f3})
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t p = 0; p < equation.to_legendre.size(); ++p)
          (*modes)[k][p] *= std::sqrt(static_cast<double>(2 * k + 1)) * equation.to_legendre[p];
  return made;
}

}  // namespace sonde::neoclassical
