// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/bragg_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/bragg/disk_kernels.h"
#include "sonde/instruments/stem/bragg/likely_places.h"
#include "sonde/instruments/stem/bragg/pattern_background.h"
#include "sonde/instruments/stem/bragg/pattern_transform.h"
#include "sonde/instruments/stem/bragg/peaks.h"
#include "sonde/instruments/stem/bragg/place_variance.h"
#include "sonde/instruments/stem/bragg/refine.h"

namespace sonde::stem {
namespace {

constexpr std::string_view background_names[] = {"none", "constant", "radial_median", "dog"};
constexpr std::string_view refinement_names[] = {"none", "poly", "multicorr", "newton", "gaussian2d", "mle"};
// Of a narrower Gaussian, sums over pixels differ from its spectrum: then the spectrum is taken.
constexpr double narrowest_in_pixels = 0.8;
// Radii within which rings about the origin are the direct disk's: one that has moved by a whole radius covers a
// quarter of the ring there, too little to be its median.
constexpr double direct_disk = 1.5;

double frequency(Index k, Index extent) {
  return static_cast<double>(2 * k < extent ? k : k - extent) / static_cast<double>(extent);
}

/// exp(-2 pi^2 sigma^2 f^2).
double blur(double sigma, double fy, double fx) {
  return std::exp(-2 * std::numbers::pi * std::numbers::pi * sigma * sigma * (fy * fy + fx * fx));
}

/// body(index, fy, fx) for the first `columns` columns of a spectrum.
template <class Body>
void for_each_frequency(Index rows, Index cols, Index columns, Body&& body) {
  for (Index k = 0; k < rows; ++k)
    for (Index l = 0; l < columns; ++l)
      body(static_cast<std::size_t>(k * columns + l), frequency(k, rows), frequency(l, cols));
}

/// |m|^power exp(i arg m).
std::complex<float> with_power(std::complex<float> m, float power) {
  const float magnitude = std::abs(m);
  return magnitude > 0 ? m * std::pow(magnitude, power - 1) : 0;
}

Array aligned(Index count) { return {Device::cpu(), {count}, DType::c64}; }
std::complex<float>* elements(Array& array) { return static_cast<std::complex<float>*>(array.data()); }

}  // namespace

std::string_view name(Refinement refinement) { return refinement_names[static_cast<std::size_t>(refinement)]; }

std::string_view name(PatternBackground background) { return background_names[static_cast<std::size_t>(background)]; }

FilterCounts& FilterCounts::operator+=(const FilterCounts& other) {
  found += other.found;
  edge += other.edge;
  absolute += other.absolute;
  relative += other.relative;
  spacing += other.spacing;
  number += other.number;
  return *this;
}

void DiskList::clear() {
  disks.clear();
  ends.clear();
  filters = {};
}

struct BraggPlan::Tables {
  Tables(Index rows, Index cols) : transform(rows, cols) {}

  PatternTransform transform;
  DiskSettings settings;
  bool linear = false;  // filters act on packed spectra directly
  bool refines_exactly = false, refines_smoothed = false;
  PatternTransform::Filter detect, refine;         // linear
  Complexes kernel;                                // (rows, half): F(K) conjugated, with the blur of patterns
  std::vector<float> smoothing, refine_smoothing;  // (rows, half)
  GaussianWindow window{1};
  std::optional<PlaceVariance> variance;
  std::optional<LikelyPlaces> likely;
  std::optional<PatternRings> rings;

  [[nodiscard]] std::size_t bytes() const {
    return transform.bytes() +
           sizeof(std::complex<float>) * (detect.direct.size() + detect.mirrored.size() + refine.direct.size() +
                                          refine.mirrored.size() + kernel.size()) +
           sizeof(float) * (smoothing.size() + refine_smoothing.size()) + (variance ? variance->bytes() : 0) +
           (likely ? likely->bytes() : 0) + (rings ? rings->bytes() : 0);
  }
};

struct BraggPlan::Scratch::Rooms {
  explicit Rooms(const Tables& tables)
      : pattern(aligned(tables.transform.elements())),
        found(aligned(tables.transform.elements())),
        refined(aligned(tables.transform.elements())),
        half(static_cast<std::size_t>(tables.transform.rows() * tables.transform.half())),
        product(half.size()) {}

