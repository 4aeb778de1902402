// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/saturate.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/ptycho/read/files.h"
#include "sonde/instruments/ptycho/read/foreign.h"
#include "sonde/instruments/ptycho/read/sonde_scan.h"
#include "sonde/instruments/ptycho/read/stack.h"

namespace sonde::ptycho {
namespace {

/// Whether a file says that it is HDF5, whole or not. The signature stands at 0, or after a foreign block of 512 bytes
/// or a multiple of that by a power of two.
bool is_hdf5(const std::string& path) {
  constexpr std::string_view signature("\x89HDF\r\n\x1a\n", 8);
  const File file(path);
  for (std::uint64_t at = 0; at + signature.size() <= file.size(); at = at == 0 ? 512 : 2 * at) {
    std::string found(signature.size(), '\0');
    file.read_at(at, std::as_writable_bytes(std::span(found)));
    if (found == signature) return true;
  }
  return false;
}

bool is_called_positions(const std::string& path) { return path == "positions" || path.ends_with("/positions"); }

/// The data sets that can be patterns.
std::vector<std::string> possible_patterns(const Hdf5File& file) {
  std::vector<std::string> found;
  for (const std::string& path : file.datasets()) {
    const Hdf5DatasetInfo info = file.dataset(path).info();
    if (info.shape.rank() >= 3 && info.shape.rank() <= 4 && info.dtype && *info.dtype < DType::c64 &&
        !is_called_positions(path))
      found.push_back(path);
  }
  return found;
}

/// The data sets (frames, 2) of real numbers, for a stack or raster of patterns.
std::vector<std::string> position_lists(const Hdf5File& file, const Shape& patterns) {
  const Index frames = patterns.rank() == 4 ? patterns[0] * patterns[1] : patterns[0];
  std::vector<std::string> found;
  for (const std::string& path : file.datasets()) {
    const Hdf5DatasetInfo info = file.dataset(path).info();
    if (info.shape == Shape{frames, 2} && info.dtype && *info.dtype < DType::c64) found.push_back(path);
  }
  return found;
}

/// A data set that is called positions and looks like a list of points, but not one for each frame: of another length,
/// transposed, or folded like the scan.
std::optional<std::string> wrong_list(const Hdf5File& file, const Shape& patterns) {
  const Index frames = patterns.rank() == 4 ? patterns[0] * patterns[1] : patterns[0];
  for (const std::string& path : file.datasets()) {
    const Hdf5DatasetInfo info = file.dataset(path).info();
    if (!is_called_positions(path) || !info.dtype || *info.dtype >= DType::c64) continue;
    const Shape& shape = info.shape;
    const bool points = (shape.rank() == 2 && (shape[0] == 2 || shape[1] == 2)) || (shape.rank() == 3 && shape[2] == 2);
    if (points && !(shape == Shape{frames, 2})) return path;
  }
  return std::nullopt;
}

/// Whether a list of positions lies beside the only patterns of a file: called so, or in a file that is no raster.
bool lists_positions(const Hdf5File& file) {
  const std::vector<std::string> patterns = possible_patterns(file);
  if (patterns.size() != 1) return false;
  const Shape shape = file.dataset(patterns.front()).info().shape;
  if (wrong_list(file, shape)) return true;
  const std::vector<std::string> lists = position_lists(file, shape);
  return !lists.empty() && (shape.rank() == 3 || std::any_of(lists.begin(), lists.end(), is_called_positions));
}

/// The data set that the patterns are in: the named one, or the only one that can be.
Hdf5Dataset patterns_of(const Hdf5File& file, const std::string& named) {
  if (!named.empty()) return require_dataset(file, named);
  const std::vector<std::string> found = possible_patterns(file);
  if (found.empty())
    throw Error(ErrorKind::bad_file, fmt::format("{}: no data set of three or four dimensions", file.path()))
        .hint("name the patterns with data.patterns");
  if (found.size() > 1)
    throw Error(ErrorKind::bad_file, fmt::format("{}: {} may all be the patterns", file.path(), join_words(found)))
        .hint(fmt::format("choose with data.patterns, for instance \"{}\"", found.front()));
  return file.dataset(found.front());
}

/// Whether the frames seem to be the last dimension: the counts fit there and not where they should.
void require_order(const Shape& shape, Index positions, const std::string& what) {
  if (shape.rank() != 3 || positions == 0 || shape[0] == positions || shape[2] != positions) return;
  throw Error(ErrorKind::bad_input, fmt::format("{}: shape {} with {} positions: the axes seem to be in another order, "
                                                "expected (frames, rows, columns)",
                                                what, shape.text(), positions))
      .hint("store numpy.moveaxis(patterns, -1, 0)");
}

/// Folds a raster into a stack, and finds its shape.
void take_shape(Source& source, const Shape& stored, const DataSettings& settings, const std::string& what) {
  if (stored.rank() != 3 && stored.rank() != 4)
    throw Error(ErrorKind::bad_input, fmt::format("{}: shape {}, expected (frames, rows, columns) or (scan rows, scan "
                                                  "columns, rows, columns)",
                                                  what, stored.text()));
  Index bytes = sizeof(double);  // at most, of one element
  for (int i = 0; i < stored.rank(); ++i) bytes = saturating_product(bytes, stored[i]);
  if (bytes == saturated)
    throw Error(ErrorKind::bad_file, fmt::format("{}: shape {} takes more than 2^63 bytes", what, stored.text()));
  std::optional<Extent> asked;
  if (!settings.scan_shape.empty()) asked = parse_extent(settings.scan_shape, "data.scan_shape");
  if (stored.rank() == 4) {
    if (asked && (asked->rows != stored[0] || asked->cols != stored[1])) {
      Error error(ErrorKind::bad_input, fmt::format("{}: shape {}, but data.scan_shape is {} x {}", what, stored.text(),
                                                    asked->rows, asked->cols));
      if (asked->rows == stored[2] && asked->cols == stored[3])
        error.hint(
            "the axes seem to be in another order: the scan comes first, store numpy.moveaxis(patterns, (2, 3), "
            "(0, 1))");
      throw error;
    }
    const auto positions = static_cast<Index>(source.positions.size());
    if (positions > 0 && stored[0] * stored[1] != positions && stored[2] * stored[3] == positions)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: shape {} with {} positions: the axes seem to be in another order, expected (scan "
                              "rows, scan columns, rows, columns)",
                              what, stored.text(), positions))
          .hint("store numpy.moveaxis(patterns, (2, 3), (0, 1))");
    source.scan_shape = Extent{stored[0], stored[1]};
    source.shape = Shape{stored[0] * stored[1], stored[2], stored[3]};
  } else {
    require_order(stored, static_cast<Index>(source.positions.size()), what);
    if (asked && saturating_product(asked->rows, asked->cols) != stored[0]) {
      Error error(ErrorKind::bad_input, fmt::format("{}: {} frames, but data.scan_shape is {} x {}", what, stored[0],
                                                    asked->rows, asked->cols));
      if (saturating_product(asked->rows, asked->cols) == stored[2])
        error.hint("the axes seem to be in another order: frames come first, store numpy.moveaxis(patterns, -1, 0)");
      throw error;
    }
    source.scan_shape = asked;
    source.shape = stored;
  }
}

/// Remembers the unit that the name of the list ends in.
void take_unit(const ArrayName& name, Source& source) {
  source.unit = unit_in_name(name);
  if (const std::optional<std::string> foreign = foreign_unit_in_name(name))
    source.warnings.push_back(
        fmt::format("{}: the name ends in _{}, but lists of positions are in A or in object pixels: store it in one of "
                    "them",
                    name.text(), *foreign));
  if (!source.unit) return;
  source.notes.push_back(fmt::format("{}: positions in {}, as the name says; positions.unit sets another unit",
                                     name.text(), *source.unit == LengthUnit::pixel ? "object pixels" : "A"));
}

void take_named_positions(const DataSettings& settings, const FindArray& find, Source& source) {
  if (const std::shared_ptr<const Array> list = find ? find(settings.positions) : nullptr) {
    source.positions = as_points(*list, "data.positions");
    return;
  }
  const ArrayName name = array_name(settings.positions, settings.file);
  source.positions = as_points(read_named(name), name.text());
  take_unit(name, source);
}

/// Takes a list that is called positions; others are remembered for whoever finds the positions missing.
void take_list_beside(Source& source, const Hdf5File& file, const Shape& patterns) {
  if (patterns.rank() != 3 && patterns.rank() != 4) return;
  if (const auto wrong = wrong_list(file, patterns)) {
    const Shape shape = file.dataset(*wrong).info().shape;
    const Index frames = patterns.rank() == 4 ? patterns[0] * patterns[1] : patterns[0];
    Error error(ErrorKind::bad_input, fmt::format("{}:{}: shape {} for {} frames, expected ({}, 2)", file.path(),
                                                  *wrong, shape.text(), frames, frames));
    const bool scan_last = patterns.rank() == 4 && shape.count() == 2 * patterns[2] * patterns[3];
    throw error.hint(
        scan_last ? "the axes of the patterns seem to be in another order: the scan comes first, store "
                    "numpy.moveaxis(patterns, (2, 3), (0, 1))"
        : shape == Shape{2, frames} ? "store the transpose: a row and a column for each frame"
        : shape.count() == 2 * frames
            ? "store it reshaped to (-1, 2): a row and a column for each frame"
            : "give each frame its row and column, name another list with data.positions, or take the raster with "
              "data.format = \"stem\"");
  }
  for (const std::string& list : position_lists(file, patterns)) {
    if (!is_called_positions(list) || !source.positions.empty()) {
      source.position_lists.push_back(list);
      continue;
    }
    const std::string what = fmt::format("{}:{}", file.path(), list);
    source.positions = as_points(file.dataset(list).read(), what);
    source.notes.push_back(fmt::format("positions are those of {}", what));
  }
}

void require_counts(DType dtype, const std::string& what) {
  if (dtype >= DType::c64)
    throw Error(ErrorKind::bad_input, fmt::format("{}: elements of type {} are not counts", what, name(dtype)));
}

void require_no_bins(const DataSettings& settings) {
  if (settings.detector_bin != 1)
    throw Error(ErrorKind::not_supported, "data.detector_bin sums pixels of files that `sonde stem` opens")
        .hint("crop the patterns with data.crop instead");
}

Source open_plain(const DataSettings& settings, const FindArray& find) {
  Source source;
  source.file = settings.file;
  if (!settings.positions.empty()) take_named_positions(settings, find, source);  // they tell the order of axes
  if (is_npy(settings.file)) {
    source.format = "NPY";
    NpyStack stack = npy_stack(settings.file);
    take_shape(source, stack.shape, settings, settings.file);
    require_counts(stack.dtype, settings.file);
    source.dtype = stack.dtype;
    source.read_patterns = [path = settings.file, shape = source.shape] { return read_npy(path).reshaped(shape); };
    source.read_frames = std::move(stack.read_frames);
    return source;
  }
  source.format = "plain HDF5";
  const Hdf5File file = Hdf5File::open(settings.file);
  const auto data = std::make_shared<Hdf5Dataset>(patterns_of(file, settings.patterns));
  const std::string what = fmt::format("{}:{}", settings.file, data->path());
  if (!data->info().dtype)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: elements of type {} are not counts", what, data->info().type_text));
  require_counts(*data->info().dtype, what);
  if (settings.positions.empty()) take_list_beside(source, file, data->info().shape);
  take_shape(source, data->info().shape, settings, what);
  source.dtype = *data->info().dtype;
  source.read_patterns = [data, shape = source.shape] { return data->read().reshaped(shape); };
  source.read_frames = frames_of(data);
  source.together = frames_together(data->info());
  return source;
}

/// Of a format that lists its positions, or knows the shape of its raster.
void require_shape(Source& source, const DataSettings& settings) {
  if (settings.scan_shape.empty()) return;
  const Extent asked = parse_extent(settings.scan_shape, "data.scan_shape");
  const Extent known = source.scan_shape.value_or(asked);
  if (saturating_product(asked.rows, asked.cols) != source.shape[0] || asked.rows != known.rows ||
      asked.cols != known.cols)
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} frames, but data.scan_shape is {} x {}", source.file,
                                                  source.shape[0], asked.rows, asked.cols))
        .hint("the file says where its frames are: leave data.scan_shape out");
  source.scan_shape = asked;
}

