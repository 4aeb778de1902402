// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/score/bss_eval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/dense/blas.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::separate {
namespace {

using Signal = std::vector<double>;
using Spectrum = std::vector<std::complex<double>>;
// Orders of more sources than that are too many to be tried: 8! = 40320.
constexpr Index most_to_permute = 8;

/// Real transforms of signals with room for the delays.
class Transform {
 public:
  explicit Transform(Index length) : fft_(RealFft1d<double>::prepare({.length = next_fast_size(length)})) {}

  [[nodiscard]] Spectrum forward(View<const double, 1> samples) {
    Signal padded(static_cast<std::size_t>(fft_.key().length));
    for (Index i = 0; i < samples.extent[0]; ++i) padded[static_cast<std::size_t>(i)] = samples(i);
    Spectrum spectrum(static_cast<std::size_t>(fft_.frequencies()));
    fft_.forward(stream_, {padded.data(), 1, fft_.key().length}, {spectrum.data(), 1, fft_.frequencies()});
    return spectrum;
  }
  /// With the factor that makes it the inverse.
  [[nodiscard]] Signal inverse(const Spectrum& spectrum) {
    Signal samples(static_cast<std::size_t>(fft_.key().length));
    fft_.inverse(stream_, {spectrum.data(), 1, fft_.frequencies()}, {samples.data(), 1, fft_.key().length});
    for (double& x : samples) x /= static_cast<double>(samples.size());
    return samples;
  }
  /// correlation(d) = sum over t of a(t + d) b(t), that of -d at the end.
  [[nodiscard]] Signal correlation(const Spectrum& a, const Spectrum& b) {
    Spectrum product(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) product[k] = a[k] * std::conj(b[k]);
    return inverse(product);
  }

 private:
  RealFft1d<double> fft_;
  Stream stream_{Device::cpu()};
};

/// The inner products of all delays of some references, factorised.
class NormalEquations {
 public:
  /// `matrix`: symmetric, positive semi-definite.
  explicit NormalEquations(const Signal& matrix, Index rows)
      : lower_(matrix), order_(static_cast<std::size_t>(rows)), rows_(rows) {
    std::iota(order_.begin(), order_.end(), Index{0});
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < rows; ++i) largest = std::max(largest, lower()(i, i));
    // A pivot that is a rounding error of the largest element says that a delay depends on the others.
    const double threshold = static_cast<double>(rows) * std::numeric_limits<double>::epsilon() * largest;
    const bool positive = dense::factorise_cholesky(lower());
    for (Index i = 0; i < rows; ++i) smallest = std::min(smallest, std::pow(lower()(i, i), 2));
    if (!positive || !(smallest > threshold)) factorise_with_pivots(matrix, threshold);
  }

  /// Coefficients whose delays come closest to what has these inner products with them; 0 of those that depend on the
  /// others.
  [[nodiscard]] Signal solved(const Signal& products) const {
    Signal chosen(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) chosen[k] = products[static_cast<std::size_t>(order_[k])];
    const auto rank = static_cast<Index>(order_.size());
    dense::ConstMatrix<double> factor(lower_.data(), rank, rank);
    factor.stride[0] = rows_;
    dense::solve_triangular(factor, dense::Form::plain, chosen);
    dense::solve_triangular(factor, dense::Form::transposed, chosen);
    Signal all(products.size());
    for (std::size_t k = 0; k < order_.size(); ++k) all[static_cast<std::size_t>(order_[k])] = chosen[k];
    return all;
  }

 private:
  [[nodiscard]] dense::Matrix<double> lower() { return {lower_.data(), rows_, rows_}; }

  /// Cholesky's factorisation that takes the largest of what is left first (Higham 2002, section 10.3), until that is
  /// below the threshold. A row of `lower_` then belongs to the delay of that place in `order_`.
  void factorise_with_pivots(const Signal& matrix, double threshold) {
    const dense::ConstMatrix<double> given(matrix.data(), rows_, rows_);
    Signal by_row(matrix.size()), left(order_.size()), column(order_.size());
    for (Index i = 0; i < rows_; ++i) left[static_cast<std::size_t>(i)] = given(i, i);
    order_.clear();
    for (Index k = 0; k < rows_; ++k) {
      const auto pivot = std::max_element(left.begin(), left.end());
      if (!(*pivot > threshold)) break;
      const Index row = pivot - left.begin();
      const double root = std::sqrt(*pivot);
      order_.push_back(row);
      dense::ConstMatrix<double> before(by_row.data(), rows_, k);
      before.stride[0] = rows_;
      dense::multiply(before, dense::Form::plain, {by_row.data() + row * rows_, static_cast<std::size_t>(k)}, 0,
                      column);
      for (Index i = 0; i < rows_; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double value = (given(i, row) - (k > 0 ? column[at] : 0)) / root;
        by_row[static_cast<std::size_t>(i * rows_ + k)] = value;
        left[at] -= value * value;
      }
      left[static_cast<std::size_t>(row)] = 0;
    }
    for (std::size_t k = 0; k < order_.size(); ++k)
      std::copy_n(by_row.begin() + order_[k] * rows_, rows_, lower_.begin() + static_cast<Index>(k) * rows_);
  }

