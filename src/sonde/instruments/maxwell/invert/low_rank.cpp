// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/low_rank.h"

#include <Eigen/Dense>
#include <algorithm>

#include "sonde/engine/math/random.h"

namespace sonde::maxwell {
namespace {

/// Directions beyond those that are asked for: 5 to 10 make the error that of the best possible (ibid., section 4.2).
constexpr Index spare_directions = 10;

Eigen::MatrixXd products(const SymmetricProduct& product, const Eigen::MatrixXd& directions) {
  Eigen::MatrixXd made(directions.rows(), directions.cols());
  for (Index j = 0; j < directions.cols(); ++j) {
    const std::vector<double> one =
        product(std::span(directions.col(j).data(), static_cast<std::size_t>(directions.rows())));
    made.col(j) = Eigen::Map<const Eigen::VectorXd>(one.data(), directions.rows());
  }
  return made;
}

}  // namespace

Eigenpairs largest_eigenpairs(const SymmetricProduct& product, Index count, Index rank) {
  const Index tried = std::min(count, rank + spare_directions);
  Eigen::MatrixXd random(count, tried);
  draw_normal({.seed = 1}, std::span(random.data(), static_cast<std::size_t>(random.size())));
  const Eigen::MatrixXd range = Eigen::HouseholderQR<Eigen::MatrixXd>(products(product, random)).householderQ() *
                                Eigen::MatrixXd::Identity(count, tried);
  const Eigen::MatrixXd small = range.transpose() * products(product, range);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved((small + small.transpose()) / 2);
  const Eigen::MatrixXd vectors = range * solved.eigenvectors();
  Eigenpairs made;
  for (Index j = tried - 1; j >= tried - std::min(rank, tried); --j) {
    made.values.push_back(std::max(0.0, solved.eigenvalues()[j]));
    made.vectors.emplace_back(vectors.col(j).data(), vectors.col(j).data() + count);
  }
  return made;
}

}  // namespace sonde::maxwell
