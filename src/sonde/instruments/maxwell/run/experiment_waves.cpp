// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/experiment_waves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/ranks/tree_sum.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/run_plan.h"

namespace sonde::maxwell {
namespace {

/// What a shot adds, as one list of numbers.
NumberSum packed(double value, double squares, const ModelChange& gradient, const ModelChange& illumination) {
  NumberSum made{{value, squares}};
  for (const std::vector<double>* part : {&gradient.eps_r, &gradient.sigma, &illumination.eps_r, &illumination.sigma})
    made.values.insert(made.values.end(), part->begin(), part->end());
  return made;
}

MisfitGradient unpacked(const std::vector<double>& numbers, const GradientOf& of, std::size_t elements) {
  MisfitGradient made;
  if (numbers.empty()) return made;
  made.value = numbers[0];
  made.squares = numbers[1];
  auto next = numbers.begin() + 2;
  const auto take = [&](bool wanted, std::vector<double>& to) {
    if (!wanted) return;
    to.assign(next, next + static_cast<Index>(elements));
    next += static_cast<Index>(elements);
  };
  take(of.eps_r, made.gradient.eps_r);
  take(of.sigma, made.gradient.sigma);
  take(of.illumination && of.eps_r, made.illumination.eps_r);
  take(of.illumination && of.sigma, made.illumination.sigma);
  return made;
}

/// Bytes of a shot up to which it is measured whether several run faster at the same time: beyond, the fields are far
/// larger than caches, and making more of them would cost more than it could tell.
constexpr std::size_t largest_measured = std::size_t{64} << 20U;

/// A model on which `waves` can be run: 1 where nothing moves.
bool is_finite(const Model& model) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  return finite(model.eps_r) && finite(model.sigma);
}

}  // namespace

struct ExperimentWaves::Impl {
  Experiment experiment;
  WaveSettings settings;
  TierBudgets budgets;
  std::vector<Operator> operators{};  ///< one for each shot in flight; on a GPU one for all of them
  Choice<Index> in_flight{1, "one shot"};
  StoragePlan storage{};
  MemoryPlan memory{}, device_memory{};
  Illumination prepared = Illumination::skipped;

  Impl(Experiment given, const WaveSettings& how, const TierBudgets& tiers)
      : experiment(std::move(given)), settings(how), budgets(tiers) {
    operators.push_back(make_operator(experiment, Threads::all, settings.least_eps_r, settings.device));
    in_flight = on_gpu() ? choose_on_gpu() : choose_in_flight();
    if (!on_gpu() && in_flight.value > 1) {
      operators.clear();
      for (Index i = 0; i < in_flight.value; ++i)
        operators.push_back(make_operator(experiment, Threads::one, settings.least_eps_r));
    }
    storage = plan(std::ssize(operators));
    require_kept(storage);
    make_memory();
    for (Operator& each : operators) each.prepare_gradient(settings.of, storage, budgets);
  }

  [[nodiscard]] Index shots() const { return static_cast<Index>(experiment.shots.size()); }

  [[nodiscard]] std::pair<std::size_t, std::size_t> points() const {
    std::size_t sources = 0, receivers = 0;
    for (const SurveyShot& shot : experiment.shots) {
      sources = std::max(sources, shot.sources.size());
      receivers = std::max(receivers, shot.receivers.size());
    }
    const auto each = static_cast<std::size_t>(batch_size());
    return {each * sources, each * receivers};
  }
  /// Shots that an operator runs at the same time.
  [[nodiscard]] Index batch_size() const { return operators.front().settings().shots; }

  /// What a gradient makes at most: with the illumination, which is asked for now and then.
  [[nodiscard]] GradientOf at_most() const {
    GradientOf made = settings.of;
    made.illumination = true;
    return made;
  }

  /// Of one operator, without what its gradients keep.
  [[nodiscard]] MemoryPlan of_one() const {
    MemoryPlan made;
    const auto [sources, receivers] = points();
    const GradientOf of = at_most();
    (void)add_medium(operators.front(), made);
    operators.front().add_memory(made, sources, receivers, &of);
    if (settings.gauss_newton && !on_gpu()) operators.front().add_born_memory(made);
    return made;
  }

