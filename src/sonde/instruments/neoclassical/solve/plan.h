// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/instruments/neoclassical/geometry/surface.h"
#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"
#include "sonde/instruments/neoclassical/solve/coefficients.h"

namespace sonde::neoclassical {

class ParityBasis;
struct ParityBlocks;

/// Points of both angles (odd) and the largest Legendre index: "25x25x60" has 61 blocks of 625 unknowns.
struct GridSpec {
  Index n_theta = 0, n_zeta = 0, n_xi = 0;
  Discretisation discretisation = Discretisation::skew;
  friend bool operator==(const GridSpec&, const GridSpec&) = default;
};

struct SolverOptions {
  std::optional<Path> path{};  ///< absent: the fastest that the case allows
  /// A residual above this is an error, but for what the last bits of the solution are worth: at nu_hat = 3e-7 some
  /// 1e-8.
  double tolerance = 1e-8;
  /// f32_refine: blocks in float32, the solution refined in float64 to a residual of 1e-11. Cases that this does not
  /// suffice for are solved in float64, which Coefficients tell.
  Precision precision = Precision::f64;
  /// Weak fields at one collisionality share factors (`krylov`). Without, each is eliminated by itself: less memory,
  /// longer.
  bool krylov_reuse = true;
};

/// Floating-point operations that elimination along this path takes at least, so that a rate is never flattered: with
/// n = N_theta N_zeta, 4.67 n^3, 2.33 n^3 or (stellarator symmetric) 2.33 (n / 2)^3, and 12.7 (n / 2)^3 (15.3 where the
/// field is strong) per Legendre index. 0 for `krylov`, whose cases share most of theirs.
[[nodiscard]] double least_flops(Path path, const GridSpec& grid, bool symmetric = true);

/// All that one surface on one grid needs before collisionality and electric field are known. Immutable: any number of
/// threads may solve at the same time, each in a workspace of its own.
class Plan {
 public:
  /// Throws Error(bad_input) for a surface or grid that makes no sense, also n_xi < 2. Warns in the log of a surface
  /// that is rational on this grid.
  [[nodiscard]] static Plan prepare(const Surface& surface, const GridSpec& grid, const SolverOptions& options = {});
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  [[nodiscard]] const GridSpec& grid() const;
  [[nodiscard]] const SolverOptions& options() const;
  [[nodiscard]] const SampledSurface& surface() const;
  /// The equation on this grid, and its even and odd parts: nullptr unless `skew` and stellarator symmetric.
  [[nodiscard]] const DriftKinetic& equation() const;
  [[nodiscard]] const ParityBasis* basis() const;
  [[nodiscard]] const ParityBlocks* blocks() const;

  /// The path that solve() takes. Two others stand beside `quasidefinite` where it was not asked for, and the
  /// coefficients tell which one it was: `krylov` where the field is weak, and `dense` where `quasidefinite` leaves too
  /// large a residual, as at E_hat / nu_hat of some ten thousand. Throws Error(bad_input) when the options ask for one
  /// that cannot.
  [[nodiscard]] Choice<Path> path(double epsi_hat) const;

  /// Memory of one solve at a time: made once, used for any number of cases. Each path takes its memory at the first
  /// case that needs it; afterwards solve() allocates nothing, unless in float32 a case of rarer collisions needs more
  /// blocks of float64, or where `dense` follows `quasidefinite` and takes the place of `krylov`. Weak fields at one
  /// nu_hat after another share their factors, which changes no number.
  class Workspace {
   public:
    Workspace();
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;
    ~Workspace();

   private:
    friend class Plan;
    struct State;
    std::unique_ptr<State> state_;
  };
  /// `notify` is called before every block of a solve, n_xi + 1 times or more: another path may follow the first.
  [[nodiscard]] Workspace workspace(std::function<void()> notify = {}) const;
  /// What the workspace of a solve along this path holds, with Legendre indices up to that of the plan, or to another.
  /// In float32 factors of them all are kept, and memory for float64 is counted too.
  [[nodiscard]] std::size_t workspace_bytes(Path path) const;
  [[nodiscard]] std::size_t workspace_bytes(Path path, Index n_xi) const;
  /// What the paths beside this one hold on top: `dense` and `krylov`, one at a time.
  [[nodiscard]] std::size_t fallback_bytes(Path path) const;
  /// What the plan itself holds.
  [[nodiscard]] std::size_t bytes() const;
  /// The most that a plan of this grid holds, known before it is made.
  [[nodiscard]] static std::size_t bytes_for(const GridSpec& grid, bool symmetric);

  /// The coefficients, at the n_xi of the plan or at another one. The operations and their order depend only on
  /// the case. Throws Error(bad_input) unless nu_hat > 0 and both are finite, and Error(not_converged) when the
  /// residual is above the tolerance, a block is singular, or the surface is resonant (then the message begins with
  /// "resonant (m,n)"). Ends between Legendre indices when asked to stop.
  Coefficients solve(const Case& at, Workspace& workspace) const;
  Coefficients solve(const Case& at, Index n_xi, Workspace& workspace) const;
  /// In a workspace made for this one solve.
  [[nodiscard]] Coefficients solve(const Case& at) const;
  /// The solutions of the last solve in this workspace. Throws Error(internal) before the first.
  [[nodiscard]] Modes modes(const Workspace& workspace) const;

 private:
  struct Prepared;
  struct Route {  // a Choice that allocates nothing
    Path path;
    const char* because;
  };
  [[nodiscard]] Route route(double epsi_hat) const;
  Coefficients solve_in_float64(const Case& at, Path path, Index n_xi, Workspace::State& state) const;
  /// None where the field is too strong, or collisions are too rare.
  std::optional<Coefficients> solve_weak_field(const Case& at, Index n_xi, Workspace::State& state) const;
  /// By `path`, or by one of those beside it.
  Coefficients solve_by_any(const Case& at, Path path, Index n_xi, Workspace::State& state) const;
  // None when float32 does not suffice. `iterations`: refinements, in any case.
  std::optional<Coefficients> solve_in_float32(const Case& at, Path path, Index n_xi, Workspace::State& state,
                                               Index& iterations) const;
  explicit Plan(std::unique_ptr<const Prepared> prepared);
  std::unique_ptr<const Prepared> prepared_;
};

}  // namespace sonde::neoclassical
