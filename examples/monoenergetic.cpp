// SPDX-License-Identifier: Apache-2.0
// Transport and bootstrap coefficients of a flux surface over collisionality, in the units of the international
// benchmark: monoenergetic STARS.npz
#include <cstdio>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/neoclassical/convert/stored_points.h"
#include "sonde/instruments/neoclassical/convert/stored_tables.h"
#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

int main(int argc, char** argv) {
  using namespace sonde;
  namespace nc = sonde::neoclassical;
  if (argc != 2) return std::fprintf(stderr, "usage: monoenergetic STARS.npz\n"), 2;
  const std::string output = argv[1];
  try {
    // Four harmonics of |B| in T, as of W7-X at a quarter of a metre; n counts field periods.
    nc::AnalyticSurface field;
    field.name = "four harmonics";
    field.periods = 5;
    field.iota = 0.87;
    field.psi_p = 0.625;   // dpsi/dr, T m
    field.b_theta = 0;     // I, T m
    field.b_zeta = 13.75;  // G, T m
    field.b = {{{0, 0}, {0, 1}, {1, -1}, {1, 0}}, {2.5, 0.11, -0.11, -0.05}};
    const nc::Surface surface = nc::make_surface(field);
    const nc::Plan plan = nc::Plan::prepare(surface, {15, 15, 60});

    const std::vector<double> nu_v = {1e-4, 1e-3, 1e-2, 1e-1}, er_hat = {0, 5e-3};  // nu/v in 1/m, E_r/v in T
    std::vector<double> epsi_hat;
    for (const double field_per_r : er_hat) epsi_hat.push_back(field_per_r / surface.psi_scale);
    const std::vector<nc::Case> cases = nc::grid_of_cases(nu_v, epsi_hat);
    const std::vector<nc::Point> points =
        nc::scan(plan, cases, Budget(std::size_t{1} << 30U, "enough for any number of threads"));

    // The names under which a run stores points and their surface.
    const nc::SampledSurface& sampled = plan.surface();
    nc::StoredNumbers numbers = {
        {"B0", {surface.reference_field()}},  {"iota", {surface.iota}},          {"s", {surface.s}},
        {"psi_scale", {surface.psi_scale}},   {"jacobian", sampled.jacobian},    {"b_sup_zeta", sampled.b_sup_zeta},
        {"b_sub_theta", sampled.b_sub_theta}, {"b_sub_zeta", sampled.b_sub_zeta}};
    for (std::size_t i = 0; i < points.size(); ++i) {
      const nc::Coefficients& made = points[i].coefficients;
      numbers["D11"].push_back(made.D11);
      numbers["D31"].push_back(made.D31);
      numbers["D13"].push_back(made.D13);
      numbers["D33"].push_back(made.D33);
      numbers["nu_hat"].push_back(cases[i].nu_hat);
      numbers["epsi_hat"].push_back(cases[i].epsi_hat);
    }
    const nc::StoredNumbers stars = nc::converted(
        numbers, {.from = nc::Normalisation::ntx, .to = nc::Normalisation::stars, .radius = 0.25, .major_radius = 5.5});
    sonde::write_contents(
        output, nc::contents_of(
                    {.normalisation = nc::Normalisation::stars, .numbers = stars, .rho = {}, .nu_v = {}, .field = {}}));

    const std::vector<double>&nu = stars.at("nu_star"), &d11 = stars.at("D11_star"), &d31 = stars.at("D31_star");
    for (std::size_t i = 0; i < nu.size(); i += 2)
      std::printf("nu* %.2e   D11* %.3f, in the field %.3f   D31* %.3f, %.3f\n", nu[i], d11[i], d11[i + 1], d31[i],
                  d31[i + 1]);
    std::printf("%s: the field divides D11* by %.1f where collisions are rarest\n", output.c_str(), d11[0] / d11[1]);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exit_status(error.kind());
  }
}
