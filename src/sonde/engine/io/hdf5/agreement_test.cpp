// SPDX-License-Identifier: Apache-2.0
// h5py, which reads through the HDF5 library, is the oracle: every data set and every small value of files with one of
// everything, in three generations of the format, and of every real file.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "tests/support/data.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

/// Writes one.h5 and target.h5 into the folder, with the bounds of the library's versions as "earliest", "v108" or
/// "latest" behind a '|'.
constexpr const char* write_files = R"(
import os, sys
folder, version = sys.argv[1].split('|')
os.chdir(folder)
import h5py, hdf5plugin, numpy as np
rng = np.random.default_rng(1)
x = rng.integers(0, 1000, (13, 17, 19)).astype('i4')
with h5py.File('target.h5', 'w') as f:
    f['deep/data'] = np.arange(6, dtype='u4').reshape(2, 3)
    f['deep/more'] = np.arange(30, dtype='u4').reshape(10, 3)
bounds = {'earliest': 'earliest', 'v108': ('v108', 'v108'), 'v110': ('v110', 'v110'), 'latest': 'latest', 'block': 'latest'}[version]
block = {'userblock_size': 1024} if version == 'block' else {}
with h5py.File('one.h5', 'w', libver=bounds, **block) as f:
    n = f.create_group('numbers')
    n['i4'] = np.int32(-5); n['u8'] = np.uint64(2**63 + 1); n['half'] = np.array([1.5, -2, 0, np.inf, -6e-8, 65504], 'f2')
    n['i1'] = np.arange(-3, 3, dtype='i1'); n['u2_big'] = np.arange(24, dtype='>u2').reshape(2, 3, 4)
    n['f8_big'] = np.linspace(0, 1, 7).astype('>f8'); n['i8_big'] = np.arange(-3, 4).astype('>i8')
    n['truth'] = np.array([True, False, True]); n['complex'] = np.array([1 + 2j, 3 - 4j], 'c8')
    n['complex_big'] = np.array([1 + 2j, 3 - 4j], '>c16')
    n.create_dataset('enumeration', data=np.array([0, 1, 42, 1], 'i2'),
                     dtype=h5py.enum_dtype({'A': 0, 'B': 1, 'C': 42}, basetype='i2'))
    t = h5py.h5t.STD_U32BE.copy(); t.set_precision(17); t.set_offset(9)
    box = h5py.h5s.create_simple((10, 12))
    h5py.h5d.create(n.id, b'odd', t, box).write(box, box, np.arange(0, 1200, 10, dtype='i4').reshape(10, 12))
    f['type'] = np.dtype('f8')
    n.create_dataset('committed', (3,), dtype=f['type'])[...] = [1, 2, 3]
    for i in range(40): n.attrs['a%d' % i] = 'x' * i
    n.attrs['grid'] = np.array([[1.5, 2], [3, 4]]); n.attrs['yes'] = True; n.attrs['lines'] = ['a', 'bb']
    n.attrs.create('committed', [1., 2.], dtype=f['type'])
    s = f.create_group('texts')
    s['fixed'] = np.bytes_('bslz4'); s['any'] = 'Ångström'; s['lines'] = ['one', 'two', 'three' * 50]
    s['rows'] = np.array([b'ab', b'cde'], 'S5')
    d = f.create_group('layouts')
    d['contiguous'] = x
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE); p.set_layout(h5py.h5d.COMPACT)
    box = h5py.h5s.create_simple((5, 7))
    h5py.h5d.create(d.id, b'compact', h5py.h5t.NATIVE_INT16, box, p).write(box, box, np.arange(35, dtype='i2').reshape(5, 7))
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE); p.set_chunk((3, 5)); p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    box = h5py.h5s.create_simple((10, 12))
    h5py.h5d.create(d.id, b'implicit', h5py.h5t.NATIVE_INT16, box, p).write(box, box, np.arange(120, dtype='i2').reshape(10, 12))
    d.create_dataset('never_written', (4, 5), 'f4', fillvalue=3.5)
    for name, more in {'fixed': {}, 'growing': {'maxshape': (20, None, 30)}, 'growing_all': {'maxshape': (None,) * 3},
                       'bounded': {'maxshape': (40, 17, 30)}}.items():
        d.create_dataset(name, data=x, chunks=(4, 5, 6), **more)
        d.create_dataset(name + '_packed', data=x, chunks=(4, 5, 6), compression='gzip', shuffle=True, **more)
    d.create_dataset('single', data=x, chunks=x.shape); d.create_dataset('single_packed', data=x, chunks=x.shape, compression='gzip')
    hole = d.create_dataset('holes', (100, 100), '>i2', chunks=(3, 3), fillvalue=-7); hole[44:45, 47:48] = 2
    many = (np.arange(18000) % 251).astype('u1').reshape(3000, 6)
    d.create_dataset('many', data=many, chunks=(1, 6)); d.create_dataset('many_packed', data=many, chunks=(1, 3), compression='gzip')
    d.create_dataset('many_growing', data=many, chunks=(1, 3), maxshape=(None, 6))
    far = d.create_dataset('far', (2000000,), 'u1', chunks=(10,), maxshape=(None,))
    for i in (5, 150000, 777777, 1999999): far[i] = 7
    k = f.create_group('filters')
    k.create_dataset('deflate', data=x, chunks=(4, 5, 6), compression='gzip', shuffle=True, fletcher32=True)
    k.create_dataset('fletcher32', data=(x % 251).astype('u1'), chunks=(3, 5, 7), fletcher32=True)
    k.create_dataset('lzf', data=x, chunks=(4, 5, 6), compression='lzf', shuffle=True)
    k.create_dataset('lzf_zeros', data=0 * x, chunks=(13, 17, 19), compression='lzf')
    k.create_dataset('scale', data=x, chunks=(4, 5, 6), scaleoffset=0)
    k.create_dataset('scale_packed', data=x, chunks=(4, 5, 6), scaleoffset=0, compression='gzip')
    k.create_dataset('scale_big', data=x.astype('>i4'), chunks=(4, 5, 6), scaleoffset=0)
    k.create_dataset('scale_f4', data=x.astype('f4') / 7, chunks=(4, 5, 6), scaleoffset=3)
    k.create_dataset('scale_f8', data=x / 7, chunks=(4, 5, 6), scaleoffset=2)
    k.create_dataset('bitshuffle', data=x, chunks=(4, 5, 6), **hdf5plugin.Bitshuffle())
    for name, t in (('nbit', h5py.h5t.NATIVE_INT16.copy()), ('nbit_big', h5py.h5t.STD_U32BE.copy())):
        t.set_precision(11); t.set_offset(2)
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE); p.set_chunk((3, 5)); p.set_filter(h5py.h5z.FILTER_NBIT, 0)
        h5py.h5d.create(k.id, name.encode(), t, box, p).write(box, box, np.arange(120, dtype='i2').reshape(10, 12))
    # A scale-offset filter gives n-bit bytes that it leaves as they are.
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE); p.set_chunk((3, 5)); p.set_scaleoffset(h5py.h5z.SO_INT, 0)
    p.set_filter(h5py.h5z.FILTER_NBIT, 0); p.set_fletcher32()
    h5py.h5d.create(k.id, b'scale_nbit', h5py.h5t.NATIVE_INT16, box, p).write(box, box, np.arange(120, dtype='i2').reshape(10, 12))
    g = f.create_group('members')
    for i in range(1500): g.create_group('a_member_with_a_long_name_%d' % i) if i % 50 else g.create_dataset('d%d' % i, data=i)
    o = f.create_group('ordered', track_order=True)
    for i in range(30): o['z%d' % (30 - i)] = i
    if version in ('v110', 'latest', 'block'):
        v = f.create_group('virtual')
        def part(name, shape, dtype='u4', **more):
            layout = h5py.VirtualLayout(shape, dtype)
            return layout, lambda: v.create_virtual_dataset(name, layout, **more)
        source = h5py.VirtualSource('target.h5', 'deep/data', (2, 3))
        l, done = part('two', (4, 3)); l[0:2] = source; l[2:4] = source; done()
        l, done = part('strided', (4, 3), fillvalue=9); l[0:4:2] = source; done()
        l, done = part('strided_source', (6, 3)); l[1:6:2] = h5py.VirtualSource('target.h5', 'deep/more', (10, 3))[0:9:3]; done()
        l, done = part('flat', (6,)); l[:] = source; done()
        l, done = part('stack', (2, 2, 3)); l[0] = source; l[1] = source; done()
        l, done = part('chain', (2, 3), '>u4'); l[...] = h5py.VirtualSource('.', 'virtual/two', (4, 3))[1:3]; done()
        l, done = part('same', x.shape, 'i4'); l[...] = h5py.VirtualSource('.', 'layouts/fixed', x.shape); done()
)";

