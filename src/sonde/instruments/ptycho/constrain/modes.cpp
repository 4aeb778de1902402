// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/constrain/modes.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

constexpr Index piece = 2048;  // pixels whose sum is made in one go; the pieces are added in their order

template <class Real>
std::vector<complex128> products(const Array& probe) {
  const auto p = probe.view<std::complex<Real>, 3>();
  const Index modes = p.extent[0], pixels = p.extent[1] * p.extent[2];
  const auto entries = static_cast<std::size_t>(modes * modes);
  std::vector<std::vector<complex128>> pieces(static_cast<std::size_t>((pixels + piece - 1) / piece));
  parallel_for(pixels, piece, [&](Index first, Index last, Worker&) {
    std::vector<complex128>& sums = pieces[static_cast<std::size_t>(first / piece)];
    sums.resize(entries);
    for (Index m = 0; m < modes; ++m)
      for (Index n = m; n < modes; ++n) {
        const std::complex<Real>*a = p.data + m * pixels, *b = p.data + n * pixels;
        double real = 0, imaginary = 0;
        for (Index i = first; i < last; ++i) {
          const double ar = a[i].real(), ai = a[i].imag(), br = b[i].real(), bi = b[i].imag();
          real += ar * br + ai * bi;
          imaginary += ar * bi - ai * br;
        }
        sums[static_cast<std::size_t>(m * modes + n)] = {real, imaginary};
      }
  });
  std::vector<complex128> gram(entries);
  for (const auto& sums : pieces)
    for (std::size_t i = 0; i < entries; ++i) gram[i] += sums[i];
  for (Index m = 0; m < modes; ++m)
    for (Index n = 0; n < m; ++n)
      gram[static_cast<std::size_t>(m * modes + n)] = std::conj(gram[static_cast<std::size_t>(n * modes + m)]);
  return gram;
}

}  // namespace

std::vector<complex128> mode_products(const Array& probe) {
  return probe.dtype() == DType::c64 ? products<float>(probe) : products<double>(probe);
}

std::vector<double> occupancies(const Array& probe) {
  const std::vector<complex128> gram = mode_products(probe);
  const auto modes = static_cast<std::size_t>(probe.shape()[0]);
  std::vector<double> shares;
  double sum = 0;
  for (std::size_t m = 0; m < modes; ++m) sum += shares.emplace_back(gram[m * modes + m].real());
  if (sum > 0)
    for (double& share : shares) share /= sum;
  return shares;
}

double largest_overlap(const Array& probe) {
  const std::vector<complex128> gram = mode_products(probe);
  const auto modes = static_cast<std::size_t>(probe.shape()[0]);
  double largest = 0;
  for (std::size_t m = 0; m < modes; ++m)
    for (std::size_t n = m + 1; n < modes; ++n) {
      const double powers = gram[m * modes + m].real() * gram[n * modes + n].real();
      if (powers > 0) largest = std::max(largest, std::abs(gram[m * modes + n]) / std::sqrt(powers));
    }
  return largest;
}

double total_power(const Array& probe) {
  const std::vector<complex128> gram = mode_products(probe);
  const auto modes = static_cast<std::size_t>(probe.shape()[0]);
  double sum = 0;
  for (std::size_t m = 0; m < modes; ++m) sum += gram[m * modes + m].real();
  return sum;
}

}  // namespace sonde::ptycho
