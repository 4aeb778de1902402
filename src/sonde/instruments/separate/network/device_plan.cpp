// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/device_plan.h"

#include <algorithm>
#include <cassert>
#include <complex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/device/graph.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/device/run_body.h"
#include "sonde/engine/math/fft1d.h"
#include "sonde/engine/math/window.h"
#include "sonde/instruments/separate/network/network_device.h"
#include "sonde/instruments/separate/network/step.h"
#include "sonde/instruments/separate/network/value_memory.h"

namespace sonde::separate {
namespace {

using dense::Form;

// Everything in one piece of memory begins at a multiple of 256 bytes.
constexpr Index device_alignment = 64;

Index aligned(Index numbers) { return (numbers + device_alignment - 1) / device_alignment * device_alignment; }
std::size_t bytes_of(Index numbers) { return sizeof(float) * static_cast<std::size_t>(numbers); }

/// Hands out pieces of one array, or counts what they will be.
template <class T>
class Pieces {
 public:
  explicit Pieces(T* data = nullptr) : data_(data) {}
  T* take(Index count) {
    T* const piece = data_ == nullptr ? nullptr : data_ + taken_;
    taken_ += aligned(count);
    return piece;
  }
  [[nodiscard]] Index taken() const { return taken_; }

 private:
  T* data_;
  Index taken_ = 0;
};

Index lines_of(Index rows) { return (rows + winograd::tile - 1) / winograd::tile; }
Index tiles_of(const Step& step) { return lines_of(step.out.columns); }

/// What the products of one group of rows read and write besides values of the network.
struct GroupScratch {
  Index inputs = 0, products = 0;
};
GroupScratch scratch_of(const Step& step, Index rows) {
  switch (step.kind) {
    case LayerKind::product:
      return {};
    case LayerKind::linear:
    case LayerKind::up:
      return {.inputs = rows * step.in.columns * step.channels};
    case LayerKind::down:
      return {.inputs = rows * step.scale_rows * step.in.columns * step.channels};
    case LayerKind::convolution:
      break;
  }
  if (step.tiled()) {
    const Index tiles = lines_of(rows) * tiles_of(step) * winograd::planes;
    return {.inputs = tiles * step.channels, .products = tiles * step.out.channels};
  }
  if (!step.changes_inputs()) return {};
  return {.inputs = rows * step.out.columns * step.layer.kernel * step.layer.kernel * step.channels};
}

/// The steps of a network, in groups that fit the scratch memory, and what each kind of memory has to hold.
struct Shapes {
  LayerList list;
  std::vector<Step> steps;
  std::vector<bool> summed;  ///< values whose moments a norm needs
  GroupScratch scratch;
  Index strips = 0;  ///< numbers of float64

  Shapes(const Config& config, const DevicePlanOptions& options);
};

Shapes::Shapes(const Config& config, const DevicePlanOptions& options)
    : list(layer_list(config)), summed(list.values.size(), false) {
  const bool from_values = config.norm == Norm::instance || config.norm == Norm::group;
  for (const Layer& layer : list.layers) {
    for (const int input : layer.inputs) {
      if (input >= 0 && from_values && !layer.norm.empty()) summed[static_cast<std::size_t>(input)] = true;
    }
  }
  Index largest = config.audio_channels * config.frames() * (config.n_fft + 2);
  for (const ValueSize& value : list.values) largest = std::max(largest, value.count());
  if (std::max(largest, options.scratch) >> 32 != 0) {
    throw Error(ErrorKind::not_supported,
                fmt::format("audio.chunk_size = {}: {} numbers between two layers; a GPU takes fewer than 2^32",
                            config.chunk, largest));
  }
  for (const Layer& layer : list.layers) {
    Step& step = steps.emplace_back(shaped_step(layer, list, config, options.method));
    step.in_panels = false;
    const Index rows = step.shared_rows(), unit = step.tiled() ? winograd::tile : 1;
    const GroupScratch of_unit = scratch_of(step, unit);
    const Index numbers = std::max(Index{1}, of_unit.inputs + of_unit.products);
    step.group_rows = std::min(std::max(Index{1}, options.scratch / numbers) * unit, rows);
    const GroupScratch of_group = scratch_of(step, step.group_rows);
    scratch.inputs = std::max(scratch.inputs, of_group.inputs);
    scratch.products = std::max(scratch.products, of_group.products);
    const device::SumStrips sums{.pixels = step.out.rows * step.out.columns, .channels = step.out.channels};
    if (summed[static_cast<std::size_t>(layer.output)]) strips = std::max(strips, sums.strips() * 2 * sums.channels);
  }
}

/// A step's own memory on the device.
struct StepMemory {
  float *weights = nullptr, *scale = nullptr, *shift = nullptr, *gamma = nullptr, *beta = nullptr;

