// SPDX-License-Identifier: Apache-2.0
// A reconstruction step by step; python/sonde/ptycho.py gives it its names and documentation.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptycho.h"
#include "sonde/app/join/join.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/io/fft_wisdom.h"
#include "sonde/engine/report/progress.h"
#include "sonde/engine/run/run.h"
#include "sonde/instruments/ptycho/read/files.h"
#include "sonde/instruments/ptycho/run/direct_job.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/run/resume.h"
#include "sonde/instruments/ptycho/verbs/open_measurement.h"
#include "work.h"

namespace sonde::python {
namespace {

using ptycho::Outcome;

std::optional<double> number_of(const py::dict& given, const char* key) {
  if (!given.contains(key)) return std::nullopt;
  return given[key].cast<double>();
}

/// What is done around the iterations, beginning and end, belongs to the verbs: given to an object that is stepped it
/// would have no effect. A file of a run may have it, and the settings of another object name the result. Throws
/// Error(usage).
void refuse_what_only_verbs_do(const ptycho::RunFile& run) {
  ptycho::RunFile untouched;
  for (const char* table : {"multi_start", "quality", "output"}) {
    const std::vector<Field>& usual = untouched.tables().find(table)->items.front().fields.all();
    const std::vector<Field>& given = run.tables().find(table)->items.front().fields.all();
    for (std::size_t i = 0; i < given.size(); ++i)
      if (given[i].origin == Origin::caller && given[i].key != "file" && !(given[i].value() == usual[i].value()))
        throw Error(ErrorKind::usage, fmt::format("{}.{} has no effect on a Reconstruction", table, given[i].key))
            .hint("sonde.run(\"ptycho run\", ...) does all that a run file says");
  }
}

class PtychoRun {
 public:
  PtychoRun(const py::object& settings, const std::vector<std::string>& set) {
    if (py::isinstance<py::str>(settings))
      run_.read(settings.cast<std::string>());
    else
      run_.tables().assign_all(from_python(settings, "settings"), "settings");
    assign(set);
    refuse_what_only_verbs_do(run_);
  }

  /// Goes on from a checkpoint.
  static std::unique_ptr<PtychoRun> resumed(const std::string& path, const std::vector<std::string>& set) {
    auto made = std::make_unique<PtychoRun>(py::dict(), std::vector<std::string>());
    made->from_ = std::make_unique<CheckpointReader>(path, ptycho::checkpoint_kind());
    settings_of(*made->from_, set, made->run_);
    return made;
  }

  [[nodiscard]] py::object settings() const { return to_python(run_.tables().echo()); }
  [[nodiscard]] std::string text() const { return run_.text(); }
  /// `patterns`: None, for the file that the settings name, read as `sonde ptycho run` reads it, or an array (scan
  /// rows, scan cols, rows, cols) or (frames, rows, cols) that is borrowed until prepare() is over. `given` holds what
  /// is known beside: file, format, positions, good, mask, probe, energy_keV, mrad_per_px, inv_A_per_px, step_A.
  void open(const py::object& patterns, const py::dict& given, const std::optional<std::string>& memory) {
    const Exclusive alone(*this);
    common_.compute.device = "cpu";
    if (memory) Fields(common_.compute).assign_text("memory", *memory, "memory");
    budget_.emplace(Budget::automatic(Device::cpu(), common_.compute.memory_bytes()));
    if (patterns.is_none())
      source_ = Work(py::none(), files_).run([&] { return ptycho::open_measurement(run_.data, use_); });
    else
      source_ =
          ptycho::open_array(std::make_shared<const Array>(borrow(py::cast<py::array>(patterns), "data")), run_.data);
    describe(given);
    const TierBudgets budgets = TierBudgets::around(Device::cpu(), *budget_, run_.compute.scratch);
    plan_ = Work(py::none(), files_).run([&] { return ptycho::plan_job(run_, source_, {.budgets = budgets}); });
    require_memory(plan_->memory, plan_->sizes, budgets);
  }

