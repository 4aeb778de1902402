// SPDX-License-Identifier: Apache-2.0
// One flux surface on one grid: coefficients of single cases, of scans, and how they converge.
#include <pybind11/stl.h>

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "neoclassical.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/neoclassical/convert/stored_points.h"
#include "sonde/instruments/neoclassical/run/run_file.h"
#include "sonde/instruments/neoclassical/run/study_settings.h"
#include "sonde/instruments/neoclassical/run/transport_settings.h"
#include "sonde/instruments/neoclassical/scan/scan.h"
#include "work.h"

namespace sonde::python {
namespace {

namespace nc = neoclassical;

nc::GridSpec grid_of(const py::dict& keywords) { return options_of<nc::GridSettings>(keywords, "Grid()").spec(); }

py::dict resolved_grid(const py::dict& keywords) {
  const nc::GridSpec grid = grid_of(keywords);
  py::dict made;
  made["n_theta"] = grid.n_theta;
  made["n_zeta"] = grid.n_zeta;
  made["n_xi"] = grid.n_xi;
  made["discretisation"] = nc::name(grid.discretisation);
  return made;
}

py::dict dict_of(const nc::Coefficients& made, const nc::Case& at, double error) {
  py::dict dict;
  dict["D11"] = made.D11;
  dict["D31"] = made.D31;
  dict["D13"] = made.D13;
  dict["D33"] = made.D33;
  dict["D33_spitzer"] = made.D33_spitzer;
  dict["residual"] = made.residual;
  dict["onsager_residual"] = made.onsager_residual;
  dict["n_xi"] = made.n_xi;
  dict["path"] = std::string(nc::name(made.path));
  dict["precision"] = std::string(nc::name(made.precision));
  dict["iterations"] = made.iterations;
  dict["nu_hat"] = at.nu_hat;
  dict["epsi_hat"] = at.epsi_hat;
  dict["error"] = error;
  return dict;
}

/// A column of the points of a scan.
template <class T, class Of>
py::array column(const std::vector<nc::Point>& points, Index nu, Index fields, Of&& of) {
  Array array(Device::cpu(), Shape{nu, fields}, dtype_of<T>);
  auto* to = static_cast<T*>(array.data());
  for (const nc::Point& point : points) *to++ = static_cast<T>(of(point));
  return to_numpy(std::move(array));
}

class Plan {
 public:
  Plan(std::shared_ptr<const FluxSurface> surface, const py::dict& grid, const py::dict& solver)
      : surface_(std::move(surface)), settings_(options_of<nc::SolverSettings>(solver, "prepare()")) {
    require_no_processor(settings_, "prepare()");
    const nc::GridSpec spec = grid_of(grid);
    plan_.emplace(Work().run([&] { return nc::Plan::prepare(surface_->surface(), spec, settings_.solver()); }));
  }

  [[nodiscard]] const nc::Plan& plan() const { return *plan_; }

  /// (coefficients, f1, f3); the last two are None unless `modes`.
  py::tuple solve(const py::dict& keywords, bool modes) {
    const nc::Case at = case_of(keywords);
    py::object f1 = py::none(), f3 = py::none();
    std::optional<nc::Modes> kept;
    auto [made, error] = Work().run([&] {
      nc::Plan::Workspace workspace = take_workspace();
      std::pair<nc::Coefficients, double> result;
      if (const auto search = settings_.search()) {
        const nc::Adapted adapted = solve_adapted(*plan_, at, *search, workspace);
        if (!adapted.converged)
          throw Error(ErrorKind::not_converged, fmt::format("{} Legendre modes leave an error of {:.1e}",
                                                            adapted.coefficients.n_xi, adapted.error))
              .hint("collisions are rare: refine the angles too, or accept a larger adapt_n_xi");
        result = {adapted.coefficients, adapted.error};
      } else {
        result = {plan_->solve(at, workspace), 0};
      }
      if (modes) kept = plan_->modes(workspace);
      give_workspace(std::move(workspace));
      return result;
    });
    if (kept) {
      f1 = of_modes(kept->f1);
      f3 = of_modes(kept->f3);
    }
    return py::make_tuple(dict_of(made, at, error), f1, f3);
  }

  /// ("spd", because) of a case.
  py::tuple path(const py::dict& keywords) const {
    const Choice<nc::Path> chosen = plan_->path(case_of(keywords).epsi_hat);
    return py::make_tuple(std::string(nc::name(chosen.value)), chosen.because);
  }

