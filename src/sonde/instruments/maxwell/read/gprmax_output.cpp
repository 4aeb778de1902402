// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"

namespace sonde::maxwell {
namespace {

const char* type_of(GprmaxSourceKind kind) {
  switch (kind) {
    case GprmaxSourceKind::voltage_source:
      return "VoltageSource";
    case GprmaxSourceKind::hertzian_dipole:
      return "HertzianDipole";
    case GprmaxSourceKind::magnetic_dipole:
      return "MagneticDipole";
  }
  return "";
}

Xyz position_of(const Triple& at, const GprmaxModel& model) {
  const XyzIndex planes = model.axes.to_file(at);
  Xyz made{};
  for (std::size_t u = 0; u < 3; ++u) made[u] = static_cast<double>(planes[u]) * model.spacing[u];
  return made;
}

void require_mergeable(const GprmaxOutput& first, const GprmaxOutput& other, std::size_t run) {
  const auto differ = [run](const std::string& what) {
    return Error(ErrorKind::bad_input, fmt::format("run {} has {} than the first one; expected the same", run, what));
  };
  if (other.runs != 0 || other.iterations != first.iterations || other.dt != first.dt) throw differ("other time steps");
  if (other.receivers.size() != first.receivers.size()) throw differ("other receivers");
  for (std::size_t r = 0; r < first.receivers.size(); ++r)
    for (const auto& [component, samples] : first.receivers[r].fields)
      if (!other.receivers[r].fields.contains(component) ||
          other.receivers[r].fields.size() != first.receivers[r].fields.size())
        throw differ("other components");
}

Array whole_numbers(const XyzIndex& values) {
  return Array::from(std::vector<std::int64_t>(values.begin(), values.end()), Shape{3});
}

Array samples_of(const std::vector<double>& values, const GprmaxOutput& output) {
  std::vector<float> single(values.size());
  std::transform(values.begin(), values.end(), single.begin(), [](double value) { return static_cast<float>(value); });
  return Array::from(single, output.runs == 0 ? Shape{output.iterations} : Shape{output.iterations, output.runs});
}

/// Attributes of a file and of what it contains.
class OutputReader {
 public:
  explicit OutputReader(const std::string& path) : file_(Hdf5File::open(path)), bytes_(File(path).size()) {}

  GprmaxOutput read() {
    made_.iterations = whole("Iterations", 1);
    made_.dt = positive_dt();
    made_.title = text("/", "Title");
    const std::array<std::optional<Xyz>, 2> cells{triple("/", "nx_ny_nz"), triple("/", "nx, ny, nz")};
    const Xyz counted = cells[0].value_or(cells[1].value_or(Xyz{}));
    for (std::size_t u = 0; u < 3; ++u) made_.cells[u] = rounded_half_down(counted[u]);
    made_.spacing = triple("/", "dx_dy_dz").value_or(triple("/", "dx, dy, dz").value_or(Xyz{}));
    steps("srcsteps", made_.src_steps);
    steps("rxsteps", made_.rx_steps);
    for (Index s = 1; file_.is_group(fmt::format("/srcs/src{}", s)); ++s) {
      const std::string group = fmt::format("/srcs/src{}", s);
      made_.sources.push_back({text(group, "Type"), triple(group, "Position").value_or(Xyz{})});
    }
    const Index count = whole("nrx", 0);
    for (Index r = 1; r <= count; ++r) made_.receivers.push_back(receiver(r, count));
    return std::move(made_);
  }

 private:
  [[nodiscard]] Error bad(const std::string& what) const {
    return {ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what)};
  }

  [[nodiscard]] std::string text(const std::string& object, const std::string& name) const {
    const std::optional<Hdf5Value> value = file_.attribute(object, name);
    return value ? value->text().value_or("") : "";
  }
  [[nodiscard]] Index whole(const char* name, Index least) const {
    const std::optional<Hdf5Value> value = file_.attribute("/", name);
    if (!value) throw bad(fmt::format("no attribute {}; expected a result of gprMax", name));
    const std::optional<std::int64_t> number = value->integer();
    if (!number || *number < least)
      throw bad(fmt::format("{} = {}; expected a whole number of at least {}", name, value->printed(), least));
    return *number;
  }
  [[nodiscard]] double positive_dt() const {
    const std::optional<Hdf5Value> value = file_.attribute("/", "dt");
    const std::optional<double> dt = value ? value->number() : std::nullopt;
    if (!dt || !(*dt > 0) || !std::isfinite(*dt))
      throw bad(fmt::format("dt = {}; expected seconds above 0", value ? value->printed() : "nothing"));
    return *dt;
  }
  [[nodiscard]] std::optional<Xyz> triple(const std::string& object, const std::string& name) const {
    const std::optional<Hdf5Value> value = file_.attribute(object, name);
    if (!value || value->elements.size() != 3) return std::nullopt;
    Xyz made{};
    for (std::size_t u = 0; u < 3; ++u) {
      const std::optional<double> number = Hdf5Value{{}, {value->elements[u]}}.number();
      if (!number) return std::nullopt;
      made[u] = *number;
    }
    return made;
  }
  void steps(const std::string& name, XyzIndex& cells) const {
    const Xyz read = triple("/", name).value_or(Xyz{});
    for (std::size_t u = 0; u < 3; ++u) cells[u] = rounded_half_down(read[u]);
  }

  GprmaxOutput::Receiver receiver(Index number, Index count) {
    const std::string group = fmt::format("/rxs/rx{}", number);
    if (!file_.is_group(group)) throw bad(fmt::format("no receiver {}; expected {}", group, count));
    GprmaxOutput::Receiver made{text(group, "Name"), triple(group, "Position").value_or(Xyz{}), {}};
    for (const Component component : all_components) {
      const std::string path = fmt::format("{}/{}", group, name(component));
      if (file_.is_dataset(path)) made.fields[component] = samples(path);
    }
    return made;
  }