  Array pattern, found, refined;  // transforms take place in them
  Complexes half, product;
  std::vector<float> found_real, refined_real;
  PeakRooms peaks;
  PlaceVariance::Room variance;
  LikelyPlaces::Room likely;
  PatternRings::Room rings;
  std::vector<float> real;  // without the background
};

BraggPlan::Scratch::Scratch(const BraggPlan& plan) : rooms_(std::make_unique<Rooms>(*plan.tables_)) {}
BraggPlan::Scratch::Scratch(Scratch&&) noexcept = default;
BraggPlan::Scratch::~Scratch() = default;

std::size_t BraggPlan::Scratch::bytes(Index rows, Index cols) {
  // Five complex arrays of half a pattern or of half a spectrum.
  return 5 * sizeof(std::complex<float>) * static_cast<std::size_t>(rows * (cols + 2) / 2 * (cols % 2 == 0 ? 1 : 2));
}

BraggPlan::BraggPlan(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}
BraggPlan::BraggPlan(BraggPlan&&) noexcept = default;
BraggPlan& BraggPlan::operator=(BraggPlan&&) noexcept = default;
BraggPlan::~BraggPlan() = default;

Index BraggPlan::rows() const { return tables_->transform.rows(); }
Index BraggPlan::cols() const { return tables_->transform.cols(); }
const DiskSettings& BraggPlan::settings() const { return tables_->settings; }
std::size_t BraggPlan::bytes() const { return tables_->bytes(); }

BraggPlan BraggPlan::prepare(Index rows, Index cols, const Probe& probe, const KernelSettings& kernel,
                             const DiskSettings& settings, std::span<const std::uint8_t> good) {
  if (rows <= 2 * std::max<Index>(settings.edge_boundary, 1) || cols <= 2 * std::max<Index>(settings.edge_boundary, 1))
    throw Error(ErrorKind::bad_input, fmt::format("an edge of {} px leaves nothing of a detector of {} x {} pixels",
                                                  settings.edge_boundary, rows, cols))
        .hint("give a smaller " + setting("edge_boundary"));
  const std::vector<double> of_probe = make_kernel(probe, rows, cols, kernel);
  std::vector<std::complex<double>> spectrum(of_probe.begin(), of_probe.end());
  Fft2d<double>::prepare({.rows = rows, .cols = cols}).transform(spectrum.data(), FftDirection::forward);
  const double wide = settings.background != PatternBackground::dog ? 0
                      : settings.background_sigma > 0               ? settings.background_sigma
                                                                    : 2 * probe.radius;
  for_each_frequency(rows, cols, cols, [&](std::size_t i, double fy, double fx) {
    spectrum[i] = std::conj(spectrum[i]) * blur(settings.sigma_dp, fy, fx);
    if (wide > 0) spectrum[i] *= 1 - blur(wide, fy, fx);
  });

  auto tables = std::make_unique<Tables>(rows, cols);
  tables->settings = settings;
  const PatternTransform& transform = tables->transform;
  const bool newton = settings.subpixel == Refinement::newton || settings.subpixel == Refinement::mle;
  const double sigma = settings.sigma_refine();
  tables->linear = settings.corr_power == 1 && transform.packed();
  tables->refines_smoothed = newton && sigma >= narrowest_in_pixels;
  if (tables->refines_smoothed) tables->window = GaussianWindow(sigma);
  tables->refines_exactly = settings.subpixel == Refinement::multicorr || (newton && !tables->refines_smoothed);
  if (tables->linear) {
    if (tables->refines_smoothed) tables->refine = transform.make_filter(spectrum);
    std::vector<std::complex<double>> smoothed = spectrum;
    for_each_frequency(rows, cols, cols,
                       [&](std::size_t i, double fy, double fx) { smoothed[i] *= blur(settings.sigma_cc, fy, fx); });
    tables->detect = transform.make_filter(smoothed);
  }
  const Index half = transform.half();
  tables->kernel.resize(static_cast<std::size_t>(rows * half));
  tables->smoothing.resize(tables->kernel.size());
  tables->refine_smoothing.resize(tables->kernel.size());
  for_each_frequency(rows, cols, half, [&](std::size_t i, double fy, double fx) {
    const auto k = static_cast<Index>(i) / half, l = static_cast<Index>(i) % half;
    tables->kernel[i] = std::complex<float>(spectrum[static_cast<std::size_t>(k * cols + l)]);
    tables->smoothing[i] = static_cast<float>(blur(settings.sigma_cc, fy, fx));
    tables->refine_smoothing[i] = static_cast<float>(blur(sigma, fy, fx));
  });
  // The blurred kernel is subtracted from the kernel, and reaches three widths farther.
  if (newton && settings.corr_power == 1)
    tables->variance.emplace(spectrum, rows, cols, sigma, reach(probe, kernel) + 3 * wide);
  if (settings.subpixel == Refinement::mle) tables->likely.emplace(probe, rows, cols, good, settings.gain);
  if (settings.background == PatternBackground::constant || settings.background == PatternBackground::radial_median) {
    DiskSettings about = settings;
    if (std::isnan(about.background_row)) about.background_row = probe.row;
    if (std::isnan(about.background_col)) about.background_col = probe.col;
    tables->rings.emplace(about, rows, cols, direct_disk * probe.radius, good);
  }
  return BraggPlan(std::move(tables));
}

template <class T>
void BraggPlan::run(const T* frames, Index count, Scratch& scratch, DiskList& to) const {
  for (Index k = 0; k < count; ++k) {
    run_frame(frames + k * rows() * cols(), *scratch.rooms_, to);
    to.ends.push_back(to.disks.size());
  }
}

template <class T>
void BraggPlan::run_frame(const T* frame, Scratch::Rooms& rooms, DiskList& to) const {
  const Tables& of = *tables_;
  const PatternTransform& transform = of.transform;
  const Index pixels = rows() * cols();
  std::complex<float>*pattern = elements(rooms.pattern), *found = elements(rooms.found),
  *refined = elements(rooms.refined);
  if (!transform.packed()) rooms.real.resize(static_cast<std::size_t>(pixels));
  float* const real = transform.packed() ? reinterpret_cast<float*>(pattern) : rooms.real.data();
  cpu::to_floats(frame, pixels, real);
  if (of.rings) of.rings->subtract(real, rooms.rings);
  if (!transform.packed()) std::copy_n(real, pixels, pattern);
  transform.forward(pattern);

  const auto scale = static_cast<float>(1 / transform.scale());
  if (!of.linear || of.refines_exactly) {
    transform.unpack(pattern, rooms.half.data());
    const auto power = static_cast<float>(of.settings.corr_power);
    for (std::size_t i = 0; i < rooms.half.size(); ++i) {
      rooms.half[i] *= of.kernel[i];
      if (power != 1) rooms.half[i] = with_power(rooms.half[i], power);
    }
  }
  const auto smoothed = [&](const std::vector<float>* by, std::complex<float>* into) {
    for (std::size_t i = 0; i < rooms.half.size(); ++i)
      rooms.product[i] = rooms.half[i] * (by == nullptr ? scale : scale * (*by)[i]);
    transform.pack(rooms.product.data(), into);
  };
  if (of.linear)
    transform.apply(of.detect, pattern, found);
  else
    smoothed(&of.smoothing, found);
  transform.inverse(found);
  const float* correlation = transform.real(found, rooms.found_real);
  find_peaks(correlation, rows(), cols(), of.settings, rooms.peaks, to.filters);
  if (rooms.peaks.kept.empty()) return;

  const float* unsmoothed = nullptr;
  if (of.refines_smoothed) {
    if (of.linear)
      transform.apply(of.refine, pattern, refined);
    else
      smoothed(nullptr, refined);
    transform.inverse(refined);
    unsmoothed = transform.real(refined, rooms.refined_real);
  }
  HalfSpectrum spectrum{rooms.half.data(), rows(), cols()};
  if (of.refines_exactly)
    for (std::size_t i = 0; i < rooms.half.size(); ++i) rooms.half[i] *= of.refine_smoothing[i];

  const std::size_t before = to.disks.size();
  for (const Peak& peak : rooms.peaks.kept) {
    PlacedMaximum place = refine_poly(correlation, cols(), peak);
    switch (of.settings.subpixel) {
      case Refinement::none:
        place = {.y = static_cast<double>(peak.row),
                 .x = static_cast<double>(peak.col),
                 .value = static_cast<double>(peak.value)};
        break;
      case Refinement::poly:
        break;
      case Refinement::multicorr:
        place = refine_multicorr(spectrum, of.settings.upsample_factor, place);
        break;
      case Refinement::gaussian2d:
        if (const auto hill = refine_gaussian(correlation, rows(), cols(), peak)) place = *hill;
        break;
      case Refinement::newton:
      case Refinement::mle: {
        const auto climbed = unsmoothed != nullptr ? refine_smoothed(unsmoothed, rows(), cols(), of.window, place)
                                                   : refine_exact(spectrum, place);
        if (climbed) place = *climbed;
        break;
      }
    }
    BraggDisk disk{.qy = static_cast<float>(place.y),
                   .qx = static_cast<float>(place.x),
                   .intensity = static_cast<float>(place.value),
                   .var_y = std::numeric_limits<float>::quiet_NaN(),
                   .var_x = std::numeric_limits<float>::quiet_NaN()};
    if constexpr (std::is_integral_v<T>)
      if (of.variance && place.yy < 0) {
        of.variance->add(frame, place, rooms.variance, disk);
        // Of values g N with N electrons the sum over the values is a g-th of that over their variances.
        disk.var_y *= static_cast<float>(of.settings.gain);
        disk.var_x *= static_cast<float>(of.settings.gain);
      }
    to.disks.push_back(disk);
  }
  if (of.likely) of.likely->refine(frame, std::span(to.disks).subspan(before), rooms.likely);
}

#define SONDE_BRAGG_RUN(T) template void BraggPlan::run<T>(const T*, Index, Scratch&, DiskList&) const;
SONDE_BRAGG_RUN(std::uint8_t)
SONDE_BRAGG_RUN(std::uint16_t)
SONDE_BRAGG_RUN(std::uint32_t)
SONDE_BRAGG_RUN(std::uint64_t)
SONDE_BRAGG_RUN(float)
SONDE_BRAGG_RUN(double)
#undef SONDE_BRAGG_RUN

}  // namespace sonde::stem