  py::dict scan(const py::dict& keywords, const std::string& device, const std::optional<std::string>& memory,
                const py::object& progress) const {
    nc::RunFile run;
    run.scan = options_of<nc::ScanSettings>(keywords, "scan()");
    if (!run.scan.rho.empty())
      throw Error(ErrorKind::usage, "rho in scan(): a plan has one surface").hint("prepare a plan for each radius");
    const std::vector<double> nu_v = run.scan_nu();
    const nc::FieldAxis field = run.scan_field();
    std::vector<double> epsi_hat;
    std::string solved_on = "cpu";
    const std::vector<nc::Point> points = Work(progress).run([&] {
      epsi_hat = surface_->epsi_hat(field);
      ProgressMeter meter("solving", static_cast<Index>(nu_v.size() * epsi_hat.size()), "points");
      const std::vector<nc::Case> cases = nc::grid_of_cases(nu_v, epsi_hat);
      nc::ScanOptions options{.batch_size = settings_.scan_batch_size,
                              .adapt = settings_.search(),
                              .finished = [&](Index, const nc::Point&) { meter.advance(); }};
      options.batches = batch_device(device, why_not_in_batches(*plan_, cases, options), memory);
      if (options.batches) solved_on = options.batches->device.name();
      return nc::scan(*plan_, cases, host_budget(memory), options);
    });
    const auto rows = static_cast<Index>(nu_v.size()), fields = static_cast<Index>(epsi_hat.size());
    const auto add = [&]<class T>(py::dict& to, const char* name, T, auto&& of) {
      to[name] = column<T>(points, rows, fields, of);
    };
    py::dict made;
    made["nu_v"] = array_of(nu_v);
    made["field"] = array_of(field.values);
    made["field_name"] = nc::name(field.kind);
    made["device"] = solved_on;
    made["epsi_hat"] = array_of(epsi_hat);
    add(made, "D11", double(), [](const nc::Point& p) { return p.coefficients.D11; });
    add(made, "D31", double(), [](const nc::Point& p) { return p.coefficients.D31; });
    add(made, "D13", double(), [](const nc::Point& p) { return p.coefficients.D13; });
    add(made, "D33", double(), [](const nc::Point& p) { return p.coefficients.D33; });
    add(made, "D33_spitzer", double(), [](const nc::Point& p) { return p.coefficients.D33_spitzer; });
    add(made, "residual", double(), [](const nc::Point& p) { return p.coefficients.residual; });
    add(made, "onsager_residual", double(), [](const nc::Point& p) { return p.coefficients.onsager_residual; });
    add(made, "error", double(), [](const nc::Point& p) { return p.error; });
    add(made, "seconds", double(), [](const nc::Point& p) { return p.seconds; });
    add(made, "n_xi_used", std::int32_t(), [](const nc::Point& p) { return p.coefficients.n_xi; });
    add(made, "path_code", std::int32_t(), [](const nc::Point& p) { return static_cast<int>(p.coefficients.path); });
    add(made, "precision_code", std::int32_t(),
        [](const nc::Point& p) { return static_cast<int>(p.coefficients.precision); });
    add(made, "iterations", std::int32_t(), [](const nc::Point& p) { return p.coefficients.iterations; });
    add(made, "status", std::int32_t(), [](const nc::Point& p) { return static_cast<int>(p.status); });
    py::list messages;
    for (const nc::Point& point : points) messages.append(point.message);
    made["messages"] = messages;
    return made;
  }

 private:
  [[nodiscard]] nc::Case case_of(const py::dict& keywords) const {
    nc::RunFile run;
    run.at = options_of<nc::CaseSettings>(keywords, "solve()");
    const double nu_hat = run.case_nu();
    const nc::FieldAxis field = run.case_field();
    const py::gil_scoped_release unlocked;  // a minor radius may have to be found first
    return {nu_hat, surface_->epsi_hat(field).front()};
  }

  [[nodiscard]] py::array of_modes(const std::array<std::vector<double>, 3>& modes) const {
    std::vector<double> all;
    for (const std::vector<double>& k : modes) all.insert(all.end(), k.begin(), k.end());
    return array_of(all, Shape{3, plan_->grid().n_theta, plan_->grid().n_zeta});
  }

  // As many workspaces as threads ever solved at a time are kept.
  nc::Plan::Workspace take_workspace() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return plan_->workspace();
    nc::Plan::Workspace workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
  }
  void give_workspace(nc::Plan::Workspace workspace) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  }

  std::shared_ptr<const FluxSurface> surface_;
  nc::SolverSettings settings_;
  std::optional<nc::Plan> plan_;
  std::mutex mutex_;
  std::vector<nc::Plan::Workspace> idle_;
};

