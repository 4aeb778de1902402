// SPDX-License-Identifier: Apache-2.0
// sonde_hdf5.so: the one object that is linked to HDF5.
#include "sonde/engine/base/module.h"
#include "sonde/engine/io/hdf5_functions.h"

namespace {
constexpr sonde::hdf5::Functions functions = {
#define SONDE_FUNCTION(name) .name = ::name,
    SONDE_HDF5_FUNCTIONS(SONDE_FUNCTION)
#undef SONDE_FUNCTION
#define SONDE_IDENTIFIER(name) .name = &::name,
        SONDE_HDF5_IDENTIFIERS(SONDE_IDENTIFIER)
#undef SONDE_IDENTIFIER
};
}  // namespace

SONDE_MODULE(functions);