  StepMemory(Pieces<float>& pieces, const Step& step, bool from_values) : weights(pieces.take(weight_count(step))) {
    if (!step.changes_inputs()) return;
    scale = pieces.take(step.channels), shift = pieces.take(step.channels);
    if (!from_values || step.layer.norm.empty()) return;
    gamma = pieces.take(step.channels), beta = pieces.take(step.channels);
  }
};

/// That of the two transforms and of what comes in and goes out.
struct SpectrumMemory {
  float *samples, *stems, *window, *weights, *frames, *lines;

  SpectrumMemory(Pieces<float>& pieces, const Config& config)
      : samples(pieces.take(config.audio_channels * config.chunk)),
        stems(pieces.take(static_cast<Index>(config.stems().size()) * config.audio_channels * config.chunk)),
        window(pieces.take(config.n_fft)),
        weights(pieces.take(config.chunk)),
        frames(pieces.take(config.audio_channels * config.frames() * config.n_fft)),
        lines(pieces.take(config.audio_channels * config.frames() * 2 * (config.n_fft / 2 + 1))) {}
};

bool norm_from_values(const Config& config) { return config.norm == Norm::instance || config.norm == Norm::group; }

/// `problems` matrices, `apart` numbers from one to the next.
template <class T>
View<T, 3> matrices(T* data, Index problems, Index rows, Index columns, Index apart) {
  View<T, 3> made(data, problems, rows, columns);
  made.stride[0] = apart;
  return made;
}
template <class T>
View<T, 3> matrices(T* data, Index problems, Index rows, Index columns) {
  return {data, problems, rows, columns};
}

}  // namespace

struct DevicePlan::Parts {
  Config config;
  Shapes shapes;
  SpectrumShape shape;
  ValuePlaces places;
  dense::BatchedAlgebra algebra;
  Array weights, values, scratch, moments, spectrum;
  std::vector<StepMemory> memory;
  std::vector<Index> together;  ///< of each step's norm: channels with one mean and deviation
  std::vector<double*> sums;    ///< of each value: (2, channels), or null
  double* strips = nullptr;
  std::optional<SpectrumMemory> of_spectrum;
  std::optional<RealFft1d<float>> fft;
  PinnedBlock samples_room, stems_room;
  std::optional<Graph> graph;
  std::vector<double> seconds;  ///< of the measured run: spectrum, each step, samples
  Index runs = 0;
  Bytes held;

  Parts(Device device, const Config& of, const ParameterValues& parameter_values, const DevicePlanOptions& options,
        bool share);
  void upload(float* to, const float* from, Index count) { algebra.stream().copy(to, from, bytes_of(count)); }
  void prepare_steps(const ParameterValues& parameter_values);
  void prepare_spectrum();
  void warm_up(bool measure);

  [[nodiscard]] float* place(int value) {
    return static_cast<float*>(values.data()) + places.first[static_cast<std::size_t>(value)];
  }
  [[nodiscard]] device::Source source(std::size_t step) const;
  template <class Body>
  void run_elements(Index elements, const Body& body) {
    run_on(algebra.stream(), {.blocks = device::pieces_of(elements)}, body);
  }
  void multiply(View<const float, 3> a, View<const float, 3> b, bool add, View<float, 3> c) {
    algebra.multiply(1.0F, a, Form::plain, b, Form::plain, add ? 1.0F : 0.0F, c);
  }

