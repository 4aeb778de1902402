// SPDX-License-Identifier: Apache-2.0
// The keys of a run file and what they mean.
#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/run/run_file.h"

namespace sonde::maxwell {
namespace {

void require_interval(std::string_view text, std::string_view where) {
  const bool number = !text.empty() && text.size() < 10 && text.front() != '0' &&
                      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number && text != "auto")
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected a number from 1 on, or auto", where, text));
}

}  // namespace

void ModelTable::describe(Fields& fields) {
  fields.add("file", file,
             {.help = "native model (HDF5, format sonde-maxwell-1) whose model, survey, source, time and grid count "
                      "where this file says nothing",
              .metavar = "MODEL.h5"});
  fields.add("eps_r", eps_r,
             {.help = "relative permittivity: a number, or an array [z][x] (two dimensions) or [z][y][x] as FILE.npy, "
                      "FILE.npz or FILE.h5:DATASET",
              .metavar = "X|FILE",
              .array = true});
  fields.add("sigma", sigma,
             {.help = "conductivity, as eps_r; unset: 0", .unit = "S/m", .metavar = "X|FILE", .array = true});
  fields.add("mu_r", mu_r, {.help = "relative permeability, as eps_r; unset: 1", .metavar = "X|FILE", .array = true});
  fields.add("shape", shape,
             {.help = "cells [NZ, NX] or [NZ, NY, NX], where no array says them",
              .metavar = "NZ,NX",
              .check = require_numbers});
  fields.add("spacing", spacing,
             {.help = "size of a cell: one number, or one for each axis in the order of the arrays",
              .unit = "m",
              .metavar = "D|DZ,DX",
              .check = require_numbers});
  fields.add("origin", origin,
             {.help = "coordinates of plane 0, for pictures, in the order of the arrays; unset: 0",
              .unit = "m",
              .metavar = "Z,X",
              .check = require_numbers});
  fields.add("title", title, {.help = "what pictures and results are headed with"});
  fields.add("allow_sub_vacuum", allow_sub_vacuum, {.help = "permit eps_r below 1"});
}

void SurveyTable::describe(Fields& fields) {
  fields.add("sources", sources,
             {.help = "where sources are: [[Z, X], ...] (or [[Z, Y, X], ...]), each a shot; or an array as "
                      "a file, [source][axis] or [shot][source][axis]",
              .metavar = "Z,X,...|FILE",
              .array = true});
  fields.add("receivers", receivers,
             {.help = "where receivers are, in the same way; a list [receiver][axis] serves every shot",
              .metavar = "Z,X,...|FILE",
              .array = true});
  fields.add("source_component", source_component,
             {.help = "Ex, Ey or Ez: electric currents, Hx, Hy or Hz: magnetic ones; one, or one for each source of a "
                      "shot",
              .metavar = "NAME,..."});
  fields.add("receiver_component", receiver_component,
             {.help = "what receivers record; one, or one for each receiver of a shot", .metavar = "NAME,..."});
  fields.choice("location_unit", location_unit,
                {{"auto", LocationUnit::by_type}, {"index", LocationUnit::index}, {"cells", LocationUnit::cells}},
                {.help = "index: elements of the array of the component; cells: positions in cells from plane 0, so "
                         "that element i of Ex is at x = i + 0.5; auto: indices where all numbers are whole (in files: "
                         "of an integer type), else positions"});
}

void SourceTable::describe(Fields& fields) {
  fields.add("wavelet", wavelet,
             {.help = fmt::format("{}", fmt::join(wavelet_names(WaveletFamily::native), ", ")), .metavar = "NAME"});
  fields.add("f0", f0, {.help = "centre frequency of the wavelet, or of the amplitudes of a file", .unit = "Hz"});
  fields.add("t0", t0, {.help = "delay of the wavelet; unset: 1 / f0", .unit = "s"});
  fields.add("amplitude", amplitude,
             {.help = "factor of the wavelet: A m (in two dimensions A) of an electric current, V m (V) of a magnetic "
                      "one"});
  fields.add("cycles", cycles, {.help = "cycles of morlet and sine_burst"});
  fields.add("file", file,
             {.help = "amplitudes in place of a wavelet, [step], [source][step] or [shot][source][step]; step n of an "
                      "electric source is at (n + 1/2) dt, of a magnetic one at n dt",
              .metavar = "FILE",
              .array = true});
}

void TimeTable::describe(Fields& fields) {
  fields.add("dt", dt,
             {.help = "time step of sources and records; the run takes several steps for each where it must; unset: "
                      "by grid.courant",
              .unit = "s"});
  fields.add("nt", nt, {.help = "time steps", .min = 1});
}

