// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/instruments/neoclassical/database/part_file.h"
#include "sonde/instruments/neoclassical/scan/scan.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"

namespace sonde::neoclassical {

/// What a database is to hold, and how its points are solved.
struct DatabaseRequest {
  Axes axes = default_axes();
  GridSpec grid{25, 25, 60};
  SolverOptions solver{};
  std::optional<LegendreSearch> adapt{};
  std::optional<Index> batch_size{};
};

/// Everything but the coefficients: surfaces and geometry of every radius.
class DatabaseBuild {
 public:
  /// `boozer` gives the geometry in Boozer angles; without it they are made from VMEC's. Throws like require_valid() of
  /// axes, Equilibrium::surface() and radial_scales().
  DatabaseBuild(const Equilibrium& equilibrium, const std::optional<Equilibrium>& boozer, DatabaseRequest request);

  [[nodiscard]] const DatabaseRequest& request() const { return request_; }
  [[nodiscard]] const Notes& notes() const { return notes_; }
  /// Why no GPU solves the points; empty where one may.
  [[nodiscard]] std::string why_not_in_batches() const;
  /// Lets a GPU solve them. Before key().
  void use(const BatchDevice& device) { batches_ = device; }
  /// What the points depend on, in lines "name = value" for the PartFile. The tolerance is none of it: every point has
  /// its residual.
  [[nodiscard]] std::string key() const;
  /// Of a radius: its surface, what solves its points, and these, [nu_v][Er_tilde].
  [[nodiscard]] const Surface& surface(Index radius) const { return surfaces_[static_cast<std::size_t>(radius)]; }
  [[nodiscard]] Plan plan(Index radius) const;
  [[nodiscard]] std::vector<Case> cases(Index radius) const;
  /// How the points of a radius are scanned.
  [[nodiscard]] ScanOptions scan_options() const;

  /// Without the coefficients that are not solved yet, which are 0.
  [[nodiscard]] const Database& so_far() const { return database_; }
  /// `listener` hears of every point that is there, those of an earlier run too, of one at a time, while run() works.
  void tell(std::function<void(const FinishedPoint&)> listener) { listener_ = std::move(listener); }

  /// Solves what `part` does not have yet to the tolerance, radius by radius, several points at a time, and keeps every
  /// point there as it comes. Each point's numbers depend only on its place. Throws Error(not_converged) naming the
  /// first point without an answer when all others are done, and at once for one of D11 <= 0, which no database can
  /// hold (only `collocation` has such points); ends between points when asked to stop.
  [[nodiscard]] Database run(PartFile& part, const Budget& budget);
  /// The same by all ranks, which have made the same build: rank 0 gives the part file and gets the database and the
  /// errors; the others give none and get nothing. The bytes do not depend on how many there are.
  [[nodiscard]] std::optional<Database> run(const Ranks& ranks, PartFile* part, const Budget& budget);

  /// Points that an earlier run had finished, seconds of one core in all others together, and how many of these each
  /// rank has solved; on rank 0 after run().
  [[nodiscard]] Index resumed() const { return resumed_; }
  [[nodiscard]] double point_seconds() const { return point_seconds_; }
  /// Of the points that were not resumed, those that a GPU has solved.
  [[nodiscard]] Index in_batches() const { return in_batches_; }
  [[nodiscard]] const std::vector<Index>& points_of_rank() const { return points_of_rank_; }

 private:
  [[nodiscard]] std::string place(Index radius, Index nu, Index field) const;
  /// Throws Error(not_converged) for D11 <= 0, naming the point and the part file.
  void keep(const FinishedPoint& point, const std::string& part);

  DatabaseRequest request_;
  std::vector<Surface> surfaces_;
  Database database_;
  std::vector<double> fields_;  ///< E_hat of each [radius][field]
  Notes notes_;
  std::optional<BatchDevice> batches_;
  std::function<void(const FinishedPoint&)> listener_;
  Index resumed_ = 0, in_batches_ = 0;
  double point_seconds_ = 0;
  std::vector<Index> points_of_rank_;
};

}  // namespace sonde::neoclassical