/// One line for every numeric data set ("N path type shape sum"), every small text
/// ("T path text") and every attribute of floats ("A path numbers"); fields end in a tab, for names have blanks.
constexpr const char* list_file = R"(
import sys, zlib, h5py, numpy as np
f = h5py.File(sys.argv[1], 'r')
lines, seen = [], set()
def visit(path, item):
    if not isinstance(item, h5py.Dataset) or item.shape is None: return
    try: dtype = item.dtype
    except TypeError: return
    if dtype.kind == 'b': dtype = np.dtype('i1')
    if dtype.kind in 'iufc' and item.size < 3000000:
        try: a = np.asarray(item[()]).astype(dtype.newbyteorder('='))
        except OSError: return  # filters that this machine's library does not have
        if a.dtype == np.float16: a = a.astype('f4')
        lines.append('N\t/%s\t%s%d %s %d' % (path, a.dtype.kind, a.dtype.itemsize, ','.join(map(str, a.shape)), zlib.crc32(a.tobytes())))
    text = h5py.check_string_dtype(item.dtype)
    if text is not None and item.size == 1:
        value = np.asarray(item[()], dtype=object).reshape(-1)[0]
        lines.append('T\t/%s\t%s' % (path, value.hex() if isinstance(value, bytes) else value.encode().hex()))
