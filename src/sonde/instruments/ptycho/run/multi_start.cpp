// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/multi_start.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"
#include "sonde/instruments/ptycho/run/side_by_side.h"

namespace sonde::ptycho {
namespace {

constexpr double failed = std::numeric_limits<double>::infinity();

/// A start whose numbers are none any more has failed; everything else that goes wrong concerns them all.
double score_after(Reconstruction& reconstruction, Index iterations, ProgressMeter& meter) {
  try {
    while (reconstruction.outcome().kind == Outcome::Kind::running &&
           static_cast<Index>(reconstruction.history().size()) < iterations) {
      (void)reconstruction.iterate();
      meter.advance();
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    return failed;
  }
  return score_of(reconstruction);
}

}  // namespace

double score_of(const Reconstruction& reconstruction) {
  if (reconstruction.history().empty() || reconstruction.outcome().kind == Outcome::Kind::diverged) return failed;
  const IterationRecord& last = reconstruction.history().back();
  const double score = last.r_free.value_or(last.fit.r_intensity);
  return std::isfinite(score) ? score : failed;
}

std::vector<StartOutcome> choose_start(Job& job, const RunFile& run) {
  const MultiStartSettings& settings = run.multi_start;
  std::vector<StartOutcome> outcomes;
  if (settings.starts <= 1) return outcomes;
  if (run.object.init != ObjectInit::random)
    throw Error(ErrorKind::bad_input, fmt::format("{} starts that are all the same", settings.starts))
        .hint("object.init = \"random\" gives each its own phases");
  ProgressMeter meter("trying starts", settings.starts * settings.iterations, "iterations");
  std::mutex mutex;  // of what follows
  struct Tried {
    Index start = 0;
    double score = failed;
    std::unique_ptr<Reconstruction> run{};
    /// Whether this one goes on rather than the other: the lower score, of equals the earlier start.
    [[nodiscard]] bool before(const Tried& other) const {
      return !other.run || score < other.score || (score == other.score && start < other.start);
    }
  } best, stopped;  // to the end, and on the way
  outcomes.resize(static_cast<std::size_t>(settings.starts));
  const auto adopt = [&](Tried& chosen) {
    job.adopt(std::move(chosen.run), job.schedule().seed + static_cast<std::uint64_t>(chosen.start));
  };
  try {
    side_by_side(settings.starts, job.plan().sizes.starts_at_once, [&](Index start) {
      Tried tried{.start = start};
      tried.run = job.another(run, job.schedule(), job.schedule().seed + static_cast<std::uint64_t>(start));
      try {
        tried.score = score_after(*tried.run, settings.iterations, meter);
      } catch (const Error&) {
        const std::lock_guard lock(mutex);
        if (!tried.run->history().empty() && tried.before(stopped)) stopped = std::move(tried);
        throw;
      }
      const std::lock_guard lock(mutex);
      outcomes[static_cast<std::size_t>(start)] = {start, static_cast<Index>(tried.run->history().size()), tried.score,
                                                   false};
      if (tried.before(best)) best = std::move(tried);
    });
  } catch (const Error&) {
    // What was asked to stop keeps the best until now, or the first start as far as it came.
    if (best.run)
      adopt(best);
    else if (stopped.run)
      adopt(stopped);
    throw;
  }
  if (best.score == failed)
    throw Error(ErrorKind::not_converged,
                fmt::format("none of {} starts gets through {} iterations", settings.starts, settings.iterations))
        .hint(std::string(divergence_hint));
  outcomes[static_cast<std::size_t>(best.start)].chosen = true;
  adopt(best);
  return outcomes;
}

}  // namespace sonde::ptycho