  Signal lower_;
  std::vector<Index> order_;  ///< of the delays that have coefficients
  Index rows_;
};

double ratio_db(double signal, double error) {
  return error == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / error);
}

double energy(const Signal& signal) { return std::inner_product(signal.begin(), signal.end(), signal.begin(), 0.0); }

/// References that are projected on.
class Projection {
 public:
  Projection(View<const double, 2> references, Index taps)
      : taps_(taps), samples_(references.extent[1]), transform_(samples_ + taps - 1) {
    const Index sources = references.extent[0];
    for (Index j = 0; j < sources; ++j) spectra_.push_back(transform_.forward(references[j]));
    const Index rows = sources * taps;
    Signal all(static_cast<std::size_t>(rows * rows));
    for (Index i = 0; i < sources; ++i) {
      for (Index j = 0; j <= i; ++j) {
        const Signal products =
            transform_.correlation(spectra_[static_cast<std::size_t>(i)], spectra_[static_cast<std::size_t>(j)]);
        fill(all, rows, i, j, products);
        if (i == j) {
          Signal one(static_cast<std::size_t>(taps * taps));
          fill(one, taps, 0, 0, products);
          each_.emplace_back(one, taps);
        }
      }
    }
    all_.emplace_back(all, rows);
  }

  struct Scores {
    double sdr_db, sir_db, sar_db;
  };

  /// Of one estimate as that of each reference.
  [[nodiscard]] std::vector<Scores> scores(View<const double, 1> estimate) {
    const Spectrum spectrum = transform_.forward(estimate);
    Signal products;  // <s_j(t - d), e(t)>
    for (const Spectrum& reference : spectra_) {
      const Signal here = transform_.correlation(spectrum, reference);
      products.insert(products.end(), here.begin(), here.begin() + taps_);
    }
    const Signal projected = filtered(all_.front().solved(products), 0, spectra_.size());
    const double artifacts = energy_of_rest(projected, estimate);
    std::vector<Scores> scores;
    for (std::size_t j = 0; j < spectra_.size(); ++j) {
      const auto first = products.begin() + static_cast<std::ptrdiff_t>(j) * taps_;
      const Signal target = filtered(each_[j].solved(Signal(first, first + taps_)), j, j + 1);
      double interference = 0;
      for (std::size_t t = 0; t < target.size(); ++t) interference += std::pow(projected[t] - target[t], 2);
      const double signal = energy(target);
      scores.push_back({.sdr_db = ratio_db(signal, energy_of_rest(target, estimate)),
                        .sir_db = ratio_db(signal, interference),
                        .sar_db = ratio_db(energy(projected), artifacts)});
    }
    return scores;
  }

 private:
  /// <s_i(t - a), s_j(t - b)> = correlation(b - a) of delays a and b, and its mirror image.
  void fill(Signal& matrix, Index rows, Index i, Index j, const Signal& products) const {
    const auto length = static_cast<Index>(products.size());
    for (Index a = 0; a < taps_; ++a) {
      for (Index b = 0; b < taps_; ++b) {
        const double value = products[static_cast<std::size_t>((b - a + length) % length)];
        matrix[static_cast<std::size_t>((i * taps_ + a) * rows + j * taps_ + b)] = value;
        matrix[static_cast<std::size_t>((j * taps_ + b) * rows + i * taps_ + a)] = value;
      }
    }
  }

  /// The sum of references [first, last), each through its filter.
  [[nodiscard]] Signal filtered(const Signal& filters, std::size_t first, std::size_t last) {
    Spectrum sum(spectra_.front().size());
    for (std::size_t j = first; j < last; ++j) {
      const Spectrum filter = transform_.forward({filters.data() + static_cast<Index>(j - first) * taps_, taps_});
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += filter[k] * spectra_[j][k];
    }
    Signal samples = transform_.inverse(sum);
    samples.resize(static_cast<std::size_t>(samples_ + taps_ - 1));
    return samples;
  }

