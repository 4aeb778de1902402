// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/png.h"

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"

// libpng reports errors by a long jump, which skips destructors: the functions between setjmp and the calls of libpng
// own nothing, and what outlives the jump is declared in the caller.

namespace sonde {
namespace {

/// What the callbacks of libpng share.
struct PngSession {
  std::jmp_buf on_error;
  char message[200] = "";
  std::vector<std::byte>* to = nullptr;  // writing
  std::span<const std::byte> from;       // reading: what is left
};

[[noreturn]] void fail(png_structp png, png_const_charp message) {
  auto* session = static_cast<PngSession*>(png_get_error_ptr(png));
  std::strncpy(session->message, message, sizeof session->message - 1);
  std::longjmp(session->on_error, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

void append(png_structp png, png_bytep bytes, std::size_t count) {
  auto* to = static_cast<PngSession*>(png_get_io_ptr(png))->to;
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  to->insert(to->end(), begin, begin + count);
}

void take(png_structp png, png_bytep bytes, std::size_t count) {
  auto& from = static_cast<PngSession*>(png_get_io_ptr(png))->from;
  if (count > from.size()) png_error(png, "the file ends early");
  std::memcpy(bytes, from.data(), count);
  from = from.subspan(count);
}

struct Layout {
  png_uint_32 rows = 0, cols = 0;
  int bits = 8, colour = PNG_COLOR_TYPE_GRAY;
  std::size_t row_bytes = 0;
};

Layout layout_of(const Array& image) {
  const Shape& shape = image.shape();
  const bool grey = shape.rank() == 2 && (image.dtype() == DType::u8 || image.dtype() == DType::u16);
  const bool colour = shape.rank() == 3 && (shape[2] == 3 || shape[2] == 4) && image.dtype() == DType::u8;
  if (!grey && !colour)
    throw Error(ErrorKind::bad_input,
                fmt::format("an array of {} with shape {} cannot be written as PNG", name(image.dtype()), shape.text()))
        .hint("PNG holds u8 or u16 of shape (rows, cols), or u8 of shape (rows, cols, 3 or 4)");
  constexpr Index most = PNG_UINT_31_MAX;
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > most || shape[1] > most)
    throw Error(ErrorKind::bad_input, fmt::format("an image of shape {} cannot be written as PNG", shape.text()));
  Layout layout;
  layout.rows = static_cast<png_uint_32>(shape[0]);
  layout.cols = static_cast<png_uint_32>(shape[1]);
  if (image.dtype() == DType::u16) layout.bits = 16;
  if (colour) layout.colour = shape[2] == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA;
  layout.row_bytes = static_cast<std::size_t>(image.count() / shape[0]) * size_bytes(image.dtype());
  return layout;
}

bool write_all(png_structp png, png_infop info, PngSession& session, const Layout& layout, const std::byte* elements,
               std::span<png_text> texts) {
  if (setjmp(session.on_error) != 0) return false;
  png_set_write_fn(png, &session, append, nullptr);
  png_set_IHDR(png, info, layout.cols, layout.rows, layout.bits, layout.colour, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_text(png, info, texts.data(), static_cast<int>(texts.size()));
  png_write_info(png, info);
  if (layout.bits == 16) png_set_swap(png);  // PNG is big-endian
  for (png_uint_32 row = 0; row < layout.rows; ++row)
    png_write_row(png, reinterpret_cast<png_const_bytep>(elements + row * layout.row_bytes));
  png_write_end(png, info);
  return true;
}

/// Reads up to the first row of pixels and prepares plain 8 or 16 bit rows.
bool read_layout(png_structp png, png_infop info, PngSession& session, Layout& layout) {
  if (setjmp(session.on_error) != 0) return false;
  png_set_read_fn(png, &session, take);
  png_read_info(png, info);
  png_get_IHDR(png, info, &layout.cols, &layout.rows, &layout.bits, &layout.colour, nullptr, nullptr, nullptr);
  if (layout.colour == PNG_COLOR_TYPE_GRAY && png_get_valid(png, info, PNG_INFO_tRNS) != 0)
    layout.colour = PNG_COLOR_TYPE_GRAY_ALPHA;
  if (layout.bits < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (layout.bits == 16) png_set_swap(png);
  return true;
}

bool read_rows(png_structp png, PngSession& session, png_bytepp rows) {
  if (setjmp(session.on_error) != 0) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

/// Frees libpng's structures.
struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit Reader(PngSession& session)
      : png(png_create_read_struct(PNG_LIBPNG_VER_STRING, &session, fail, ignore_warning)) {
    info = png_create_info_struct(png);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};
struct Writer {
  png_structp png = nullptr;
  png_infop info = nullptr;
  explicit Writer(PngSession& session)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &session, fail, ignore_warning)) {
    info = png_create_info_struct(png);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

}  // namespace

std::vector<std::byte> encode_png(const Array& image, std::string_view description) {
  const Layout layout = layout_of(image);
  if (!image.contiguous()) return encode_png(image.clone(), description);
  std::vector<std::byte> bytes;
  PngSession session;
  session.to = &bytes;
  std::string software_key = "Software", software(mark_software), key = "Description", content(description), empty;
  std::array<png_text, 2> texts{};
  texts[0].compression = PNG_TEXT_COMPRESSION_NONE;
  texts[0].key = software_key.data();
  texts[0].text = software.data();
  texts[0].text_length = software.size();
  texts[1].compression = PNG_ITXT_COMPRESSION_NONE;
  texts[1].key = key.data();
  texts[1].text = content.data();
  texts[1].itxt_length = content.size();
  texts[1].lang = empty.data();
  texts[1].lang_key = empty.data();
  const Writer writer(session);
  if (!write_all(writer.png, writer.info, session, layout, static_cast<const std::byte*>(image.data()),
                 std::span(texts).first(description.empty() ? 1 : 2)))
    throw Error(ErrorKind::internal, fmt::format("writing a PNG image failed: {}", session.message));
  return bytes;
}

void write_png(const std::string& path, const Array& image, std::string_view description, const OutputRole& role) {
  const std::vector<std::byte> bytes = encode_png(image, description);
  AtomicFile file(path, role);
  file.write(bytes);
  file.commit();
}

Array decode_png(std::span<const std::byte> bytes, const std::string& name) {
  const auto broken = [&](const char* message) {
    return Error(ErrorKind::bad_file, fmt::format("{}: not a valid PNG image: {}", name, message));
  };
  PngSession session;
  session.from = bytes;
  Layout layout;
  const Reader reader(session);
  if (!read_layout(reader.png, reader.info, session, layout)) throw broken(session.message);
  if (layout.colour != PNG_COLOR_TYPE_GRAY)
    throw Error(ErrorKind::not_supported, fmt::format("{}: is a PNG with colour, a palette or transparency", name))
        .hint("save it as plain greyscale of 8 or 16 bits");
  layout.row_bytes = std::size_t{layout.cols} * (layout.bits == 16 ? 2 : 1);
  // Deflate shrinks at most 1032 times: anything larger is a lie that must not be allocated. 1-bit rows grow by 8.
  if (std::size_t{layout.rows} * layout.row_bytes / (8 * 1032) > bytes.size())
    throw broken(
        fmt::format("{} x {} pixels cannot come from {} bytes", layout.rows, layout.cols, bytes.size()).c_str());
  Array image(Device::cpu(), {Index{layout.rows}, Index{layout.cols}}, layout.bits == 16 ? DType::u16 : DType::u8);
  std::vector<png_bytep> rows(layout.rows);
  for (std::size_t row = 0; row < rows.size(); ++row)
    rows[row] = static_cast<png_bytep>(image.data()) + row * layout.row_bytes;
  if (!read_rows(reader.png, session, rows.data())) throw broken(session.message);
  return image;
}

Array read_png(const std::string& path) {
  const File file(path);
  std::vector<std::byte> bytes(file.size());
  file.read_at(0, bytes);
  return decode_png(bytes, path);
}

}  // namespace sonde