  void queue(std::vector<Event>* marks);
  void queue_spectrum();
  void queue_samples();
  void queue_step(std::size_t i);
  void normalise(std::size_t i);
  void queue_group(std::size_t i, Index first, Index rows);
  void pointwise(std::size_t i);
  void in_tiles(std::size_t i, Index first, Index rows);
  void gather(std::size_t i, Index first, Index rows);
  void sum_output(const Step& step);
  void run(View<const float, 2> samples, View<float, 3> stems);
};

DevicePlan::Parts::Parts(Device device, const Config& of, const ParameterValues& parameter_values,
                         const DevicePlanOptions& options, bool share)
    : config(of),
      shapes(of, options),
      shape(spectrum_shape(of)),
      places(place_values(shapes.list, share)),
      algebra(device, options.products) {
  held = bytes_for(device, config, options);
  values = Array(device, {places.count}, DType::f32);
  held.values = values.allocated_bytes();
  scratch = Array(device, {shapes.scratch.inputs + shapes.scratch.products}, DType::f32);
  prepare_steps(parameter_values);
  prepare_spectrum();
  samples_room = PinnedBlock(device, bytes_of(config.audio_channels * config.chunk));
  stems_room = PinnedBlock(device, samples_room.size() * config.stems().size());
  graph.emplace([this](Stream&) { queue(nullptr); }, Graph::Replay::always);
  warm_up(share);
  held.spectrum = spectrum.allocated_bytes() + fft->bytes();  // with what the first run made it take
}

void DevicePlan::Parts::prepare_steps(const ParameterValues& parameter_values) {
  const Device device = algebra.stream().device();
  const bool from_values = norm_from_values(config);
  Pieces<float> counted;
  for (const Step& step : shapes.steps) (void)StepMemory(counted, step, from_values);
  weights = Array(device, {counted.taken()}, DType::f32);
  Pieces<float> pieces(static_cast<float*>(weights.data()));
  for (Step& step : shapes.steps) {
    const StepMemory& own = memory.emplace_back(pieces, step, from_values);
    step.output = place(step.layer.output);
    for (const int input : step.layer.inputs) {
      if (input < 0) continue;
      step.inputs.push_back(
          {.data = place(input), .channels = shapes.list.values[static_cast<std::size_t>(input)].channels});
    }
    const NormOfStep norm = prepare_norm(step, config, parameter_values);
    together.push_back(norm.together);
    pack_weights(step, parameter_values);
    if (!step.weights.empty()) upload(own.weights, static_cast<const float*>(step.weights.data()), weight_count(step));
    if (own.scale != nullptr) {
      upload(own.scale, step.scale.data(), step.channels);
      upload(own.shift, step.shift.data(), step.channels);
    }
    if (own.gamma != nullptr) {
      upload(own.gamma, norm.gamma.data(), step.channels);
      upload(own.beta, norm.beta.data(), step.channels);
    }
    algebra.stream().synchronise();  // before what was copied goes
    step.weights.free();
  }

  Pieces<double> doubles;
  const auto take_sums = [&] {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (shapes.summed[i]) sums[i] = doubles.take(2 * shapes.list.values[i].channels);
    }
    strips = doubles.take(shapes.strips);
  };
  sums.resize(shapes.list.values.size());
  take_sums();
  if (doubles.taken() == 0) return;
  moments = Array(device, {doubles.taken()}, DType::f64);
  doubles = Pieces<double>(static_cast<double*>(moments.data()));
  take_sums();
}

void DevicePlan::Parts::prepare_spectrum() {
  const Device device = algebra.stream().device();
  Pieces<float> counted;
  (void)SpectrumMemory(counted, config);
  spectrum = Array(device, {counted.taken()}, DType::f32);
  Pieces<float> pieces(static_cast<float*>(spectrum.data()));
  of_spectrum.emplace(pieces, config);
  const auto fill = [&](float* to, const std::vector<double>& from) {
    const std::vector<float> numbers(from.begin(), from.end());
    upload(to, numbers.data(), static_cast<Index>(numbers.size()));
    algebra.stream().synchronise();
  };
  fill(of_spectrum->window, hann_window(config.n_fft));
  fill(of_spectrum->weights, spectrum_weights(config));
  fft.emplace(RealFft1d<float>::prepare(
      {.length = config.n_fft, .batch = config.audio_channels * config.frames(), .device = device}));
}

void DevicePlan::Parts::warm_up(bool measure) {
  Stream& stream = algebra.stream();
  stream.fill_zero(of_spectrum->samples, samples_room.size());
  queue(nullptr);
  stream.synchronise();
  if (!measure) return;
  std::vector<Event> marks;
  marks.reserve(shapes.steps.size() + 3);
  queue(&marks);
  for (std::size_t i = 1; i < marks.size(); ++i) seconds.push_back(marks[i].seconds_since(marks[i - 1]));
  graph->run(stream);
  stream.synchronise();
}

