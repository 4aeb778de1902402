// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header_bytes = std::size_t{1} << 20;  // NumPy itself never writes more than a few hundred

/// The preamble before the text: magic, version, length of the text in two or four bytes.
struct Preamble {
  std::size_t text_offset = 0, text_bytes = 0;
};
constexpr std::size_t most_preamble_bytes = 12;

Preamble parse_preamble(std::span<const std::byte> start, const std::string& name) {
  if (start.size() < 10 || std::memcmp(start.data(), magic.data(), magic.size()) != 0)
    throw Error(ErrorKind::bad_file, name + ": is not an NPY file");
  const int version = static_cast<int>(start[6]);
  if (version < 1 || version > 3)
    throw Error(ErrorKind::not_supported, fmt::format("{}: NPY version {}, versions 1 to 3 are known", name, version));
  if (version > 1 && start.size() < most_preamble_bytes)
    throw Error(ErrorKind::bad_file, name + ": ends inside its NPY header");
  const Preamble preamble = version == 1 ? Preamble{10, load_little<std::uint16_t>(&start[8])}
                                         : Preamble{12, load_little<std::uint32_t>(&start[8])};
  if (preamble.text_bytes > most_header_bytes)
    throw Error(ErrorKind::bad_file, fmt::format("{}: an NPY header of {} bytes", name, preamble.text_bytes));
  return preamble;
}

/// What the text says, and whether the first index is the fastest.
struct StoredArray {
  NpyHeader header;
  bool fortran_order = false;
};

/// The header text: a Python dictionary with the keys 'descr', 'fortran_order' and 'shape' in any order.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  StoredArray parse() {
    NpyHeader header;
    std::optional<bool> fortran_order;
    bool typed = false, shaped = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !typed) {
        if (peek() == '[') throw Error(ErrorKind::not_supported, name_ + ": structured elements are not read");
        const NumpyType type = parse_numpy_type(quoted(), name_);
        header.dtype = type.dtype;
        header.big_endian = type.big_endian;
        typed = true;
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = truth();
      } else if (key == "shape" && !shaped) {
        header.shape = shape();
        shaped = true;
      } else {
        throw wrong("an unexpected key");
      }
      if (accept('}')) break;
      expect(',');
    }
    if (peek() != '\0') throw wrong("text after the dictionary");
    if (!typed || !fortran_order || !shaped)
      throw Error(ErrorKind::bad_file, name_ + ": the NPY header lacks 'descr', 'fortran_order' or 'shape'");
    return {header, *fortran_order && header.shape.rank() > 1};
  }

 private:
  [[nodiscard]] Error wrong(std::string_view what) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: {} at character {} of the NPY header", name_, what, at_));
  }

  /// The next character that is no space; NUL at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) throw wrong(fmt::format("no '{}'", wanted));
  }
  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') throw wrong("no quoted text");
    const std::size_t begin = at_ + 1, end = text_.find(quote, begin);
    if (end == std::string_view::npos) throw wrong("a quote without end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }
  bool truth() {
    (void)peek();
    const std::string_view rest = text_.substr(at_);
    const bool value = rest.starts_with("True");
    if (!value && !rest.starts_with("False")) throw wrong("neither True nor False");
    at_ += value ? 4 : 5;
    return value;
  }
  Shape shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      (void)peek();
      Index extent = 0;
      const auto [rest, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (status != std::errc() || extent < 0) throw wrong("no extent");
      at_ = static_cast<std::size_t>(rest - text_.data());
      (void)accept('L');  // Python 2 wrote long integers so
      if (shape.rank() == Shape::max_rank)
        throw Error(ErrorKind::not_supported, fmt::format("{}: more than {} dimensions", name_, Shape::max_rank));
      shape.append(extent);
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

StoredArray parse_header(std::span<const std::byte> text, const Preamble& preamble, std::uint64_t file_bytes,
                         const std::string& name) {
  StoredArray stored = HeaderText({reinterpret_cast<const char*>(text.data()), text.size()}, name).parse();
  NpyHeader& header = stored.header;
  header.data_offset = preamble.text_offset + preamble.text_bytes;
  const std::uint64_t available = file_bytes - header.data_offset;
  Index bytes = 1;
  bool fits = !__builtin_mul_overflow(bytes, static_cast<Index>(size_bytes(header.dtype)), &bytes);
  for (int i = 0; i < header.shape.rank(); ++i) fits = fits && !__builtin_mul_overflow(bytes, header.shape[i], &bytes);
  if (!fits || static_cast<std::uint64_t>(bytes) > available)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: shape {} of {} needs {} bytes of data, the file has {}", name, header.shape.text(),
                            sonde::name(header.dtype), fits ? fmt::to_string(bytes) : "more than 2^63", available))
        .hint("the copy may be incomplete");
  return stored;
}

