// SPDX-License-Identifier: Apache-2.0
// Probe modes are known up to a unitary mixture only, which leaves sum |P_m|^2 as it is; the orthogonal one is reported
// (Thibault and Menzel 2013): G_mn = <P_m, P_n> = V D V^H, P <- V^T P, strongest first. Each new mode gets the phase of
// the old one that it holds most of, so that modes that are orthogonal already stay.
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/ptycho/constrain/kinds.h"
#include "sonde/instruments/ptycho/constrain/modes.h"
#include "sonde/instruments/ptycho/constrain/object_values.h"
#include "sonde/instruments/ptycho/model/principal_axes.h"

namespace sonde::ptycho::constrain {
namespace {

struct OrthogonaliseSettings {
  void describe(Fields&) {}
};

template <class Real>
class Orthogonalise final : public Constraint<Real> {
 public:
  using Complex = std::complex<Real>;

  Orthogonalise(const OrthogonaliseSettings&, const ConstraintContext&, const State& state)
      : mixed_([&] { return std::vector<Complex>(static_cast<std::size_t>(state.modes() * state.window().cols)); }) {
    if (state.modes() > 1 && state.components() > 0)
      throw Error(ErrorKind::not_supported, "modes cannot be mixed while the first of them varies along the scan")
          .hint("leave out the constraint orthogonalise, or the table [opr]");
  }

  void apply(State& state, const ConstraintContext&) override {
    const auto probe = state.probe.view<Complex, 3>();
    const Index modes = probe.extent[0], cols = probe.extent[2];
    if (modes < 2) return;
    const std::vector<complex128> v = principal_axes(mode_products(state.probe), modes);
    parallel_for(probe.extent[1], 8, [&](Index first, Index last, Worker& worker) {
      std::vector<Complex>& mixed = mixed_[worker];
      for (Index row = first; row < last; ++row) {
        std::fill(mixed.begin(), mixed.end(), Complex{});
        for (Index k = 0; k < modes; ++k)
          for (Index m = 0; m < modes; ++m) {
            const Complex share(v[static_cast<std::size_t>(m * modes + k)]);
            const Complex* from = &probe(m, row, 0);
            Complex* to = mixed.data() + k * cols;
            for (Index i = 0; i < cols; ++i) to[i] += share * from[i];
          }
        for (Index k = 0; k < modes; ++k)
          std::copy(mixed.data() + k * cols, mixed.data() + (k + 1) * cols, &probe(k, row, 0));
      }
    });
  }

 private:
  PerWorker<std::vector<Complex>> mixed_;  // one row of every mode
};

}  // namespace

std::unique_ptr<ConstraintSetup> orthogonalise() {
  return std::make_unique<ConstraintSetupOf<Orthogonalise, OrthogonaliseSettings>>();
}

}  // namespace sonde::ptycho::constrain
