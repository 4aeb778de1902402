// SPDX-License-Identifier: Apache-2.0
// Networks that separate music, as functions of arrays.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apart.h"
#include "bindings.h"
#include "convert.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/compute_options.h"
#include "sonde/instruments/separate/events/stem_events.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/run/samples.h"
#include "sonde/instruments/separate/score/bss_eval.h"
#include "sonde/instruments/separate/score/ratios.h"
#include "sonde/instruments/separate/weights/model.h"
#include "work.h"

namespace sonde::python {
namespace {

using separate::Config;

Array of_samples(const py::array& array, const std::string& what, int rank, Index channels) {
  Array samples = borrow(array, what);
  const Shape& shape = samples.shape();
  if (samples.dtype() != DType::f32 || shape.rank() != rank || samples.count() == 0)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} of shape {}, expected float32 with {} dimensions", what,
                                                  name(samples.dtype()), shape.text(), rank))
        .hint(rank == 2 ? "(channels, samples)" : "(batch, channels, samples)");
  if (shape[rank - 2] != channels)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} channels, the network has {}", what, shape[rank - 2], channels));
  return samples;
}

/// (channels, samples).
Array rows_of(const py::array& array, const std::string& what, DType dtype) {
  Array rows = borrow(array, what);
  if (rows.dtype() != dtype || rows.shape().rank() != 2 || rows.count() == 0)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} of shape {}, expected {} (channels, samples)", what,
                                                  name(rows.dtype()), rows.shape().text(), name(dtype)));
  return rows;
}

Array float_rows(const py::array& array, const std::string& what) { return rows_of(array, what, DType::f32); }

void require_equal_shapes(const Array& truth, const Array& estimate) {
  if (!(truth.shape() == estimate.shape()))
    throw Error(ErrorKind::bad_input,
                fmt::format("shapes {} and {}, expected equal ones", truth.shape().text(), estimate.shape().text()));
}

/// How chunks are joined.
struct JoinOptions {
  std::optional<Index> overlap{};
  separate::Policy policy = separate::Policy::fade;
  Index shifts = 1;
  bool tta = false;

  void describe(Fields& fields) {
    fields.add("overlap", overlap, {.help = "chunks that cover a sample; without it the configuration's", .min = 1});
    fields.choice("policy", policy, {{"fade", separate::Policy::fade}, {"uniform", separate::Policy::uniform}},
                  {.help = "how chunks are joined"});
    fields.add("shifts", shifts, {.help = "beginnings of chunks, over which is averaged", .min = 1});
    fields.add("tta", tta, {.help = "average over exchanged channels and the other sign"});
  }
  [[nodiscard]] separate::SeparationSettings settings(const Config& config) const {
    return {.overlap = overlap.value_or(config.overlap), .policy = policy, .shifts = shifts, .tta = tta};
  }
};