  [[nodiscard]] std::string expected_shape() const {
    const Shape one{made_.iterations}, several{made_.iterations, made_.runs};
    if (known_runs_) return (made_.runs == 0 ? one : several).text();
    return fmt::format("{} or ({}, runs)", one.text(), made_.iterations);
  }

  std::vector<double> samples(const std::string& path) {
    const Hdf5Dataset dataset = file_.dataset(path);
    const Hdf5DatasetInfo& info = dataset.info();
    const bool merged = info.shape.rank() == 2;
    const Index runs = merged ? info.shape[1] : 0;
    const bool fits = info.shape.rank() >= 1 && info.shape.rank() <= 2 && info.shape[0] == made_.iterations &&
                      (!merged || runs > 0) && (!known_runs_ || runs == made_.runs);
    if (!fits || (info.dtype != DType::f32 && info.dtype != DType::f64))
      throw bad(fmt::format("{} is {} {}; expected f32 or f64 of shape {}", path, info.type_text, info.shape.text(),
                            expected_shape()));
    known_runs_ = true;
    made_.runs = runs;
    require_believable(fmt::format("{}, {}", file_.path(), path), {.items = info.shape.count(),
                                                                   .item_bytes = info.element_bytes,
                                                                   .chunks = 0,
                                                                   .file_bytes = bytes_,
                                                                   .packed = !info.filters.empty()});
    const Array read = dataset.read();
    const auto of = [&]<class T>(const T* first) { return std::vector<double>(first, first + read.count()); };
    return info.dtype == DType::f32 ? of(static_cast<const float*>(read.data()))
                                    : of(static_cast<const double*>(read.data()));
  }

  Hdf5File file_;
  std::uint64_t bytes_;
  GprmaxOutput made_;
  bool known_runs_ = false;
};

}  // namespace

GprmaxOutput empty_output(const GprmaxModel& model, const GprmaxAcquisition& run) {
  GprmaxOutput made{.title = model.title,
                    .iterations = model.iterations,
                    .dt = model.dt,
                    .cells = model.cells,
                    .spacing = model.spacing,
                    .src_steps = model.src_steps,
                    .rx_steps = model.rx_steps};
  for (const GprmaxSourcePoint& source : run.sources)
    made.sources.push_back({type_of(source.kind), position_of(source.at, model)});
  for (const GprmaxReceiverPoint& receiver : run.receivers) {
    GprmaxOutput::Receiver& each = made.receivers.emplace_back();
    each.name = receiver.name;
    each.position = position_of(receiver.at, model);
    for (const Component c : receiver.outputs) each.fields[c].resize(static_cast<std::size_t>(model.iterations));
  }
  return made;
}

GprmaxOutput merged(const std::vector<GprmaxOutput>& runs) {
  if (runs.empty()) throw Error(ErrorKind::bad_input, "0 runs; expected at least one");
  for (std::size_t run = 0; run < runs.size(); ++run) require_mergeable(runs[0], runs[run], run + 1);
  GprmaxOutput made = runs[0];
  made.runs = static_cast<Index>(runs.size());
  for (std::size_t r = 0; r < made.receivers.size(); ++r)
    for (auto& [component, samples] : made.receivers[r].fields) {
      const auto steps = static_cast<std::size_t>(made.iterations);
      samples.assign(steps * runs.size(), 0.0);
      for (std::size_t run = 0; run < runs.size(); ++run)
        for (std::size_t n = 0; n < steps; ++n)
          samples[n * runs.size() + run] = runs[run].receivers[r].fields.at(component)[n];
    }
  return made;
}

void write_gprmax_output(const std::string& path, const GprmaxOutput& output) {
  Hdf5Writer file(path);
  file.text_attribute("/", "gprMax", fmt::format("3.1.7 (sonde {})", build_info().version));
  file.text_attribute("/", "schema", "sonde.maxwell.out/1");  // by which sonde knows its own files
  file.text_attribute("/", "Title", output.title);
  file.attribute("/", "Iterations", output.iterations);
  file.attribute("/", "nx_ny_nz", whole_numbers(output.cells));
  file.attribute("/", "dx_dy_dz", std::vector<double>(output.spacing.begin(), output.spacing.end()));
  file.attribute("/", "dt", output.dt);
  file.attribute("/", "nsrc", static_cast<std::int64_t>(output.sources.size()));
  file.attribute("/", "nrx", static_cast<std::int64_t>(output.receivers.size()));
  file.attribute("/", "srcsteps", whole_numbers(output.src_steps));
  file.attribute("/", "rxsteps", whole_numbers(output.rx_steps));
  const auto place = [&](const std::string& group, const Xyz& position) {
    file.attribute(group, "Position", std::vector<double>(position.begin(), position.end()));
  };
  for (std::size_t s = 0; s < output.sources.size(); ++s) {
    const std::string group = fmt::format("/srcs/src{}", s + 1);
    file.group(group);
    file.text_attribute(group, "Type", output.sources[s].type);
    place(group, output.sources[s].position);
  }
  for (std::size_t r = 0; r < output.receivers.size(); ++r) {
    const GprmaxOutput::Receiver& receiver = output.receivers[r];
    const std::string group = fmt::format("/rxs/rx{}", r + 1);
    file.group(group);
    file.text_attribute(group, "Name", receiver.name);
    place(group, receiver.position);
    for (const auto& [component, samples] : receiver.fields)
      file.array(fmt::format("{}/{}", group, name(component)), samples_of(samples, output));
  }
  file.finish();
}

GprmaxOutput read_gprmax_output(const std::string& path) { return OutputReader(path).read(); }

}  // namespace sonde::maxwell
