# SPDX-License-Identifier: Apache-2.0
liblanewise_a_SOURCES += \
	%D%/timing.h \
	%D%/tim_priv.h \
	%D%/mem/tim_cache_priv.h \
	%D%/core/tim_core_priv.h \
	%D%/core/tim_modern_priv.h \
	%D%/core/tim_send_priv.h \
	%D%/decode/tim_static_priv.h \
	%D%/core/tim_core.c \
	%D%/kinds/tim_cycle_any.c \
	%D%/kinds/tim_cycle_body.h %D%/core/tim_form_body.h %D%/core/pair/tim_pair_body.h %D%/tables/tim_formed_priv.h %D%/tables/tim_visits_priv.h %D%/tables/tim_permute_priv.h \
	%D%/kinds/tim_cycle_control.c \
	%D%/kinds/tim_cycle_modern.c \
	%D%/kinds/tim_cycle_of.c \
	%D%/kinds/tim_cycle_scoreboard.c \
	%D%/kinds/tim_cycle_scoreboard_acts.c \
	%D%/core/tim_common_body.h \
	%D%/core/tim_depend_body.h \
	%D%/core/tim_fetch_body.h \
	%D%/core/tim_flight_body.h \
	%D%/core/tim_idle.c %D%/core/tim_held.c \
	%D%/core/tim_issue_body.h \
	%D%/core/tim_local_body.h \
	%D%/core/tim_lsu_body.h %D%/core/lsu/tim_reexecute_body.h \
	%D%/core/tim_pipe_body.h \
	%D%/core/tim_ready_body.h \
	%D%/core/tim_select_body.h \
	%D%/core/tim_tick_body.h \
	%D%/core/tim_window_body.h \
	%D%/core/tim_tags_body.h \
	%D%/decode/tim_static.c \
	%D%/decode/tim_tags_priv.h \
	%D%/decode/tim_tags.c \
	%D%/core/tim_replay.c %D%/clocks/tim_domain_priv.h %D%/clocks/tim_domain.c \
	%D%/core/tim_suspend.c \
	%D%/grid/tim_grid_priv.h \
	%D%/grid/tim_grid.c \
	%D%/grid/tim_blocks_priv.h %D%/grid/tim_blocks.c \
	%D%/grid/tim_dvfs.c %D%/grid/tim_dtbl.c %D%/grid/tim_laperm.c %D%/grid/tim_grid_show.c \
	%D%/grid/tim_bcs.c %D%/grid/tim_la_b.c %D%/tables/tim_reach_priv.h %D%/tables/tim_reach.c %D%/tables/tim_lines_priv.h %D%/tables/tim_lines.c %D%/mechanisms/tim_family.c \
	%D%/mechanisms/tim_la_w.c %D%/mechanisms/tim_shares.c \
	%D%/policies/tim_sched_priv.h \
	%D%/mechanisms/tim_mechanism_priv.h %D%/mechanisms/tim_mechanism.c \
	%D%/mechanisms/tim_swl.c %D%/mechanisms/cache/tim_bypass.c %D%/mechanisms/cache/tim_mrpb.c %D%/mechanisms/cache/tim_mascar.c %D%/mechanisms/cache/tim_dynpcal.c %D%/mechanisms/tim_dwf.c %D%/mechanisms/tim_tbc.c %D%/mechanisms/tim_pools.c %D%/mechanisms/registers/tim_rows.c %D%/mechanisms/registers/tim_orf.c %D%/mechanisms/forming/tim_lwm.c %D%/mechanisms/forming/tim_interweave.c %D%/mechanisms/registers/tim_prf.c %D%/mechanisms/registers/tim_regless.c \
	%D%/tables/tim_ilt_priv.h %D%/tables/tim_ilt.c %D%/tables/tim_adequacy_priv.h %D%/tables/tim_adequacy.c %D%/mechanisms/tim_equalizer.c %D%/tables/tim_compress_priv.h %D%/tables/tim_vta_priv.h %D%/tables/tim_vta.c \
	%D%/tables/tim_gang_priv.h %D%/tables/tim_gang.c %D%/mechanisms/tim_vws_priv.h %D%/mechanisms/tim_vws.c \
	%D%/mechanisms/tim_vws_fetch.c %D%/mechanisms/tim_vws_show.c \
	%D%/mechanisms/tim_daws_priv.h %D%/mechanisms/tim_daws_predict.c %D%/mechanisms/tim_daws.c %D%/mechanisms/cache/tim_belady.c \
	%D%/tables/tim_map_priv.h %D%/tables/tim_map.c \
	%D%/tables/tim_profile_priv.h %D%/tables/tim_profile.c %D%/mechanisms/tim_loads.c \
	%D%/decode/tim_loops.c %D%/decode/tim_live.c %D%/decode/tim_values.c %D%/decode/tim_regions.c \
	%D%/mechanisms/tim_dwr_priv.h %D%/mechanisms/tim_dwr.c \
	%D%/mechanisms/tim_ccws_priv.h %D%/mechanisms/tim_ccws.c \
	%D%/policies/tim_sched.c \
	%D%/tim_engine_priv.h \
	%D%/tim_engine.c \
	%D%/tim_engine_hang.c \
	%D%/tim_engine_kernels.c \
	%D%/tim_create.c \
	%D%/tim_why.c \
	%D%/mem/tim_cache.c \
	%D%/mem/tim_coalesce.c \
	%D%/mem/tim_front_priv.h \
	%D%/mem/tim_front.c \
	%D%/mem/tim_shared.c \
	%D%/mem/tim_mem_priv.h \
	%D%/mem/tim_address.c \
	%D%/mem/tim_locality_priv.h \
	%D%/mem/tim_locality.c \
	%D%/mem/tim_packets_priv.h %D%/mem/tim_packets.c \
	%D%/mem/tim_crossbar.c \
	%D%/mem/tim_slice.c %D%/mem/tim_medic.c \
	%D%/mem/tim_dram.c \
	%D%/mem/tim_memory.c \
	%D%/mem/tim_memory_show.c \
	%D%/mem/tim_memory_fast.c \
	%D%/tim_counts_priv.h \
	%D%/energy/energy.def \
	%D%/keys.def \
	%D%/stall_reasons.def \
	%D%/stats.def \
	%D%/reference/tim_reference_core.c \
	%D%/reference/tim_reference_memory.c \
	%D%/tim_commands.c \
	%D%/tim_compare.c \
	%D%/tim_config.c \
	%D%/tim_config_check.c \
	%D%/energy/tim_energy.c \
	%D%/energy/tim_energy_priv.h \
	%D%/tim_engine_report.c \
	%D%/tim_machines.c \
	%D%/tim_report.c \
	%D%/tim_report_json.c \
	%D%/tim_totals.c \
	%D%/tim_trace.c

# Shipped GPU models, in the order in which `lanewise timing` lists them. machines.awk converts them to C.
TIM_MACHINES = \
	%D%/machines/ampere.yaml \
	%D%/machines/fermi.yaml \
	%D%/machines/gcn-tahiti.yaml \
	%D%/machines/kepler-k20c.yaml \
	%D%/machines/rogers.yaml \
	%D%/machines/rogers-vws.yaml \
	%D%/machines/tesla-dwr.yaml \
	%D%/machines/volta.yaml
EXTRA_DIST += $(TIM_MACHINES) %D%/machines.awk
CLEANFILES += %D%/machines.inc
%D%/machines.inc: $(TIM_MACHINES) %D%/machines.awk
	$(AM_V_GEN)$(MKDIR_P) %D% && (cd $(srcdir) && awk -f %D%/machines.awk $(TIM_MACHINES)) >$@.new && mv $@.new $@
%D%/tim_machines.$(OBJEXT): %D%/machines.inc
