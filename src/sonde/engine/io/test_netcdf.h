// SPDX-License-Identifier: Apache-2.0
// The NetCDF library as an independent reader and writer, through Python.
#pragma once

#include <string>

#include "tests/support/python.h"

namespace sonde::testing {

/// Runs a script that may use write(name, mode) and show(name); see there. Returns what it prints.
inline std::string netcdf_python(const std::string& script, const std::string& folder) {
  return python(R"(
import ctypes, os, sys
import numpy as np
os.chdir(sys.argv[1])
L = ctypes.CDLL('libnetcdf.so.19')
def ok(status): assert status == 0, status
def text(name): return name.encode()
def pointer(array): return array.ctypes.data_as(ctypes.c_void_p)
def size(*sizes): return (ctypes.c_size_t * len(sizes))(*sizes)

def write(name, mode):
    'x = 3, t unlimited with 2 records; a(x) double, b() int, c(t, x) short, d(t) double, e(x) char, f(t) byte'
    i, v, x, t = (ctypes.c_int() for _ in range(4))
    ok(L.nc_create(text(name), mode, ctypes.byref(i)))
    ok(L.nc_def_dim(i, b'x', size(3)[0], ctypes.byref(x))); ok(L.nc_def_dim(i, b't', size(0)[0], ctypes.byref(t)))
    def variable(name, kind, *dims):
        ok(L.nc_def_var(i, text(name), kind, len(dims), (ctypes.c_int * len(dims))(*[d.value for d in dims]), ctypes.byref(v)))
        return v.value
    a = variable('a', 6, x); b = variable('b', 4); c = variable('c', 3, t, x); d = variable('d', 6, t)
    e = variable('e', 2, x); f = variable('f', 1, t)
    ok(L.nc_put_att_text(i, a, b'units', size(5)[0], b'tesla'))
    ok(L.nc_put_att_int(i, -1, b'version', 4, size(1)[0], pointer(np.array([7], np.int32))))
    ok(L.nc_put_att_double(i, -1, b'pair', 6, size(2)[0], pointer(np.array([0.5, -2.0]))))
    if mode & 0x1000: ok(L.nc_def_var_endian(i, a, 2))
    ok(L.nc_enddef(i))
    ok(L.nc_put_var_double(i, a, pointer(np.array([1.5, -2.25, 1e300]))))
    ok(L.nc_put_var_int(i, b, pointer(np.array([-5], np.int32))))
    ok(L.nc_put_vara_short(i, c, size(0, 0), size(2, 3), pointer(np.array([1, -2, 3, 4, 5, 6], np.int16))))
    ok(L.nc_put_vara_double(i, d, size(0), size(2), pointer(np.array([10.0, 20.0]))))
    ok(L.nc_put_var_text(i, e, b'ab '))
    ok(L.nc_put_vara_schar(i, f, size(0), size(2), pointer(np.array([-1, 2], np.int8))))
    ok(L.nc_close(i))

def show(name):
    'Prints every variable with the names of its dimensions and its values, then the attributes.'
    i, n, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    ok(L.nc_open(text(name), 0, ctypes.byref(i)))
    ok(L.nc_inq_nvars(i, ctypes.byref(n)))
    label = ctypes.create_string_buffer(300)
    lines = []
    for v in range(n.value):
        kind, rank = ctypes.c_int(), ctypes.c_int()
        dims = (ctypes.c_int * 10)()
        ok(L.nc_inq_var(i, v, label, ctypes.byref(kind), ctypes.byref(rank), dims, None))
        variable = label.value.decode()
        names, shape = [], []
        for d in dims[:rank.value]:
            ok(L.nc_inq_dim(i, d, label, ctypes.byref(count)))
            names.append(label.value.decode()); shape.append(count.value)
        if kind.value == 12:
            pointers = (ctypes.c_char_p * 1)(); ok(L.nc_get_var_string(i, v, pointers)); values = pointers[0].decode()
        elif kind.value == 2:
            letters = ctypes.create_string_buffer(int(np.prod(shape)) + 1); ok(L.nc_get_var_text(i, v, letters)); values = letters.value.decode()
        else:
            values = np.zeros(shape); ok(L.nc_get_var_double(i, v, pointer(values))); values = values.tolist()
        attribute = ''
        if L.nc_inq_attlen(i, v, b'units', ctypes.byref(count)) == 0:
            letters = ctypes.create_string_buffer(count.value + 1); ok(L.nc_get_att_text(i, v, b'units', letters)); attribute = ' ' + letters.value.decode()
        lines.append('%s(%s) type %d: %s%s' % (variable, ', '.join(names), kind.value, values, attribute))
    print('\n'.join(sorted(lines)))
    value = np.zeros(1)
    for a in (b'whole', b'real'): ok(L.nc_get_att_double(i, -1, a, pointer(value))); print(a.decode(), value[0])
    letters = ctypes.create_string_buffer(300); ok(L.nc_get_att_text(i, -1, b'title', letters)); print(letters.value.decode())
    ok(L.nc_close(i))
)" + script,
                folder);
}

}  // namespace sonde::testing