StoredArray read_header(const File& file, std::uint64_t offset, std::uint64_t bytes, const std::string& name) {
  std::array<std::byte, most_preamble_bytes> start{};
  const std::size_t start_bytes = std::min<std::uint64_t>(start.size(), bytes);
  file.read_at(offset, std::span(start).first(start_bytes));
  const Preamble preamble = parse_preamble(std::span(start).first(start_bytes), name);
  if (preamble.text_bytes > bytes - std::min<std::uint64_t>(preamble.text_offset, bytes))
    throw Error(ErrorKind::bad_file, name + ": ends inside its NPY header");
  std::vector<std::byte> text(preamble.text_bytes);
  file.read_at(offset + preamble.text_offset, text);
  return parse_header(text, preamble, bytes, name);
}

StoredArray read_header(const File& file) { return read_header(file, 0, file.size(), file.path()); }

/// The elements with the last index fastest.
Array in_c_order(const Array& stored) {
  Array array(Device::cpu(), stored.shape(), stored.dtype());
  const Shape& shape = array.shape();
  const std::size_t size = size_bytes(array.dtype());
  const auto* from = static_cast<const std::byte*>(stored.data());
  auto* to = static_cast<std::byte*>(array.data());
  std::array<Index, Shape::max_rank> step{}, at{};  // of the stored array, whose first index is the fastest
  Index stride = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    step[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  Index source = 0;
  for (Index n = 0; n < array.count(); ++n, to += size) {
    std::memcpy(to, from + static_cast<std::size_t>(source) * size, size);
    for (int i = shape.rank() - 1; i >= 0; --i) {
      const auto d = static_cast<std::size_t>(i);
      source += step[d];
      if (++at[d] < shape[i]) break;
      source -= step[d] * shape[i];
      at[d] = 0;
    }
  }
  return array;
}

/// The array from its bytes as they stand in the file.
Array finished(Array array, const StoredArray& stored) {
  const std::span bytes(static_cast<std::byte*>(array.data()), stored.header.data_bytes());
  if (stored.header.big_endian) swap_bytes(bytes, word_bytes(stored.header.dtype));
  return stored.fortran_order ? in_c_order(array) : std::move(array);
}

/// Version 1 header of a type and a shape as NumPy writes them.
std::string header_of(const std::string& type, const std::string& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
  constexpr std::size_t preamble_bytes = 10, alignment_bytes = 64;
  const std::size_t total =
      (preamble_bytes + text.size() + 1 + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  text.resize(total - preamble_bytes, ' ');
  text.back() = '\n';
  std::string header(magic);
  header += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

/// The characters of UTF-8; U+FFFD for a byte that begins none.
std::u32string decoded(std::string_view text) {
  std::u32string letters;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[k])); };
    const std::uint32_t first = byte(i);
    const std::size_t more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : 4;
    std::uint32_t letter = more == 0 ? first : first & (0x3fU >> more);
    bool whole = more < 4 && i + more < text.size();
    for (std::size_t k = 1; whole && k <= more; ++k) {
      whole = byte(i + k) >> 6 == 2;
      letter = letter << 6 | (byte(i + k) & 0x3fU);
    }
    whole = whole && letter <= 0x10ffff && (letter < 0xd800 || letter >= 0xe000);
    letters.push_back(whole ? static_cast<char32_t>(letter) : U'\ufffd');
    i += whole ? more + 1 : 1;
  }
  return letters;
}

void append_utf8(std::string& text, std::uint32_t letter) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto rest = [&](int bits) { put(0x80U | (letter >> bits & 0x3fU)); };
  if (letter < 0x80) {
    put(letter);
  } else if (letter < 0x800) {
    put(0xc0U | letter >> 6), rest(0);
  } else if (letter < 0x10000) {
    put(0xe0U | letter >> 12), rest(6), rest(0);
  } else {
    put(0xf0U | letter >> 18), rest(12), rest(6), rest(0);
  }
}

}  // namespace

std::uint64_t NpyHeader::data_bytes() const {
  return static_cast<std::uint64_t>(shape.count()) * static_cast<std::uint64_t>(size_bytes(dtype));
}

NpyHeader read_npy_header(const File& file) { return read_npy_header(file, 0, file.size(), file.path()); }

NpyHeader read_npy_header(const File& file, std::uint64_t offset, std::uint64_t bytes, const std::string& name) {
  StoredArray stored = read_header(file, offset, bytes, name);
  if (stored.fortran_order)
    throw Error(ErrorKind::not_supported, name + ": the array is stored in Fortran order")
        .hint("store it in C order: numpy.save(path, numpy.ascontiguousarray(array))");
  stored.header.data_offset += offset;
  return stored.header;
}

Array read_npy(const std::string& path) {
  const File file(path);
  const StoredArray stored = read_header(file);
  const NpyHeader& header = stored.header;
  Array array(Device::cpu(), header.shape, header.dtype);
  file.read_at(header.data_offset, std::span(static_cast<std::byte*>(array.data()), header.data_bytes()));
  return finished(std::move(array), stored);
}

