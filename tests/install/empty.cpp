// SPDX-License-Identifier: Apache-2.0
// Links a library that has no program of its own here.
int main() {}