  [[nodiscard]] bool on_gpu() const { return !settings.device.is_cpu(); }

  /// The same on a GPU.
  [[nodiscard]] MemoryPlan of_device() const {
    MemoryPlan made;
    const auto [sources, receivers] = points();
    const GradientOf of = at_most();
    if (!on_gpu()) return made;
    operators.front().add_device_memory(made, sources, receivers, &of);
    if (settings.gauss_newton) operators.front().add_born_memory(made);
    return made;
  }

  /// For each of so many operators.
  [[nodiscard]] StoragePlan plan(Index flying) const {
    StorageRequest request = operators.front().storage_request(settings.of, settings.highest_frequency);
    const auto count = static_cast<std::size_t>(flying);
    const std::size_t others = count * of_one().peak_bytes, free = budgets.host.available_bytes();
    request.host_bytes = free > others ? (free - others) / count : 0;
    request.disk_bytes = budgets.disk.available_bytes() / count;
    if (on_gpu()) {
      const std::size_t free_there = budgets.of(Tier::device).available_bytes(), held = of_device().peak_bytes;
      request.device_bytes = free_there > held ? free_there - held : 0;
    }
    StorageSettings each = settings.storage;
    for (auto* limit : {&each.bytes_limit_host, &each.bytes_limit_device})
      if (*limit) *limit = **limit / count;
    return plan_storage(request, each);
  }

  void make_memory() {
    memory = {};
    const MemoryPlan one = of_one();
    const std::size_t count = operators.size();
    for (const MemoryPlan::Line& line : one.lines)
      (void)memory.add(
          line.what, count * line.bytes,
          in_flight.value == 1 ? line.how : fmt::format("{} shots at the same time, {}", in_flight.value, line.how));
    // Gradient and illumination of both classes, on their way from a shot to the sum.
    const std::size_t sums = memory.add("sums of shots", 4 * sizeof(double) * experiment.model.eps_r.size(), "float64");
    device_memory = of_device();
    add_device_storage(storage, device_memory);
    device_memory.lasting_bytes += storage.device_bytes;
    device_memory.peak_bytes += storage.device_bytes;
    if (storage.mode != StorageMode::none) {
      (void)memory.add("fields for the gradient", count * storage.host_bytes, text_of(storage));
      memory.disk_bytes = count * storage.disk_bytes;
    }
    memory.lasting_bytes = sums + count * (one.lasting_bytes + storage.host_bytes);
    memory.peak_bytes = sums + count * (one.peak_bytes + storage.host_bytes);
  }

  [[nodiscard]] Choice<Index> choose_in_flight() {
    const Share mine = share_of(settings.ranks, shots());
    const Index most = std::min<Index>(mine.last - mine.first, thread_count());
    if (settings.in_flight > 0) return {std::min(settings.in_flight, std::max<Index>(most, 1)), "asked for"};
    if (most <= 1) return {1, mine.last - mine.first <= 1 ? "one shot" : "one thread"};
    if (of_one().peak_bytes > largest_measured) return {1, "a shot of this size keeps all threads busy"};
    if (!fits(plan(1), most)) return {1, "memory has no space for more"};
    const double together = seconds_of_steps(Threads::all);
    const double each = seconds_of_steps(Threads::one) / static_cast<double>(most);
    const std::string measured = fmt::format("a step takes {:.3g} us on all threads, {:.3g} us on one", together * 1e6,
                                             each * 1e6 * static_cast<double>(most));
    if (each < 0.9 * together) return {most, measured};
    return {1, measured};
  }

