// SPDX-License-Identifier: Apache-2.0
// What a Dataset offers to Python; python/sonde/stem.py gives it its names and documentation.
#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "convert.h"
#include "dlpack.h"
#include "masks.h"
#include "scan.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/load/call_function.h"
#include "sonde/instruments/stem/load/frame_queue.h"
#include "sonde/instruments/stem/load/missing_values.h"
#include "sonde/instruments/stem/results/convert.h"
#include "sonde/instruments/stem/results/depiction.h"
#include "sonde/instruments/stem/results/describe.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/detector_stack.h"
#include "sonde/instruments/stem/results/image_record.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "work.h"

namespace sonde::python {
namespace {

using Shared = std::shared_ptr<Scan>;

std::vector<Index> extents(const Shape& shape) {
  std::vector<Index> all;
  for (int i = 0; i < shape.rank(); ++i) all.push_back(shape[i]);
  return all;
}

void require_on_host(const Array& array) {
  if (!array.device().is_cpu())
    throw Error(ErrorKind::not_supported, "the data set is on " + array.device().name() + ", where NumPy cannot read")
        .hint("take it by DLPack (from_dlpack), or load it with device=\"cpu\"");
}

py::array array_of(Scan& scan) {
  const stem::Dataset& dataset = scan.dataset();
  require_on_host(dataset.array());
  return read_only(dataset.dtype(), extents(dataset.shape()), strides_of(dataset), dataset.array().data(),
                   scan.owner());
}

/// A sum of the loading pass with the extents it has for people: (scan rows, scan cols) or (rows, cols).
py::array window(Scan& scan, const Array& array, Index rows, Index cols) {
  return read_only(array.dtype(), {rows, cols}, {cols, 1}, array.data(), scan.owner());
}

py::list moments_of(Scan& scan) {
  const stem::Moments& m = scan.dataset().moments();
  const Shape shape = scan.dataset().shape();
  py::list all;
  for (const Array* array : {&m.total, &m.moment_row, &m.moment_col})
    all.append(window(scan, *array, shape[0], shape[1]));
  for (const Array* array : {&m.pattern_sum, &m.pattern_max, &m.nonzero})
    all.append(window(scan, *array, shape[2], shape[3]));
  return all;
}

py::array flags_of(Scan& scan, const std::vector<std::uint8_t>& flags, Index rows, Index cols) {
  return read_only(DType::u8, {rows, cols}, {cols, 1}, flags.data(), scan.owner()).attr("view")("bool");
}

py::array mask_bits_of(Scan& scan) {
  const Shape shape = scan.dataset().shape();
  return read_only(DType::u32, {shape[2], shape[3]}, {shape[3], 1}, scan.dataset().mask_bits().data(), scan.owner());
}

py::array pattern_of(Scan& scan, Index row, Index col) {
  const Scan::Use use = scan.call();
  const stem::Dataset& dataset = scan.dataset();
  if (dataset.layout() != stem::LayoutChoice::frame && dataset.layout() != stem::LayoutChoice::pixel)
    return to_numpy(Work().run([&] { return dataset.pattern(row, col); }));
  return to_numpy([&] {
    const py::gil_scoped_release unlocked;
    return dataset.pattern(row, col);
  }());
}

py::list images_of(Scan& scan, const py::dict& keywords, const py::object& progress) {
  const auto options = options_of<stem::DetectorOptions>(keywords, "image()");
  const Scan::Use use = scan.call();
  const stem::Dataset& dataset = scan.dataset();
  std::vector<Array> images = Work(progress).run([&] {
    std::optional<stem::Centre> found;
    const std::vector<stem::DetectorSet> sets = stem::detector_sets(options);
    const stem::DetectorOptions every = stem::with_members(options, sets);
    auto made = stem::detector_images(dataset, every, stem::detector_geometry(dataset, every, found));
    std::vector<Array> of_sets;
    std::size_t first = 0;
    for (const stem::DetectorSet& set : sets) {
      const std::span members(made.data() + first, set.members.size());
      of_sets.push_back(set.several ? stem::stack_of(set, members).image.image : std::move(members[0].image));
      first += set.members.size();
    }
    return of_sets;
  });
  py::list all;
  for (Array& image : images) all.append(to_numpy(std::move(image)));
  return all;
}

struct SaveCall {
  stem::DetectorOptions detectors;
  stem::PictureOptions picture;
  void describe(Fields& fields) {
    detectors.describe(fields);
    picture.describe(fields);
  }
};

/// One image with its record beside it, as `sonde stem image -o` writes them; returns the image.
py::array save_image(Scan& scan, const std::string& path, const py::dict& keywords, const py::object& progress) {
  const auto call = options_of<SaveCall>(keywords, "save_image()");
  const Scan::Use use = scan.call();
  const stem::Dataset& dataset = scan.dataset();
  return to_numpy(Work(progress, scan.files()).run([&] {
    stem::require_not_input(path, dataset.acquisition(), dataset.options());
    stem::require_image_name(path);
    std::optional<stem::Centre> found;
    const stem::DetectorGeometry geometry = stem::detector_geometry(dataset, call.detectors, found);
    stem::DetectorImage image = std::move(stem::detector_images(dataset, call.detectors, geometry).front());
    stem::save_detector_image(path, dataset, image, geometry, call.detectors.centre_method, call.picture,
                              stem::image_record(dataset, image, call.detectors, call.picture, geometry, found));
    return std::move(image.image);
  }));
}

/// The image of a mask given as an array.
py::array image_of_weights(Scan& scan, const Weights& weights, const py::object& progress) {
  const Scan::Use use = scan.call();
  const stem::Dataset& dataset = scan.dataset();
  require_shape_of_detector(weights, dataset);
  const float* values = weights.data();
  return to_numpy(Work(progress).run([&] {
    const stem::Mask mask = mask_of_weights(values, dataset);
    return std::move(stem::mask_images(dataset, {&mask, 1}).front().image);
  }));
}

/// The weights of a detector, f32 (rows, cols).
py::array mask_of(Scan& scan, const std::string& expression, const py::dict& keywords) {
  const auto options = options_of<stem::DetectorOptions>(keywords, "mask()");
  const Scan::Use use = scan.call();
  const stem::Dataset& dataset = scan.dataset();
  return to_numpy(Work().run([&] {
    stem::DetectorOptions wanted = options;
    wanted.detector = {expression};
    std::optional<stem::Centre> found;
    const stem::Mask mask = stem::detector_mask(expression, stem::detector_geometry(dataset, wanted, found),
                                                {wanted.inclusive, wanted.antialias, {}});
    Array weights = Array::zeros(Device::cpu(), dataset.shape().last(2), DType::f32);
    auto* values = static_cast<float*>(weights.data());
    for (std::size_t i = 0; i < mask.pixels.size(); ++i)
      values[mask.pixels[i]] = mask.boolean() ? 1.0F : mask.weights[i];
    return weights;
  }));
}

py::object convert_to(Scan& scan, const std::string& path, const py::object& progress) {
  const Scan::Use use = scan.call();
  return py::cast(Work(progress, scan.files()).run([&] {
    stem::require_conversion_name(path);
    return stem::convert(scan.dataset(), path);
  }));
}

/// Calls function(frames, positions) with copies of some frames at a time, on the thread that called. An exception of
/// the function ends the pass and is passed on.
void map_frames(Scan& scan, const py::object& function, Index frames, const py::object& progress) {
  const Scan::Use use = scan.call();
  const Scan::Mapping mapping(scan);
  const stem::Dataset& dataset = scan.dataset();
  std::optional<py::error_already_set> failure;
  const auto call = [&](stem::FrameQueue::Block& block) {
    try {
      const py::array_t<Index> positions(std::ssize(block.positions), block.positions.data());
      function(to_numpy(std::move(block.frames)), positions);
    } catch (py::error_already_set& error) {
      failure.emplace(error);
      throw Error(ErrorKind::interrupted, "the function failed");
    }
  };
  try {
    Work(progress, scan.files()).run([&] {
      stem::FrameQueue queue(dataset, frames);
      ProgressMeter meter("frames", dataset.positions(), "positions");
      while (auto block = queue.next()) {
        const Index count = std::ssize(block->positions);
        run_for_caller([&] { call(*block); });
        meter.advance(count);
      }
      return 0;
    });
  } catch (const Error&) {
    if (failure) throw *std::exchange(failure, std::nullopt);
    throw;
  }
}

/// The same with a C function (PatternFunction) at an address, which all workers call: (scan rows, scan cols, values).
py::array map_with_c(Scan& scan, std::uintptr_t function, const std::string& patterns, Index values,
                     const py::object& progress) {
  const Scan::Use use = scan.call();
  const Scan::Mapping mapping(scan);
  const stem::Dataset& dataset = scan.dataset();
  return to_numpy(Work(progress, scan.files()).run([&] {
    return stem::call_function(dataset, reinterpret_cast<stem::PatternFunction>(function), parse_dtype(patterns),
                               values);
  }));
}

py::tuple shape_of(const Scan& scan) { return py::tuple(py::cast(extents(scan.dataset().shape()))); }

}  // namespace

py::list save_image_fields() {
  SaveCall call;
  return describe_fields(Fields(call));
}

void add_dataset(py::module_& module) {
  py::class_<Scan, Shared>(module, "Dataset")
      .def_property_readonly("shape", shape_of)
      .def_property_readonly("dtype", [](const Scan& scan) { return numpy_type(scan.dataset().dtype()); })
      .def_property_readonly("layout",
                             [](const Scan& scan) {
                               stem::LoadOptions held;
                               held.layout = scan.dataset().layout();
                               return to_python(*Fields(held).echo().find("layout"));
                             })
      .def_property_readonly("det_bin", [](const Scan& scan) { return scan.dataset().det_bin(); })
      .def_property_readonly("scan_bin", [](const Scan& scan) { return scan.dataset().scan_bin(); })
      .def_property_readonly("path", [](const Scan& scan) { return scan.dataset().acquisition().path; })
      .def_property_readonly("released", &Scan::released)
      .def("array", array_of)
      .def("moments", moments_of)
      .def("good",
           [](Scan& scan) {
             const Shape shape = scan.dataset().shape();
             return flags_of(scan, scan.dataset().good(), shape[2], shape[3]);
           })
      .def("require_values",
           [](Scan& scan) { Work().run([&] { return require_values(scan.dataset(), scan.dataset().good()), 0; }); })
      .def("valid",
           [](Scan& scan) {
             const Shape shape = scan.dataset().shape();
             return flags_of(scan, scan.dataset().valid(), shape[0], shape[1]);
           })
      .def("mask_bits", mask_bits_of)
      .def("mean_pattern", [](const Scan& scan) { return to_numpy(stem::mean_pattern(scan.dataset())); })
      .def("pattern", pattern_of)
      .def("images", images_of)
      .def("image_of_weights", image_of_weights)
      .def("save_image", save_image)
      .def("mask", mask_of)
      .def("convert", convert_to)
      .def("map", map_frames)
      .def("map_with_c", map_with_c)
      .def("acquisition",
           [](const Scan& scan) { return to_python(stem::acquisition_value(scan.dataset().acquisition())); })
      .def("original_metadata",
           [](const Scan& scan) { return to_python(stem::metadata_value(scan.dataset().acquisition())); })
      .def("provenance", [](const Scan& scan) { return to_python(stem::provenance(scan.dataset())); })
      .def("memory", [](const Scan& scan) { return to_python(scan.dataset().memory_report()); })
      .def("dlpack_device", [](const Scan& scan) { return dlpack_device(scan.dataset().array().device()); })
      .def("dlpack",
           [](Scan& scan, bool versioned) {
             const stem::Dataset& dataset = scan.dataset();
             return to_dlpack(dataset.array(), extents(dataset.shape()), strides_of(dataset), scan.owner(), versioned);
           })
      .def("release", &Scan::release);
}

}  // namespace sonde::python