/// A prepared network. One call at a time.
class SeparationModel {
 public:
  SeparationModel(const std::string& checkpoint, const std::string& model, const std::string& state_key,
                  const std::optional<std::string>& memory) {
    ComputeOptions compute{.device = "cpu", .memory = {}};
    if (memory) Fields(compute).assign_text("memory", *memory, "memory");
    budget_.emplace(Budget::automatic(Device::cpu(), compute.memory_bytes()));
    plan_.emplace(Work().run([&] {
      const separate::Model opened =
          separate::open_model({.checkpoint = checkpoint, .model = model, .state_key = state_key});
      config_ = opened.config;
      configuration_ = opened.configuration;
      if (opened.checkpoint) warnings_ = opened.checkpoint->warnings;
      held_ = budget_->reserve(separate::Plan::bytes_for(config_).sum(), "the network");
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

  /// (channels, samples) at `rate` to each stem at the network's. `options`: overlap, policy, shifts, tta.
  py::dict separate(const py::array& array, Index rate, const py::dict& options, const py::object& progress) {
    const Array samples = rows_of(array, "samples", DType::f32);
    const auto chosen = options_of<JoinOptions>(options, "separate()");
    Array made = Work(progress).run([&] {
      // The signal at the network's rate, interleaved once and not, and the stems.
      const double count = static_cast<double>(samples.shape()[1]) * static_cast<double>(config_.sample_rate) /
                           static_cast<double>(std::max<Index>(rate, 1));
      const double numbers = count * static_cast<double>(config_.audio_channels * (2 + stem_count()));
      const Reservation stems =
          budget_->reserve(separate::bytes_for(config_, chosen.settings(config_)) +
                               static_cast<std::size_t>(sizeof(float) * std::min(numbers, 1e15)),
                           "samples and stems", "separate a shorter part, or raise " + setting("memory"));
      const Array heard =
          separate::resampled(samples.view<float, 2>(), rate, config_.sample_rate, config_.audio_channels);
      return separate::separate_samples(heard.view<float, 2>(), chosen.settings(config_), config_, *plan_);
    });
    const py::array all = to_numpy(std::move(made));
    py::dict stems;
    Index at = 0;
    for (const std::string& stem : config_.stems()) stems[py::str(stem)] = all[py::int_(at++)];
    return stems;
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
  std::optional<Budget> budget_;
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

using Ratio = double (*)(View<const float, 2>, View<const float, 2>);

double ratio_of(Ratio ratio, const py::array& truth, const py::array& estimate) {
  const Array of = float_rows(truth, "truth"), found = float_rows(estimate, "estimate");
  require_equal_shapes(of, found);
  return Work().run([&] { return ratio(of.view<float, 2>(), found.view<float, 2>()); });
}

py::dict bss_eval(const py::array& references, const py::array& estimates, bool best, Index taps) {
  const Array of = rows_of(references, "references", DType::f64), found = rows_of(estimates, "estimates", DType::f64);
  require_equal_shapes(of, found);
  const separate::BssEval made = Work().run([&] {
    return separate::bss_eval(of.view<double, 2>(), found.view<double, 2>(),
                              best ? separate::Pairing::best : separate::Pairing::given, taps);
  });
  py::dict dict;
  dict["sdr"] = made.sdr_db;
  dict["sir"] = made.sir_db;
  dict["sar"] = made.sar_db;
  dict["estimates"] = made.estimates;
  return dict;
}

separate::StemKind kind_called(const std::string& stem) {
  const auto kind = separate::stem_kind(stem);
  if (!kind)
    throw Error(ErrorKind::bad_input, fmt::format("stem: \"{}\" is not a drum", stem))
        .hint("kick, snare, toms, hihat, cymbals, crash and ride are, with their usual other names");
  return *kind;
}

py::list drum_events(const std::string& stem, const py::array& samples, Index rate) {
  const separate::StemKind kind = kind_called(stem);
  const Array heard = float_rows(samples, "samples");
  if (rate < 8000 || rate > 192000)
    throw Error(ErrorKind::bad_input, fmt::format("sample_rate: {} Hz, expected 8000 to 192000", rate));
  py::list made;
  for (const separate::DrumEvent& each :
       Work().run([&] { return separate::find_events(kind, heard.view<float, 2>(), rate, {}); }))
    made.append(py::make_tuple(each.time_s, std::string(separate::info(each.hit).name), each.velocity, each.level_db,
                               each.pan, each.strength, each.sustain_s));
  return made;
}

/// A file of `stems`: of each its name and (time in s, hit, velocity).
py::bytes drum_midi(
    const std::vector<std::pair<std::string, std::vector<std::tuple<double, std::string, Index>>>>& stems, double tempo,
    const std::optional<std::string>& path) {
  const separate::EventSettings settings;
  std::vector<separate::StemEvents> all;
  for (const auto& [name, events] : stems) {
    separate::StemEvents stem{.file = {.path = {}, .name = name, .kind = kind_called(name)}};
    for (const auto& [time, hit, velocity] : events) {
      const auto found = separate::hit_called(hit);
      if (!found) throw Error(ErrorKind::bad_input, fmt::format("{}: \"{}\" is not a hit of a drum", name, hit));
      stem.events.push_back({.time_s = time, .hit = *found, .velocity = velocity});
    }
    all.push_back(std::move(stem));
  }
  const std::string bytes = separate::midi_bytes(separate::midi_tracks(all, settings), {.tempo = tempo});
  if (path) {
    AtomicFile file(*path);
    file.write(bytes);
    file.commit();
  }
  return bytes;
}

void add(py::module_& module) {
  py::class_<SeparationModel>(module, "SeparationModel")
      .def(py::init<const std::string&, const std::string&, const std::string&, const std::optional<std::string>&>())
      .def("forward", &SeparationModel::forward)
      .def("separate", &SeparationModel::separate)
      .def("describe", &SeparationModel::describe)
      .def("plan", &SeparationModel::plan);
  module.def("separation_state_dict", state_dict);
  module.def("separation_sdr", [](const py::array& truth, const py::array& estimate) {
    return ratio_of(separate::sdr_db, truth, estimate);
  });
  module.def("separation_si_sdr", [](const py::array& truth, const py::array& estimate) {
    return ratio_of(separate::si_sdr_db, truth, estimate);
  });
  module.def("separation_bss_eval", bss_eval);
  module.def("separation_events", drum_events);
  module.def("separation_midi", drum_midi);
  run_apart(module, {"separation_state_dict", "separation_bss_eval", "separation_events"});
  run_apart(module.attr("SeparationModel"), {"forward", "separate"});
}

std::optional<py::list> fields(const std::string&) { return std::nullopt; }

}  // namespace

extern const Bindings separate_bindings;
const Bindings separate_bindings{.add = add, .fields = fields};

}  // namespace sonde::python