  /// As many as its memory has space for, in rounds of about the same number.
  [[nodiscard]] Choice<Index> choose_on_gpu() {
    const Share mine = share_of(settings.ranks, shots());
    const Index all = std::max<Index>(1, mine.last - mine.first);
    const auto make_for = [&](Index flying) {
      operators.front() = make_operator(experiment, Threads::all, settings.least_eps_r, settings.device, flying);
      return flying;
    };
    if (settings.in_flight > 0) return {make_for(std::min(settings.in_flight, all)), "asked for"};
    if (all == 1) return {1, "one shot"};
    const StoragePlan one = plan(1);
    for (Index rounds = 1; rounds < all; rounds *= 2)
      if (const Index flying = make_for((all + rounds - 1) / rounds); fits(one, 1))
        return {flying, "the GPU has memory for them"};
    return {make_for(1), "the GPU has memory for one shot only"};
  }

  /// Whether so many operators keep their fields as one does of one shot.
  [[nodiscard]] bool fits(const StoragePlan& one, Index flying) const {
    if (on_gpu() && of_device().peak_bytes > budgets.of(Tier::device).available_bytes()) return false;
    try {
      const StoragePlan several = plan(flying);
      return one.mode == several.mode && one.encoding == several.encoding && one.interval == several.interval;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::budget && error.kind() != ErrorKind::io) throw;
      return false;
    }
  }

  /// Per step, the best of three short runs of the first shot.
  [[nodiscard]] double seconds_of_steps(Threads threads) const {
    constexpr Index steps = 20;
    const Operator& waves = operators.front();
    OperatorSettings brief = waves.settings();
    brief.threads = threads;
    brief.steps = std::min(experiment.steps, steps);
    Operator short_run(waves.problem(), brief);
    std::vector<std::string> unsaid;
    SurveyShot first = experiment.shots.front();
    first.amplitudes.assign(first.sources.size() * static_cast<std::size_t>(brief.steps), 0);
    const Shot shot = shot_on_grid(first, short_run.problem().grid, unsaid);
    (void)short_run.forward(shot);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 3; ++i) {
      const Stopwatch watch;
      (void)short_run.forward(shot);
      best = std::min(best, watch.seconds());
    }
    return best / static_cast<double>(short_run.inner_steps());
  }

  /// The model on all operators; false where it is not stable.
  [[nodiscard]] bool take(const Model& model) {
    if (!is_finite(model)) return false;
    experiment.model.eps_r = model.eps_r;
    experiment.model.sigma = model.sigma;
    try {
      for (Operator& each : operators) each.set_medium(medium_of(experiment, each.problem().grid));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      return false;
    }
    return true;
  }

  using Batch = std::span<const ShotSignals>;

  /// Of shots that run at the same time.
  [[nodiscard]] Shot shot_of(Batch batch, const Operator& waves) const {
    std::vector<std::string> said_before;
    Shot made;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      SurveyShot shot = experiment.shots[static_cast<std::size_t>(batch[s].shot)];
      shot.amplitudes = batch[s].amplitudes;
      Shot one = shot_on_grid(shot, waves.problem().grid, said_before);
      for (auto [from, to] : {std::pair(&one.points.sources, &made.points.sources),
                              std::pair(&one.points.receivers, &made.points.receivers)})
        for (Point& point : *from) {
          point.shot = static_cast<Index>(s);
          to->push_back(std::move(point));
        }
      made.amplitudes.insert(made.amplitudes.end(), one.amplitudes.begin(), one.amplitudes.end());
    }
    return made;
  }

  /// The records of each.
  [[nodiscard]] std::vector<Gather> gathers_of(Batch batch, std::span<const double> samples) const {
    std::vector<Gather> made;
    for (const ShotSignals& each : batch) {
      const auto& receivers = experiment.shots[static_cast<std::size_t>(each.shot)].receivers;
      Gather& one = made.emplace_back(experiment.steps, std::ssize(receivers));
      const auto count = static_cast<std::size_t>(experiment.steps) * receivers.size();
      one.samples.assign(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(count));
      samples = samples.subspan(count);
    }
    return made;
  }

  /// Calls body(place of the first in the list, shots, operator) for the shots of this rank, as many as an operator
  /// runs at the same time.
  template <class Body>
  void for_each_batch(std::span<const ShotSignals> shots_of, const Body& body) {
    const Share mine = share_of(settings.ranks, static_cast<Index>(shots_of.size()));
    const auto batch = [&](Index first, Index count) {
      return shots_of.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    };
    if (operators.size() == 1) {
      for (Index first = mine.first; first < mine.last; first += batch_size())
        body(first, batch(first, std::min(batch_size(), mine.last - first)), operators.front());
      return;
    }
    // Each piece takes an operator that is free.
    std::mutex mutex;
    std::vector<Operator*> free;
    for (Operator& each : operators) free.push_back(&each);
    Index next = mine.first;
    parallel_for(static_cast<Index>(operators.size()), 1, [&](Index, Index, Worker&) {
      Operator* taken = nullptr;
      for (;;) {
        Index shot = 0;
        {
          const std::lock_guard lock(mutex);
          if (taken == nullptr) {
            taken = free.back();
            free.pop_back();
          }
          shot = next++;
        }
        if (shot >= mine.last) return;
        body(shot, batch(shot, 1), *taken);
      }
    });
  }

  [[nodiscard]] MisfitGradient gradient(std::span<const ShotSignals> shots_of, const ShotMisfit& misfit,
                                        const GradientOf& of) {
    TreeSum<NumberSum> sum(static_cast<Index>(shots_of.size()));
    std::mutex mutex;
    for_each_batch(shots_of, [&](Index first, Batch batch, Operator& waves) {
      std::vector<RecordMisfit> misfits;
      const std::vector<ShotGradient> found = waves.gradients(
          shot_of(batch, waves), std::ssize(batch), [&](std::span<const double> record, std::span<double> residual) {
            const std::vector<Gather> computed = gathers_of(batch, record);
            const std::lock_guard lock(mutex);
            auto to = residual.begin();
            for (std::size_t s = 0; s < batch.size(); ++s) {
              misfits.push_back(misfit(batch[s].shot, computed[s]));
              to = std::copy(misfits[s].residual.begin(), misfits[s].residual.end(), to);
            }
            return misfits.front().value;
          });
      const Grid& grid = waves.problem().grid;
      const auto gathered = [&](const ComponentChange& change) {
        return gather_change(change, experiment.model.location, settings.of.padding, grid);
      };
      for (std::size_t s = 0; s < batch.size(); ++s) {
        NumberSum one =
            packed(misfits[s].value, misfits[s].squares, gathered(found[s].medium), gathered(found[s].illumination));
        const std::lock_guard lock(mutex);
        sum.add(first + static_cast<Index>(s), std::move(one));
      }
    });
    return unpacked(sum_over_ranks(sum, settings.ranks), of, experiment.model.eps_r.size());
  }

  /// J' W J change: the linearised runs, and the transpose of what is made of their records.
  [[nodiscard]] ModelChange gauss_newton(std::span<const ShotSignals> shots_of, const ModelChange& change,
                                         const ShotWeighting& weighting) {
    const MaterialLocation location = experiment.model.location;
    const PaddingGradient padding = settings.of.padding;
    const ComponentChange located = locate_change(change, location, padding, operators.front().problem().grid);
    TreeSum<NumberSum> sum(static_cast<Index>(shots_of.size()));
    std::mutex mutex;
    for_each_batch(shots_of, [&](Index first, Batch batch, Operator& waves) {
      std::vector<double> weighted;
      for (std::size_t s = 0; s < batch.size(); ++s) {
        const Batch one = batch.subspan(s, 1);
        const Gather of_records = gathers_of(one, waves.born(shot_of(one, waves), located, {})).front();
        const std::lock_guard lock(mutex);
        const std::vector<double> made = weighting(batch[s].shot, of_records);
        weighted.insert(weighted.end(), made.begin(), made.end());
      }
      const std::vector<ShotGradient> found =
          waves.gradients(shot_of(batch, waves), std::ssize(batch), [&](std::span<const double>, std::span<double> to) {
            std::copy(weighted.begin(), weighted.end(), to.begin());
            return 0.0;
          });
      for (std::size_t s = 0; s < batch.size(); ++s) {
        NumberSum one = packed(0, 0, gather_change(found[s].medium, location, padding, waves.problem().grid), {});
        const std::lock_guard lock(mutex);
        sum.add(first + static_cast<Index>(s), std::move(one));
      }
    });
    return unpacked(sum_over_ranks(sum, settings.ranks), settings.of, experiment.model.eps_r.size()).gradient;
  }

  /// The records of a shot from the rank that has made them.
  void send(Gather& records, Index place, Index count) const {
    if (settings.ranks.size() == 1) return;
    int owner = 0;
    while (place >= count * (owner + 1) / settings.ranks.size()) ++owner;
    settings.ranks.broadcast(std::span(records.samples), owner);
  }
};

