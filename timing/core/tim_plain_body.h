/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a cycle for one kind of core: the same text as for all cores, in one piece, with
 * answers of tim_core_priv.h that are constants. What never holds for such a core falls away, and what
 * a cycle calls stands together. Before it is included:
 *
 *   TIM_PLAIN_KIND        added to the names of all functions
 *   TIM_PLAIN_LOOKS       enum tim_looks, TIM_PLAIN_DEPENDENCE and TIM_PLAIN_COLLECTOR: as the keys
 *                         issue.dependence and registers.collector say
 *
 * Beyond these a core is of such a kind if tim_cycle_of says so.
 */
#define TIM_PLAIN_JOIN(name, kind) name##_##kind
#define TIM_PLAIN_NAME(name, kind) TIM_PLAIN_JOIN(name, kind)

#define tim_warp_look TIM_PLAIN_NAME(tim_warp_look, TIM_PLAIN_KIND)
#define tim_core_begin TIM_PLAIN_NAME(tim_core_begin, TIM_PLAIN_KIND)
#define tim_core_end TIM_PLAIN_NAME(tim_core_end, TIM_PLAIN_KIND)
#define tim_core_account TIM_PLAIN_NAME(tim_core_account, TIM_PLAIN_KIND)
#define tim_core_wake TIM_PLAIN_NAME(tim_core_wake, TIM_PLAIN_KIND)
#define tim_core_woken TIM_PLAIN_NAME(tim_core_woken, TIM_PLAIN_KIND)
#define tim_core_rests TIM_PLAIN_NAME(tim_core_rests, TIM_PLAIN_KIND)
#define tim_cycle_functions TIM_PLAIN_NAME(tim_cycle_functions, TIM_PLAIN_KIND)
#define tim_issue_look TIM_PLAIN_NAME(tim_issue_look, TIM_PLAIN_KIND)
#define tim_issue_switch TIM_PLAIN_NAME(tim_issue_switch, TIM_PLAIN_KIND)
#define tim_running_ages TIM_PLAIN_NAME(tim_running_ages, TIM_PLAIN_KIND)
#define tim_issue_held TIM_PLAIN_NAME(tim_issue_held, TIM_PLAIN_KIND)
#define tim_core_issue TIM_PLAIN_NAME(tim_core_issue, TIM_PLAIN_KIND)
#define tim_select TIM_PLAIN_NAME(tim_select, TIM_PLAIN_KIND)
#define tim_select_next TIM_PLAIN_NAME(tim_select_next, TIM_PLAIN_KIND)
#define tim_pipe_free_at TIM_PLAIN_NAME(tim_pipe_free_at, TIM_PLAIN_KIND)
#define tim_op_take TIM_PLAIN_NAME(tim_op_take, TIM_PLAIN_KIND)
#define tim_op_free TIM_PLAIN_NAME(tim_op_free, TIM_PLAIN_KIND)
#define tim_op_await TIM_PLAIN_NAME(tim_op_await, TIM_PLAIN_KIND)
#define tim_op_write TIM_PLAIN_NAME(tim_op_write, TIM_PLAIN_KIND)
#define tim_pipe_next TIM_PLAIN_NAME(tim_pipe_next, TIM_PLAIN_KIND)
#define tim_pipe_room TIM_PLAIN_NAME(tim_pipe_room, TIM_PLAIN_KIND)
#define tim_pipe_issue TIM_PLAIN_NAME(tim_pipe_issue, TIM_PLAIN_KIND)
#define tim_pipe_writeback TIM_PLAIN_NAME(tim_pipe_writeback, TIM_PLAIN_KIND)
#define tim_pipe_dispatch TIM_PLAIN_NAME(tim_pipe_dispatch, TIM_PLAIN_KIND)
#define tim_pipe_collect TIM_PLAIN_NAME(tim_pipe_collect, TIM_PLAIN_KIND)
#define tim_send TIM_PLAIN_NAME(tim_send, TIM_PLAIN_KIND)
#define tim_send_read TIM_PLAIN_NAME(tim_send_read, TIM_PLAIN_KIND)
#define tim_lsu_issue TIM_PLAIN_NAME(tim_lsu_issue, TIM_PLAIN_KIND)
#define tim_op_line_done TIM_PLAIN_NAME(tim_op_line_done, TIM_PLAIN_KIND)
#define tim_lsu_ahead TIM_PLAIN_NAME(tim_lsu_ahead, TIM_PLAIN_KIND)
#define tim_lsu_receive TIM_PLAIN_NAME(tim_lsu_receive, TIM_PLAIN_KIND)
#define tim_lsu_tick TIM_PLAIN_NAME(tim_lsu_tick, TIM_PLAIN_KIND)
#define tim_fetch_flush TIM_PLAIN_NAME(tim_fetch_flush, TIM_PLAIN_KIND)
#define tim_fetch_filled TIM_PLAIN_NAME(tim_fetch_filled, TIM_PLAIN_KIND)
#define tim_constant_address TIM_PLAIN_NAME(tim_constant_address, TIM_PLAIN_KIND)
#define tim_constant_filled TIM_PLAIN_NAME(tim_constant_filled, TIM_PLAIN_KIND)
#define tim_fetch_next TIM_PLAIN_NAME(tim_fetch_next, TIM_PLAIN_KIND)
#define tim_fetch_tick TIM_PLAIN_NAME(tim_fetch_tick, TIM_PLAIN_KIND)
#define tim_depend_look TIM_PLAIN_NAME(tim_depend_look, TIM_PLAIN_KIND)
#define tim_depend_issue TIM_PLAIN_NAME(tim_depend_issue, TIM_PLAIN_KIND)
#define tim_depend_read TIM_PLAIN_NAME(tim_depend_read, TIM_PLAIN_KIND)
#define tim_depend_done TIM_PLAIN_NAME(tim_depend_done, TIM_PLAIN_KIND)
#define tim_depend_enter TIM_PLAIN_NAME(tim_depend_enter, TIM_PLAIN_KIND)
#define tim_depend_leave TIM_PLAIN_NAME(tim_depend_leave, TIM_PLAIN_KIND)

#include "timing/core/tim_tick.c"
#include "timing/core/tim_issue.c"
#include "timing/core/tim_select.c"
#include "timing/core/tim_pipe.c"
#include "timing/core/tim_lsu.c"
#include "timing/core/tim_fetch.c"
#include "timing/core/tim_depend.c"
