// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/orient_options.h"

#include "sonde/instruments/stem/bragg/bragg_calibration.h"

namespace sonde::stem {

void OrientOptions::describe(Fields& fields) {
  fields.heading("Crystal");
  fields.add(
      "crystal", crystal,
      {.help = "the crystal structure; repeat for several, of which the one that explains a position best is its phase",
       .metavar = "FILE.cif"});
  fields.add("phase_margin", phase_margin,
             {.help = "of several crystals: a position where the second best explains the disks nearly as well, to "
                      "this, is not decided",
              .unit = "%",
              .min = 0,
              .max = 50});
  fields.add("voltage", voltage,
             {.help = "accelerating voltage; else that of the input", .unit = "kV", .min = 1, .max = 3000});
  fields.add(
      "q_pixel", q_pixel,
      {.help = "reciprocal size of a detector pixel; else that of the input, or one fitted to the crystal's lines",
       .unit = "1/A",
       .min = 1e-6,
       .max = 1});
  fields.choice(
      "origin", origin,
      {{"auto", OriginChoice::automatic}, {"nearest", OriginChoice::nearest}, {"brightest", OriginChoice::brightest}},
      {.help =
           "the direct disk of a pattern: that nearest the mean place of all, or the brightest; auto: the origin in "
           "the file's calibration, else nearest"});
  fields.choice("origin_fit", origin_fit,
                {{"none", OriginFit::none},
                 {"mean", OriginFit::mean},
                 {"plane", OriginFit::plane},
                 {"parabola", OriginFit::parabola}},
                {.help = "surface over the scan through the direct disks; none: each by itself"});
  fields.add(
      "skip_calibration", skip_calibration,
      {.help = "steps of the calibration in the file that are not applied: origin, ellipse, pixel, transpose, rotation",
       .metavar = "STEP,...",
       .check = [](std::string_view text, std::string_view where) { (void)parse_steps(text, where); }});
  fields.heading("Plan");
  fields.add("k_max", plan.k_max, {.help = "largest 1/d", .unit = "1/A", .min = 0.01, .max = 20});
  fields.add("angle_step_zone_axis", plan.angle_step_zone_axis,
             {.help = "between zone axes", .unit = "degrees", .min = 0.2, .max = 20});
  fields.add("angle_step_in_plane", plan.angle_step_in_plane,
             {.help = "between turns about the beam", .unit = "degrees", .min = 0.2, .max = 20});
  fields.add("sigma_excitation_error", plan.sigma_excitation_error,
             {.help = "standard deviation of the distance from Ewald's sphere at which a reflection is excited",
              .unit = "1/A",
              .min = 1e-4,
              .max = 1});
  fields.add("precession", plan.precession,
             {.help = "half-angle of the cone of a precessing beam", .unit = "degrees", .min = 0, .max = 10});
  fields.add("corr_kernel_size", plan.corr_kernel_size,
             {.help = "distance at which a peak still matches a reflection", .unit = "1/A", .min = 1e-3, .max = 1});
  fields.add("tol_distance", plan.tol_distance,
             {.help = "reflections of lengths that differ by less share a ring", .unit = "1/A", .min = 1e-6, .max = 1});
  fields.add("power_radial", plan.power_radial, {.help = "power of 1/d in the weight of a peak", .min = 0, .max = 4});
  fields.add("power_intensity", plan.power_intensity,
             {.help = "power of the intensity in the weight of a peak", .min = 0, .max = 2});
  fields.heading("Match");
  fields.add("matches", match.matches, {.help = "overlapping crystals looked for in a pattern", .min = 1, .max = 16});
  fields.add("min_number_peaks", match.min_number_peaks,
             {.help = "patterns with fewer disks have no orientation", .min = 1, .max = 1000});
  fields.add("refine", match.refine,
             {.help = "turn the best matches to where their kinematic pattern is most like the disks, and state "
                      "standard errors"});
  fields.heading("Grains");
  fields.add("grain_angle", grains.angle,
             {.help = "positions that touch are of one grain where their orientations differ by less; 0: no grains",
              .unit = "degrees",
              .min = 0,
              .max = 60});
  fields.add("grain_size", grains.size, {.help = "positions of the smallest grain", .min = 1, .max = 1000000});
  fields.heading("Strain");
  fields.add(
      "strain", strain,
      {.help = "strain of the crystal against its cell, from where the disks are beside those of the orientation"});
  describe_frame(fields, rotation, transpose);
  fields.heading("");
}

}  // namespace sonde::stem