ExperimentWaves::ExperimentWaves(Experiment experiment, const WaveSettings& settings, const TierBudgets& budgets)
    : impl_(std::make_unique<Impl>(std::move(experiment), settings, budgets)) {}
ExperimentWaves::~ExperimentWaves() = default;

const Experiment& ExperimentWaves::experiment() const { return impl_->experiment; }
const Operator& ExperimentWaves::waves() const { return impl_->operators.front(); }
const Choice<Index>& ExperimentWaves::in_flight() const { return impl_->in_flight; }
const StoragePlan& ExperimentWaves::storage() const { return impl_->storage; }
std::size_t ExperimentWaves::store_bytes() const { return impl_->operators.size() * impl_->storage.host_bytes; }
const MemoryPlan& ExperimentWaves::memory() const { return impl_->memory; }
const MemoryPlan& ExperimentWaves::device_memory() const { return impl_->device_memory; }

CellGrid ExperimentWaves::grid() const { return {impl_->experiment.grid.cells, impl_->experiment.grid.spacing}; }
Index ExperimentWaves::shots() const { return impl_->shots(); }
Index ExperimentWaves::steps() const { return impl_->experiment.steps; }
double ExperimentWaves::dt() const { return impl_->experiment.dt; }
double ExperimentWaves::agreed(double number) const {
  impl_->settings.ranks.broadcast(std::span(&number, 1));
  return number;
}

