// SPDX-License-Identifier: Apache-2.0
// Flux surfaces from files and harmonics.
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <utility>

#include "neoclassical.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"
#include "sonde/instruments/neoclassical/results/run_result.h"
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"
#include "work.h"

namespace sonde::python {
namespace {

namespace nc = neoclassical;

py::dict describe_surface(const FluxSurface& of) {
  const nc::Surface& surface = of.surface();
  const nc::CoefficientUnits units = nc::coefficient_units(surface);
  Value value;
  value["source"] = surface.source;
  value["angles"] = surface.angles;
  value["nfp"] = surface.periods;
  value["iota"] = surface.iota;
  value["psi_scale"] = surface.psi_scale;
  value["s"] = surface.s;
  value["B0"] = surface.reference_field();
  value["symmetric"] = surface.symmetric();
  value["radial_label"] = units.label;
  value["units"]["D11"] = units.D11;
  value["units"]["D31"] = units.D31;
  value["units"]["D13"] = units.D31;
  value["units"]["D33"] = "m";
  value["notes"] = Value::list();
  for (const std::string& note : of.notes()) value["notes"].push_back(note);
  return to_python(value);
}

/// (m, n, cosine, sine) of |B|; sine is None for stellarator symmetry.
py::tuple harmonics(const FluxSurface& of) {
  const nc::Series& b = of.surface().b;
  const auto count = static_cast<py::ssize_t>(b.modes.size());
  py::array_t<std::int64_t> m(count), n(count);
  for (py::ssize_t i = 0; i < count; ++i) {
    m.mutable_at(i) = b.modes[static_cast<std::size_t>(i)].m;
    n.mutable_at(i) = b.modes[static_cast<std::size_t>(i)].n;
  }
  return py::make_tuple(m, n, array_of(b.cosine), b.sine.empty() ? py::object(py::none()) : array_of(b.sine));
}

/// a_b, R0 and psi_a, None where the file does not say it.
py::dict lengths(const FluxSurface& of) {
  const FluxSurface::Lengths found = Work().run([&] { return of.lengths(); });
  py::dict told;
  for (const auto& [name, value] :
       {std::pair{"a_b", found.a_b}, std::pair{"R0", found.R0}, std::pair{"psi_a", found.psi_a}})
    told[name] = value != 0 ? py::object(py::float_(value)) : py::object(py::none());
  return told;
}

}  // namespace

FluxSurface::FluxSurface(const py::dict& keywords, const std::string& call) {
  const auto options = options_of<nc::SurfaceOptions>(keywords, call);
  Work work;
  nc::ReadSurface read = work.run([&] {
    const nc::SurfaceType type = nc::surface_type(options);
    if (type == nc::SurfaceType::analytic || type == nc::SurfaceType::dkes) return nc::read_surface(options);
    equilibrium_ = nc::Equilibrium::open(options);
    return equilibrium_->surface(nc::chosen_s(options, *equilibrium_));
  });
  files_ = work.files();
  surface_ = std::move(read.surface);
  notes_ = std::move(read.notes);
  if (!(surface_.s > 0)) scale_ = nc::field_scale(surface_);
}

void FluxSurface::measure() const {
  if (scale_) return;
  const double rho = std::sqrt(surface_.s);
  const nc::Lengths found = nc::lengths_at(*equilibrium_, {rho});
  lengths_ = {.a_b = found.a_b, .R0 = found.R0.front(), .psi_a = equilibrium_->psi_a()};
  scale_ = nc::field_scale(rho, found.a_b, std::abs(lengths_.psi_a));
  equilibrium_.reset();
}

FluxSurface::Lengths FluxSurface::lengths() const {
  const std::lock_guard lock(mutex_);
  try {
    measure();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;  // it is the file that does not say them
  }
  return lengths_;
}

std::vector<double> FluxSurface::epsi_hat(const nc::FieldAxis& axis) const {
  if (axis.kind == nc::FieldKind::epsi_hat) return axis.values;
  const std::lock_guard lock(mutex_);
  measure();
  return axis.epsi_hat(*scale_);
}

py::array array_of(const std::vector<double>& values, const Shape& shape) {
  return to_numpy(Array::from(values, shape));
}

py::array array_of(const std::vector<double>& values) {
  return array_of(values, Shape{static_cast<Index>(values.size())});
}

namespace {

Budget budget_of(Device device, const std::optional<std::string>& memory) {
  ComputeOptions compute{.device = "cpu", .memory = {}};
  if (memory) Fields(compute).assign_text("memory", *memory, "memory");
  return Budget::automatic(device, compute.memory_bytes());
}

}  // namespace

Budget host_budget(const std::optional<std::string>& memory) { return budget_of(Device::cpu(), memory); }

std::optional<nc::BatchDevice> batch_device(const std::string& asked, const std::string& why_not,
                                            const std::optional<std::string>& memory) {
  const nc::BatchDeviceChoice made = nc::choose_batch_device(asked, why_not);
  if (made.chosen.value.is_cpu()) return std::nullopt;
  return nc::BatchDevice{made.chosen.value, budget_of(made.chosen.value, memory)};
}

void add_neoclassical_surface(py::module_& module) {
  py::class_<FluxSurface, std::shared_ptr<FluxSurface>>(module, "NeoclassicalSurface")
      .def(py::init<const py::dict&, const std::string&>())
      .def("describe", describe_surface)
      .def("harmonics", harmonics)
      .def("lengths", lengths);
}

}  // namespace sonde::python