  /// |part - estimate|^2 with zeros behind the estimate.
  [[nodiscard]] double energy_of_rest(const Signal& part, View<const double, 1> estimate) const {
    double sum = 0;
    for (Index t = 0; t < samples_ + taps_ - 1; ++t)
      sum += std::pow(part[static_cast<std::size_t>(t)] - (t < samples_ ? estimate(t) : 0), 2);
    return sum;
  }

  Index taps_, samples_;
  Transform transform_;
  std::vector<Spectrum> spectra_;
  std::vector<NormalEquations> each_, all_;  // of one reference, and of all together
};

bool has_silence(View<const double, 2> signals) {
  for (Index j = 0; j < signals.extent[0]; ++j) {
    bool silent = true;
    for (Index i = 0; i < signals.extent[1]; ++i) silent = silent && signals(j, i) == 0;
    if (silent) return true;
  }
  return false;
}

/// The order of estimates with the largest mean SIR; the first of equals, as itertools.permutations() has them.
std::vector<Index> best_order(const std::vector<std::vector<Projection::Scores>>& scores) {
  std::vector<Index> order(scores.size()), best;
  std::iota(order.begin(), order.end(), Index{0});
  double largest = -std::numeric_limits<double>::infinity();
  do {
    double sum = 0;
    for (std::size_t j = 0; j < order.size(); ++j) sum += scores[static_cast<std::size_t>(order[j])][j].sir_db;
    if (best.empty() || sum > largest) {
      best = order;
      largest = sum;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

void check(View<const double, 2> references, View<const double, 2> estimates, Pairing pairing) {
  const Index sources = references.extent[0];
  if (sources < 1 || references.extent[1] < 1 || estimates.extent[0] != sources ||
      estimates.extent[1] != references.extent[1])
    throw Error(
        ErrorKind::bad_input,
        fmt::format("BSS-Eval: {} references of {} samples and {} estimates of {}; expected as many of the same "
                    "length",
                    sources, references.extent[1], estimates.extent[0], estimates.extent[1]));
  if (pairing == Pairing::best && sources > most_to_permute)
    throw Error(ErrorKind::bad_input, fmt::format("BSS-Eval: {} sources; the best order is looked for among at most {}",
                                                  sources, most_to_permute));
}

}  // namespace

BssEval bss_eval(View<const double, 2> references, View<const double, 2> estimates, Pairing pairing, Index taps) {
  check(references, estimates, pairing);
  const auto sources = static_cast<std::size_t>(references.extent[0]);
  const std::vector<double> none(sources, std::numeric_limits<double>::quiet_NaN());
  BssEval found{.sdr_db = none, .sir_db = none, .sar_db = none, .estimates = std::vector<Index>(sources)};
  std::iota(found.estimates.begin(), found.estimates.end(), Index{0});
  if (has_silence(references) || has_silence(estimates)) return found;

  Projection projection(references, taps);
  std::vector<std::vector<Projection::Scores>> scores;  // [estimate][reference]
  for (Index e = 0; e < estimates.extent[0]; ++e) scores.push_back(projection.scores(estimates[e]));
  if (pairing == Pairing::best) found.estimates = best_order(scores);
  for (std::size_t j = 0; j < sources; ++j) {
    const Projection::Scores& here = scores[static_cast<std::size_t>(found.estimates[j])][j];
    found.sdr_db[j] = here.sdr_db;
    found.sir_db[j] = here.sir_db;
    found.sar_db[j] = here.sar_db;
  }
  return found;
}

std::vector<BssEval> framewise_bss_eval(View<const double, 2> references, View<const double, 2> estimates,
                                        const Frames& frames, Index taps) {
  check(references, estimates, Pairing::given);
  std::vector<BssEval> found(static_cast<std::size_t>(frames.count(references.extent[1])));
  parallel_for(static_cast<Index>(found.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index k = first; k < last; ++k)
      found[static_cast<std::size_t>(k)] =
          bss_eval(frames.part(references, k), frames.part(estimates, k), Pairing::given, taps);
  });
  return found;
}

std::size_t bss_eval_bytes(Index sources, Index samples, Index taps) {
  const Index rows = sources * taps;
  // Spectra of all references and of one estimate, and the signals of one projection; the matrix before and after.
  return sizeof(double) * static_cast<std::size_t>(2 * rows * rows + (sources + 9) * (samples + 2 * taps));
}

}  // namespace sonde::separate