def attributes(path, item):
    for name, value in item.attrs.items():
        if isinstance(value, str): lines.append('T\t%s@%s\t%s' % (path, name, value.encode().hex()))
        elif isinstance(value, np.ndarray) and value.dtype.kind == 'f' and value.size < 100:
            lines.append('A\t%s@%s\t%s' % (path, name, ' '.join('%.17g' % v for v in value.reshape(-1))))
f.visititems(visit)
attributes('/', f)
f.visititems(lambda path, item: attributes('/' + path, item))
print('\n'.join(sorted(lines)))
)";

std::string hex(const std::string& text) {
  std::string digits;
  for (const char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return digits;
}

/// What this reader says about a line of the oracle: the same line when they agree.
std::string here(const Hdf5File& file, const std::string& line) {
  const std::string kind = line.substr(0, 1);
  const std::size_t end = line.find('\t', 2);
  const std::string name = line.substr(2, end - 2);
  const std::size_t at = name.find('@');
  if (kind == "N") {
    const Array array = file.dataset(name).read();
    const char letter = is_unsigned(array.dtype())                                    ? 'u'
                        : array.dtype() == DType::c64 || array.dtype() == DType::c128 ? 'c'
                        : is_float(array.dtype())                                     ? 'f'
                                                                                      : 'i';
    std::string shape;
    for (int i = 0; i < array.shape().rank(); ++i) shape += (i > 0 ? "," : "") + std::to_string(array.shape()[i]);
    const std::size_t each = size_bytes(array.dtype());
    return fmt::format(
        "N\t{}\t{}{} {} {}", name, letter, each, shape,
        crc32_z(0, static_cast<const Bytef*>(array.data()), static_cast<std::size_t>(array.count()) * each));
  }
  const auto value =
      at == std::string::npos ? file.value(name, 100) : file.attribute(name.substr(0, at), name.substr(at + 1));
  if (!value) return "no value: " + line;
  if (kind == "T") return fmt::format("T\t{}\t{}", name, hex(value->text().value_or("no text")));
  std::string numbers;
  for (const Hdf5Value::Scalar& element : value->elements)
    numbers += fmt::format("{}{:.17g}", numbers.empty() ? "" : " ", std::get<double>(element));
  return fmt::format("A\t{}\t{}", name, numbers);
}

/// How many lines were compared.
int expect_agreement(const std::string& path) {
  const std::string all = testing::python(list_file, path);
  const Hdf5File file = Hdf5File::open(path);
  int lines = 0;
  for (std::size_t first = 0; first < all.size();) {
    const std::size_t end = all.find('\n', first);
    const std::string line = all.substr(first, end - first);
    first = end + 1;
    if (line.empty()) continue;
    try {
      EXPECT_EQ(here(file, line), line);
    } catch (const Error& error) {
      ADD_FAILURE() << line << ": " << error.what();
    }
    ++lines;
  }
  return lines;
}

class Hdf5AgreementOf : public ::testing::TestWithParam<const char*> {};

TEST_P(Hdf5AgreementOf, EveryLayoutTypeAndFilterIsReadLikeByTheLibrary) {
  const testing::TemporaryFolder folder;
  testing::python(write_files, folder.path().string() + "|" + GetParam());
  EXPECT_GE(expect_agreement(folder.file("one.h5")), 140);
}
INSTANTIATE_TEST_SUITE_P(, Hdf5AgreementOf, ::testing::Values("earliest", "v108", "v110", "latest", "block"),
                         [](const auto& each) { return std::string(each.param); });

TEST(Hdf5Agreement, EveryRealFileIsReadLikeByTheLibrary) {
  SONDE_NEED_DATA(data);
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    char signature[8] = "";
    stream.read(signature, 8);
    if (std::memcmp(signature, "\x89HDF\r\n\x1a\n", 8) != 0) continue;
    SCOPED_TRACE(entry.path());
    expect_agreement(entry.path());
    ++files;
  }
  EXPECT_GE(files, 20);
}

}  // namespace
}  // namespace sonde