  [[nodiscard]] py::object plan() const {
    const ptycho::JobPlan& plan = planned();
    Value value;
    for (const auto& line : plan.memory.lines) value["memory"][line.what] = line.bytes;
    value["peak_bytes"] = plan.memory.peak_bytes;
    value["frames"] = plan.sizes.frames;
    const auto pair = [&](const char* key, auto row, auto col) {
      value[key].push_back(row);
      value[key].push_back(col);
    };
    pair("window", plan.sizes.rows, plan.sizes.cols);
    value["object"] = Value::list();
    for (const Index extent : {plan.sizes.slices, plan.extent.rows, plan.extent.cols})
      value["object"].push_back(extent);
    pair("origin_px", -plan.extent.offset.row, -plan.extent.offset.col);
    const ptycho::Sampling& sampling = plan.scan.sampling;
    if (sampling.calibrated()) {
      value["wavelength_A"] = sampling.wavelength;
      pair("pixel_size_A", sampling.pixel_row(), sampling.pixel_col());
    }
    value["step_px"] = plan.spacing.nearest;
    value["notes"] = plan.scan.notes;
    value["warnings"] = plan.warnings;
    return to_python(value);
  }

  void prepare(const py::object& progress) {
    if (job_) return;
    const Exclusive alone(*this);
    (void)planned();
    job_ = Work(progress, files_).run([&] {
      if (!from_ && direct_start(run_)) {
        const TierBudgets budgets = TierBudgets::around(Device::cpu(), *budget_, run_.compute.scratch);
        plan_ = begin_directly(run_, source_, {.budgets = budgets});
        require_memory(plan_->memory, plan_->sizes, budgets);
      }
      // As the program does: with earlier measurements of transforms a run repeats bit for bit on its machine, and a
      // checkpoint brings its own, which are not for others.
      const bool measured = !from_ && !run_.compute.deterministic;
      if (measured) load_fft_wisdom();
      auto job = std::make_unique<ptycho::Job>(run_, source_, *plan_, from_.get());
      if (measured) save_fft_wisdom();
      return job;
    });
    source_.read_patterns = {};  // lets go of the array
    source_.read_frames = {};
    source_.find_good = {};
    source_.probe.free();
    from_.reset();
    for (const std::string& warning : job_->warnings()) log_warning(warning);
  }

  /// One iteration as its metrics, or None when the run is over.
  py::object iterate() {
    const Exclusive alone(*this);
    ptycho::Reconstruction& reconstruction = prepared();
    if (reconstruction.outcome().kind != Outcome::Kind::running) return py::none();
    step(py::none(), [&] { reconstruction.iterate(); });
    return to_python(ptycho::metrics_value(reconstruction.history().back()));
  }

  /// At most `count` iterations, telling how far it is; returns how many were made.
  Index iterate_many(Index count, const py::object& progress) {
    const Exclusive alone(*this);
    ptycho::Reconstruction& reconstruction = prepared();
    const std::size_t before = reconstruction.history().size();
    step(progress, [&] {
      ProgressMeter meter("reconstructing", count, "iterations");
      for (Index i = 0; i < count && reconstruction.outcome().kind == Outcome::Kind::running; ++i) {
        reconstruction.iterate();
        meter.advance();
      }
    });
    return static_cast<Index>(reconstruction.history().size() - before);
  }

  /// Iterations that the schedule still has.
  [[nodiscard]] Index left() const {
    Index total = 0;
    for (const ptycho::EngineRun& engine : run_.schedule().engines) total += engine.iterations;
    return total - (job_ ? static_cast<Index>(job_->reconstruction().history().size()) : 0);
  }

  /// (kind, because, iteration of the best estimate, R_free or None).
  [[nodiscard]] py::tuple outcome() const {
    static constexpr const char* words[] = {"running", "finished", "converged", "diverged"};
    if (!job_) return py::make_tuple("running", "", 0, py::none());
    const Outcome& outcome = job_->reconstruction().outcome();
    return py::make_tuple(words[static_cast<int>(outcome.kind)], outcome.because, outcome.best, outcome.r_free);
  }
  [[nodiscard]] bool requires_convergence() const { return run_.stop.require; }

