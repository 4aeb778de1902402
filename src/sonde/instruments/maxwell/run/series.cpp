// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/series.h"

#include <utility>

#include "sonde/instruments/maxwell/signal/resample.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/time_dispersion.h"

namespace sonde::maxwell {
namespace {

/// The points of one kind, electric or magnetic: their series have the same times.
std::vector<std::size_t> of_kind(const std::vector<Point>& points, bool electric) {
  std::vector<std::size_t> made;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (is_electric(points[i].component) == electric) made.push_back(i);
  return made;
}

/// Series of some points beside each other, [series][sample].
struct Block {
  Index series = 0, samples = 0;
  std::vector<double> values{};

  Block(std::size_t count, Index length)
      : series(static_cast<Index>(count)), samples(length), values(count * static_cast<std::size_t>(length)) {}
  [[nodiscard]] View<double, 2> view() { return View<double, 2>(values.data(), series, samples); }
  [[nodiscard]] View<const double, 2> view() const { return View<const double, 2>(values.data(), series, samples); }
  [[nodiscard]] double& at(std::size_t s, std::size_t n) { return values[s * static_cast<std::size_t>(samples) + n]; }
};

Block taken(const std::vector<std::size_t>& which, std::size_t points, Index samples, bool by_step,
            std::span<const double> from) {
  Block made(which.size(), samples);
  const auto length = static_cast<std::size_t>(samples);
  for (std::size_t s = 0; s < which.size(); ++s)
    for (std::size_t n = 0; n < length; ++n)
      made.at(s, n) = by_step ? from[n * points + which[s]] : from[which[s] * length + n];
  return made;
}

void put(Block& block, const std::vector<std::size_t>& which, std::size_t points, bool by_step,
         std::vector<double>& to) {
  const auto length = static_cast<std::size_t>(block.samples);
  for (std::size_t s = 0; s < which.size(); ++s)
    for (std::size_t n = 0; n < length; ++n)
      (by_step ? to[n * points + which[s]] : to[which[s] * length + n]) = block.at(s, n);
}

/// Through body(in, out) for the points of each kind, from the survey's steps to the propagator's or back.
template <class Body>
std::vector<double> through(const Series& of, const std::vector<Point>& points, bool to_inner,
                            std::span<const double> from, const Body& body) {
  const Index inner = of.steps * of.ratio;
  std::vector<double> made(points.size() * static_cast<std::size_t>(to_inner ? inner : of.steps));
  for (const bool electric : {true, false}) {
    const std::vector<std::size_t> which = of_kind(points, electric);
    if (which.empty()) continue;
    Block in = taken(which, points.size(), to_inner ? of.steps : inner, !to_inner, from);
    Block out(which.size(), to_inner ? inner : of.steps);
    body(electric, in, out);
    put(out, which, points.size(), to_inner, made);
  }
  return made;
}

double source_offset(bool electric) {
  return electric ? sample_offset::electric_source : sample_offset::magnetic_source;
}
double record_offset(bool electric) {
  return electric ? sample_offset::electric_record : sample_offset::magnetic_record;
}

}  // namespace

std::vector<double> Series::amplitudes_of(const std::vector<Point>& sources, std::span<const double> survey) const {
  return through(*this, sources, true, survey, [&](bool electric, const Block& in, Block& out) {
    upsample({.ratio = ratio}, source_offset(electric), in.view(), out.view());
    if (corrected) disperse_source(source_offset(electric), std::as_const(out).view(), out.view());
  });
}

std::vector<double> Series::gradient_of_amplitudes(const std::vector<Point>& sources,
                                                   std::span<const double> inner) const {
  return through(*this, sources, false, inner, [&](bool electric, Block& in, Block& out) {
    if (corrected) disperse_source_transpose(source_offset(electric), std::as_const(in).view(), in.view());
    upsample_transpose({.ratio = ratio}, source_offset(electric), std::as_const(in).view(), out.view());
  });
}

std::vector<double> Series::record_of(const std::vector<Point>& receivers, std::span<const double> inner) const {
  return through(*this, receivers, false, inner, [&](bool electric, Block& in, Block& out) {
    if (corrected) correct_record(record_offset(electric), std::as_const(in).view(), in.view());
    downsample({.ratio = ratio}, record_offset(electric), std::as_const(in).view(), out.view());
  });
}

std::vector<double> Series::residual_of(const std::vector<Point>& receivers, std::span<const double> survey) const {
  return through(*this, receivers, true, survey, [&](bool electric, const Block& in, Block& out) {
    downsample_transpose({.ratio = ratio}, record_offset(electric), in.view(), out.view());
    if (corrected) correct_record_transpose(record_offset(electric), std::as_const(out).view(), out.view());
  });
}

}  // namespace sonde::maxwell