void ExperimentWaves::record(const Model& model, std::span<const ShotSignals> shots,
                             const std::function<void(Index shot, const Gather& computed)>& take) {
  if (!impl_->take(model)) throw Error(ErrorKind::bad_input, "the time step is not stable in this model");
  const auto count = static_cast<Index>(shots.size());
  std::vector<Gather> made(shots.size());
  impl_->for_each_batch(shots, [&](Index first, Impl::Batch batch, Operator& waves) {
    std::vector<Gather> of_batch = impl_->gathers_of(batch, waves.forward(impl_->shot_of(batch, waves)));
    std::move(of_batch.begin(), of_batch.end(), made.begin() + first);
  });
  for (Index place = 0; place < count; ++place) {
    const Index shot = shots[static_cast<std::size_t>(place)].shot;
    Gather records = std::move(made[static_cast<std::size_t>(place)]);
    if (records.samples.empty())
      records = Gather(experiment().steps,
                       static_cast<Index>(experiment().shots[static_cast<std::size_t>(shot)].receivers.size()));
    impl_->send(records, place, count);
    take(shot, records);
  }
}

ModelChange ExperimentWaves::gauss_newton(const Model& model, std::span<const ShotSignals> shots,
                                          const ModelChange& change, const ShotWeighting& weighting) {
  if (!impl_->take(model)) throw Error(ErrorKind::bad_input, "the time step is not stable in this model");
  return impl_->gauss_newton(shots, change, weighting);
}

MisfitGradient ExperimentWaves::gradient(const Model& model, std::span<const ShotSignals> shots,
                                         const ShotMisfit& misfit, Illumination illumination) {
  if (!impl_->take(model)) {
    MisfitGradient made;
    made.value = std::numeric_limits<double>::quiet_NaN();
    return made;
  }
  GradientOf of = impl_->settings.of;
  of.illumination = illumination == Illumination::summed;
  if (illumination != impl_->prepared) {
    impl_->prepared = illumination;
    for (Operator& each : impl_->operators) each.prepare_gradient(of, impl_->storage, impl_->budgets);
  }
  return impl_->gradient(shots, misfit, of);
}

}  // namespace sonde::maxwell
