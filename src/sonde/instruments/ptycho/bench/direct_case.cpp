// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/bench/direct_case.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "sonde/engine/math/fft.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/ptycho/bench/scan.h"
#include "sonde/instruments/ptycho/direct/focus.h"
#include "sonde/instruments/ptycho/direct/parallax.h"
#include "sonde/instruments/ptycho/direct/side_bands.h"

namespace sonde::ptycho {
namespace {

constexpr double semiangle = 0.02;

/// Counts without content: the time depends only on the shape.
struct DirectScan {
  Sampling sampling;
  ScanLattice lattice;
  Lens lens;
  Measurement measurement;
  BrightField field;

  explicit DirectScan(ScanSize size)
      // The side bands reach to the highest frequency of the scan: steps of a quarter of the object's pixels that the
      // disk by itself would have.
      : sampling(
            electron_sampling(size.pixels, size.pixels, 200, 4 * 1000 * semiangle / static_cast<double>(size.pixels))),
        lattice(scan_lattice(
            in_pixels(raster_positions({.rows = size.rows, .cols = size.cols, .step_row = 0.3, .step_col = 0.3}),
                      sampling),
            LatticeShape{size.rows, size.cols}, sampling)),
        lens(sampling, semiangle, ApertureEdge::pixel, with_defocus()),
        measurement(counts(size), ZeroFrequency::corner, {}, AmplitudeStorage::counts),
        field(bright_field(measurement, sampling, lens, lattice)) {}

  static Aberrations with_defocus() {
    Aberrations aberrations;
    aberrations.set("C10", -200);
    aberrations.set("C12", 20);
    return aberrations;
  }
  static Array counts(ScanSize size) {
    Array frames(Device::cpu(), Shape{size.rows * size.cols, size.pixels, size.pixels}, DType::u8);
    Random random(1, 0);
    auto* to = static_cast<std::uint8_t*>(frames.data());
    for (Index i = 0; i < frames.count(); ++i) to[i] = static_cast<std::uint8_t>(random.below(8));
    return frames;
  }
};

}  // namespace

PreparedCase prepare_direct(const BenchPoint& point) {
  const ScanSize size = parse_scan_size(point.size);
  const auto scan = std::make_shared<DirectScan>(size);
  const Index images = scan->field.count(), pairs = (images + 1) / 2, n = size.rows * size.cols;
  const double image_bytes = static_cast<double>(images) * static_cast<double>(n) * sizeof(float);
  const double flops = static_cast<double>(pairs) * 5 * static_cast<double>(n) * std::log2(static_cast<double>(n));
  const auto fft = std::make_shared<Fft2d<float>>(Fft2d<float>::prepare({.rows = size.rows, .cols = size.cols}));
  const auto wave = std::make_shared<std::vector<complex64>>(static_cast<std::size_t>(n));

  PreparedCase prepared;
  prepared.input = fmt::format("{} x {} positions, {} pixels of the disk of {} x {}", size.rows, size.cols, images,
                               size.pixels, size.pixels);
  prepared.operations = {
      {.name = "F: a transform per pair of images, one thread",
       .run =
           [=] {
             const float* from = std::as_const(scan->field.images).view<float, 3>().data;
             for (Index pair = 0; pair < pairs; ++pair) {
               const float *a = from + 2 * pair * n, *b = 2 * pair + 1 < images ? a + n : a;
               for (Index i = 0; i < n; ++i) (*wave)[static_cast<std::size_t>(i)] = {a[i], b[i]};
               fft->transform(wave->data(), FftDirection::forward);
             }
           },
       .bytes = image_bytes,
       .flops = flops},
      {.name = "bright-field images from patterns",
       .run =
           [=] {
             const BrightField again = bright_field(scan->measurement, scan->sampling, scan->lens, scan->lattice);
             (void)again;
           },
       .bytes = image_bytes + static_cast<double>(scan->measurement.bytes())},
      {.name = "single side band",
       .run = [=] { (void)single_side_band(scan->field, scan->lens); },
       .bytes = image_bytes,
       .flops = flops},
      {.name = "parallax",
       .run = [=] { (void)parallax(scan->field, scan->lens); },
       .bytes = image_bytes,
       .flops = flops},
      {.name = "search for focus, side bands",
       .run =
           [=] {
             (void)fit_focus(
                 scan->field, scan->sampling, FocusModel::side_bands,
                 {.semiangle = semiangle, .edge = ApertureEdge::pixel, .aberrations = {}, .rotation = false});
           },
       .bytes = 2 * image_bytes,
       .flops = 2 * flops}};
  return prepared;
}

}  // namespace sonde::ptycho
