// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>

#include "sonde/app/cli/commands.h"
#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/image_record.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/results/save_image.h"
#include "sonde/instruments/stem/view/state.h"

namespace sonde::cli {
namespace {

namespace fs = std::filesystem;

struct ImageCommandOptions {
  std::vector<std::string> input;
  std::string output = "";
  std::string from, state;
  bool all = false;
  stem::DetectorOptions detectors;
  stem::PictureOptions picture;
  stem::LoadOptions load;
  stem::SeriesOptions series;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "scans, or folders of *_master.h5; left out with --from and --state", .optional = true});
    fields.add("output", output,
               {.help = "FILE.npy, .tif, .png or .h5; a folder for several images (then .tif)",
                .metavar = "FILE|DIR",
                .letter = 'o'});
    fields.add("from", from, {.help = "repeat the image of this record, bit for bit", .metavar = "RESULT.json"});
    fields.add("state", state,
               {.help = "the images of all detectors of a state that `sonde view` saved, bit for bit",
                .metavar = "STATE.json"});
    fields.add("all", all, {.help = "every scan of a folder; else the first"});
    detectors.describe(fields);
    picture.describe(fields);
    load.describe(fields);
    series.describe(fields);
  }
};

/// A file name for an image: the scan's label and the detector, without characters that shells dislike.
std::string file_name(const std::string& label, const std::string& detector, bool several_detectors) {
  std::string word;
  for (const char c : detector)
    word += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
  return several_detectors || label.empty() ? label + (label.empty() ? "" : "_") + word : label;
}

struct Job {
  const ImageCommandOptions& options;
  stem::DetectorOptions detectors;
  stem::PictureOptions picture;
  stem::LoadOptions load;
  std::optional<Value> repeated{};  // the record of --from
  std::optional<Value> input{};     // what the data must be those of: --from, --state
  std::string where{};              // the file that says so
  bool one_file = true;             // -o names the image, else a folder of images
};

/// What makes one image: kept beside it, and read back by --from. A repeated image tells how the first one came about.
Value record_of(const stem::Dataset& dataset, const stem::DetectorImage& image, const Job& job,
                const stem::DetectorGeometry& geometry, const std::optional<stem::Centre>& centre) {
  Value record = stem::image_record(dataset, image, job.detectors, job.picture, geometry, centre);
  if (job.repeated)
    for (const char* same : {"image", "detector", "choices"})
      if (const Value* before = job.repeated->find(same)) record[same] = *before;
  return record;
}

/// Least, largest and total value; whole numbers for counts. NaN (com-row and com-col of empty patterns) is left out.
void describe_values(const Array& image, Value& entry) {
  const auto describe = [&](const auto* values) {
    using T = std::decay_t<decltype(*values)>;
    std::optional<T> least, largest;
    T total = 0;
    for (Index p = 0; p < image.count(); ++p) {
      if (values[p] != values[p]) continue;
      least = std::min(least.value_or(values[p]), values[p]);
      largest = std::max(largest.value_or(values[p]), values[p]);
      total += values[p];
    }
    entry["min"] = least ? Value(*least) : Value();
    entry["max"] = largest ? Value(*largest) : Value();
    entry["total"] = total;
  };
  if (image.dtype() == DType::u64)
    describe(static_cast<const std::uint64_t*>(image.data()));
  else
    describe(static_cast<const double*>(image.data()));
}

void make_folder(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (!fs::is_directory(path))
    throw Error(ErrorKind::io, fmt::format("{}: no folder can be made: {}", path, failed.message()))
        .hint("give another -o");
}

