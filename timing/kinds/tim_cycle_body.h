/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All functions of a cycle of the event-driven model, for the kind of core that `tim_kind` describes (struct tim_kind).
 * The functions are static, so each file that includes this header compiles its own copies. A debugger of the host that sets a
 * breakpoint in one of these functions sets it in each copy.
 */
#include "timing/core/tim_core_priv.h"

#include <assert.h>

#include "timing/core/tim_depend_body.h"
#include "timing/core/tim_flight_body.h"
#include "timing/core/tim_window_body.h"
#include "timing/core/tim_local_body.h"
#include "timing/core/tim_tags_body.h"
#include "timing/core/tim_pipe_body.h"
#include "timing/core/tim_fetch_body.h"
#include "timing/core/tim_lsu_body.h"
#include "timing/core/lsu/tim_reexecute_body.h"
#include "timing/core/tim_ready_body.h"
#include "timing/core/tim_select_body.h"
#include "timing/core/tim_issue_body.h"
#include "timing/core/tim_form_body.h"
#include "timing/core/pair/tim_pair_body.h"
#include "timing/core/tim_common_body.h"
#include "timing/core/tim_tick_body.h"
