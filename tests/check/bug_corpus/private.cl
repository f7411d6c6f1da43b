/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that leave a private array and reach another one. They are found if the compiler leaves each variable in memory
 * (-O0 -g). tests/check/bug_corpus/memory.cl describes the format.
 */

/* find: variable-bounds @1 0x88888888 */
kernel void past_a_private_bad(global int *a, int n)
{
    int front[4], own[4], back[4];
    int i = get_local_id(0);
    for (int k = 0; k < 4; k++)
        front[k] = own[k] = back[k] = k;
    int next = own[i % 4 + 1];                     /* @1 */
    if (get_group_id(0) == 0)
        a[i] = next;
}
kernel void past_a_private_good(global int *a, int n)
{
    int front[4], own[4], back[4];
    int i = get_local_id(0);
    for (int k = 0; k < 4; k++)
        front[k] = own[k] = back[k] = k;
    int next = own[i % 4];
    if (get_group_id(0) == 0)
        a[i] = next;
}

/* find: variable-bounds @2 0x00000001 */
kernel void before_a_private_bad(global int *a, int n)
{
    struct { int head, of[8]; } one, two;
    int rest[8];
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        one.of[k] = two.of[k] = rest[k] = k;
    if (i == 0)
        rest[i - 2] = n;                           /* @2 */
    if (get_group_id(0) == 0)
        a[i] = one.of[i % 8] + two.of[i % 8] + rest[i % 8];
}
kernel void before_a_private_good(global int *a, int n)
{
    struct { int head, of[8]; } one, two;
    int rest[8];
    int i = get_local_id(0);
    for (int k = 0; k < 8; k++)
        one.of[k] = two.of[k] = rest[k] = k;
    if (i == 0)
        rest[i + 2] = n;
    if (get_group_id(0) == 0)
        a[i] = one.of[i % 8] + two.of[i % 8] + rest[i % 8];
}