SourceFormat recognised(const Hdf5File& file) {
  if (is_ptyd(file)) return SourceFormat::ptyd;
  if (is_cxi(file)) return SourceFormat::cxi;
  return is_sonde_scan(file) ? SourceFormat::sonde : SourceFormat::plain;
}

}  // namespace

void take_named_arrays(const DataSettings& settings, Source& source, const FindArray& find) {
  if (!settings.positions.empty()) {
    take_named_positions(settings, find, source);
    source.reference.reset();  // settings say what they mean
  }
  if (settings.mask.empty()) return;
  const bool nonzero_is_good = settings.mask_good == MaskGood::nonzero;
  if (const std::shared_ptr<const Array> mask = find ? find(settings.mask) : nullptr) {
    source.good = as_mask(*mask, nonzero_is_good, source.shape.last(2), "data.mask");
    return;
  }
  const ArrayName name = array_name(settings.mask, settings.file);
  source.good = as_mask(read_named(name), nonzero_is_good, source.shape.last(2), name.text());
}

void require_fitting(const Source& source) {
  if (!source.positions.empty() && static_cast<Index>(source.positions.size()) != source.shape[0])
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} positions for {} frames", source.file, source.positions.size(), source.shape[0]));
}

bool describes_itself(const std::string& path) {
  return !is_npy(path) && is_hdf5(path) && recognised(Hdf5File::open(path)) != SourceFormat::plain;
}