  [[nodiscard]] py::list history() {
    py::list all;
    if (!job_) return all;
    const Exclusive alone(*this);
    for (const ptycho::IterationRecord& record : job_->reconstruction().history())
      all.append(to_python(ptycho::metrics_value(record)));
    return all;
  }

  /// Copies: object (slices, rows, cols), phase or None, probe (modes, rows, cols), positions (frames, 2).
  py::tuple state() {
    const Exclusive alone(*this);
    const ptycho::State& state = prepared().state();
    return py::make_tuple(to_numpy(state.object.clone()),
                          state.phase.empty() ? py::object(py::none()) : to_numpy(state.phase.clone()),
                          to_numpy(state.probe.clone()), array_of(state.positions));
  }

  /// Puts new elements into parts of the state; None leaves one as it is.
  void set_state(const py::object& object, const py::object& phase, const py::object& probe,
                 const py::object& positions) {
    const Exclusive alone(*this);
    ptycho::Reconstruction& reconstruction = prepared();
    ptycho::State& state = reconstruction.state();
    const bool potential = state.type == ptycho::ObjectType::potential;
    if (!object.is_none() && potential)
      throw Error(ErrorKind::bad_input, "a potential object is set by its phase").hint("give phase");
    if (!phase.is_none() && !potential) throw Error(ErrorKind::bad_input, "a complex object has no phase of its own");
    const auto fitting = [](const py::object& given, const Array& kept, const char* what) {
      Array from = borrow(py::cast<py::array>(given), what);
      if (!(from.shape() == kept.shape()) || from.dtype() != kept.dtype())
        throw Error(ErrorKind::bad_input, fmt::format("{}: {} of shape {}, expected {} of {}", what, name(from.dtype()),
                                                      from.shape().text(), name(kept.dtype()), kept.shape().text()));
      return from;
    };
    std::vector<std::pair<Array, Array*>> changes;
    if (!object.is_none()) changes.emplace_back(fitting(object, state.object, "object"), &state.object);
    if (!phase.is_none()) changes.emplace_back(fitting(phase, state.phase, "phase"), &state.phase);
    if (!probe.is_none()) changes.emplace_back(fitting(probe, state.probe, "probe"), &state.probe);
    if (!positions.is_none()) {
      std::vector<ptycho::Point> points = points_of(positions.cast<Positions>());
      if (points.size() != state.positions.size())
        throw Error(ErrorKind::bad_input,
                    fmt::format("{} positions for {} patterns", points.size(), state.positions.size()));
      auto placements = ptycho::place_all(points, state.window());
      require_inside(placements, state.window(), state.object.shape()[1], state.object.shape()[2]);
      state.positions = std::move(points);
      state.placements = std::move(placements);
    }
    for (auto& [from, to] : changes)
      std::memcpy(to->data(), from.data(), static_cast<std::size_t>(from.count()) * size_bytes(from.dtype()));
    if (!phase.is_none()) state.follow_phase();
    reconstruction.state_changed();
  }

  void save(const std::string& path) {
    const Exclusive alone(*this);
    ptycho::Reconstruction& reconstruction = prepared();
    Work(py::none(), files_).run([&] {
      CheckpointWriter writer(path, ptycho::checkpoint_kind(), static_cast<Index>(reconstruction.history().size()),
                              run_.text());
      reconstruction.save(writer);
      writer.finish();
      return 0;
    });
  }

  void write_result(const std::string& path) {
    const Exclusive alone(*this);
    (void)prepared();
    const ptycho::Result result = job_->result(run_);
    Work(py::none(), files_).run([&] { return ptycho::write_result(path, result), 0; });
  }