void make_images(const std::string& path, const Job& job, Context& context) {
  stem::Dataset dataset = stem::load(path, job.load, context.budget(), context.device());
  if (job.input) stem::require_same_input(dataset, *job.input, job.where);
  report_load(context, dataset);

  auto phase = context.report().phase("images");
  std::optional<stem::Centre> centre;
  const stem::DetectorGeometry geometry = stem::detector_geometry(dataset, job.detectors, centre);
  if (centre) {
    context.report().add_choice(
        "centre", fmt::format("row {:.3f}, col {:.3f}, radius {:.3f}", centre->row, centre->col, centre->radius),
        fmt::format("{} on the mean pattern, confidence {:.2f}", name(centre->method), centre->confidence));
    context.say(fmt::format("centre    row {:.3f}, col {:.3f}, radius {:.3f} px (confidence {:.2f})", centre->row,
                            centre->col, centre->radius, centre->confidence));
  }
  const std::vector<stem::DetectorImage> images = stem::detector_images(dataset, job.detectors, geometry);
  phase.end();

  const bool folder = !job.one_file;
  std::string label = fs::path(path).filename().string();
  for (const std::string_view ending : {"_master.h5", ".h5", ".npy", ".mib", ".blo", ".emd", ".zarr", ".raw"})
    if (label.ends_with(ending)) {
      label.resize(label.size() - ending.size());
      break;
    }
  for (const stem::DetectorImage& image : images) {
    Value entry;
    entry["scan"] = path;
    entry["detector"] = image.detector;
    entry["area_pixels"] = image.area;
    entry["computed_from"] = image.path;
    describe_values(image.image, entry);
    if (!job.options.output.empty()) {
      const std::string file =
          folder
              ? (fs::path(job.options.output) / (file_name(label, image.detector, images.size() > 1) + ".tif")).string()
              : job.options.output;
      if (folder) make_folder(job.options.output);
      stem::require_not_input(file, dataset.acquisition());
      stem::save_image(file, image.image, stem::scan_scale(dataset.calibration(), dataset.scan_bin()), job.picture,
                       record_of(dataset, image, job, geometry, centre));
      entry["file"] = file;
      context.say(fmt::format("wrote     {} ({}, {} pixels, from {})", file, image.detector, image.area, image.path));
    }
    context.results()["images"].push_back(std::move(entry));
  }
}

/// Flags of these options that the command line gave.
template <class Options>
std::vector<std::string> given(Options options, const Context& context) {
  std::vector<std::string> flags;
  const Fields fields(options);
  for (const Field& field : fields.all())
    if (const std::string flag = context.given_flag(field.key); !flag.empty()) flags.push_back(flag);
  return flags;
}

/// Detectors and loading come from a file; what the command line says beside it must not be silently without effect.
void require_alone(const std::string& flag, const ImageCommandOptions& options, const Context& context) {
  std::vector<std::string> flags = given(options.detectors, context);
  for (std::string& each : given(options.load, context)) flags.push_back(std::move(each));
  if (!flags.empty())
    throw Error(ErrorKind::usage, fmt::format("{} takes detectors and loading from the record, but {} given", flag,
                                              join_words(flags) + (flags.size() == 1 ? " is" : " are")))
        .hint(fmt::format("leave out either {} or the others", flag));
  if (options.input.size() > 1)
    throw Error(ErrorKind::usage, fmt::format("{} is of one scan, but {} are named", flag, options.input.size()))
        .hint("name no scan, or where it lies now");
}

/// Settings and scan of --from.
std::vector<std::string> take_record(Job& job, const Context& context) {
  const ImageCommandOptions& options = job.options;
  require_alone("--from", options, context);
  job.where = options.from;
  job.repeated = job.input = read_json(options.from);
  job.load = stem::load_options_from(*job.repeated, options.from);
  const Value* image = job.repeated->find("image");
  const Value* input = job.repeated->find("input");
  const Value* path = input == nullptr ? nullptr : input->find("path");
  if (image == nullptr || path == nullptr)
    throw Error(ErrorKind::bad_file, fmt::format("{}: not the record of an image", options.from))
        .hint("give the .json that was written beside an image");
  job.detectors = options_from<stem::DetectorOptions>(*image, options.from);
  if (const Value* picture = job.repeated->find("picture");
      picture != nullptr && given(options.picture, context).empty())
    job.picture = options_from<stem::PictureOptions>(*picture, options.from);
  return options.input.empty() ? std::vector<std::string>{path->as_text()} : options.input;
}

