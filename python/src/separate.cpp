// SPDX-License-Identifier: Apache-2.0
// Networks that separate music, as functions of arrays.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apart.h"
#include "bindings.h"
#include "convert.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/weights/model.h"
#include "work.h"

namespace sonde::python {
namespace {

using separate::Config;

Array of_samples(const py::array& array, const std::string& what, int rank, Index channels) {
  Array samples = borrow(array, what);
  const Shape& shape = samples.shape();
  if (samples.dtype() != DType::f32 || shape.rank() != rank || samples.count() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} of shape {}, expected float32 with {} dimensions", what,
                            name(samples.dtype()), shape.text(), rank))
        .hint(rank == 2 ? "(channels, samples)" : "(batch, channels, samples)");
  if (shape[rank - 2] != channels)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} channels, the network has {}", what, shape[rank - 2], channels));
  return samples;
}

/// A prepared network. One call at a time.
class SeparationModel {
 public:
  SeparationModel(const std::string& checkpoint, const std::string& model, const std::string& state_key,
                  const std::optional<std::string>& memory) {
    ComputeOptions compute{.device = "cpu", .memory = {}};
    if (memory) Fields(compute).assign_text("memory", *memory, "memory");
    Budget budget = Budget::automatic(Device::cpu(), compute.memory_bytes());
    plan_.emplace(Work().run([&] {
      const separate::Model opened =
          separate::open_model({.checkpoint = checkpoint, .model = model, .state_key = state_key});
      config_ = opened.config;
      configuration_ = opened.configuration;
      if (opened.checkpoint) warnings_ = opened.checkpoint->warnings;
      held_ = budget.reserve(separate::Plan::bytes_for(config_).sum(), "the network");
      return separate::Plan::prepare(config_, opened.values());
    }));
  }

  /// (batch, channels, chunk) to (batch, stems, channels, chunk).
  py::array forward(const py::array& array) {
    const Array chunks = of_samples(array, "chunks", 3, config_.audio_channels);
    if (chunks.shape()[2] != config_.chunk)
      throw Error(ErrorKind::bad_input,
                  fmt::format("chunks: {} samples, a chunk has {}", chunks.shape()[2], config_.chunk))
          .hint("separate() takes any length");
    const Index batch = chunks.shape()[0], stems = stem_count();
    const View<const float, 3> from = chunks.view<float, 3>();
    return to_numpy(Work().run([&] {
      Array made(Device::cpu(), {batch, stems, config_.audio_channels, config_.chunk}, DType::f32);
      const View<float, 4> to = made.view<float, 4>();
      for (Index item = 0; item < batch; ++item) plan_->run(from[item], to[item]);
      return made;
    }));
  }

  [[nodiscard]] py::dict describe() const {
    py::dict made;
    made["stems"] = config_.stems();
    made["sample_rate"] = config_.sample_rate;
    made["channels"] = config_.audio_channels;
    made["chunk"] = config_.chunk;
    made["overlap"] = config_.overlap;
    made["configuration"] = py::make_tuple(configuration_.value, configuration_.because);
    made["warnings"] = warnings_;
    return made;
  }

  /// What each layer is computed by, and how long it took in the last run.
  [[nodiscard]] py::dict plan() const {
    py::list layers;
    for (const separate::Plan::Time& each : plan_->times()) {
      py::dict layer;
      layer["stage"] = each.stage;
      layer["method"] = each.method;
      layer["multiplications"] = each.multiplications;
      layer["seconds"] = each.seconds;
      layers.append(layer);
    }
    const separate::Plan::Bytes held = plan_->bytes();
    py::dict bytes;
    bytes["weights"] = held.weights;
    bytes["values"] = held.values;
    bytes["scratch"] = held.scratch;
    bytes["spectrum"] = held.spectrum;
    py::dict made;
    made["layers"] = layers;
    made["bytes"] = bytes;
    return made;
  }

 private:
  [[nodiscard]] Index stem_count() const { return static_cast<Index>(config_.stems().size()); }

  Config config_;
  Choice<std::string> configuration_;
  std::vector<std::string> warnings_;
  Reservation held_;
  std::optional<separate::Plan> plan_;
};

/// Each parameter of a checkpoint as float32.
py::dict state_dict(const std::string& path, const std::string& state_key) {
  auto arrays = Work().run([&] {
    const separate::Checkpoint checkpoint = separate::read_checkpoint(path, state_key);
    std::vector<std::pair<std::string, Array>> all;
    for (const auto& [name, tensor] : checkpoint.tensors)
      all.emplace_back(name, separate::values_of(checkpoint, tensor).clone());
    return all;
  });
  py::dict made;
  for (auto& [name, array] : arrays) made[py::str(name)] = to_numpy(std::move(array));
  return made;
}

void add(py::module_& module) {
  py::class_<SeparationModel>(module, "SeparationModel")
      .def(py::init<const std::string&, const std::string&, const std::string&, const std::optional<std::string>&>())
      .def("forward", &SeparationModel::forward)
      .def("describe", &SeparationModel::describe)
      .def("plan", &SeparationModel::plan);
  module.def("separation_state_dict", state_dict);
  run_apart(module, {"separation_state_dict"});
  run_apart(module.attr("SeparationModel"), {"forward"});
}

std::optional<py::list> fields(const std::string&) { return std::nullopt; }

}  // namespace

extern const Bindings separate_bindings;
const Bindings separate_bindings{.add = add, .fields = fields};

}  // namespace sonde::python
