// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/direct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/direct/parallax.h"
#include "sonde/instruments/ptycho/direct/side_bands.h"

namespace sonde::ptycho {
namespace {

constexpr double least_agreement = 2;  // pure noise gives 1, its best of many tries up to 1.5

WaveSpectrum used(WaveSpectrum spectrum, TransferUse use, double wiener) {
  if (use == TransferUse::flipped) return spectrum.flipped();
  if (use == TransferUse::corrected) return spectrum.corrected(wiener);
  return spectrum;
}

std::vector<std::string> doubts(const FocusFit& fit) {
  std::vector<std::string> warnings;
  if (fit.agreement < least_agreement)
    warnings.push_back(
        fmt::format("the bright-field images agree hardly more than noise does ({:.2f} times): defocus and "
                    "rotation are not to be trusted",
                    fit.agreement));
  const double defocus = std::abs(fit.aberrations.get("C10")), astigmatism = fit.aberrations.get("C12");
  if (astigmatism > 3 * defocus && fit.agreement >= least_agreement)
    warnings.push_back(
        fmt::format("the fit finds an astigmatism of {:.3g} A but a defocus of {:.3g} A: that is what rows "
                    "and columns in the wrong order look like, try geometry.transpose",
                    astigmatism, defocus));
  return warnings;
}

/// The spectrum of a real image put on a grid `finer` times as fine in both directions.
Array refined(const Array& phase, Index finer) {
  const Index rows = phase.shape()[0], cols = phase.shape()[1];
  Array wave(Device::cpu(), Shape{rows, cols}, DType::c128);
  auto* from = wave.view<complex128, 2>().data;
  std::copy_n(phase.view<double, 2>().data, phase.count(), from);
  Fft2d<double>::prepare({.rows = rows, .cols = cols}).transform(from, FftDirection::forward);
  Array fine = Array::zeros(Device::cpu(), Shape{rows * finer, cols * finer}, DType::c128);
  auto* to = fine.view<complex128, 2>().data;
  const auto there = [&](Index i, Index n) { return i <= (n - 1) / 2 ? i : i + (finer - 1) * n; };
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      // The Nyquist lines are zero in every spectrum of this room.
      to[there(r, rows) * cols * finer + there(c, cols)] = from[r * cols + c] / static_cast<double>(rows * cols);
  Fft2d<double>::prepare({.rows = rows * finer, .cols = cols * finer}).transform(to, FftDirection::inverse);
  Array result(Device::cpu(), fine.shape(), DType::f64);
  for (Index i = 0; i < fine.count(); ++i) result.view<double, 2>().data[i] = to[i].real();
  return result;
}

/// How much finer than the image its refined copy is: half an object pixel, so that lines between points do not show.
Index refinement(const DirectImage& image, const Sampling& sampling) {
  const auto upsample = static_cast<double>(image.wave.shape()[0] / image.lattice.rows);
  const double step = std::max(std::hypot(image.lattice.down.row, image.lattice.down.col),
                               std::hypot(image.lattice.across.row, image.lattice.across.col)) /
                      upsample;
  return std::clamp<Index>(
      static_cast<Index>(std::ceil(2 * step / std::min(sampling.pixel_row(), sampling.pixel_col()))), 1, 8);
}

}  // namespace

void DirectSettings::describe(Fields& fields) {
  fields.choice("fit", fit,
                {{"none", DirectFit::none},
                 {"defocus", DirectFit::defocus},
                 {"aberrations", DirectFit::aberrations},
                 {"all", DirectFit::all}},
                {.help = "what is found from the images first: nothing, C10, C10 and C12 with phi12, or these and the "
                         "rotation of the scan; the search begins at the values of [probe] and [geometry]"});
  fields.add("focus_range_A", focus_range_a,
             {.help = "how far from its first value C10 is looked for; unset: 16 wavelength / semiangle^2",
              .unit = "A",
              .min = 0});
  fields.choice(
      "transfer", transfer,
      {{"auto", std::nullopt},
       {"raw", TransferUse::raw},
       {"flipped", TransferUse::flipped},
       {"corrected", TransferUse::corrected}},
      {.help = "what is done about frequencies that the method weakens or inverts: nothing (auto of ssb), their "
               "signs made right (auto of parallax), or their strength too (auto where a run begins)"});
  fields.add("wiener", wiener,
             {.help = "corrected: frequencies with less than this share of the best transfer are not raised further",
              .min = 1e-6,
              .max = 10});
  fields.add("upsample", upsample,
             {.help = "parallax: rows and columns of the image for one of the scan", .min = 1, .max = 8});
}

Array DirectImage::phase() const {
  Array result(Device::cpu(), wave.shape(), DType::f64);
  const auto* from = wave.view<complex128, 2>().data;
  for (Index i = 0; i < wave.count(); ++i) result.view<double, 2>().data[i] = from[i].imag();
  return result;
}

DirectImage direct_image(BrightField& field, const Sampling& sampling, DirectMethod method,
                         const DirectSettings& settings, const KnownLens& known) {
  if (method == DirectMethod::ssb && settings.upsample != 1)
    throw Error(ErrorKind::not_supported, "single side band images have the pixels of the scan")
        .hint("leave direct.upsample out, or use parallax");
  DirectImage image;
  image.aberrations = known.aberrations;
  if (settings.fit != DirectFit::none) {
    image.fit = fit_focus(field, sampling, method == DirectMethod::ssb ? FocusModel::side_bands : FocusModel::parallax,
                          {.semiangle = known.semiangle,
                           .edge = known.edge,
                           .aberrations = known.aberrations,
                           .astigmatism = settings.fit != DirectFit::defocus,
                           .rotation = settings.fit == DirectFit::all,
                           .range = settings.focus_range_a});
    image.aberrations = image.fit->aberrations;
    image.rotation = image.fit->rotation;
    image.warnings = doubts(*image.fit);
    field.lattice = field.lattice.turned(image.rotation);
  }
  image.lattice = field.lattice;
  const Lens lens(sampling, known.semiangle, known.edge, image.aberrations);
  const bool ssb = method == DirectMethod::ssb;
  image.spectrum = used(ssb ? single_side_band(field, lens) : parallax(field, lens, settings.upsample),
                        settings.transfer.value_or(ssb ? TransferUse::raw : TransferUse::flipped), settings.wiener);
  image.wave = image.spectrum.wave();
  return image;
}

std::size_t direct_bytes(const ScanLattice& lattice, Index images, DirectMethod method,
                         const DirectSettings& settings) {
  const std::size_t imaging = method == DirectMethod::ssb ? side_band_bytes(lattice, images)
                                                          : parallax_bytes(lattice, images, settings.upsample);
  // Beside it the spectrum as used and the wave.
  const auto points = static_cast<std::size_t>(lattice.count() * settings.upsample * settings.upsample);
  const std::size_t ends = points * (2 * sizeof(complex128) + sizeof(double));
  return std::max(settings.fit == DirectFit::none ? 0 : focus_bytes(lattice, images), imaging + ends);
}

Array phase_on_object(const DirectImage& image, Index rows, Index cols, Point origin, const Sampling& sampling) {
  const Index finer = refinement(image, sampling);
  const Array fine = refined(image.phase(), finer);
  const auto phase = fine.view<double, 2>();
  const ScanLattice& scan = image.lattice;
  const double per_row = static_cast<double>(phase.extent[0] / scan.rows);
  const double per_col = static_cast<double>(phase.extent[1] / scan.cols);
  const double area = scan.down.row * scan.across.col - scan.down.col * scan.across.row;
  Array result = Array::zeros(Device::cpu(), Shape{rows, cols}, DType::f64);
  const auto to = result.view<double, 2>();
  parallel_for(rows, 16, [&](Index first, Index last, Worker&) {
    for (Index r = first; r < last; ++r)
      for (Index c = 0; c < cols; ++c) {
        const double y = origin.row + static_cast<double>(r) * sampling.pixel_row() - scan.origin.row;
        const double x = origin.col + static_cast<double>(c) * sampling.pixel_col() - scan.origin.col;
        const double i = (y * scan.across.col - x * scan.across.row) / area;
        const double j = (x * scan.down.row - y * scan.down.col) / area;
        if (i < 0 || j < 0 || i > static_cast<double>(scan.rows - 1) || j > static_cast<double>(scan.cols - 1))
          continue;
        const double row = i * per_row, col = j * per_col;
        const auto r0 = static_cast<Index>(row), c0 = static_cast<Index>(col);
        const Index r1 = std::min(r0 + 1, phase.extent[0] - 1), c1 = std::min(c0 + 1, phase.extent[1] - 1);
        const double down = row - static_cast<double>(r0), right = col - static_cast<double>(c0);
        to(r, c) = (1 - down) * ((1 - right) * phase(r0, c0) + right * phase(r0, c1)) +
                   down * ((1 - right) * phase(r1, c0) + right * phase(r1, c1));
      }
  });
  return result;
}

}  // namespace sonde::ptycho