/// Settings and scan of --state.
std::vector<std::string> take_state(Job& job, const Context& context) {
  const ImageCommandOptions& options = job.options;
  require_alone("--state", options, context);
  stem::StateScan scan = stem::scan_of_state(read_json(options.state), options.state);
  job.where = options.state;
  job.load = std::move(scan.load);
  job.detectors = std::move(scan.detectors);
  job.input = std::move(scan.record);
  return options.input.empty() ? std::vector<std::string>{scan.path} : options.input;
}

/// Whether -o names one file or a folder, and that it can be written, before any work.
void check_output(Job& job, std::size_t images) {
  const std::string& output = job.options.output;
  if (output.empty()) return;
  job.one_file = images == 1 && !output.ends_with('/') && !fs::is_directory(output);
  if (job.one_file) return stem::require_image_name(output);
  if (fs::path(output).has_extension() && !output.ends_with('/') && !fs::is_directory(output))
    throw Error(ErrorKind::usage, fmt::format("-o {} names one file, but there are {} images", output, images))
        .hint("give a folder, for instance -o images/");
  if (fs::exists(output) && !fs::is_directory(output))
    throw Error(ErrorKind::io, fmt::format("{}: is not a folder", output)).hint("give another -o");
}

void run_image(const ImageCommandOptions& options, Context& context) {
  Job job{options, options.detectors, options.picture, options.load};
  std::vector<std::string> scans;
  if (!options.from.empty() && !options.state.empty())
    throw Error(ErrorKind::usage, "--from and --state are both given").hint("leave out one of them");
  if (!options.from.empty()) {
    scans = take_record(job, context);
  } else if (!options.state.empty()) {
    scans = take_state(job, context);
  } else {
    if (options.input.empty())
      throw Error(ErrorKind::usage, "no scan was named").hint("give a master file, a folder, or --from RESULT.json");
    scans = stem::find_scans(options.input, options.series);
    if (!options.all && options.input.size() == 1) scans.resize(1);
  }
  if (options.output.empty() && !context.json() && !context.dry_run())
    throw Error(ErrorKind::usage, "no output was named").hint("give -o image.tif (or .npy, .png, .h5)");
  for (const std::string& text : job.detectors.detector)
    if (to_lower(trim(text)) != "com-row" && to_lower(trim(text)) != "com-col")
      (void)stem::DetectorExpression::parse(text);  // before any work
  check_output(job, scans.size() * job.detectors.detector.size());
  if (context.dry_run()) {
    for (const std::string& path : scans)
      context.report().add_choice("load " + path,
                                  Value(stem::preview_load(path, job.load, context.budget()).estimate.because),
                                  "the estimate before decoding");
    return;
  }
  context.results()["images"] = Value::list();
  for (const std::string& path : scans) make_images(path, job, context);
}

}  // namespace

Command stem_image_command() {
  return {.name = "stem image",
          .summary = "Make virtual images with any detectors",
          .details =
              "Detectors are bf, abf, adf, haadf (in units of the bright-field disk), com-row and com-col (first "
              "moments), or expressions of circle, annulus, rect, point, "
              "polygon, segment and file joined by & | ! and parentheses. Boolean detectors give exact integers. "
              "Beside every image a .json record is written that "
              "repeats it bit for bit with --from.",
          .examples = {{"sonde stem image scan_master.h5 --detector haadf --center auto --det-bin 2 -o haadf.tif",
                        "A high-angle annular dark-field image"},
                       {"sonde stem image DIR --pattern tilt --detector 'annulus(auto,auto,40,90)' --all -o out/",
                        "One image of every scan of a series"},
                       {"sonde stem image scan_master.h5 -d bf -d adf -d com-row -o images/",
                        "Several detectors from one load"},
                       {"sonde stem image --from haadf.json -o again.tif", "The same image again"},
                       {"sonde stem image --state state.json -o images/", "Every image that the viewer showed"}},
          .plans = true,
          .invoke = invocation<ImageCommandOptions, run_image>};
}

}  // namespace sonde::cli
