// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/surface_options.h"

#include "sonde/engine/options/fields.h"

namespace sonde::neoclassical {

const char* name(SurfaceType type) {
  switch (type) {
    case SurfaceType::analytic:
      return "analytic";
    case SurfaceType::dkes:
      return "dkes";
    case SurfaceType::boozmn:
      return "boozmn";
    case SurfaceType::vmec:
      return "vmec";
    case SurfaceType::bc:
      return "bc";
    case SurfaceType::automatic:
      break;
  }
  return "auto";
}

void SurfaceOptions::describe(Fields& fields) {
  fields.choice("type", type,
                {{"auto", SurfaceType::automatic},
                 {"analytic", SurfaceType::analytic},
                 {"example", SurfaceType::analytic},
                 {"dkes", SurfaceType::dkes},
                 {"boozmn", SurfaceType::boozmn},
                 {"vmec", SurfaceType::vmec},
                 {"bc", SurfaceType::bc}},
                {.help = "kind of file; auto decides by its content"});
  fields.add("path", path, {.help = "file of the surface, or analytic-demo", .metavar = "FILE"});
  fields.add("s", s, {.help = "toroidal flux normalised by that of the edge", .min = 0, .max = 1, .alias = "psi_n"});
  fields.add("rho", rho, {.help = "square root of s", .min = 0, .max = 1});
  fields.add("surface_index", surface_index, {.help = "number of the surface in the file, from 0", .min = 0});
  fields.add("psi_a", psi_a,
             {.help = "toroidal flux of the edge / 2 pi with its sign, for files that lack it", .unit = "T m^2"});
  fields.add("wout", wout,
             {.help = "VMEC equilibrium that gives psi_a and signgs to a boozmn file", .metavar = "FILE"});
  fields.add("signgs", signgs,
             {.help = "sign of sqrt(g) of a boozmn file (-1, as VMEC has it, unless given)", .min = -1, .max = 1});
  fields.add("min_bmn", min_bmn,
             {.help = "leave out harmonics smaller than this times B_00", .min = 0, .alias = "min_bmn_to_load"});
  fields.add("snap", snap, {.help = "take the nearest surface of the file"});
  fields.add("vmec_radial_option", vmec_radial_option,
             {.help = "0: s as given, 1: nearest half surface but the first and last, 2: nearest half surface",
              .min = 0,
              .max = 2});
  fields.add("m", m, {.help = "analytic: poloidal mode numbers", .metavar = "M"});
  fields.add("n", n,
             {.help = "analytic: toroidal mode numbers per field period, phase m theta + n nfp zeta", .metavar = "N"});
  fields.add("b_cos", b_cos, {.help = "analytic: cosine harmonics of |B|", .unit = "T", .metavar = "B"});
  fields.add("b_sin", b_sin, {.help = "analytic: sine harmonics of |B|", .unit = "T", .metavar = "B"});
  fields.add("nfp", nfp, {.help = "analytic: field periods", .min = 1, .max = 10000});
  fields.add("iota", iota, {.help = "analytic: rotational transform"});
  fields.add("psi_p", psi_p, {.help = "analytic: dpsi/dr", .unit = "T m"});
  fields.add("b_theta", b_theta, {.help = "analytic: covariant B_theta (I)", .unit = "T m"});
  fields.add("b_zeta", b_zeta, {.help = "analytic: covariant B_zeta (G)", .unit = "T m"});
}

}  // namespace sonde::neoclassical
