// SPDX-License-Identifier: Apache-2.0
// The second file of the program and of each shared library: see domain.cu.
__device__ int number(int x) { return x + 10 * FACTOR; }
