# SPDX-License-Identifier: Apache-2.0
# Part of lanewise_gdb.py: registers the commands, functions, windows and event handlers of the other parts with gdb.


def lanewise_handlers():
    """Connects handlers to gdb's events. If the file is loaded again, first disconnects the handlers of the earlier load."""
    events = [("cont", LanewiseLink.forget), ("memory_changed", LanewiseLink.forget),
              ("new_objfile", LanewiseLink.forget), ("exited", LanewiseLink.forget),
              ("connection_removed", LanewiseLink.forget_all),
              ("before_prompt", lanewise_layout_regs), ("before_prompt", LanewiseWindow.redraw),
              ("breakpoint_created", LanewiseWatch.created),
              ("breakpoint_deleted", LanewiseWatch.deleted), ("stop", LanewiseScope.stopped),
              ("stop", LanewiseWatch.refocused), ("register_changed", LanewiseWatch.refocused),
              ("breakpoint_created", LanewiseWatchIf.changed), ("breakpoint_modified", LanewiseWatchIf.changed),
              ("breakpoint_deleted", LanewiseWatchIf.deleted), ("connection_removed", LanewiseWatchIf.forget),
              ("stop", LanewiseBreakIf.end), ("before_prompt", LanewiseBreakIf.end),
              ("new_objfile", LanewiseBreakIf.forget),
              ("breakpoint_created", LanewiseConditions.check_point),
              ("breakpoint_modified", LanewiseConditions.check_point),
              ("breakpoint_deleted", LanewiseConditions.deleted)]
    for registry, handler in getattr(gdb, "lanewise_connected", []):
        try:
            registry.disconnect(handler)
        except ValueError:
            pass
    gdb.lanewise_connected = []
    for name, handler in events:
        registry = getattr(gdb.events, name, None)
        if registry is not None:
            registry.connect(handler)
            gdb.lanewise_connected.append((registry, handler))


def lanewise_start():
    if not hasattr(gdb, "RemoteTargetConnection"):
        gdb.write("lanewise_gdb.py needs gdb 12 or later and was not loaded; debugging works without it\n", gdb.STDERR)
        return
    LanewiseHelp()
    for name, what in [("warps", "List the resident warps"),
                       ("lanes", "List the lanes of the selected warp: split, state and location"),
                       ("splits", "List the splits of the selected warp: lanes at the same location"),
                       ("barriers", "List barriers in use by the selected warp and its block"),
                       ("launches", "List launches that have not completed, and what they wait for"),
                       ("allocations", "List allocations of global memory: addresses, sizes and names")]:
        LanewiseInfo(name, what)
    LanewiseInfo("lane-registers", "Show registers of the focus lane: all, or by name or group "
                 "(vector, scalar, predicate, warp, special)", "registers")
    LanewiseInfoGrids()
    LanewiseCuda()
    LanewiseFocusCommand()
    LanewiseLaunchingLane()
    LanewiseUp()
    LanewiseInfoCuda()
    LanewisePrint()
    LanewiseLane()
    LanewisePrintLanes()
    LanewiseRenew()
    LanewiseWindowCommand()
    LanewiseLaneOf()
    LanewiseLaneValue()
    if _FrameDecorator is not None:
        LanewiseFrameFilter()
    if _disassembler is not None:
        _disassembler.register_disassembler(LanewiseDisassembler())
    lanewise_handlers()
    if LanewiseLink.connection() is not None:
        LanewiseLink.ours()  # sends a packet by which the stub recognises that this file is loaded
    gdb.execute("define hook-monitor\npython LanewiseFocus.send()\nend", False, True)
    gdb.execute("define hookpost-monitor\npython lanewise_looks_again()\nend", False, True)
    gdb.execute("define hookpost-dprintf\npython LanewiseDprintf.used()\nend", False, True)
    if hasattr(gdb, "register_window_type"):
        gdb.register_window_type("lanes", LanewiseWindow)
        gdb.register_window_type("lanewise-registers", LanewiseRegisters)
        lanewise_layout_regs()
        for layout in ["lanewise {-horizontal src 3 lanes 2} 3 status 0 cmd 2",
                       "lanewise-asm {-horizontal asm 3 lanes 2} 3 status 0 cmd 2"]:
            try:
                gdb.execute("tui new-layout " + layout, False, True)
            except gdb.error:
                pass  # this gdb has no TUI, or the layout is defined already


lanewise_start()