device::Source DevicePlan::Parts::source(std::size_t i) const {
  const Step& step = shapes.steps[i];
  assert(step.changes_inputs());
  return {.first = step.inputs[0].data,
          .second = step.inputs.size() > 1 ? step.inputs[1].data : nullptr,
          .first_channels = step.inputs[0].channels,
          .channels = step.channels,
          .rows = step.in.rows,
          .columns = step.in.columns,
          .scale = memory[i].scale,
          .shift = memory[i].shift,
          .activate = step.layer.activate,
          .activation = step.activation,
          .alpha = step.alpha};
}

void DevicePlan::Parts::queue(std::vector<Event>* marks) {
  const auto mark = [&] {
    if (marks != nullptr) marks->emplace_back(algebra.stream().device()).record(algebra.stream());
  };
  mark();
  queue_spectrum();
  mark();
  for (std::size_t i = 0; i < shapes.steps.size(); ++i) {
    queue_step(i);
    mark();
  }
  queue_samples();
  mark();
}

void DevicePlan::Parts::queue_spectrum() {
  const Index lines = shape.audio_channels * shape.frames;
  run_elements(
      lines * shape.n_fft,
      device::TakeFrames{
          .shape = shape, .samples = of_spectrum->samples, .window = of_spectrum->window, .to = of_spectrum->frames});
  auto* const frequencies = reinterpret_cast<std::complex<float>*>(of_spectrum->lines);
  fft->forward(algebra.stream(), {of_spectrum->frames, lines, shape.n_fft}, {frequencies, lines, shape.frequencies()});
  run_elements(shapes.list.values.front().count(),
               device::PackSpectra{.shape = shape, .spectra = of_spectrum->lines, .to = place(0)});
}

void DevicePlan::Parts::queue_samples() {
  const Index lines = shape.audio_channels * shape.frames, chunk = shape.audio_channels * shape.chunk;
  const ValueSize& output = shapes.list.values.back();
  const float* const values_of = place(static_cast<int>(shapes.list.values.size()) - 1);
  auto* const frequencies = reinterpret_cast<std::complex<float>*>(of_spectrum->lines);
  for (Index stem = 0; stem < output.channels / config.input_channels(); ++stem) {
    run_elements(lines * 2 * shape.frequencies(),
                 device::UnpackSpectra{.shape = shape,
                                       .values = values_of + stem * config.input_channels(),
                                       .channels = output.channels,
                                       .to = of_spectrum->lines});
    fft->inverse(algebra.stream(), {frequencies, lines, shape.frequencies()},
                 {of_spectrum->frames, lines, shape.n_fft});
    run_elements(chunk, device::OverlapFrames{.shape = shape,
                                              .frames = of_spectrum->frames,
                                              .window = of_spectrum->window,
                                              .weights = of_spectrum->weights,
                                              .to = of_spectrum->stems + stem * chunk});
  }
}

void DevicePlan::Parts::normalise(std::size_t i) {
  const Step& step = shapes.steps[i];
  const auto sums_of = [&](std::size_t input) {
    return input < step.inputs.size() ? sums[static_cast<std::size_t>(step.layer.inputs[input])] : nullptr;
  };
  run_elements(step.channels / together[i], device::NormaliseChannels{.first = sums_of(0),
                                                                      .second = sums_of(1),
                                                                      .first_channels = step.inputs[0].channels,
                                                                      .channels = step.channels,
                                                                      .together = together[i],
                                                                      .pixels = step.in.rows * step.in.columns,
                                                                      .gamma = memory[i].gamma,
                                                                      .beta = memory[i].beta,
                                                                      .scale = memory[i].scale,
                                                                      .shift = memory[i].shift});
}

void DevicePlan::Parts::queue_step(std::size_t i) {
  const Step& step = shapes.steps[i];
  if (memory[i].gamma != nullptr) normalise(i);
  if (step.kind == LayerKind::product) {
    const Index count = step.out.count();
    run_elements(count, device::MultiplyElements{
                            .a = step.inputs[0].data, .b = step.inputs[1].data, .count = count, .to = step.output});
  } else if (!step.changes_inputs()) {
    pointwise(i);
  } else {
    for (Index first = 0; first < step.shared_rows(); first += step.group_rows) {
      queue_group(i, first, std::min(step.group_rows, step.shared_rows() - first));
    }
  }
  if (shapes.summed[static_cast<std::size_t>(step.layer.output)]) sum_output(step);
}

/// Products of the inputs themselves.
void DevicePlan::Parts::pointwise(std::size_t i) {
  const Step& step = shapes.steps[i];
  const Index pixels = step.out.rows * step.out.columns, outputs = step.out.channels;
  Index at = 0;
  for (const Input& input : step.inputs) {
    multiply(matrices(input.data, 1, pixels, input.channels),
             matrices<const float>(memory[i].weights + at * outputs, 1, input.channels, outputs),
             step.layer.add >= 0 || at > 0, matrices(step.output, 1, pixels, outputs));
    at += input.channels;
  }
}

