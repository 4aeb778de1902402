// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/instruments/stem/image/detector_shapes.h"
#include "sonde/instruments/stem/image/presets.h"
#include "sonde/instruments/stem/load/series.h"
#include "sonde/instruments/stem/results/depiction.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/results/detector_stack.h"
#include "sonde/instruments/stem/results/image_record.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/results/save_image.h"
#include "sonde/instruments/stem/results/scan_images.h"
#include "sonde/instruments/stem/results/series_centre.h"
#include "sonde/instruments/stem/verbs/load_text.h"
#include "sonde/instruments/stem/verbs/scan_input.h"
#include "sonde/instruments/stem/verbs/verbs.h"
#include "sonde/instruments/stem/view/state.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

struct ImageCommandOptions {
  std::vector<std::string> input;
  std::string output = "";
  std::string from, state;
  bool all = false;
  DetectorOptions detectors;
  PictureOptions picture;
  LoadOptions load;
  SeriesOptions series;
  void describe(Fields& fields) {
    fields.positional(
        "input", input,
        {.help = "scans, or folders of *_master.h5; left out with " + setting("from") + " and " + setting("state"),
         .optional = true,
         .array = true});
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

struct Job {
  const ImageCommandOptions& options;
  DetectorOptions detectors;
  PictureOptions picture;
  LoadOptions load;
  std::optional<Value> repeated{};                // the record of --from
  std::optional<Value> input{};                   // what the data must be those of: --from, --state
  std::string where{};                            // the file that says so
  bool one_file = true;                           // -o names the image, else a folder of images
  std::vector<DetectorSet> sets{};                // whose members are the detectors
  std::vector<std::vector<std::string>> names{};  // of the images in the folder: [scan][detector]
  std::vector<std::vector<std::string>> given{};  // and of those handed on: [scan][set]
  std::optional<SeriesCentre> series{};           // of several scans, where the detectors need it
};

/// What makes one image: kept beside it, and read back by --from. A repeated image records how the first one was made.
Value record_of(const Dataset& dataset, const DetectorImage& image, const Job& job, const DetectorGeometry& geometry,
                const std::optional<Centre>& centre, Index scan) {
  Value record = image_record(dataset, image, job.detectors, job.picture, geometry, centre);
  if (job.series) record["detector"]["centre_found"]["series"] = job.series->of_scan(scan);
  if (!job.repeated) return record;
  for (const char* same : {"image", "detector", "choices"})
    if (const Value* before = job.repeated->find(same)) record[same] = *before;
  if (const Value* run = job.repeated->find("run"); run != nullptr && run->find("choices") != nullptr)
    record["run"]["choices"] = *run->find("choices");
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

/// What the images of one set of detectors are kept with.
struct Kept {
  const Dataset& dataset;
  const DetectorGeometry& geometry;
  const std::optional<Centre>& centre;
  const std::string& path;
  Index scan = 0;
  std::size_t set = 0, first = 0;  ///< number of the set, and of its first member among all detectors
};

Value entry_of(const Kept& kept, const DetectorImage& image) {
  Value entry;
  entry["scan"] = kept.path;
  entry["detector"] = image.detector;
  entry["area_pixels"] = image.area;
  entry["computed_from"] = image.path;
  entry["ledger"] = kept.dataset.ledger().to_value();
  describe_values(image.image, entry);
  return entry;
}

/// The images of a set: those of a family as one stack, unless each gets its own file in a folder.
void keep_set(const Kept& kept, std::span<const DetectorImage> members, const Job& job, Run& run) {
  const DetectorSet& set = job.sets[kept.set];
  const auto scan = static_cast<std::size_t>(kept.scan);
  std::optional<DetectorStack> stack;
  if (set.several) stack = stack_of(set, members);
  if (const auto empty = std::ranges::count(members, 0, &DetectorImage::area); empty > 0)
    log_warning(
        fmt::format("{}: {} of {} detectors cover no good pixel; their images are 0", set.text, empty, members.size()));
  const auto record = [&](const DetectorImage& image) {
    return record_of(kept.dataset, image, job, kept.geometry, kept.centre, kept.scan);
  };
  const bool files = !job.options.output.empty(), whole = stack && (job.one_file || !files);
  for (std::size_t i = 0; i < (whole ? 1 : members.size()); ++i) {
    const DetectorImage& image = whole ? stack->image : members[i];
    Value entry = entry_of(kept, image);
    if (whole) entry["members"] = stack->members;
    if (files) {
      const std::string& output = job.options.output;
      const std::string file =
          job.one_file ? output : (fs::path(output) / (job.names[scan][kept.first + i] + ".tif")).string();
      if (!job.one_file) make_folders(output);
      require_not_input(file, kept.dataset.acquisition(), kept.dataset.options());
      if (whole)
        save_stack(file, kept.dataset, set, *stack, kept.geometry, job.picture, record(image));
      else
        save_detector_image(file, kept.dataset, image, kept.geometry, job.detectors.centre_method, job.picture,
                            record(image));
      entry["file"] = file;
      run.say(fmt::format("wrote     {} ({}, {} pixels, from {})", file, image.detector, image.area, image.path));
    }
    run.results()["images"].push_back(std::move(entry));
  }
  const Shape shape = kept.dataset.shape().first(2);
  Contents contents;
  contents.attribute("schema", std::string("sonde.stem.images/1"));
  const std::string name = job.given.size() == 1 ? set.text : job.given[scan][kept.set];
  if (stack)
    contents.add(name, {"detector", "scan row", "scan column"}, alias(stack->image.image));
  else
    contents.add(name, {"scan row", "scan column"}, alias(members[0].image).reshaped(shape));
  run.give(contents);
}

/// Reports the scan and its images, the one of this number where there are several, and writes them.
void keep_images(const Dataset& dataset, const DetectorGeometry& geometry, const std::optional<Centre>& centre,
                 const std::vector<DetectorImage>& images, const std::string& path, Index scan, const Job& job,
                 Run& run) {
  say_result(run, dataset);
  report_load(run, dataset);
  if (centre && !job.series) {
    const std::string pattern = dataset.sampled_frames() > 0
                                    ? fmt::format("the mean of {} frames", dataset.sampled_frames())
                                    : std::string("the mean pattern");
    run.report().add_choice(
        "centre", fmt::format("row {:.3f}, col {:.3f}, radius {:.3f}", centre->row, centre->col, centre->radius),
        fmt::format("{} on {}, confidence {:.2f}", name(centre->method), pattern, centre->confidence));
    run.say(fmt::format("centre    row {:.3f}, col {:.3f}, radius {:.3f} px (confidence {:.2f})", centre->row,
                        centre->col, centre->radius, centre->confidence));
    for (const std::string& note : centre->notes) run.say("          " + note);
  }
  std::size_t first = 0;
  for (std::size_t set = 0; set < job.sets.size(); ++set) {
    const std::span members(images.data() + first, job.sets[set].members.size());
    const Kept kept{dataset, geometry, centre, path, scan, set, first};
    keep_set(kept, members, job, run);
    first += members.size();
  }
}

/// Those of these options that were set.
template <class Options>
std::vector<std::string> given(Options options, const Run& run) {
  std::vector<std::string> flags;
  const Fields fields(options);
  for (const Field& field : fields.all())
    if (run.settings().is_set(field.key)) flags.push_back(setting(field.key));
  return flags;
}

/// Detectors and loading come from a file; what is set beside it must not be silently without effect.
void require_alone(const std::string& flag, const ImageCommandOptions& options, const Run& run) {
  std::vector<std::string> flags = given(options.detectors, run);
  for (std::string& each : given(options.load, run)) flags.push_back(std::move(each));
  if (!flags.empty())
    throw Error(ErrorKind::usage, fmt::format("{} takes detectors and loading from the record, but {} given", flag,
                                              join_words(flags) + (flags.size() == 1 ? " is" : " are")))
        .hint(fmt::format("leave out either {} or the others", flag));
  if (options.input.size() > 1)
    throw Error(ErrorKind::usage, fmt::format("{} is of one scan, but {} are named", flag, options.input.size()))
        .hint("name no scan, or where it is now");
}

/// Settings and scan of --from.
std::vector<std::string> take_record(Job& job, const Run& run) {
  const ImageCommandOptions& options = job.options;
  require_alone(setting("from"), options, run);
  job.where = options.from;
  job.repeated = job.input = read_json(options.from);
  job.load = load_options_from(*job.repeated, options.from);
  const Value* image = job.repeated->find("image");
  const std::string path = input_path(*job.repeated);
  if (image == nullptr || path.empty())
    throw Error(ErrorKind::bad_file, fmt::format("{}: not the record of an image", options.from))
        .hint("give the .json that was written beside an image");
  job.detectors = options_from<DetectorOptions>(*image, options.from);
  if (const Value* picture = job.repeated->find("picture"); picture != nullptr && given(options.picture, run).empty())
    job.picture = options_from<PictureOptions>(*picture, options.from);
  return options.input.empty() ? std::vector<std::string>{path} : options.input;
}

/// Settings and scan of --state.
std::vector<std::string> take_state(Job& job, const Run& run) {
  const ImageCommandOptions& options = job.options;
  require_alone(setting("state"), options, run);
  StateScan scan = scan_of_state(read_json(options.state), options.state);
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
  job.one_file = images == 1 && !output.ends_with('/') && !is_folder(output);
  if (job.one_file) return require_image_name(output);
  note_made_up_names();  // only the folder was named
  if (fs::path(output).has_extension() && !output.ends_with('/') && !is_folder(output))
    throw Error(ErrorKind::usage, fmt::format("-o {} names one file, but there are {} images", output, images))
        .hint("give a folder, for instance -o images/");
  if (path_exists(output) && !is_folder(output))
    throw Error(ErrorKind::io, fmt::format("{}: is not a folder", output)).hint("give another -o");
}

/// The scans of a series have one shape, and so have its images.
Series open_series(const std::vector<std::string>& scans, const Job& job, Run& run) {
  Series series = Series::open(scans, job.options.series, job.load, run.budget(), run.device());
  require_named({series.items(), series.skipped()}, job.options.input);
  run.results()["skipped"] = Value::list();
  for (const SkippedScan& scan : series.skipped()) run.results()["skipped"].push_back(scan.path + ": " + scan.reason);
  return series;
}

void make_images(const std::string& path, const Job& job, Run& run) {
  auto phase = run.report().phase("images");
  const ScanImages made =
      image_scan([&] { return open_input(path, job.load, run); }, job.load, job.detectors, run.budget(), run.device());
  phase.end();
  if (job.input) require_same_input(made.dataset, *job.input, job.where);
  keep_images(made.dataset, made.geometry, made.centre, made.images, path, 0, job, run);
}

/// One centre for all scans, where the detectors need one, then the images of each.
void make_images_of(Series& series, Job& job, Run& run) {
  job.series = series_centre_for(series, job.detectors);
  if (job.series) {
    run.results()["centre"] = job.series->to_value();
    for (const std::string& line : job.series->lines()) run.say(line);
  }
  for (Index i = 0; i < series.size(); ++i) {
    const auto dataset = series.item(i);
    auto phase = run.report().phase("images");
    std::optional<Centre> centre;
    if (job.series) centre = job.series->centre;
    const DetectorGeometry geometry = detector_geometry(*dataset, job.detectors, centre);
    const std::vector<DetectorImage> images = detector_images(*dataset, job.detectors, geometry);
    phase.end();
    keep_images(*dataset, geometry, centre, images, series.items()[static_cast<std::size_t>(i)].path, i, job, run);
  }
}

void run_image(const ImageCommandOptions& options, Run& run) {
  Job job{options, options.detectors, options.picture, options.load};
  std::vector<std::string> scans;
  if (!options.from.empty() && !options.state.empty())
    throw Error(ErrorKind::usage, setting("from") + " and " + setting("state") + " are both given")
        .hint("leave out one of them");
  if (!options.from.empty()) {
    scans = take_record(job, run);
  } else if (!options.state.empty()) {
    scans = take_state(job, run);
  } else {
    if (options.input.empty())
      throw Error(ErrorKind::usage, "no scan was named")
          .hint("give a master file, a folder, or " + setting("from") + " RESULT.json");
    scans = scans_of(options.input, options.series, run);
    if (!options.all && options.input.size() == 1) scans.resize(1);
  }
  std::optional<Series> series;
  if (scans.size() > 1) {
    series = open_series(scans, job, run);
    scans.clear();
    for (const SeriesItem& item : series->items()) scans.push_back(item.path);
  }
  if (options.output.empty() && !run.json() && !run.gives_arrays() && !run.dry_run())
    throw Error(ErrorKind::usage, "no output was named").hint("give -o image.tif (or .npy, .png, .h5)");
  job.sets = detector_sets(job.detectors);  // before any work
  check_output(job, scans.size() * job.sets.size());
  job.given = image_names(scans, job.detectors.detector);
  job.detectors = with_members(job.detectors, job.sets);
  job.names = image_names(scans, job.detectors.detector);
  if (run.dry_run()) {
    for (const std::string& path : scans)
      run.report().add_choice("load " + path, Value(preview_input(path, job.load, run).estimate.because),
                              "the estimate before decoding");
    return;
  }
  run.results()["images"] = Value::list();
  if (series) return make_images_of(*series, job, run);
  for (const std::string& path : scans) make_images(path, job, run);
}

std::string detectors_in_words() {
  std::vector<std::string> presets, shapes;
  for (const DetectorPreset& preset : detector_presets) presets.emplace_back(preset.name);
  for (const DetectorShape& shape : detector_shapes()) shapes.emplace_back(shape.name);
  return fmt::format(
      "Detectors are {} (in units of the bright-field disk), com-row and com-col (first moments), com-magnitude and "
      "com-angle (of their deflection from the centre), or expressions of {} and file joined by & | ! and parentheses. "
      "rings and segments are many detectors in one expression, whose images are one stack (rings by rings, sectors by "
      "sectors): pages of a TIFF, pictures side by side in a PNG. All detectors of a command are summed in one reading "
      "of "
      "the frames. Boolean detectors give exact integers. A PNG of a first moment shows the deflection from the centre "
      "of the "
      "beam. "
      "Beside every image a .json record is written that repeats it bit for bit with {}.\n\n"
      "Shapes have their arguments in pixels after binning, rows before columns, pixel centres at whole numbers; a row "
      "or "
      "column of a centre may be auto, a radius may end in rho (radii of the bright-field disk), an angle is in "
      "radians "
      "or ends in deg:",
      join_words(presets, ", "), join_words(shapes, ", "), setting("from"));
}

}  // namespace

Verb image_verb() {
  return {
      .name = "stem image",
      .summary = "Make virtual images with any detectors",
      .details = detectors_in_words() + "\n\n" + detector_shapes_help(),
      .examples = {{"sonde stem image scan_master.h5 --detector haadf --center auto --det-bin 2 -o haadf.tif",
                    "A high-angle annular dark-field image"},
                   {"sonde stem image DIR --pattern tilt --detector 'annulus(auto,auto,40,90)' --all -o out/",
                    "One image of every scan of a series"},
                   {"sonde stem image scan_master.h5 -d bf -d adf -d com-row -o images/",
                    "Several detectors from one load"},
                   {"sonde stem image scan_master.h5 -d 'segments(auto,auto,0,rho,1,4,-45deg)' -o quadrants.h5",
                    "The four quadrants of a DPC detector, as one stack"},
                   {"sonde stem image scan_master.h5 -d 'rings(auto,auto,0,60,100)' -o rings.npy", "A hundred rings"},
                   {"sonde stem image --from haadf.json -o again.tif", "The same image again"},
                   {"sonde stem image --state state.json -o images/", "Every image that the viewer showed"}},
      .plans = true,
      .watched = Watched{},
      .invoke = invocation<ImageCommandOptions, run_image>};
}

}  // namespace sonde::stem
