// SPDX-License-Identifier: Apache-2.0
// Images of one data set, each computed from those before where that is shorter.
#include "imager.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "masks.h"
#include "scan.h"
#include "sonde/instruments/stem/image/imager.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "work.h"

namespace sonde::python {
namespace {

class Imager {
 public:
  /// Keeps the data set.
  explicit Imager(const std::shared_ptr<Scan>& scan)
      : use_(scan, Scan::Use::Kind::imager), imager_(stem::imager_sources(dataset())) {}

  /// (image, path, because) of an expression; the beam is looked for once.
  py::tuple of_expression(const std::string& expression) {
    return compute([&] { return stem::detector_mask(expression, geometry(expression)); });
  }
  py::tuple of_weights(const Weights& weights) {
    require_shape_of_detector(weights, dataset());
    const float* values = weights.data();
    return compute([&] { return mask_of_weights(values, dataset()); });
  }
  void reset() {
    const py::gil_scoped_release unlocked;
    imager_.reset();
  }

 private:
  [[nodiscard]] const stem::Dataset& dataset() const { return *use_.dataset(); }

  /// Of the beam only where the expression asks for it: a scan may have none.
  stem::DetectorGeometry geometry(const std::string& expression) {
    std::optional<stem::Centre> found;
    stem::DetectorOptions options;
    options.detector = {expression};
    if (!stem::DetectorExpression::parse(expression).needs_disk())
      return stem::detector_geometry(dataset(), options, found);
    const std::lock_guard lock(mutex_);
    if (!with_beam_) with_beam_ = stem::detector_geometry(dataset(), options, found);
    return *with_beam_;
  }

  template <class MakeMask>
  py::tuple compute(MakeMask&& make_mask) {
    const Shape scan = dataset().shape().first(2);
    auto [made, image] = Work().run([&] {
      Stream stream(dataset().array().device());
      stem::VirtualImage computed = imager_.compute(stream, make_mask());
      Array copy = computed.image->copy_to(Device::cpu(), stream).reshaped(scan);  // theirs to change; ours is history
      return std::pair(std::move(computed), std::move(copy));
    });
    return py::make_tuple(to_numpy(std::move(image)), std::string(name(made.path)), made.because);
  }

  const Scan::Use use_;
  stem::VirtualImager imager_;
  std::mutex mutex_;
  std::optional<stem::DetectorGeometry> with_beam_;
};

}  // namespace

void add_imager(py::module_& module) {
  py::class_<Imager>(module, "VirtualImager")
      .def(py::init<std::shared_ptr<Scan>>())
      .def("of_expression", &Imager::of_expression)
      .def("of_weights", &Imager::of_weights)
      .def("reset", &Imager::reset);
}

}  // namespace sonde::python