Array parse_npy(std::span<const std::byte> bytes, const std::string& name) {
  const Preamble preamble = parse_preamble(bytes.first(std::min(bytes.size(), most_preamble_bytes)), name);
  if (preamble.text_bytes > bytes.size() - preamble.text_offset)
    throw Error(ErrorKind::bad_file, name + ": ends inside its NPY header");
  const StoredArray stored =
      parse_header(bytes.subspan(preamble.text_offset, preamble.text_bytes), preamble, bytes.size(), name);
  const NpyHeader& header = stored.header;
  Array array(Device::cpu(), header.shape, header.dtype);
  const std::span to(static_cast<std::byte*>(array.data()), header.data_bytes());
  if (!to.empty()) std::memcpy(to.data(), &bytes[header.data_offset], to.size());
  return finished(std::move(array), stored);
}

NumpyType parse_numpy_type(std::string_view text, const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, DType>, 13> known = {{{"u1", DType::u8},
                                                                                {"b1", DType::u8},
                                                                                {"u2", DType::u16},
                                                                                {"u4", DType::u32},
                                                                                {"u8", DType::u64},
                                                                                {"i1", DType::i8},
                                                                                {"i2", DType::i16},
                                                                                {"i4", DType::i32},
                                                                                {"i8", DType::i64},
                                                                                {"f4", DType::f32},
                                                                                {"f8", DType::f64},
                                                                                {"c8", DType::c64},
                                                                                {"c16", DType::c128}}};
  const char order = text.empty() ? '\0' : text[0];
  if (order != '<' && order != '>' && order != '|' && order != '=')
    throw Error(ErrorKind::bad_file, fmt::format("{}: \"{}\" is not a NumPy element type", name, text));
  for (const auto& [code, dtype] : known)
    if (text.substr(1) == code) return {dtype, order == '>' && word_bytes(dtype) > 1};
  throw Error(ErrorKind::not_supported, fmt::format("{}: elements of NumPy type \"{}\" are not read", name, text))
      .hint("convert the array to integers of 1 to 8 bytes, float32, float64 or complex");
}

std::string numpy_type(DType dtype) {
  const std::string_view short_name = name(dtype);
  return fmt::format("{}{}{}", size_bytes(dtype) == 1 ? '|' : '<', short_name[0], size_bytes(dtype));
}

std::string npy_header(DType dtype, const Shape& shape) { return header_of(numpy_type(dtype), shape.text()); }

std::string npy_of_text(std::string_view text) {
  std::u32string letters = decoded(text);
  if (letters.empty()) letters.push_back(U'\0');  // as NumPy pads: no elements of no bytes
  std::string file = header_of(fmt::format("<U{}", letters.size()), "()");
  for (const char32_t letter : letters)
    for (int shift = 0; shift < 32; shift += 8) file += static_cast<char>(letter >> shift & 0xffU);
  return file;
}

std::optional<std::string> parse_npy_text(std::span<const std::byte> bytes, const std::string& name) {
  const Preamble preamble = parse_preamble(bytes.first(std::min(bytes.size(), most_preamble_bytes)), name);
  if (preamble.text_bytes > bytes.size() - preamble.text_offset)
    throw Error(ErrorKind::bad_file, name + ": ends inside its NPY header");
  const std::string_view header(reinterpret_cast<const char*>(&bytes[0]) + preamble.text_offset, preamble.text_bytes);
  constexpr std::string_view type = "'descr': '<U", one = "'shape': ()";
  const std::size_t at = header.find(type);
  if (at == std::string_view::npos || header.find(one) == std::string_view::npos) return std::nullopt;
  std::size_t letters = 0;
  const char* digits = header.data() + at + type.size();
  if (std::from_chars(digits, header.data() + header.size(), letters).ec != std::errc()) return std::nullopt;
  const std::span<const std::byte> data = bytes.subspan(preamble.text_offset + preamble.text_bytes);
  if (letters > data.size() / 4) throw Error(ErrorKind::bad_file, fmt::format("{}: ends inside its text", name));
  std::string text;
  for (std::size_t i = 0; i < letters; ++i) {
    const auto letter = load_little<std::uint32_t>(&data[4 * i]);
    if (letter > 0x10ffff || (letter >= 0xd800 && letter < 0xe000))
      throw Error(ErrorKind::bad_file, fmt::format("{}: {:#x} is not a character", name, letter));
    append_utf8(text, letter);
  }
  while (!text.empty() && text.back() == '\0') text.pop_back();  // NumPy pads with them
  return text;
}

void write_npy(const std::string& path, const Array& array) {
  if (!array.device().is_cpu() || !array.contiguous()) {
    Stream stream(array.device());
    return write_npy(path, array.copy_to(Device::cpu(), stream));
  }
  AtomicFile file(path);
  file.write(npy_header(array.dtype(), array.shape()));
  const auto bytes = static_cast<std::size_t>(array.count()) * size_bytes(array.dtype());
  file.write(std::span(static_cast<const std::byte*>(array.data()), bytes));
  file.commit();
}

}  // namespace sonde