void DevicePlan::Parts::gather(std::size_t i, Index first, Index rows) {
  const Step& step = shapes.steps[i];
  device::GatherPatches body{.source = source(i),
                             .first_row = first,
                             .rows = rows,
                             .columns = step.in.columns,
                             .to = static_cast<float*>(scratch.data())};
  if (step.kind == LayerKind::convolution) {
    body.height = body.width = step.layer.kernel;
    body.edge = step.layer.kernel / 2;
  } else if (step.kind == LayerKind::down) {
    body.columns = step.out.columns;
    body.height = body.row_step = step.scale_rows;
    body.width = body.column_step = step.scale_columns;
  }
  run_elements(body.elements(), body);
}

/// Rows [first, first + rows) of the output, of `up` those of the input.
void DevicePlan::Parts::queue_group(std::size_t i, Index first, Index rows) {
  const Step& step = shapes.steps[i];
  if (step.tiled()) return in_tiles(i, first, rows);
  gather(i, first, rows);
  const auto* const inputs = static_cast<const float*>(scratch.data());
  const float* const own = memory[i].weights;
  const Index columns = step.out.columns, outputs = step.out.channels, row = columns * outputs;
  const bool add = step.layer.add >= 0;
  switch (step.kind) {
    case LayerKind::linear:
      return multiply(matrices(own, rows, columns, step.in.columns, 0),
                      matrices(inputs, rows, step.in.columns, step.channels), add,
                      matrices(step.output + first * row, rows, columns, outputs));
    case LayerKind::up: {
      const Index outer = step.scale_columns * outputs;
      for (Index a = 0; a < step.scale_rows; ++a) {
        multiply(matrices(inputs, rows, step.in.columns, step.channels),
                 matrices(own + a * step.channels * outer, rows, step.channels, outer, 0), add,
                 matrices(step.output + (first * step.scale_rows + a) * row, rows, step.in.columns, outer,
                          step.scale_rows * row));
      }
      return;
    }
    case LayerKind::convolution:
    case LayerKind::down: {
      const Index inner = weight_count(step) / outputs;
      return multiply(matrices(inputs, 1, rows * columns, inner), matrices(own, 1, inner, outputs), add,
                      matrices(step.output + first * row, 1, rows * columns, outputs));
    }
    case LayerKind::product:
      return;
  }
}

void DevicePlan::Parts::in_tiles(std::size_t i, Index first, Index rows) {
  const Step& step = shapes.steps[i];
  const Index lines = lines_of(rows), tiles = tiles_of(step), all = lines * tiles;
  const Index inputs = step.channels, outputs = step.out.channels;
  auto* const patches = static_cast<float*>(scratch.data());
  float* const products = patches + shapes.scratch.inputs;
  const device::GatherTiles gather_body{
      .source = source(i), .first_row = first, .lines = lines, .tiles = tiles, .to = patches};
  run_elements(gather_body.elements(), gather_body);
  multiply(matrices<const float>(patches, winograd::planes, all, inputs),
           matrices<const float>(memory[i].weights, winograd::planes, inputs, outputs), false,
           matrices(products, winograd::planes, all, outputs));
  const device::SpreadTiles spread{.products = products,
                                   .first_row = first,
                                   .lines = lines,
                                   .tiles = tiles,
                                   .rows = step.out.rows,
                                   .columns = step.out.columns,
                                   .channels = outputs,
                                   .add = step.layer.add >= 0,
                                   .to = step.output};
  run_elements(spread.elements(), spread);
}

void DevicePlan::Parts::sum_output(const Step& step) {
  const Index channels = step.out.channels;
  const device::SumStrips body{
      .values = step.output, .pixels = step.out.rows * step.out.columns, .channels = channels, .sums = strips};
  run_on(algebra.stream(), {.blocks = body.strips(), .warps = 4}, body);
  const device::AddStrips add{.strips = strips,
                              .count = body.strips(),
                              .channels = channels,
                              .sums = sums[static_cast<std::size_t>(step.layer.output)]};
  run_on(algebra.stream(), {.blocks = 2 * channels, .warps = 1}, add);
}

