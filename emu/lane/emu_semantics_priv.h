/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies the column `semantics` of isa/insns.def into semantics groups, for tables and handlers that treat all instructions
 * of a semantics group alike. EMU_GROUP_##semantics is the name of the semantics group: for example LANES if the column has
 * LANE(u32, a + b). A user of this file defines a value for each semantics group that it distinguishes, and gives a value for all
 * others:
 *
 *    #define KIND_LANES EMU_IS(BV_ROW)
 *    #define KIND_LOAD EMU_IS(BV_LOAD)
 *    #define INSN(id, ..., semantics) [ISA_##id] = EMU_BY_GROUP(KIND_, EMU_GROUP_##semantics, OTHER),
 */
#ifndef EMU_SEMANTICS_PRIV_H
#define EMU_SEMANTICS_PRIV_H

#define EMU_IS(what) ~, what
#define EMU_BY_GROUP(prefix, group, otherwise) EMU_SECOND(EMU_PASTE(prefix, group), otherwise, ~)
#define EMU_SECOND(...) EMU_SECOND_(__VA_ARGS__)
#define EMU_SECOND_(first, second, ...) second
#define EMU_PASTE(a, b) EMU_PASTE_(a, b)
#define EMU_PASTE_(a, b) a##b

/* semantics groups of instructions that are executed by a loop over the lanes */
#define EMU_GROUP_LANE1(...) LANES
#define EMU_GROUP_LANE(...) LANES
#define EMU_GROUP_LANE3(...) LANES
#define EMU_GROUP_LANEX1(...) LANES
#define EMU_GROUP_LANEX(...) LANES
#define EMU_GROUP_LANEX3(...) LANES
#define EMU_GROUP_LANEW(...) LANES
#define EMU_GROUP_LANEW3(...) LANES
#define EMU_GROUP_LANER(...) LANER
#define EMU_GROUP_ROW1(...) FUNCTION
#define EMU_GROUP_COMPARE(...) COMPARE
/* Rare instructions, and instructions on 16-bit floats, have semantics groups of their own, whose names are those of the usual
 * ones with the prefix SELDOM_. */
#define EMU_GROUP_SELDOM(semantics) EMU_PASTE(SELDOM_, EMU_GROUP_##semantics)
#define EMU_GROUP_HALF1(...) HALVES
#define EMU_GROUP_HALF(...) HALVES
#define EMU_GROUP_HALF3(...) HALVES
#define EMU_GROUP_PACKED1(...) PACKED
#define EMU_GROUP_PACKED(...) PACKED
#define EMU_GROUP_PACKED3(...) PACKED
/* semantics groups of instructions that are executed once for the warp */
#define EMU_GROUP_SCALAR1(...) SCALAR
#define EMU_GROUP_SCALAR(...) SCALAR
#define EMU_GROUP_SCALAR3(...) SCALAR
#define EMU_GROUP_SCALARX1(...) SCALAR
#define EMU_GROUP_SCALARX(...) SCALAR
#define EMU_GROUP_SCALARR(...) SCALAR
#define EMU_GROUP_SCALAR_COMPARE(...) SCALAR
#define EMU_GROUP_SCALAR_LOAD(...) SCALAR_LOAD
/* semantics groups with one kind of semantics each */
#define EMU_GROUP_LOAD(...) LOAD
#define EMU_GROUP_STORE(...) STORE
#define EMU_GROUP_ATOMIC(...) ATOMIC
#define EMU_GROUP_REDUCE(...) REDUCE
#define EMU_GROUP_FETCH(...) FETCH
#define EMU_GROUP_CALL(...) CALL
#define EMU_GROUP_CONTROL(...) CONTROL
#define EMU_GROUP_REFUSED(...) REFUSED

#endif
