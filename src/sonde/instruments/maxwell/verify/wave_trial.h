// SPDX-License-Identifier: Apache-2.0
// Private to the room: a run and its derivatives along directions, set up in a few words.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/maxwell/run/operator.h"
#include "sonde/instruments/maxwell/verify/row.h"

namespace sonde::maxwell {

struct WaveCase {
  Mode mode = Mode::tm2d;
  int order = 2;
  double ratio = 0.9;  ///< the survey's time step over the largest stable one; above 1 there are steps between
  bool corrected = false;
  PaddingGradient padding = PaddingGradient::exact;
  LossForm loss = LossForm::semi_implicit;
  int poles = 0;
};
/// "2d_order_4_corrected".
[[nodiscard]] std::string id_of(const WaveCase& which);
/// A few in which everything occurs, or every combination.
[[nodiscard]] std::vector<WaveCase> wave_cases(VerifySize size);

/// Numbers by which a record changes, or its derivatives by them: eps_r, sigma and mu_r of the elements of the model,
/// the amplitudes, [source][step], and deps and tau of poles, [pole][element].
using Direction = std::array<std::vector<double>, 6>;
[[nodiscard]] double dot(const Direction& a, const Direction& b);
/// Largest difference over the largest value of `a`, of each kind of number for itself; the worst of them.
[[nodiscard]] double relative_difference(const Direction& a, const Direction& b);
/// How many numbers have other bits.
[[nodiscard]] Index different_bits(std::span<const double> a, std::span<const double> b);

/// What a trial runs, of `which` but for ratio, corrected and padding: a lossy medium with other values at every node,
/// unequal spacings and layers and one side without; a source and a receiver of every component between nodes, those of
/// H of eta0 H.
inline constexpr Index trial_steps = 24;
[[nodiscard]] Problem trial_problem(const WaveCase& which);
[[nodiscard]] Shot trial_shot(const Grid& grid);
/// [source][step], that make E and eta0 H of the order of 1.
[[nodiscard]] std::vector<double> random_amplitudes(const Grid& grid, const std::vector<Point>& sources, unsigned seed);

/// What a gradient is kept by: the plan for `storage` where there is plenty of memory and disk.
void prepare(Operator& waves, const GradientOf& of, const StorageSettings& storage, double highest_frequency = 0);

/// A trial by an operator.
class WaveTrial {
 public:
  explicit WaveTrial(const WaveCase& which, Precision precision = Precision::f64, const StorageSettings& storage = {});

  /// Random changes of every number; a random residual, [receiver][step].
  [[nodiscard]] Direction direction(unsigned seed) const;
  [[nodiscard]] std::vector<double> residual(unsigned seed) const;

  /// Puts the trial where it was made plus h v.
  void move(const Direction& v, double h);
  [[nodiscard]] std::vector<double> record();
  /// J v.
  [[nodiscard]] std::vector<double> record_change(const Direction& v);
  /// J' r.
  [[nodiscard]] Direction transposed(const std::vector<double>& r);
  struct Gradient {
    double value = 0;
    Direction by{};
  };
  [[nodiscard]] Gradient gradient(const Operator::Loss& loss);
  [[nodiscard]] Direction product(const Direction& v, const Operator::SecondLoss& loss, Operator::Hessian which);

 private:
  [[nodiscard]] ComponentChange located(const Direction& v) const;
  [[nodiscard]] Direction gathered(const ShotGradient& found) const;

  PaddingGradient padding_;
  Operator waves_;
  ComponentMedium medium_;
  Shot shot_;
  std::vector<double> amplitudes_;
};

}  // namespace sonde::maxwell