/// The surface on the grid: windows on the plan's own arrays, [theta][zeta], which keep it alive.
py::dict field_of(const py::object& self) {
  const nc::SampledSurface& sampled = self.cast<const Plan&>().plan().surface();
  const std::vector<Index> shape = {sampled.grid.n_theta, sampled.grid.n_zeta}, strides = {sampled.grid.n_zeta, 1};
  std::vector<double> theta, zeta;
  for (Index i = 0; i < sampled.grid.n_theta; ++i) theta.push_back(sampled.grid.theta(i));
  for (Index j = 0; j < sampled.grid.n_zeta; ++j) zeta.push_back(sampled.grid.zeta(j));
  py::dict made;
  made["theta"] = array_of(theta);
  made["zeta"] = array_of(zeta);
  for (const auto& [name, values] :
       {std::pair{"b", &sampled.b}, std::pair{"db_dtheta", &sampled.db_dtheta},
        std::pair{"db_dzeta", &sampled.db_dzeta}, std::pair{"jacobian", &sampled.jacobian},
        std::pair{"b_sub_theta", &sampled.b_sub_theta}, std::pair{"b_sub_zeta", &sampled.b_sub_zeta},
        std::pair{"b_sup_theta", &sampled.b_sup_theta}, std::pair{"b_sup_zeta", &sampled.b_sup_zeta}})
    made[name] = read_only(DType::f64, shape, strides, values->data(), self);
  made["b2_mean"] = sampled.b2_mean;
  made["volume_prime"] = sampled.volume_prime;
  return made;
}

py::tuple row_of(const nc::GridSpec& grid, const char* refined, double change, const nc::Coefficients& made,
                 const nc::Case& at) {
  return py::make_tuple(py::make_tuple(grid.n_theta, grid.n_zeta, grid.n_xi), refined, change, dict_of(made, at, 0));
}

/// (converged, error, grid, rows); rows are (grid, what was refined, change, coefficients), the grid given first.
py::tuple convergence(const FluxSurface& surface, const py::dict& grid, const py::dict& given_case,
                      const py::dict& study, const py::dict& solver) {
  const std::string call = "convergence()";
  const nc::StudyOptions options = options_of<nc::StudySettings>(study, call).study();
  const nc::GridSpec start = grid_of(grid);
  const auto settings = options_of<nc::SolverSettings>(solver, call);
  nc::RunFile run;
  run.at = options_of<nc::CaseSettings>(given_case, call);
  const double nu_hat = run.case_nu();
  const nc::FieldAxis field = run.case_field();
  nc::Case at;
  const nc::Study made = Work().run([&] {
    at = {nu_hat, surface.epsi_hat(field).front()};
    return nc::convergence_study(surface.surface(), start, at, options, settings.solver());
  });
  py::list rows;
  rows.append(row_of(start, "", 0, made.start, at));
  for (const nc::StudyRow& row : made.rows)
    rows.append(row_of(row.grid, nc::name(row.refined), row.change, row.coefficients, at));
  return py::make_tuple(made.converged, made.error, py::make_tuple(made.grid.n_theta, made.grid.n_zeta, made.grid.n_xi),
                        rows);
}

template <class Settings>
py::list described() {
  Settings settings;
  return describe_fields(Fields(settings));
}

}  // namespace

void require_no_processor(const nc::SolverSettings& settings, const std::string& call) {
  if (settings.threads)
    throw Error(ErrorKind::usage, "threads in " + call + ": threads are those of the whole process")
        .hint("sonde.set_thread_count()");
  if (settings.device)
    throw Error(ErrorKind::usage, "device in " + call + ": a GPU solves the points of a scan")
        .hint("plan.scan(..., device=)");
}

py::list neoclassical_fields(const std::string& call) {
  if (call == "surface") return described<nc::SurfaceOptions>();
  if (call == "grid") return described<nc::GridSettings>();
  if (call == "solver") return described<nc::SolverSettings>();
  if (call == "case") return described<nc::CaseSettings>();
  if (call == "scan") return described<nc::ScanSettings>();
  if (call == "conversion") return described<nc::ConversionSettings>();
  if (call == "study") return described<nc::StudySettings>();
  if (call == "transport") return described<nc::TransportSettings>();
  throw Error(ErrorKind::internal, "no options of neoclassical " + call);
}

void add_neoclassical_plan(py::module_& module) {
  py::class_<Plan>(module, "NeoclassicalPlan")
      .def(py::init<std::shared_ptr<FluxSurface>, const py::dict&, const py::dict&>())
      .def("solve", &Plan::solve)
      .def("path", &Plan::path)
      .def("scan", &Plan::scan)
      .def("field", field_of)
      .def("bytes", [](const Plan& plan) { return plan.plan().bytes(); });
  module.def("neoclassical_grid", resolved_grid);
  module.def("neoclassical_convergence", convergence);
}

}  // namespace sonde::python