  /// What was chosen, for people, and what is doubtful.
  [[nodiscard]] std::pair<std::vector<std::string>, std::vector<std::string>> remarks() const {
    std::vector<std::string> warnings = job_ ? job_->warnings() : planned().warnings;
    if (job_ && job_->has_estimate())
      for (std::string& warning : job_->warnings_of_fit()) warnings.push_back(std::move(warning));
    return {job_ ? job_->notes() : planned().scan.notes, warnings};
  }
  [[nodiscard]] std::optional<double> floor() {
    (void)prepared();
    const double known = job_->floor();
    return known > 0 ? std::optional(known) : std::nullopt;
  }
  [[nodiscard]] double overlap() {
    (void)prepared();
    return job_->assessment().overlap;
  }
  [[nodiscard]] std::pair<std::vector<Index>, std::vector<Index>> frames() {
    return {prepared().active(), prepared().held_out()};
  }

 private:
  /// One call at a time: work runs without Python's lock. Changed under it.
  class Exclusive {
   public:
    explicit Exclusive(PtychoRun& run) : run_(run) {
      if (run_.busy_)
        throw Error(ErrorKind::bad_input, "the reconstruction is at work")
            .hint("look at it between iterations, and use it from one thread at a time");
      run_.busy_ = true;
    }
    Exclusive(const Exclusive&) = delete;
    Exclusive& operator=(const Exclusive&) = delete;
    ~Exclusive() { run_.busy_ = false; }

   private:
    PtychoRun& run_;
  };

  void assign(const std::vector<std::string>& set) {
    Problems problems;
    for (const std::string& setting : set) problems.collect([&] { run_.tables().assign_text(setting); });
    problems.throw_if_any("several settings cannot be used");
  }

  /// What the caller knows counts more than what a file says.
  void describe(const py::dict& given) {
    const auto text = [&](const char* key, std::string& to) {
      if (given.contains(key)) to = given[key].cast<std::string>();
    };
    text("file", source_.file);
    text("format", source_.format);
    if (const auto value = number_of(given, "energy_keV")) source_.energy_kev = value;
    if (const auto value = number_of(given, "mrad_per_px")) source_.mrad_per_px = value;
    if (const auto value = number_of(given, "inv_A_per_px")) source_.inv_a_per_px = value;
    if (const auto value = number_of(given, "step_A")) source_.step_a = value;
    if (given.contains("positions")) {
      source_.positions = points_of(given["positions"].cast<Positions>());
      source_.unit.reset();
      source_.reference.reset();
    }
    ptycho::require_fitting(source_);
    // What one source calls bad stays bad.
    for (const char* key : {"good", "mask"}) {
      if (!given.contains(key)) continue;
      const Array mask = borrow(given[key].cast<py::array>(), "mask");
      std::vector<std::uint8_t> good = ptycho::as_mask(mask, /*nonzero_is_good=*/true, source_.shape.last(2), "mask");
      if (!source_.good.empty())
        std::transform(good.begin(), good.end(), source_.good.begin(), good.begin(),
                       [](std::uint8_t one, std::uint8_t other) { return one != 0 && other != 0 ? 1 : 0; });
      source_.good = std::move(good);
    }
    if (given.contains("probe")) {
      Array probe = ptycho::as_complex(borrow(given["probe"].cast<py::array>(), "probe"), "probe");
      const Shape shape = probe.shape();
      if (shape.rank() == 2) probe = std::move(probe).reshaped(Shape{1, shape[0], shape[1]});
      if (probe.shape().rank() != 3 || !(probe.shape().last(2) == source_.shape.last(2)))
        throw Error(ErrorKind::bad_input,
                    fmt::format("probe: shape {}, the patterns have {}", shape.text(), source_.shape.last(2).text()));
      source_.probe = std::move(probe);
    }
  }

  const ptycho::JobPlan& planned() const {
    if (!plan_) throw Error(ErrorKind::internal, "the reconstruction has no data yet");
    return *plan_;
  }

  ptycho::Reconstruction& prepared() {
    if (!job_) throw Error(ErrorKind::internal, "the reconstruction is not prepared");
    return job_->reconstruction();
  }

