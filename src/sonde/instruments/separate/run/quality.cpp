// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sonde::separate {
namespace {

constexpr double silence = 1e-8;  // squares: below 16 bits
constexpr double most_db = 120;   // what rounding to float32 leaves

/// 10 log10(size / rest); nothing where `size` is silent.
Value ratio_db(double size, double rest) {
  if (size < silence) return {};
  return std::min(most_db, 10 * std::log10(size / std::max(rest, 1e-30)));
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

QualityMeter::QualityMeter(Index rate, Index channels, Index stems)
    : channels_(channels), stems_(stems), samples_of_value_(rate), rate_(rate) {
  sums_.reserve(most * static_cast<std::size_t>(2 + 2 * stems));
}

void QualityMeter::add(const float* mixture, const float* stems, const float* variances) {
  const auto width = static_cast<std::size_t>(2 + 2 * stems_);
  if (sums_.empty() || in_last_ == samples_of_value_) {
    if (sums_.size() == most * width) halve();
    sums_.resize(sums_.size() + width);
    in_last_ = 0;
  }
  ++in_last_;
  double* const sums = sums_.data() + sums_.size() - width;
  const double part = 1 / static_cast<double>(channels_);
  for (Index c = 0; c < channels_; ++c) {
    const auto x = static_cast<double>(mixture[c]);
    double rest = x;
    for (Index s = 0; s < stems_; ++s) {
      const auto y = static_cast<double>(stems[s * channels_ + c]);
      rest -= y;
      sums[2 + 2 * s] += part * y * y;
    }
    sums[0] += part * x * x;
    sums[1] += part * rest * rest;
  }
  for (Index s = 0; s < stems_; ++s) sums[3 + 2 * s] += static_cast<double>(variances[s]);
}

/// Joins every two values. Their number is even.
void QualityMeter::halve() {
  const auto width = static_cast<std::size_t>(2 + 2 * stems_);
  const std::size_t left = sums_.size() / (2 * width);
  for (std::size_t i = 0; i < left; ++i) {
    for (std::size_t k = 0; k < width; ++k)
      sums_[i * width + k] = sums_[2 * i * width + k] + sums_[(2 * i + 1) * width + k];
  }
  sums_.resize(left * width);
  samples_of_value_ *= 2;
}

Quality QualityMeter::quality() const {
  const auto width = static_cast<std::size_t>(2 + 2 * stems_);
  Quality made{.seconds = static_cast<double>(samples_of_value_) / static_cast<double>(rate_)};
  made.stems.resize(static_cast<std::size_t>(stems_));
  for (std::size_t at = 0; at < sums_.size(); at += width) {
    const bool last = at + width == sums_.size();
    const auto samples = static_cast<double>(last ? in_last_ : samples_of_value_);
    made.mixture.push_back(sums_[at] / samples);
    made.difference.push_back(sums_[at + 1] / samples);
    for (std::size_t s = 0; s < made.stems.size(); ++s) {
      made.stems[s].squares.push_back(sums_[at + 2 + 2 * s] / samples);
      made.stems[s].variance.push_back(sums_[at + 3 + 2 * s] / samples);
    }
  }
  return made;
}

Value quality_value(const Quality& quality, const std::vector<std::string>& names, Index passes) {
  Value told;
  told["seconds"] = quality.seconds;
  told["passes"] = passes;
  told["mixture_db"] = Value::list();
  told["consistency_db"] = Value::list();
  for (std::size_t i = 0; i < quality.mixture.size(); ++i) {
    told["mixture_db"].push_back(ratio_db(quality.mixture[i], 1));
    const Value above = ratio_db(quality.mixture[i], quality.difference[i]);
    told["consistency_db"].push_back(above.is_null() ? Value() : Value(-above.as_real()));
  }
  told["stems"] = Value::list();
  for (std::size_t s = 0; s < names.size(); ++s) {
    const Quality::Stem& stem = quality.stems[s];
    Value& of = told["stems"].push_back(Value::object());
    of["name"] = names[s];
    if (passes < 2) continue;  // a single pass agrees with itself
    of["agreement_db"] = ratio_db(sum(stem.squares), sum(stem.variance));
    of["agreement_db_over_time"] = Value::list();
    of["deviation_db_over_time"] = Value::list();
    for (std::size_t i = 0; i < stem.squares.size(); ++i) {
      of["agreement_db_over_time"].push_back(ratio_db(stem.squares[i], stem.variance[i]));
      of["deviation_db_over_time"].push_back(std::max(-most_db, 10 * std::log10(stem.variance[i] + 1e-30)));
    }
  }
  return told;
}

}  // namespace sonde::separate