void GridTable::describe(Fields& fields) {
  fields.add("order", order, {.help = "order of the spatial stencils", .min = 2, .max = 8, .metavar = "2|4|6|8"});
  fields.choice("dtype", dtype, precision_words(), {.help = "precision of the fields"});
  fields.add("courant", courant, {.help = "time step over the largest stable one, where time.dt is unset"});
  fields.add(
      "spacing", spacing,
      {.help = "cells that are computed, where they are not those of the model: one, or one for each axis in the "
               "order of the arrays. The model is put on them, each element the mean of those that it overlaps; "
               "places of the survey stay",
       .unit = "m",
       .check = require_numbers});
  fields.add("sub_steps", sub_steps,
             {.help = "steps that are computed in each of time.dt, at least; unset: as few as are stable",
              .min = 1,
              .max = 64});
  fields.add("pml", pml,
             {.help = "width of the absorbing layers outside of the model: one, or the low and high side of each axis "
                      "in the order of the arrays; 0: a perfect conductor",
              .unit = "cells",
              .check = require_numbers});
  fields.choice("pml_preset", pml_preset, pml_preset_words(),
                {.help = "profile of the layers: default, with kappa up to 1.5; that of gprMax; tide, which also "
                         "absorbs waves that run along a layer"});
  fields.add("pml_grading", pml_grading, {.help = "power by which conductivity and kappa grow with depth"});
  fields.add("pml_sigma_factor", pml_sigma_factor, {.help = "factor of the largest conductivity"});
  fields.add("pml_kappa_max", pml_kappa_max, {.help = "largest kappa, at least 1"});
  fields.add("pml_alpha_max", pml_alpha_max, {.help = "alpha at the inner edge", .unit = "S/m"});
  fields.add("pml_alpha_min", pml_alpha_min, {.help = "alpha at the wall", .unit = "S/m"});
  fields.choice("time_dispersion", corrected, time_dispersion_words(),
                {.help = "corrected takes the error of the time step out of sources and records (order 4 and higher)"});
  fields.choice("material_location", material_location, material_location_words(),
                {.help = "where values of the model are located: node, an element for every component of its index; "
                         "cell, means of the cells around an edge or face, as gprMax"});
}

void DataTable::describe(Fields& fields) {
  fields.add("file", file,
             {.help = "records to compare with, as `sonde maxwell run` writes them", .metavar = "FILE.h5"});
  fields.add("weight", weight,
             {.help = "weight of samples: a number, or an array [shot][receiver] or [step][shot][receiver]; unset: 1",
              .metavar = "X|FILE",
              .array = true});
  fields.add("noise", noise, {.help = "standard deviation of a sample, in its unit", .min = 0});
  fields.add(
      "true_model", true_model,
      {.help = "native model or result of an inversion on the same cells, to compare with: nothing of it is used",
       .metavar = "MODEL.h5"});
  fields.add("mute", mute,
             {.help = "samples before this time do not count: a number, or an array [shot][receiver]",
              .unit = "s",
              .metavar = "X|FILE",
              .array = true});
}

void StorageTable::describe(Fields& fields) {
  fields.choice("mode", mode,
                {{"auto", StorageMode::automatic},
                 {"device", StorageMode::device},
                 {"host", StorageMode::host},
                 {"cpu", StorageMode::host},
                 {"disk", StorageMode::disk},
                 {"recompute", StorageMode::recompute},
                 {"reconstruct", StorageMode::reconstruct},
                 {"none", StorageMode::none}},
                {.help = "where a gradient keeps the fields of its forward run, or how it makes them again; none: "
                         "forward runs only"});
  fields.choice("compression", compression,
                {{"none", Compression::none}, {"bf16", Compression::bf16}, {"auto", Compression::automatic}},
                {.help = "of stored fields: bf16 halves them, with an error of the gradient near 1e-3"});
  fields.add("interval", interval,
             {.help = "steps between stored fields; auto: as many as are safe for the highest frequency",
              .metavar = "K|auto",
              .check = require_interval});
  fields.add("bytes_limit_device", bytes_limit_device,
             {.help = "stored fields in memory of the device, which is the host for work on the CPU; unset: 60 % of "
                      "what is free"});
  fields.add("bytes_limit_host", bytes_limit_host,
             {.help = "stored fields in memory of the host; unset: 60 % of what is free"});
  fields.add("path", path,
             {.help = "folder of stored fields on disk; empty: $TMPDIR, else /var/tmp", .metavar = "FOLDER"});
}

StorageSettings StorageTable::settings() const {
  const auto bytes = [](const std::optional<Bytes>& limit) {
    return limit ? std::optional(limit->value) : std::nullopt;
  };
  return {.mode = mode,
          .compression = compression,
          .interval = interval == "auto" ? std::nullopt : std::optional<Index>(std::stoll(interval)),
          .bytes_limit_device = bytes(bytes_limit_device),
          .bytes_limit_host = bytes(bytes_limit_host),
          .path = path};
}

void OutputTable::describe(Fields& fields) {
  fields.add("file", file, {.help = "records of a run", .metavar = "FILE.h5|.nc|.npz"});
  fields.add("folder", folder, {.help = "files of an inversion", .metavar = "FOLDER"});
  fields.add("every", every, {.help = "iterations between models that are kept; 0: the last of each stage", .min = 0});
  fields.add("checkpoint_every", checkpoint_every,
             {.help = "iterations of an inversion between checkpoints; 0: by checkpoint_minutes", .min = 0});
  fields.add("checkpoint_minutes", checkpoint_minutes,
             {.help = "time between checkpoints of an inversion; 0: by checkpoint_every", .unit = "min", .min = 0});
}

}  // namespace sonde::maxwell