void DevicePlan::Parts::run(View<const float, 2> samples, View<float, 3> stems) {
  Stream& stream = algebra.stream();
  auto* const in = reinterpret_cast<float*>(samples_room.data());
  for (Index c = 0; c < samples.extent[0]; ++c) {
    for (Index i = 0; i < samples.extent[1]; ++i) in[c * samples.extent[1] + i] = samples(c, i);
  }
  stream.copy(of_spectrum->samples, in, samples_room.size());
  graph->run(stream);
  stream.copy(stems_room.data(), of_spectrum->stems, stems_room.size());
  stream.synchronise();
  const View<const float, 3> out(reinterpret_cast<const float*>(stems_room.data()), stems.extent[0], stems.extent[1],
                                 stems.extent[2]);
  for (Index s = 0; s < stems.extent[0]; ++s) {
    for (Index c = 0; c < stems.extent[1]; ++c) {
      for (Index i = 0; i < stems.extent[2]; ++i) stems(s, c, i) = out(s, c, i);
    }
  }
  ++runs;
}

DevicePlan::DevicePlan(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
DevicePlan::DevicePlan(DevicePlan&&) noexcept = default;
DevicePlan& DevicePlan::operator=(DevicePlan&&) noexcept = default;
DevicePlan::~DevicePlan() = default;

DevicePlan DevicePlan::prepare(Device device, const Config& config, const ParameterValues& values,
                               const DevicePlanOptions& options) {
  return DevicePlan(std::make_unique<Parts>(device, config, values, options, true));
}

DevicePlan DevicePlan::prepare_to_look(Device device, const Config& config, const ParameterValues& values,
                                       const DevicePlanOptions& options) {
  return DevicePlan(std::make_unique<Parts>(device, config, values, options, false));
}

void DevicePlan::run(View<const float, 2> samples, View<float, 3> stems) { parts_->run(samples, stems); }

std::vector<Network::Time> DevicePlan::times() const {
  const Parts& parts = *parts_;
  std::vector<Time> all;
  const auto add = [&](std::string stage, std::string weight, std::string method, double work) {
    const double seconds = all.size() < parts.seconds.size() ? parts.seconds[all.size()] : 0;
    all.push_back({.stage = std::move(stage),
                   .weight = std::move(weight),
                   .method = std::move(method),
                   .multiplications = work,
                   .seconds = seconds,
                   .total_s = seconds * static_cast<double>(parts.runs),
                   .calls = parts.runs});
  };
  add("spectrum", "", "fourier", 0);
  for (const Step& step : parts.shapes.steps) {
    add(step.layer.stage, step.layer.weight, method_name(step), multiplications(parts.shapes.list, step.layer));
  }
  add("samples", "", "fourier", 0);
  return all;
}

const DevicePlan::Bytes& DevicePlan::bytes() const { return parts_->held; }

DevicePlan::Bytes DevicePlan::bytes_for(Device device, const Config& config, const DevicePlanOptions& options) {
  const Shapes shapes(config, options);
  Pieces<float> weights, spectrum;
  for (const Step& step : shapes.steps) (void)StepMemory(weights, step, norm_from_values(config));
  (void)SpectrumMemory(spectrum, config);
  // What the plan of the transforms takes: a copy of the frequencies, and a workspace, of one of them or so.
  const Index lines = config.audio_channels * config.frames() * (config.n_fft + 2);
  Index sums = shapes.strips;
  for (std::size_t i = 0; i < shapes.summed.size(); ++i) {
    if (shapes.summed[i]) sums += aligned(2 * shapes.list.values[i].channels);
  }
  const Index in = config.audio_channels * config.chunk;
  return {.weights = bytes_of(weights.taken()),
          .values = bytes_of(place_values(shapes.list, true).count),
          .scratch = bytes_of(shapes.scratch.inputs + shapes.scratch.products + 2 * sums),
          .spectrum = bytes_of(spectrum.taken() + (device.is_cpu() ? 0 : 2 * lines)),
          .library = dense::BatchedAlgebra::bytes(device),
          .host = bytes_of(in * (1 + static_cast<Index>(config.stems().size())))};
}

std::vector<float> DevicePlan::value(int index) const {
  std::vector<float> values(
      static_cast<std::size_t>(parts_->shapes.list.values[static_cast<std::size_t>(index)].count()));
  Stream& stream = parts_->algebra.stream();
  stream.copy(values.data(), parts_->place(index), values.size() * sizeof(float));
  stream.synchronise();
  return values;
}

}  // namespace sonde::separate
