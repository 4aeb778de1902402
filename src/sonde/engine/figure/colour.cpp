// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace sonde {
namespace {

// Ten or eleven evenly spaced samples of each published map; a smooth curve through them stays within three of 255
// levels of the original tables.
constexpr std::uint32_t viridis[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                     0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
constexpr std::uint32_t cividis[] = {0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173,
                                     0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838};
constexpr std::uint32_t inferno[] = {0x000004, 0x1b0c41, 0x4a0c6b, 0x781c6d, 0xa52c60,
                                     0xcf4446, 0xed6925, 0xfb9b06, 0xf7d13d, 0xfcffa4};
constexpr std::uint32_t magma[] = {0x000004, 0x180f3d, 0x440f76, 0x721f81, 0x9e2f7f,
                                   0xcd4071, 0xf1605d, 0xfd9668, 0xfeca8d, 0xfcfdbf};
constexpr std::uint32_t red_blue[] = {0x67001f, 0xb2182b, 0xd6604d, 0xf4a582, 0xfddbc7, 0xf7f7f7,
                                      0xd1e5f0, 0x92c5de, 0x4393c3, 0x2166ac, 0x053061};

using Table = std::array<Colour, 256>;

double channel(std::uint32_t colour, int shift) { return static_cast<double>((colour >> shift) & 0xffu); }

std::uint8_t level(double value) { return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L)); }

/// Catmull-Rom through the samples, with the ends continued in a straight line.
double between(std::span<const std::uint32_t> samples, int shift, double position) {
  const auto count = static_cast<std::ptrdiff_t>(samples.size());
  const auto at = std::min(static_cast<std::ptrdiff_t>(position), count - 2);
  const double t = position - static_cast<double>(at);
  const auto sample = [&](std::ptrdiff_t i) {
    if (i < 0) return 2 * channel(samples[0], shift) - channel(samples[1], shift);
    const auto last = static_cast<std::size_t>(count - 1);
    if (i >= count) return 2 * channel(samples[last], shift) - channel(samples[last - 1], shift);
    return channel(samples[static_cast<std::size_t>(i)], shift);
  };
  const double p0 = sample(at - 1), p1 = sample(at), p2 = sample(at + 1), p3 = sample(at + 2);
  return p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)));
}

Table through(std::span<const std::uint32_t> samples) {
  Table table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double position = static_cast<double>(i) / 255.0 * static_cast<double>(samples.size() - 1);
    table[i] = {level(between(samples, 16, position)), level(between(samples, 8, position)),
                level(between(samples, 0, position))};
  }
  return table;
}

Table gray() {
  Table table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto shade = static_cast<std::uint8_t>(i);
    table[i] = {shade, shade, shade};
  }
  return table;
}

/// The hue circle of OKLCh (Ottosson 2020) at lightness 0.74 and chroma 0.12, inside sRGB all the way round.
Table phase() {
  Table table;
  const auto encode = [](double linear) {
    const double v = std::clamp(linear, 0.0, 1.0);
    return level(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055));
  };
  const auto cube = [](double v) { return v * v * v; };
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double hue = 2 * std::numbers::pi * static_cast<double>(i) / 256.0;  // 256, not 255: the ends meet
    const double lightness = 0.74, a = 0.12 * std::cos(hue), b = 0.12 * std::sin(hue);
    const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    table[i] = {encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
  }
  return table;
}

}  // namespace

const std::vector<std::pair<std::string, ColourMap>>& colour_map_names() {
  static const std::vector<std::pair<std::string, ColourMap>> names = {
      {"gray", ColourMap::gray},       {"viridis", ColourMap::viridis}, {"cividis", ColourMap::cividis},
      {"inferno", ColourMap::inferno}, {"magma", ColourMap::magma},     {"RdBu", ColourMap::rdbu},
      {"phase", ColourMap::phase}};
  return names;
}

const std::array<Colour, 256>& colour_table(ColourMap map) {
  static const std::array<Table, 7> tables = {gray(),         through(viridis),  through(cividis), through(inferno),
                                              through(magma), through(red_blue), phase()};
  return tables[static_cast<std::size_t>(map)];
}

}  // namespace sonde
