// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks a hot plain loop that the compiler vectorises well: the function is compiled for three x86-64 levels and the
/// loader picks one. Empty where the compiler or a sanitiser cannot (under ThreadSanitizer the resolver crashes).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SONDE_MULTIVERSION __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SONDE_MULTIVERSION
#endif