bool is_own_format(const DataSettings& settings) {
  if (settings.format != SourceFormat::automatic) return settings.format != SourceFormat::stem;
  if (!settings.positions.empty() || !settings.patterns.empty()) return true;
  if (is_npy(settings.file)) return true;
  if (!is_hdf5(settings.file)) return false;
  const Hdf5File file = Hdf5File::open(settings.file);
  return recognised(file) != SourceFormat::plain || lists_positions(file);
}

Source open_source(const DataSettings& settings, const FindArray& find) {
  if (settings.file.empty())
    throw Error(ErrorKind::bad_input, "no file with patterns is named").hint("give data.file in the run file");
  SourceFormat format = settings.format;
  if (format == SourceFormat::automatic) {
    format = is_npy(settings.file) ? SourceFormat::plain : recognised(Hdf5File::open(settings.file));
    // A named data set is meant, whatever else the file holds.
    if (format == SourceFormat::sonde && !settings.patterns.empty()) format = SourceFormat::plain;
  }
  require_no_bins(settings);
  Source source = format == SourceFormat::cxi     ? open_cxi(settings.file)
                  : format == SourceFormat::ptyd  ? open_ptyd(settings.file)
                  : format == SourceFormat::sonde ? open_sonde_scan(settings.file)
                                                  : open_plain(settings, find);
  if (format != SourceFormat::plain) require_shape(source, settings);
  take_named_arrays(settings, source, find);
  require_fitting(source);
  return source;
}

Source open_array(std::shared_ptr<const Array> patterns, const DataSettings& settings, const FindArray& find) {
  require_no_bins(settings);
  Source source;
  source.file = source.format = "array";
  if (!settings.positions.empty()) take_named_positions(settings, find, source);  // they tell the order of axes
  require_counts(patterns->dtype(), "data");
  take_shape(source, patterns->shape(), settings, "data");
  source.dtype = patterns->dtype();
  source.in_memory = !settings.clip_negative;
  // Clipping works in place, and these elements belong to somebody else.
  source.read_patterns = [patterns, flat = source.shape, copy = settings.clip_negative] {
    return (copy ? patterns->clone() : alias(patterns)).reshaped(flat);
  };
  take_named_arrays(settings, source, find);
  require_fitting(source);
  return source;
}

}  // namespace sonde::ptycho
