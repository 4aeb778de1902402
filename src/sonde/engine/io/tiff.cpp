// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/tiff.h"

#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

/// The last complaint of libtiff, in place of its habit to print.
struct Complaint {
  std::string text;
};

int keep_complaint(TIFF*, void* to, const char*, const char* format, va_list values) {
  char text[300];
  std::vsnprintf(text, sizeof text, format, values);
  static_cast<Complaint*>(to)->text = text;
  return 1;  // handled: the global handler is not asked
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

using Handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Handle open_tiff(const std::string& path, const char* mode, Complaint& complaint) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 &TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_complaint, &complaint);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore_warning, nullptr);
  return Handle(TIFFOpenExt(path.c_str(), mode, options.get()), &TIFFClose);
}

std::string describe(const TiffTags& tags, Index pages) {
  // The first line makes ImageJ read the others; "images" is needed for stacks only.
  std::string text = "ImageJ=1.11a\n";
  if (pages > 1) text += fmt::format("images={0}\nslices={0}\n", pages);
  if (!tags.unit.empty()) text += "unit=" + tags.unit + "\n";
  if (!tags.description.empty()) text += tags.description + "\n";
  return text;
}

void check(const Array& images) {
  const int rank = images.shape().rank();
  const bool typed = images.dtype() == DType::u8 || images.dtype() == DType::u16 || images.dtype() == DType::u32 ||
                     images.dtype() == DType::f32;
  if (!typed || (rank != 2 && rank != 3))
    throw Error(ErrorKind::bad_input, fmt::format("an array of {} with shape {} cannot be written as TIFF",
                                                  name(images.dtype()), images.shape().text()))
        .hint("TIFF holds u8, u16, u32 or f32 of shape (rows, cols) or (pages, rows, cols)");
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  const Shape page = images.shape().last(2);
  if (images.count() == 0 || page[0] > most || page[1] > most)
    throw Error(ErrorKind::bad_input,
                fmt::format("images of shape {} cannot be written as TIFF", images.shape().text()));
}

void set_page_tags(TIFF* tiff, const Array& images, const TiffTags& tags) {
  const Shape page = images.shape().last(2);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(page[1]));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(page[0]));
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(page[0]));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_bytes(images.dtype())));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, images.dtype() == DType::f32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
  TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
  // ImageJ counts pixels per unit.
  if (tags.col_step) TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1.0 / *tags.col_step);
  if (tags.row_step) TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1.0 / *tags.row_step);
}

}  // namespace

void write_tiff(const std::string& path, const Array& images, const TiffTags& tags) {
  check(images);
  if (!images.device().is_cpu() || !images.contiguous()) {
    Stream stream(images.device());
    return write_tiff(path, images.copy_to(Device::cpu(), stream), tags);
  }
  const Index pages = images.shape().rank() == 3 ? images.shape()[0] : 1;
  const std::size_t total_bytes = static_cast<std::size_t>(images.count()) * size_bytes(images.dtype());
  const std::size_t page_bytes = total_bytes / static_cast<std::size_t>(pages);
  // Directories and tags take well below a kilobyte per page.
  const bool big = total_bytes + static_cast<std::size_t>(pages) * 1024 > std::numeric_limits<std::uint32_t>::max();
  const std::string description = describe(tags, pages);

  AtomicFile file(path);
  Complaint complaint;
  const auto failed = [&] {
    return Error(ErrorKind::io, fmt::format("{}: writing an image of {} failed: {}", path,
                                            format_bytes(static_cast<double>(total_bytes)), complaint.text))
        .hint("check the free space there");
  };
  {
    const Handle tiff = open_tiff(file.partial_path(), big ? "w8" : "w", complaint);
    if (!tiff) throw failed();
    for (Index page = 0; page < pages; ++page) {
      set_page_tags(tiff.get(), images, tags);
      if (page == 0) {
        TIFFSetField(tiff.get(), TIFFTAG_IMAGEDESCRIPTION, description.c_str());
        TIFFSetField(tiff.get(), TIFFTAG_SOFTWARE, std::string(mark_software).c_str());
      }
      // libtiff takes void*, but only a byte-swapping write would change the elements.
      auto* elements = const_cast<std::byte*>(static_cast<const std::byte*>(images.data())) +
                       static_cast<std::size_t>(page) * page_bytes;
      if (TIFFWriteEncodedStrip(tiff.get(), 0, elements, static_cast<tmsize_t>(page_bytes)) < 0 ||
          TIFFWriteDirectory(tiff.get()) == 0)
        throw failed();
    }
  }
  if (!complaint.text.empty()) throw failed();  // closing may complain too
  file.commit();
}

Array read_tiff(const std::string& path) {
  const std::uint64_t file_bytes = File(path).size();  // and errors that name the reason
  Complaint complaint;
  const auto broken = [&](const std::string& why) {
    return Error(ErrorKind::bad_file, fmt::format("{}: not a valid TIFF image: {}", path, why));
  };
  const auto unsupported = [&](const std::string& what) {
    return Error(ErrorKind::not_supported, fmt::format("{}: {}", path, what))
        .hint("save it as one greyscale image of 8, 16 or 32 bits in strips");
  };
  const Handle tiff = open_tiff(path, "r", complaint);
  if (!tiff) throw broken(complaint.text);
  std::uint32_t rows = 0, cols = 0;
  std::uint16_t bits = 1, samples = 1, format = SAMPLEFORMAT_UINT, photometric = PHOTOMETRIC_MINISBLACK;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &rows);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &cols);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetField(tiff.get(), TIFFTAG_PHOTOMETRIC, &photometric);
  if (rows == 0 || cols == 0) throw broken("it has no pixels");
  if (samples != 1 || photometric > PHOTOMETRIC_MINISBLACK) throw unsupported("is a TIFF with colour");
  if (TIFFIsTiled(tiff.get()) != 0) throw unsupported("is a TIFF in tiles");
  if (TIFFLastDirectory(tiff.get()) == 0) throw unsupported("is a TIFF of several pages, expected one");
  const bool is_float = format == SAMPLEFORMAT_IEEEFP && bits == 32;
  const bool is_count = format == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16 || bits == 32);
  if (!is_float && !is_count)
    throw unsupported(fmt::format("is a TIFF of {} bit pixels of sample format {}", bits, format));
  const DType dtype = is_float ? DType::f32 : bits == 8 ? DType::u8 : bits == 16 ? DType::u16 : DType::u32;

  const std::size_t row_bytes = std::size_t{cols} * size_bytes(dtype);
  // Deflate, the strongest of the codecs, shrinks at most 1032 times: more is a lie that must not be allocated.
  if (static_cast<double>(rows) * static_cast<double>(row_bytes) > 1032.0 * static_cast<double>(file_bytes) ||
      static_cast<std::size_t>(TIFFScanlineSize64(tiff.get())) != row_bytes)
    throw broken(fmt::format("{} x {} pixels cannot come from {} bytes", rows, cols, file_bytes));
  Array image(Device::cpu(), {Index{rows}, Index{cols}}, dtype);
  for (std::uint32_t row = 0; row < rows; ++row)
    if (TIFFReadScanline(tiff.get(), static_cast<std::byte*>(image.data()) + row * row_bytes, row) < 0)
      throw broken(complaint.text);
  return image;
}

}  // namespace sonde
