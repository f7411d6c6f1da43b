/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a cycle for one kind of core: the same text as for all cores, in one piece, with
 * answers of tim_core_priv.h that are constants. What never holds for such a core falls away, and what
 * a cycle calls stands together. Before it is included:
 *
 *   TIM_SPEC_KIND        added to the names of all functions
 *   TIM_SPEC_LOOKS       enum tim_looks, TIM_SPEC_DEPENDENCE and TIM_SPEC_COLLECTOR: as the keys
 *                         issue.dependence and registers.collector say
 *
 * Beyond these a core is of such a kind if tim_cycle_of says so.
 */
#define TIM_SPEC_JOIN(name, kind) name##_##kind
#define TIM_SPEC_NAME(name, kind) TIM_SPEC_JOIN(name, kind)

#define tim_warp_ready_check TIM_SPEC_NAME(tim_warp_ready_check, TIM_SPEC_KIND)
#define tim_core_begin TIM_SPEC_NAME(tim_core_begin, TIM_SPEC_KIND)
#define tim_core_end TIM_SPEC_NAME(tim_core_end, TIM_SPEC_KIND)
#define tim_core_account TIM_SPEC_NAME(tim_core_account, TIM_SPEC_KIND)
#define tim_core_wake TIM_SPEC_NAME(tim_core_wake, TIM_SPEC_KIND)
#define tim_core_woken TIM_SPEC_NAME(tim_core_woken, TIM_SPEC_KIND)
#define tim_core_is_idle TIM_SPEC_NAME(tim_core_is_idle, TIM_SPEC_KIND)
#define tim_cycle_functions TIM_SPEC_NAME(tim_cycle_functions, TIM_SPEC_KIND)
#define tim_issue_ready_check TIM_SPEC_NAME(tim_issue_ready_check, TIM_SPEC_KIND)
#define tim_issue_switch TIM_SPEC_NAME(tim_issue_switch, TIM_SPEC_KIND)
#define tim_running_ages TIM_SPEC_NAME(tim_running_ages, TIM_SPEC_KIND)
#define tim_issue_held TIM_SPEC_NAME(tim_issue_held, TIM_SPEC_KIND)
#define tim_core_issue TIM_SPEC_NAME(tim_core_issue, TIM_SPEC_KIND)
#define tim_select TIM_SPEC_NAME(tim_select, TIM_SPEC_KIND)
#define tim_select_next TIM_SPEC_NAME(tim_select_next, TIM_SPEC_KIND)
#define tim_pipe_free_at TIM_SPEC_NAME(tim_pipe_free_at, TIM_SPEC_KIND)
#define tim_op_take TIM_SPEC_NAME(tim_op_take, TIM_SPEC_KIND)
#define tim_op_free TIM_SPEC_NAME(tim_op_free, TIM_SPEC_KIND)
#define tim_op_await TIM_SPEC_NAME(tim_op_await, TIM_SPEC_KIND)
#define tim_op_write TIM_SPEC_NAME(tim_op_write, TIM_SPEC_KIND)
#define tim_pipe_next TIM_SPEC_NAME(tim_pipe_next, TIM_SPEC_KIND)
#define tim_pipe_room TIM_SPEC_NAME(tim_pipe_room, TIM_SPEC_KIND)
#define tim_pipe_issue TIM_SPEC_NAME(tim_pipe_issue, TIM_SPEC_KIND)
#define tim_pipe_writeback TIM_SPEC_NAME(tim_pipe_writeback, TIM_SPEC_KIND)
#define tim_pipe_dispatch TIM_SPEC_NAME(tim_pipe_dispatch, TIM_SPEC_KIND)
#define tim_pipe_collect TIM_SPEC_NAME(tim_pipe_collect, TIM_SPEC_KIND)
#define tim_send TIM_SPEC_NAME(tim_send, TIM_SPEC_KIND)
#define tim_send_read TIM_SPEC_NAME(tim_send_read, TIM_SPEC_KIND)
#define tim_lsu_issue TIM_SPEC_NAME(tim_lsu_issue, TIM_SPEC_KIND)
#define tim_op_line_done TIM_SPEC_NAME(tim_op_line_done, TIM_SPEC_KIND)
#define tim_lsu_ahead TIM_SPEC_NAME(tim_lsu_ahead, TIM_SPEC_KIND)
#define tim_lsu_receive TIM_SPEC_NAME(tim_lsu_receive, TIM_SPEC_KIND)
#define tim_lsu_tick TIM_SPEC_NAME(tim_lsu_tick, TIM_SPEC_KIND)
#define tim_fetch_flush TIM_SPEC_NAME(tim_fetch_flush, TIM_SPEC_KIND)
#define tim_fetch_filled TIM_SPEC_NAME(tim_fetch_filled, TIM_SPEC_KIND)
#define tim_constant_address TIM_SPEC_NAME(tim_constant_address, TIM_SPEC_KIND)
#define tim_constant_filled TIM_SPEC_NAME(tim_constant_filled, TIM_SPEC_KIND)
#define tim_fetch_next TIM_SPEC_NAME(tim_fetch_next, TIM_SPEC_KIND)
#define tim_fetch_tick TIM_SPEC_NAME(tim_fetch_tick, TIM_SPEC_KIND)
#define tim_depend_look TIM_SPEC_NAME(tim_depend_look, TIM_SPEC_KIND)
#define tim_depend_issue TIM_SPEC_NAME(tim_depend_issue, TIM_SPEC_KIND)
#define tim_depend_read TIM_SPEC_NAME(tim_depend_read, TIM_SPEC_KIND)
#define tim_depend_done TIM_SPEC_NAME(tim_depend_done, TIM_SPEC_KIND)
#define tim_depend_enter TIM_SPEC_NAME(tim_depend_enter, TIM_SPEC_KIND)
#define tim_depend_leave TIM_SPEC_NAME(tim_depend_leave, TIM_SPEC_KIND)

#include "timing/core/tim_tick.c"
#include "timing/core/tim_issue.c"
#include "timing/core/tim_select.c"
#include "timing/core/tim_pipe.c"
#include "timing/core/tim_lsu.c"
#include "timing/core/tim_fetch.c"
#include "timing/core/tim_depend.c"
