// SPDX-License-Identifier: Apache-2.0
// The one place that compiles the solver, which takes longer than all else that uses it.
#include "sonde/instruments/ptycho/model/principal_axes.h"

#include <Eigen/Eigenvalues>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {

using RowMajor = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<std::complex<double>> principal_axes(std::span<const std::complex<double>> hermitian, Index n) {
  if (static_cast<Index>(hermitian.size()) != n * n)
    throw Error(ErrorKind::internal, "principal axes of a matrix that is not square");
  const Eigen::MatrixXcd g = Eigen::Map<const RowMajor>(hermitian.data(), n, n);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver(g);
  std::vector<std::complex<double>> axes(hermitian.size());
  Eigen::Map<RowMajor> v(axes.data(), n, n);
  v = solver.eigenvectors().rowwise().reverse();
  for (Index k = 0; k < n; ++k) {
    Index most = 0;
    v.col(k).cwiseAbs().maxCoeff(&most);
    v.col(k) *= std::conj(v(most, k)) / std::abs(v(most, k));
  }
  return axes;
}

}  // namespace sonde::ptycho
