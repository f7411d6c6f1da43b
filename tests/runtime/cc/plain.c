/* SPDX-License-Identifier: Apache-2.0 */
int in_c(int class);
int in_c(int class)
{
    return 2 * class;
}
