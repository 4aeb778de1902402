// SPDX-License-Identifier: Apache-2.0
// Waves of an experiment and their derivatives, on arrays of NumPy.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apart.h"
#include "bindings.h"
#include "convert.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/engine/ranks/tree_sum.h"
#include "sonde/engine/run/input_arrays.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/gradient_run.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/run/run_file.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"
#include "work.h"

namespace sonde::python {
namespace {

namespace mx = maxwell;

py::array array_of(const std::vector<double>& values, const Shape& shape) {
  return to_numpy(Array::from(values, shape));
}

/// The elements of an array of this shape, as float64.
std::vector<double> values_of(const py::array& array, const Shape& shape, const std::string& what) {
  mx::NumberArray numbers = mx::numbers_of(borrow(array, what), what);
  if (numbers.shape != shape)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: shape {}; expected {}", what, numbers.shape.text(), shape.text()));
  return std::move(numbers.values);
}

/// The same of numbers that are finite.
std::vector<double> finite_values_of(const py::array& array, const Shape& shape, const std::string& what) {
  std::vector<double> values = values_of(array, shape, what);
  const auto found = std::find_if_not(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  if (found != values.end())
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: element {} is {}; expected finite numbers", what, found - values.begin(), *found));
  return values;
}

/// The axes that arrays of this grid have.
std::vector<std::size_t> dimensions_of(const mx::GridSpec& grid) {
  std::vector<std::size_t> made;
  for (const mx::Axis axis : mx::axes_of(grid.mode)) made.push_back(mx::dimension(axis));
  return made;
}

/// Calls body(name, values) for each array of a state: fields, what layers remember of a derivative ("m_Ey_x": along x)
/// and polarisations ("p0_Ey").
template <class AnyState, class Body>
void for_each_part(AnyState& state, const mx::Grid& grid, const Body& body) {
  for (const mx::Component c : grid.components()) {
    const auto which = static_cast<std::size_t>(c);
    body(std::string(mx::name(c)), state.fields[which]);
    for (std::size_t t = 0; t < 2; ++t) {
      const mx::CurlTerm term = mx::curl_terms(c)[t];
      if (grid.has(term.of) && grid.has(term.along))
        body(fmt::format("m_{}_{}", mx::name(term.of), "zyx"[mx::dimension(term.along)]), state.psi[which][t]);
    }
    for (std::size_t p = 0; mx::is_electric(c) && p < state.polarisation.size(); ++p)
      body(fmt::format("p{}_{}", p, mx::name(c)), state.polarisation[p][mx::place(c)]);
  }
}

/// The gradient of a run of which a part of the steps has been taken back, on the elements of the model or of the model
/// with its layers.
using RunningGradient = std::function<mx::ModelChange(bool padded)>;

/// The fields between two steps, for one call of a function of Python. Views are the memory of the run, which they keep
/// alive; after the call they show later steps.
class MaxwellFields {
 public:
  MaxwellFields(mx::LiveFields& fields, std::shared_ptr<mx::Operator> owner, bool may_edit,
                RunningGradient gradient = {})
      : fields_(&fields), owner_(std::move(owner)), may_edit_(may_edit), gradient_(std::move(gradient)) {}
  void close() { fields_ = nullptr; }

  /// Of a sweep backwards: by eps_r, sigma or mu_r; None where it is not asked for.
  [[nodiscard]] py::object gradient(const std::string& name, bool padded) const {
    require_open();
    if (!gradient_) throw Error(ErrorKind::not_supported, "no gradient of " + name + " in a forward run");
    const mx::ModelChange made = gradient_(padded);
    const std::vector<double>& values = name == "eps_r" ? made.eps_r : name == "sigma" ? made.sigma : made.mu_r;
    if (values.empty()) return py::none();
    Shape shape;
    for (const std::size_t d : dimensions_of(fields_->grid().spec()))
      shape.append(padded ? fields_->grid().extents()[d] : fields_->grid().spec().cells[d]);
    return array_of(values, shape);
  }

  [[nodiscard]] py::array view(const std::string& component, bool padded) {
    require_open();
    const mx::Component c = mx::parse_component(component);
    const mx::Part part = padded ? mx::Part::padded : mx::Part::model;
    if (may_edit_) return fields_->edit(c, part, [&](const auto& shown) { return array(shown); });
    return fields_->view(c, part, [&](const auto& shown) { return array(shown); });
  }

 private:
  void require_open() const {
    if (fields_ == nullptr)
      throw Error(ErrorKind::usage, "the fields are there only during the call").hint("copy what is needed later");
  }

  template <class T>
  [[nodiscard]] py::array array(const View<T, 3>& shown) const {
    std::vector<Index> shape, strides;
    for (const std::size_t d : dimensions_of(fields_->grid().spec())) {
      shape.push_back(shown.extent[d]);
      strides.push_back(shown.stride[d]);
    }
    const py::capsule owner(new std::shared_ptr<mx::Operator>(owner_),
                            [](void* held) { delete static_cast<std::shared_ptr<mx::Operator>*>(held); });
    py::array made = read_only(dtype_of<std::remove_const_t<T>>, shape, strides, shown.data, owner);
    if (!std::is_const_v<T>) py::detail::array_proxy(made.ptr())->flags |= py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return made;
  }

  mx::LiveFields* fields_;
  std::shared_ptr<mx::Operator> owner_;
  bool may_edit_;
  RunningGradient gradient_;
};

/// An experiment whose model may change. Records are [step][shot][receiver], float64.
class MaxwellOperator {
 public:
  /// `tables` as a run file has them, with arrays where that names files; `poles`: pairs of arrays, deps and tau;
  /// `least_eps_r` of models to come, 0: of none.
  MaxwellOperator(const py::dict& tables, const py::list& poles, double least_eps_r, const std::string& device,
                  bool one_thread, const std::optional<std::string>& memory)
      : device_(Device::parse(device).value),
        budget_(Budget::automatic(Device::cpu(), device_.is_cpu() ? memory_bytes(memory) : std::nullopt)),
        device_budget_(device_.is_cpu() ? budget_ : Budget::automatic(device_, memory_bytes(memory))) {
    mx::RunFile file;
    InputArrays arrays;
    py::list held;
    Value given = Value::object();
    for (const auto& [table, keys] : tables)
      for (const auto& [key, value] : py::cast<py::dict>(keys)) {
        const auto name = py::cast<std::string>(table), word = py::cast<std::string>(key);
        if (value.is_none()) continue;
        if (!py::isinstance<py::array>(value)) {
          given[name][word] = from_python(value, word);
          continue;
        }
        held.append(value);
        given[name][word] = Value(arrays.add(borrow(py::reinterpret_borrow<py::array>(value), word)));
      }
    file.tables().assign_all(given, "the operator");
    storage_settings_ = file.storage.settings();
    Work().run([&] {
      experiment_ = mx::make_experiment(
          file, [&](const std::string& name) { return arrays.find(name); }, budget_.available_bytes());
      return 0;
    });
    experiment_.poles = poles_of(poles);
    Work().run([&] {
      mx::require_valid(experiment_);
      waves_ = std::make_shared<mx::Operator>(
          mx::make_operator(experiment_, one_thread ? mx::Threads::one : mx::Threads::all, least_eps_r, device_));
      (void)shots_on_grid(true);
      return 0;
    });
  }

  [[nodiscard]] py::dict describe() const {
    py::dict made;
    made["dt"] = experiment_.dt;
    made["nt"] = experiment_.steps;
    made["ratio"] = waves_->ratio();
    made["inner_dt"] = waves_->problem().dt;
    made["shots"] = shots();
    made["sources"] = experiment_.shots.front().sources.size();
    made["receivers"] = receivers();
    made["precision"] = std::string(experiment_.precision == mx::Precision::f32 ? "float32" : "float64");
    made["storage"] = prepared_ ? py::object(py::str(mx::text_of(plan_) + ": " + plan_.because)) : py::none();
    std::vector<double> first;
    for (const mx::SurveyPoint& point : experiment_.shots.front().receivers)
      first.push_back(experiment_.dt * (mx::is_electric(point.component) ? mx::sample_offset::electric_record
                                                                         : mx::sample_offset::magnetic_record));
    made["time_of_first_sample"] = array_of(first, Shape{receivers()});
    return made;
  }

  /// Another model on the same cells; the layers stay as they were made for the first one.
  void set_model(const py::array& eps_r, const py::object& sigma, const py::object& mu_r, const py::list& poles) {
    const Busy busy(*this);
    mx::Experiment next = experiment_;
    next.model.eps_r = values_of(eps_r, model_shape(), "eps_r");
    next.model.sigma = of_model(sigma, "sigma");
    if (next.model.sigma.empty()) next.model.sigma.assign(next.model.eps_r.size(), 0);
    next.model.mu_r = of_model(mu_r, "mu_r");
    next.poles = poles_of(poles);
    Work().run([&] {
      mx::require_medium(next);
      mx::ComponentMedium medium = mx::medium_of(next, waves_->problem().grid);
      if (waves_.use_count() > 1) {  // a view of its fields is still held: they must stay where they are
        waves_ = std::make_shared<mx::Operator>(waves_->problem(), waves_->settings());
        prepared_ = false;
      }
      waves_->set_medium(std::move(medium));
      return 0;
    });
    experiment_ = std::move(next);
  }

  /// (records, {name: fields behind the last step, [shot] and the padded model}); these only where `keep_last`.
  /// look(shot, step, fields) is called before each step that is a multiple of `every`. `start`: fields before the
  /// first step in the same form, or None.
  py::tuple forward(const py::object& look, Index every, bool may_edit, bool keep_last, const py::object& start) {
    const Busy busy(*this);
    const States before = states_of(start, "initial_state");
    std::vector<double> records = empty_records();
    py::dict last;
    Work().run([&] {
      const std::vector<mx::Shot> all = shots_on_grid(before);
      const Reserved reserved = reserve_run(keep_last || !before.empty());
      for (Index s = 0; s < shots(); ++s) {
        mx::Watch watch;
        if (keep_last || !look.is_none())
          watch.look = [&](Index step, mx::LiveFields& fields) {
            const bool ended = step == experiment_.steps;
            if (ended ? !keep_last : look.is_none() || step % every != 0) return;
            run_for_caller([&] {
              if (ended)
                keep(s, fields.state(), precision(), last);
              else
                show(look, s, step, std::make_shared<MaxwellFields>(fields, waves_, may_edit));
            });
          };
        put(waves_->forward(all[static_cast<std::size_t>(s)], {}, watch), s, records);
      }
      return 0;
    });
    return py::make_tuple(array_of(records, record_shape()), last);
  }

  /// The change of the records along a change of the model, of the amplitudes and of the fields before the first step;
  /// and that of the fields behind the last one where `keep_last`.
  py::tuple jvp(const py::dict& direction, const py::object& start, bool keep_last) {
    const Busy busy(*this);
    const Direction along = direction_of(direction);
    const States before = states_of(start, "initial_state");
    std::vector<double> records = empty_records();
    py::dict last;
    Work().run([&] {
      const mx::ComponentChange change = on_grid(along.model);
      const std::vector<mx::Shot> all = shots_on_grid(before);
      const Reserved reserved = reserve_run(keep_last || !before.empty() || !along.start.empty(), true);
      for (Index s = 0; s < shots(); ++s) {
        const std::shared_ptr<const mx::State> from = state_of(along.start, s);
        mx::State to;
        put(waves_->born(all[static_cast<std::size_t>(s)], change, along.of_shot(s), {},
                         {.start = from.get(), .end = keep_last ? &to : nullptr}),
            s, records);
        if (keep_last) run_for_caller([&] { keep(s, to, precision(), last); });
      }
      return 0;
    });
    return py::make_tuple(array_of(records, record_shape()), last);
  }

  /// The derivative of <records, residual> by what `of` names; and the records. `start` as for forward(); `end`: the
  /// derivative by the fields behind the last step. look(shot, step, fields) is called when all steps from `step` on
  /// have been taken back, for multiples of `every`.
  py::tuple vjp(const py::array& residual, const std::vector<std::string>& of, const py::object& start,
                const py::object& end, const py::object& look, Index every) {
    const std::vector<double> given = finite_values_of(residual, record_shape(), "the residual");
    std::vector<double> records = empty_records();
    py::dict gradient = accumulate(
        of, states_of(start, "initial_state"), states_of(end, "final_state"), [&](Index s, const mx::Shot& shot) {
          mx::Watch watch;
          if (!look.is_none())
            watch.look_back = [&](Index step, mx::LiveFields& fields, const auto& so_far) {
              if (step % every != 0) return;
              run_for_caller([&] {
                show(look, s, step, std::make_shared<MaxwellFields>(fields, waves_, false, [&](bool padded) {
                       return gathered(so_far(), padded);
                     }));
              });
            };
          return waves_->gradient(
              shot,
              [&](std::span<const double> record, std::span<double> to) {
                put({record.begin(), record.end()}, s, records);
                take(given, s, to);
                return 0.0;
              },
              {}, watch);
        });
    return py::make_tuple(gradient, array_of(records, record_shape()));
  }

  /// With a residual the derivative of <change of the records along `direction`, residual>; without one the product of
  /// Gauss and Newton, J' J direction.
  py::dict second_product(const py::dict& direction, const py::object& residual, const std::vector<std::string>& of,
                          const py::object& start) {
    const Direction along = direction_of(direction);
    const bool full = !residual.is_none();
    std::vector<double> given;
    if (full) given = finite_values_of(py::cast<py::array>(residual), record_shape(), "the residual");
    const mx::ComponentChange change_of_medium = on_grid(along.model);
    return accumulate(of, states_of(start, "initial_state"), {}, [&](Index s, const mx::Shot& shot) {
      return waves_->hessian_product(
          shot, change_of_medium, along.of_shot(s),
          [&](std::span<const double>, std::span<const double> change, std::span<double> to,
              std::span<double> to_change) {
            if (full)
              take(given, s, to);
            else
              std::copy(change.begin(), change.end(), to_change.begin());
            return 0.0;
          },
          full ? mx::Operator::Hessian::full : mx::Operator::Hessian::gauss_newton);
    });
  }

 private:
  /// One call at a time.
  class Busy {
   public:
    explicit Busy(MaxwellOperator& of) : of_(of) {
      if (of_.busy_.exchange(true))
        throw Error(ErrorKind::usage, "the operator is in use: it runs one call at a time")
            .hint("make an operator for each thread");
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { of_.busy_ = false; }

   private:
    MaxwellOperator& of_;
  };

  /// Arrays of states by name, [shot] and the padded model; empty: none.
  using States = std::map<std::string, std::vector<double>>;

  struct Direction {
    mx::ModelChange model{};
    States start{};
    std::vector<double> sources{};  ///< [shot][source][step], or empty
    std::size_t each = 0;
    [[nodiscard]] std::span<const double> of_shot(Index s) const {
      if (sources.empty()) return {};
      return std::span(sources).subspan(static_cast<std::size_t>(s) * each, each);
    }
  };

  static std::optional<std::size_t> memory_bytes(const std::optional<std::string>& text) {
    ComputeOptions compute{.device = "cpu", .memory = {}};
    if (text) Fields(compute).assign_text("memory", *text, "memory");
    return compute.memory_bytes();
  }

  [[nodiscard]] Index shots() const { return static_cast<Index>(experiment_.shots.size()); }
  [[nodiscard]] Index receivers() const { return static_cast<Index>(experiment_.shots.front().receivers.size()); }
  [[nodiscard]] Shape record_shape() const { return Shape{experiment_.steps, shots(), receivers()}; }
  [[nodiscard]] Shape source_shape() const {
    return Shape{shots(), static_cast<Index>(experiment_.shots.front().sources.size()), experiment_.steps};
  }
  [[nodiscard]] Shape model_shape() const {
    Shape made;
    for (const std::size_t d : dimensions_of(experiment_.grid)) made.append(experiment_.grid.cells[d]);
    return made;
  }
  [[nodiscard]] std::vector<double> empty_records() const {
    return std::vector<double>(static_cast<std::size_t>(record_shape().count()));
  }

  /// Empty for None.
  [[nodiscard]] std::vector<double> of_model(const py::object& given, const std::string& what) const {
    if (given.is_none()) return {};
    return values_of(py::cast<py::array>(given), model_shape(), what);
  }
  [[nodiscard]] std::vector<mx::ModelPole> poles_of(const py::list& given) const {
    std::vector<mx::ModelPole> made;
    for (const py::handle& each : given) {
      const auto pair = py::cast<py::tuple>(each);
      made.push_back({of_model(pair[0], "delta_epsilon"), of_model(pair[1], "tau")});
    }
    return made;
  }
  [[nodiscard]] Direction direction_of(const py::dict& given) const {
    Direction made;
    const auto part = [&](const char* name) {
      return given.contains(name) ? finite_values_of(py::cast<py::array>(given[name]), model_shape(),
                                                     fmt::format("the direction of {}", name))
                                  : std::vector<double>{};
    };
    made.model = {part("eps_r"), part("sigma"), part("mu_r")};
    if (given.contains("debye")) {
      made.model.poles = poles_of(py::cast<py::list>(given["debye"]));
      if (made.model.poles.size() != experiment_.poles.size())
        throw Error(ErrorKind::bad_input, fmt::format("the direction of debye: {} poles; the model has {}",
                                                      made.model.poles.size(), experiment_.poles.size()));
    }
    if (given.contains("initial_state"))
      made.start = states_of(given["initial_state"], "the direction of initial_state");
    if (given.contains("source"))
      made.sources = finite_values_of(py::cast<py::array>(given["source"]), source_shape(), "the direction of source");
    made.each = static_cast<std::size_t>(source_shape()[1] * source_shape()[2]);
    return made;
  }

  [[nodiscard]] mx::ComponentChange on_grid(const mx::ModelChange& change) const {
    return mx::locate_change(change, experiment_.model.location, mx::PaddingGradient::exact, waves_->problem().grid);
  }

  [[nodiscard]] mx::ModelChange gathered(const mx::ComponentChange& change, bool padded) const {
    const mx::Grid& grid = waves_->problem().grid;
    if (!padded) return mx::gather_change(change, experiment_.model.location, mx::PaddingGradient::exact, grid);
    mx::GridSpec whole = grid.spec();
    whole.cells = grid.extents();
    whole.pml = {};
    return mx::gather_change(change, experiment_.model.location, mx::PaddingGradient::exact, mx::Grid(whole));
  }

  [[nodiscard]] py::dtype precision() const {
    return experiment_.precision == mx::Precision::f32 ? py::dtype::of<float>() : py::dtype::of<double>();
  }
  [[nodiscard]] Shape padded_shape() const {
    Shape made;
    for (const std::size_t d : dimensions_of(experiment_.grid)) made.append(waves_->problem().grid.extents()[d]);
    return made;
  }

  /// None gives none.
  [[nodiscard]] States states_of(const py::object& given, const std::string& what) const {
    States made;
    if (given.is_none()) return made;
    mx::State known = mx::make_state(waves_->problem());
    std::vector<std::string> names;
    for_each_part(known, waves_->problem().grid,
                  [&](const std::string& name, const std::vector<double>&) { names.push_back(name); });
    Shape shape{shots()};
    const Shape padded = padded_shape();
    for (int axis = 0; axis < padded.rank(); ++axis) shape.append(padded[axis]);
    for (const auto& [key, value] : py::cast<py::dict>(given)) {
      const auto name = py::cast<std::string>(key);
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(ErrorKind::bad_input,
                    fmt::format("{}: no field \"{}\"; expected {}", what, name, fmt::join(names, ", ")));
      made[name] = finite_values_of(py::cast<py::array>(value), shape, fmt::format("{} {}", what, name));
    }
    return made;
  }
  /// Null where there are none; fields that are not named are zero.
  [[nodiscard]] std::shared_ptr<const mx::State> state_of(const States& states, Index s) const {
    if (states.empty()) return nullptr;
    auto made = std::make_shared<mx::State>(mx::make_state(waves_->problem()));
    for_each_part(*made, waves_->problem().grid, [&](const std::string& name, std::vector<double>& values) {
      if (const auto found = states.find(name); found != states.end())
        values.assign(found->second.begin() + s * padded_shape().count(),
                      found->second.begin() + (s + 1) * padded_shape().count());
    });
    return made;
  }

  [[nodiscard]] std::vector<mx::Shot> shots_on_grid(const States& start, const States& end = {}) const {
    std::vector<mx::Shot> made = shots_on_grid();
    for (Index s = 0; s < shots(); ++s) {
      made[static_cast<std::size_t>(s)].start = state_of(start, s);
      made[static_cast<std::size_t>(s)].end = state_of(end, s);
    }
    return made;
  }
  [[nodiscard]] std::vector<mx::Shot> shots_on_grid(bool warn = false) const {
    std::vector<mx::Shot> made;
    std::vector<std::string> warnings;
    for (const mx::SurveyShot& shot : experiment_.shots)
      made.push_back(mx::shot_on_grid(shot, waves_->problem().grid, warnings));
    if (warn)
      for (const std::string& warning : warnings) log_warning(warning);
    return made;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> points() const {
    return {experiment_.shots.front().sources.size(), experiment_.shots.front().receivers.size()};
  }

  struct Reserved {
    Reservation host, device;
  };
  [[nodiscard]] Reserved reserve(std::size_t host_bytes, std::size_t device_bytes) {
    Reserved made{budget_.reserve(host_bytes, "the waves"), {}};
    if (!device_.is_cpu()) made.device = device_budget_.reserve(device_bytes, "the waves");
    return made;
  }
  /// Of states of all shots.
  [[nodiscard]] std::size_t state_bytes() const {
    const mx::Grid& grid = waves_->problem().grid;
    const std::size_t arrays = 3 * grid.components().size() + 3 * experiment_.poles.size();
    return sizeof(double) * arrays * static_cast<std::size_t>(grid.count() * (shots() + 1));
  }
  /// What a run holds beside its experiment, and beside that its change where it is linearised.
  [[nodiscard]] Reserved reserve_run(bool states, bool linearised = false) {
    MemoryPlan host, device;
    waves_->add_memory(host, points().first, points().second);
    if (!device_.is_cpu()) waves_->add_device_memory(device, points().first, points().second);
    if (linearised) waves_->add_born_memory(device_.is_cpu() ? host : device);
    return reserve(host.peak_bytes + (states ? state_bytes() : 0), device.peak_bytes);
  }

  void prepare(const mx::GradientOf& of) {
    const auto wanted = std::tuple(of.eps_r, of.sigma, of.mu_r, of.sources, of.start, of.poles);
    if (prepared_ && wanted == prepared_of_) return;
    TierBudgets budgets = TierBudgets::around(device_, device_budget_, storage_settings_.path);
    budgets.host = budget_;
    mx::RunPlan plan = mx::plan_run(*waves_, mx::highest_frequency(experiment_));
    plan_ = mx::plan_gradient(*waves_, of, storage_settings_, points().first, points().second, budgets, plan);
    if (of.medium()) mx::require_kept(plan_);
    rest_bytes_ = plan.memory.peak_bytes - plan_.host_bytes;
    device_rest_bytes_ = plan.device_memory.peak_bytes - plan_.device_bytes;
    waves_->prepare_gradient(of, plan_, budgets);
    prepared_of_ = wanted;
    prepared_ = true;
  }

  /// The sum over shots of `of_shot`, along a fixed tree.
  py::dict accumulate(const std::vector<std::string>& names, const States& start, const States& end,
                      const std::function<mx::ShotGradient(Index, const mx::Shot&)>& of_shot) {
    const Busy busy(*this);
    const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    const mx::GradientOf of{.eps_r = has("eps_r"),
                            .sigma = has("sigma"),
                            .mu_r = has("mu_r"),
                            .sources = has("source"),
                            .start = has("initial_state"),
                            .poles = has("debye") && !experiment_.poles.empty()};
    TreeSum<NumberSum> sum(shots());
    std::vector<double> sources;
    std::vector<mx::State> starts;
    Work().run([&] {
      prepare(of);
      const bool states = of.start || !start.empty() || !end.empty();
      const Reserved reserved = reserve(rest_bytes_ + (states ? state_bytes() : 0), device_rest_bytes_);
      const std::vector<mx::Shot> all = shots_on_grid(start, end);
      for (Index s = 0; s < shots(); ++s) {
        mx::ShotGradient found = of_shot(s, all[static_cast<std::size_t>(s)]);
        const mx::ModelChange model = gathered(found.medium, false);
        NumberSum one;
        const auto append = [&](const std::vector<double>& part) {
          one.values.insert(one.values.end(), part.begin(), part.end());
        };
        for (const std::vector<double>* part : {&model.eps_r, &model.sigma, &model.mu_r}) append(*part);
        for (const auto part : {&mx::ModelPole::deps, &mx::ModelPole::tau})
          for (const mx::ModelPole& pole : model.poles) append(pole.*part);
        sum.add(s, std::move(one));
        sources.insert(sources.end(), found.sources.begin(), found.sources.end());
        if (of.start) starts.push_back(std::move(found.start));
      }
      return 0;
    });
    const std::vector<double> all = sum.result().values;
    auto next = all.begin();
    py::dict result;
    const auto take = [&](const Shape& shape) {
      const auto first = std::exchange(next, next + shape.count());
      return array_of(std::vector<double>(first, next), shape);
    };
    for (const auto& [wanted, name] :
         {std::pair(of.eps_r, "eps_r"), std::pair(of.sigma, "sigma"), std::pair(of.mu_r, "mu_r")})
      if (wanted) result[name] = take(model_shape());
    if (of.poles) {
      Shape shape{static_cast<Index>(experiment_.poles.size())};
      for (int axis = 0; axis < model_shape().rank(); ++axis) shape.append(model_shape()[axis]);
      py::array deps = take(shape), tau = take(shape);
      result["debye"] = py::make_tuple(deps, tau);
    }
    if (of.sources) result["source"] = array_of(sources, source_shape());
    if (of.start) {
      py::dict by;
      for (Index s = 0; s < shots(); ++s) keep(s, starts[static_cast<std::size_t>(s)], py::dtype::of<double>(), by);
      result["initial_state"] = by;
    }
    return result;
  }

  /// [receiver][step] of one shot into all records, and back.
  void put(const std::vector<double>& record, Index s, std::vector<double>& records) const {
    for_each_sample(s, [&](std::size_t here, std::size_t there) { records[there] = record[here]; });
  }
  void take(const std::vector<double>& records, Index s, std::span<double> record) const {
    for_each_sample(s, [&](std::size_t here, std::size_t there) { record[here] = records[there]; });
  }
  template <class Body>
  void for_each_sample(Index s, const Body& body) const {
    for (Index r = 0; r < receivers(); ++r)
      for (Index n = 0; n < experiment_.steps; ++n)
        body(static_cast<std::size_t>(r * experiment_.steps + n),
             static_cast<std::size_t>((n * shots() + s) * receivers() + r));
  }

  static void show(const py::object& look, Index shot, Index step, const std::shared_ptr<MaxwellFields>& shown) {
    try {
      look(shot, step, shown);
    } catch (...) {
      shown->close();
      throw;
    }
    shown->close();
  }

  void keep(Index shot, const mx::State& state, const py::dtype& dtype, py::dict& states) const {
    for_each_part(state, waves_->problem().grid, [&](const std::string& key, const std::vector<double>& values) {
      const py::str name(key);
      const py::array now = array_of(values, padded_shape());
      if (!states.contains(name)) {
        std::vector<py::ssize_t> shape{shots()};
        shape.insert(shape.end(), now.shape(), now.shape() + now.ndim());
        states[name] = py::array(dtype, shape);
      }
      states[name][py::int_(shot)] = now;
    });
  }

  Device device_;
  Budget budget_;         ///< of the host
  Budget device_budget_;  ///< of where steps are computed
  mx::Experiment experiment_;
  mx::StorageSettings storage_settings_;
  std::shared_ptr<mx::Operator> waves_;
  mx::StoragePlan plan_;
  std::tuple<bool, bool, bool, bool, bool, bool> prepared_of_{};
  bool prepared_ = false;
  std::size_t rest_bytes_ = 0, device_rest_bytes_ = 0;
  std::atomic<bool> busy_{false};
};

/// Native wavelets at the times (n + offset) dt.
py::array wavelet(const std::string& name, double frequency, Index length, double dt, std::optional<double> delay,
                  double cycles, double offset) {
  if (length < 1) throw Error(ErrorKind::bad_input, fmt::format("length = {}: expected at least 1", length));
  if (!(dt > 0)) throw Error(ErrorKind::bad_input, fmt::format("dt = {} s: expected above 0", dt));
  return array_of(
      mx::sampled({.name = name, .frequency = frequency, .delay = delay, .cycles = cycles}, length, dt, offset),
      Shape{length});
}

/// The largest stable time step, s.
double largest_step(const std::vector<double>& spacing, double velocity, int order) {
  if (spacing.size() != 2 && spacing.size() != 3)
    throw Error(ErrorKind::bad_input, fmt::format("spacing: {} values; expected 2 or 3", spacing.size()));
  if (!(velocity > 0)) throw Error(ErrorKind::bad_input, fmt::format("velocity = {} m/s: expected above 0", velocity));
  mx::GridSpec spec{.mode = spacing.size() == 2 ? mx::Mode::tm2d : mx::Mode::em3d, .order = order};
  const std::vector<mx::Axis> axes = mx::axes_of(spec.mode);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    spec.cells[mx::dimension(axes[i])] = std::max(order, 2);
    spec.spacing[mx::dimension(axes[i])] = spacing[i];
  }
  mx::ComponentMedium medium;
  medium.eps_r[0] = {mx::c0 / velocity * (mx::c0 / velocity)};
  medium.mu_r[0] = {1};
  return mx::largest_time_step(mx::Grid(spec), medium);
}

void add(py::module_& module) {
  py::class_<MaxwellFields, std::shared_ptr<MaxwellFields>>(module, "MaxwellFields")
      .def("view", &MaxwellFields::view)
      .def("gradient", &MaxwellFields::gradient);
  py::class_<MaxwellOperator>(module, "MaxwellOperator")
      .def(py::init<const py::dict&, const py::list&, double, const std::string&, bool,
                    const std::optional<std::string>&>())
      .def("describe", &MaxwellOperator::describe)
      .def("set_model", &MaxwellOperator::set_model)
      .def("forward", &MaxwellOperator::forward)
      .def("jvp", &MaxwellOperator::jvp)
      .def("vjp", &MaxwellOperator::vjp)
      .def("second_product", &MaxwellOperator::second_product);
  module.def("maxwell_wavelet", wavelet);
  module.def("maxwell_largest_step", largest_step);
  run_apart(module.attr("MaxwellOperator"), {"forward", "jvp", "vjp", "second_product"});
}

std::optional<py::list> fields(const std::string&) { return std::nullopt; }

}  // namespace

extern const Bindings maxwell_bindings;
const Bindings maxwell_bindings{.add = add, .fields = fields};

}  // namespace sonde::python