  /// Runs iterations; after an error the estimate is the best one, which the engine has to know.
  template <class Body>
  void step(const py::object& progress, const Body& body) {
    try {
      Work(progress, files_).run([&] { return body(), 0; });
    } catch (...) {
      if (job_->reconstruction().outcome().kind == Outcome::Kind::running) job_->reconstruction().state_changed();
      throw;
    }
  }

  std::shared_ptr<RunFiles> files_ = std::make_shared<RunFiles>();  // all calls are one run
  // What opens its measurement, as a verb of the program has it.
  CommonOptions common_;
  Fields no_fields_;
  Report report_{"ptycho reconstruction"};
  Surroundings surroundings_ = join::surroundings();
  Run use_{common_, no_fields_, report_, surroundings_};
  ptycho::RunFile run_;
  ptycho::Source source_;
  std::optional<Budget> budget_;
  std::optional<ptycho::JobPlan> plan_;
  std::unique_ptr<CheckpointReader> from_;
  std::unique_ptr<ptycho::Job> job_;
  bool busy_ = false;
};

/// [{"name", "list", "kinds": [{"kind", "fields"}]}]: every table and key of a run file.
py::list run_file_tables() {
  ptycho::RunFile run;
  py::list all;
  for (const std::string& name : run.tables().names()) {
    const Tables::Table& table = *run.tables().find(name);
    for (const std::string& kind : table.kinds) run.tables().append(name, kind, "name");
    py::list kinds;
    for (const Tables::Item& item : table.items) {
      py::dict entry;
      entry["kind"] = item.kind;
      entry["fields"] = describe_fields(item.fields);
      kinds.append(std::move(entry));
    }
    py::dict entry;
    entry["name"] = name;
    entry["list"] = table.list;
    entry["kinds"] = std::move(kinds);
    all.append(std::move(entry));
  }
  return all;
}

}  // namespace

std::vector<ptycho::Point> points_of(const Positions& positions) {
  if (positions.ndim() != 2 || positions.shape(1) != 2)
    throw Error(ErrorKind::bad_input, "positions: shape " + py::cast<std::string>(py::str(positions.attr("shape"))) +
                                          ", expected (frames, 2)")
        .hint("a row of it is row and column of one frame");
  const auto from = positions.unchecked<2>();
  std::vector<ptycho::Point> points;
  for (py::ssize_t i = 0; i < positions.shape(0); ++i) points.push_back({from(i, 0), from(i, 1)});
  return points;
}

py::array array_of(const std::vector<ptycho::Point>& points) {
  py::array_t<double> array({static_cast<py::ssize_t>(points.size()), py::ssize_t{2}});
  auto to = array.mutable_unchecked<2>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    to(static_cast<py::ssize_t>(i), 0) = points[i].row;
    to(static_cast<py::ssize_t>(i), 1) = points[i].col;
  }
  return array;
}

void add_ptycho_run(py::module_& module) {
  py::class_<PtychoRun>(module, "PtychoRun")
      .def(py::init<const py::object&, const std::vector<std::string>&>())
      .def_static("resumed", &PtychoRun::resumed)
      .def("settings", &PtychoRun::settings)
      .def("text", &PtychoRun::text)
      .def("open", &PtychoRun::open)
      .def("plan", &PtychoRun::plan)
      .def("prepare", &PtychoRun::prepare)
      .def("iterate", &PtychoRun::iterate)
      .def("iterate_many", &PtychoRun::iterate_many)
      .def("left", &PtychoRun::left)
      .def("outcome", &PtychoRun::outcome)
      .def("requires_convergence", &PtychoRun::requires_convergence)
      .def("history", &PtychoRun::history)
      .def("state", &PtychoRun::state)
      .def("set_state", &PtychoRun::set_state)
      .def("save", &PtychoRun::save)
      .def("write_result", &PtychoRun::write_result)
      .def("remarks", &PtychoRun::remarks)
      .def("floor", &PtychoRun::floor)
      .def("overlap", &PtychoRun::overlap)
      .def("frames", &PtychoRun::frames);
  module.def("ptycho_tables", run_file_tables);
}

}  // namespace sonde::python
