// SPDX-License-Identifier: Apache-2.0
// Simulates a scan and finds the phase of its specimen from the patterns: reconstruct SCAN.h5 PHASE.npy
#include <cstdio>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "sonde/instruments/ptycho/simulate/simulate.h"

int main(int argc, char** argv) {
  using namespace sonde;
  if (argc != 3) return std::fprintf(stderr, "usage: reconstruct SCAN.h5 PHASE.npy\n"), 2;
  const std::string scan = argv[1], output = argv[2];
  try {
    ptycho::SimulateOptions specimen;
    specimen.output = scan;
    specimen.scan_shape = "12,12";
    specimen.detector_px = 48;
    (void)ptycho::simulate(specimen);

    // The tables of a run file; `sonde ptycho init` writes one with all keys.
    ptycho::RunFile run;
    run.parse(
        "[data]\npatterns = \"data\"\npositions = \"positions_A\"\nmask = \"mask\"\nholdout = 0.0\n"
        "[geometry]\nenergy_keV = 200\nsemiangle_mrad = 20\ndetector_mrad_per_px = 2.5\n"
        "[probe]\ndefocus_A = 135\n"  // it is 150, but nobody knows that
        "[[engine]]\nname = \"gd\"\niterations = 40\n[stop]\nrule = \"off\"\n",
        "settings");
    run.data.file = scan;

    const ptycho::Source source = ptycho::open_source(run.data);
    ptycho::Job job(run, source, ptycho::plan_job(run, source));
    ptycho::Reconstruction& reconstruction = job.reconstruction();
    while (reconstruction.outcome().kind == ptycho::Outcome::Kind::running) reconstruction.iterate();

    const ptycho::Result result = job.result(run);
    write_npy(output, ptycho::phase_image(result, result.field_of_view()));
    const double r = reconstruction.history().back().fit.r_intensity;
    std::printf("%s: R_I %.3f, %.2f times the floor\n", output.c_str(), r, r / job.floor());
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return exit_status(error.kind());
  }
}
