/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates random PTX kernels. A statement is generated from a template, in which these sequences stand for text:
 *
 *   <a|b|c>               one of the alternatives a, b and c
 *   $H $R $D $F $G $P     destination register of 16, 32 or 64 bits, f32, f64, or a predicate
 *   $h $r $d $f $g        source of these types: a register or a literal
 *   $y $v $w $z $e        source of these types that is a register
 *   $p $q                 predicate as source; $q sometimes has a '!'
 *   $2                    two different destination predicates, such as %p0|%p1
 *   $3 $4 $5 $6 $7 $8 $9  vector {...} of 2 or 4 registers of 32 bits, 2 or 4 of 16 bits, 2 of 64 bits, 4 of f32, 2 of f64
 *   $U $E $Q              destination register of 32 or 64 bits, or predicate, with the same value in all threads, so that the
 *                         scalar unit can compute it; mostly a new register
 *   $u $j $a              source of these kinds; $V is a destination of 32 bits that is written again
 *   $n $b $x $i           number from 0 to 40, from 0 to 255, of 32 bits, from 0 to 7
 *   $o                    offset in scratch memory, a multiple of 16
 *   \001                  character '|'
 *   $L                    label that only this statement has
 *   $S $B                 space of scratch memory and its base register; $T is a space with atomics
 *   ^                     at the beginning: kernels for a device do not get this statement, because a device with sm_90 has no
 *                         such instruction, rounds in another way, returns another NaN, or leaves memory or a register
 *                         undefined, or because NVIDIA's compiler computes the instruction wrongly for constant operands
 *
 * Templates with a division first make the divisor odd or large, so that no result is undefined.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ptx/eval/ptx_make.h"

enum { HALVES = 5, WORDS = 9, WIDES = 5, FLOATS = 5, DOUBLES = 3, PREDICATES = 4 };
enum { UNIFORM_WORDS = 6, UNIFORM_WIDES = 2, UNIFORM_PREDICATES = 2 }; /* registers of struct pm_shared that a kernel begins with */

/* clang-format off */
static const char *const straight[] = {
    /* integers */
    "<add|sub|mul.lo|min|max>.<u16|s16> $H,$h,$h",
    "<add|sub|mul.lo|min|max>.<u32|s32> $R,$r,$r",
    "<add|sub|mul.lo|mul.hi|min|max>.<u64|s64> $D,$d,$d",
    "mul.hi.<u16|s16> $H,$h,$h", "mul.hi.<u32|s32> $R,$r,$r",
    "mul.wide.<u16|s16> $R,$h,$h", "mul.wide.<u32|s32> $D,$r,$r",
    "mad.<lo|hi>.<u16|s16> $H,$h,$h,$h", "mad.<lo|hi>.<u32|s32> $R,$r,$r,$r",
    "mad.<lo|hi>.<u64|s64> $D,$d,$d,$d", "mad.wide.<u16|s16> $R,$h,$h,$r",
    "mad.wide.<u32|s32> $D,$r,$r,$d", "mad.hi.sat.s32 $R,$r,$r,$r",
    "<add|sub>.sat.s32 $R,$r,$r",
    "<min|max>.relu.s32 $R,$r,$r",
    "mul24.<lo|hi>.<u32|s32> $R,$r,$r",
    "mad24.<lo|hi>.<u32|s32> $R,$r,$r,$r", "mad24.hi.sat.s32 $R,$r,$r,$r",
    "sad.<u16|s16> $H,$h,$h,$h", "sad.<u32|s32> $R,$r,$r,$r",
    "sad.<u64|s64> $D,$d,$d,$d",
    "<abs|neg>.s16 $H,$y", "<abs|neg>.s32 $R,$v",
    "<abs|neg>.s64 $D,$w",
    "or.b16 %th,$y,1;\n<div|rem>.u16 $H,$h,%th",
    "or.b32 %t0,$v,1;\n<div|rem>.u32 $R,$r,%t0",
    "or.b64 %u0,$w,1;\n<div|rem>.u64 $D,$d,%u0",
    "<div|rem>.<u32|s32> $R,$r,<3|7|10|100|1000|16|65536>",
    "<div|rem>.<u64|s64> $D,$d,<3|7|10|1000000007|32>",
    "shr.u32 %t0,$v,$n;\nor.b32 %t0,%t0,3;\nand.b32 %t0,%t0,0x7fffffff;\n<neg|abs>.s32 %t0,%t0;\n<div|rem>.s32 $R,$r,%t0",
    "shr.u64 %u0,$w,$n;\nor.b64 %u0,%u0,3;\nand.b64 %u0,%u0,0x7fffffffffffffff;\n<neg|abs>.s64 %u0,%u0;\n<div|rem>.s64 $D,$d,%u0",
    "add.cc.<u32|s32> $R,$r,$r;\naddc.cc.<u32|s32> $R,$r,$r;\naddc.u32 $R,$r,$r",
    "add.cc.u64 $D,$d,$d;\naddc.<u64|s64> $D,$d,$d",
    "sub.cc.<u32|s32> $R,$r,$r;\nsubc.cc.u32 $R,$r,$r;\nsubc.<u32|s32> $R,$r,$r",
    "sub.cc.u64 $D,$d,$d;\nsubc.u64 $D,$d,$d",
    "sub.cc.<u32|s32> $R,$r,$r;\nsubc.cc.u32 $R,$r,$r;\naddc.u32 $R,$r,$r",
    "add.cc.u64 $D,$d,$d;\nsubc.cc.u64 $D,$d,$d;\naddc.u32 $R,$r,$r",
    "mad.lo.cc.u32 $R,$r,$r,$r;\nmadc.hi.cc.<u32|s32> $R,$r,$r,$r;\nmadc.lo.u32 $R,$r,$r,$r;\naddc.u32 $R,$r,$r",
    "mad.<lo|hi>.cc.u64 $D,$d,$d,$d;\nmadc.hi.u64 $D,$d,$d,$d",
    /* bits */
    "<and|or|xor>.b16 $H,$h,$h",
    "<and|or|xor>.b32 $R,$r,$r",
    "<and|or|xor>.b64 $D,$d,$d",
    "<not|cnot>.b16 $H,$y",
    "<not|cnot>.b32 $R,$v",
    "<not|cnot>.b64 $D,$w",
    "<and|or|xor>.pred $P,$p,$p",
    "not.pred $P,$p",
    "mov.pred $P,$p",
    "<shl.b16|shr.u16|shr.s16|shr.b16> $H,$h,<$n|$v>",
    "<shl.b32|shr.u32|shr.s32|shr.b32> $R,$r,<$n|$v>",
    "<shl.b64|shr.u64|shr.s64|shr.b64> $D,$d,<$n|$v>",
    "shf.<l|r>.<wrap|clamp>.b32 $R,$r,$r,<$n|$v>",
    "<popc|clz>.b32 $R,$v",
    "<popc|clz>.b64 $R,$w",
    "brev.b32 $R,$v",
    "brev.b64 $D,$w",
    "bfind<|.shiftamt>.<u32|s32> $R,$v",
    "bfind<|.shiftamt>.<u64|s64> $R,$w",
    "^bfe.<u32|s32> $R,$r,<$n|$v>,<$n|$v>",
    "^bfe.<u64|s64> $D,$d,<$n|$v>,<$n|$v>",
    "^bfi.b32 $R,$r,$r,<$n|$v>,<$n|$v>",
    "^bfi.b64 $D,$d,$d,<$n|$v>,<$n|$v>",
    "bmsk.<clamp|wrap>.b32 $R,<$n|$v>,<$n|$v>",
    "szext.<clamp|wrap>.<u32|s32> $R,$v,<$n|$v>",
    "and.b32 %t0,$v,31;\nfns.b32 $R,$r,%t0,<1|-1|0|2|-3|5>",
    "lop3.b32 $R,$r,$r,$r,$b",
    "prmt.b32 $R,$r,$r,<$r|$x>",
    "prmt.b32.<f4e|b4e|rc8|ecl|ecr|rc16> $R,$r,$r,<$n|$v>",
    "dp4a.<u32|s32>.<u32|s32> $R,$r,$r,$r",
    "<vabsdiff2|vabsdiff4>.<u32|s32>.<u32.u32|s32.s32><|.add> $R,$v,$v,$v",
    "dp2a.<lo|hi>.<u32|s32>.<u32|s32> $R,$r,$r,$r",
    /* comparisons, selections */
    "setp.<eq|ne|lt|le|gt|ge>.<u16|s16> $P,$h,$h",
    "setp.<eq|ne|lt|le|gt|ge>.<u32|s32> $P,$r,$r",
    "setp.<eq|ne|lt|le|gt|ge>.<u64|s64> $2,$d,$d",
    "setp.<eq|ne>.b16 $P,$h,$h",
    "setp.<eq|ne>.b32 $P,$r,$r",
    "setp.<lo|ls|hi|hs>.u32 $P,$r,$r",
    "setp.<eq|ne|lt|ge>.<and|or|xor>.<u32|s32> $2,$r,$r,$q",
    "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan><|.ftz>.f32 $2,$f,$f",
    "setp.<eq|lt|geu|neu>.<and|or|xor>.f64 $2,$g,$g,$q",
    "setp.<eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan>.f64 $P,$g,$g",
    "setp.<eq|ne|lt|le|gt|ge|ltu|num|nan><|.ftz>.f16 $P,$y,$y",
    "setp.<eq|ne|lt|le|gt|ge|gtu|num|nan>.bf16 $P,$y,$y",
    "setp.<eq|ne|lt|le|gt|ge|num|nan>.<f16x2|bf16x2> $2,$v,$v",
    "set.<eq|ne|lt|le|gt|ge>.<u32|s32>.<u32|s32> $R,$r,$r",
    "set.<eq|ne|lt|le|gt|ge>.<and|or|xor>.u32.<u16|s16> $R,$h,$h,$q",
    "set.<lt|ge>.u32.<u64|s64> $R,$d,$d",
    "set.<lt|geu|nan>.<u32|s32>.f64 $R,$g,$g",
    "set.<eq|lt|neu><|.ftz>.f32.f32 $F,$f,$f",
    "set.<eq|lt|ge>.f32.s32 $F,$r,$r",
    "set.<eq|lt|neu>.f16.f16 $H,$y,$y",
    "set.<eq|lt|neu>.<f16x2.f16x2|bf16x2.bf16x2> $R,$v,$v",
    "selp.<b16|u16|s16> $H,$h,$h,$q",
    "selp.<b32|u32|s32> $R,$r,$r,$q",
    "selp.<b64|u64|s64> $D,$d,$d,$q",
    "selp.f32 $F,$f,$f,$q",
    "selp.f64 $G,$g,$g,$q",
    "slct.<b32|u32|s32>.s32 $R,$r,$r,$r",
    "slct.<b64|u64>.f32 $D,$d,$d,$f",
    "slct.ftz.f32.f32 $F,$f,$f,$f",
    /* moves */
    "mov.<b16|u16> $H,$h", "mov.<b32|u32|s32> $R,$r", "mov.<b64|u64> $D,$d",
    "mov.f32 $F,$f", "mov.f64 $G,$g", "mov.b32 $F,$v", "mov.b32 $R,$z", "mov.b64 $G,$w",
    "mov.b64 $D,$e",
    "mov.b32 $R,{$y,$y}", "mov.b64 $D,{$v,$v}", "mov.b64 $D,{$y,$y,$y,$y}",
    "mov.b64 $3,$w", "mov.b32 $5,$v", "mov.b64 $6,$w",
    /* conversions */
    "cvt.<u8|s8|u16|s16>.<u8|s8|u16|s16> $H,$y",
    "cvt.<u8|s8|u16|s16>.<u8|s8|u16|s16|u32|s32> $H,$v",
    "cvt.<u8|s8|u16|s16>.<u32|s32|u64|s64> $H,$w",
    "cvt.<u8|s8|u16|s16|u32|s32>.<u8|s8|u16|s16> $R,$y",
    "cvt.<u8|s8|u16|s16|u32|s32>.<u8|s8|u16|s16|u32|s32> $R,$v",
    "cvt.<u8|s8|u16|s16|u32|s32>.<u32|s32|u64|s64> $R,$w",
    /* modifiers for instructions that can saturate */
    "cvt.sat.<u8|u16>.<s8|s16> $H,$y", "cvt.sat.<u8|s8>.<u16|s16> $H,$y",
    "cvt.sat.s8.u8 $H,$y", "cvt.sat.s16.u16 $H,$y",
    "cvt.sat.<u8|s8|u16|s16>.<u32|s32> $H,$v", "cvt.sat.<u8|s8>.<u16|s16> $H,$v",
    "cvt.sat.<u8|s8|u16|s16>.<u32|s32|u64|s64> $H,$w",
    "cvt.sat.<u8|u16|u32>.<s8|s16> $R,$y", "cvt.sat.<u8|s8>.<u16|s16> $R,$y",
    "cvt.sat.<u8|s8|u16|s16>.<u32|s32> $R,$v", "cvt.sat.<u8|u16|u32>.<s8|s16|s32> $R,$v",
    "cvt.sat.s32.u32 $R,$v", "cvt.sat.<u8|s8|u16|s16>.<u32|s32|u64|s64> $R,$w",
    "cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16> $D,$y",
    "cvt.<u8|s8|u16|s16|u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32> $D,$v",
    "cvt.<u32|s32|u64|s64>.<u8|s8|u16|s16|u32|s32|u64|s64> $D,$w",
    "cvt.sat.<u32|s32>.<u64|s64> $R,$w",
    "cvt.<rn|rz|rm|rp>.f32.<u8|s8|u16|s16> $F,$y",
    "cvt.<rn|rz|rm|rp>.f32.<u32|s32> $F,$v",
    "cvt.<rn|rz|rm|rp><|.sat>.f32.<u64|s64> $F,$w",
    "cvt.rn.f64.<u32|s32> $G,$v",
    "cvt.<rn|rz|rm|rp>.f64.<u64|s64> $G,$w",
    "cvt.<rn|rz>.f16.<u16|s16> $H,$y",
    "cvt.rn.f16.<u32|s32> $H,$v",
    "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.<u8|s8|u16|s16>.f32 $H,$z",
    "cvt.<rni|rzi|rmi|rpi><|.ftz>.<u32|s32>.f32 $R,$z",
    "cvt.<rni|rzi|rmi|rpi>.<u64|s64>.f32 $D,$z",
    "cvt.<rni|rzi|rmi|rpi>.<u16|s16>.f64 $H,$e",
    "cvt.<rni|rzi|rmi|rpi>.<u32|s32>.f64 $R,$e",
    "cvt.<rni|rzi|rmi|rpi>.<u64|s64>.f64 $D,$e",
    "cvt.<rni|rzi>.<u16|s16>.f16 $H,$y",
    "cvt.<rni|rzi>.<u32|s32>.f16 $R,$y",
    "cvt<|.ftz>.f64.f32 $G,$z",
    "^cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f32.f64 $F,$e",
    "cvt.<rni|rzi|rmi|rpi><|.ftz><|.sat>.f32.f32 $F,$z",
    "cvt<.ftz|.sat|.ftz.sat>.f32.f32 $F,$z",
    "cvt.<rni|rzi|rmi|rpi><|.sat>.f64.f64 $G,$e",
    "^cvt.f32.<f16|bf16> $F,$y",
    "cvt.f64.f16 $G,$y",
    "cvt.<rn|rz><|.relu><|.satfinite>.f16.f32 $H,$z",
    "cvt.<rn|rz><|.relu><|.satfinite>.bf16.f32 $H,$z",
    "^cvt.rn.f16.f64 $H,$e",
    "cvt.<rni|rzi|rmi|rpi>.f16.f16 $H,$y",
    "cvt.<rn|rz><|.relu><|.satfinite>.<f16x2|bf16x2>.f32 $R,$z,$z",
    /* floats */
    "<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz><|.sat>.f32 $F,$f,$f",
    "fma.<rn|rz|rm|rp><|.ftz><|.sat>.f32 $F,$f,$f,$f",
    "mad.<rn|rz|rm|rp>.f32 $F,$f,$f,$f",
    "div.<rn|rz|rm|rp><|.ftz>.f32 $F,$f,$f",
    "<rcp|sqrt>.<rn|rz|rm|rp><|.ftz>.f32 $F,$z",
    "<add|sub|mul><|.rn|.rz|.rm|.rp>.f64 $G,$g,$g",
    "<fma|mad>.<rn|rz|rm|rp>.f64 $G,$g,$g,$g",
    "div.<rn|rz|rm|rp>.f64 $G,$g,$g",
    "<rcp|sqrt>.<rn|rz|rm|rp>.f64 $G,$e",
    "^<min|max><|.ftz><|.NaN><|.xorsign.abs>.f32 $F,$f,$f",
    "^<min|max>.f64 $G,$g,$g",
    "^<abs|neg><|.ftz>.f32 $F,$z",
    "<abs|neg>.f64 $G,$e",
    "copysign.f32 $F,$f,$f",
    "copysign.f64 $G,$g,$g",
    "testp.<finite|infinite|number|notanumber|normal|subnormal>.f32 $P,$z",
    "testp.<finite|infinite|number|notanumber|normal|subnormal>.f64 $P,$e",
    "<add|sub|mul><|.rn><|.ftz><|.sat>.f16 $H,$y,$y",
    "<add|sub|mul><|.rn><|.ftz><|.sat>.f16x2 $R,$v,$v",
    "fma.rn<|.ftz><|.sat|.relu>.f16 $H,$y,$y,$y",
    "fma.rn<|.ftz><|.sat|.relu>.f16x2 $R,$v,$v,$v",
    "<add|sub|mul>.rn.bf16 $H,$y,$y",
    "<add|sub|mul>.rn.bf16x2 $R,$v,$v",
    "fma.rn<|.relu>.bf16 $H,$y,$y,$y",
    "fma.rn<|.relu>.bf16x2 $R,$v,$v,$v",
    "^<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16 $H,$y,$y",
    "^<min|max><|.ftz><|.NaN>.f16x2 $R,$v,$v",
    "^<min|max><|.NaN><|.xorsign.abs>.<bf16> $H,$y,$y",
    "^<min|max><|.NaN>.bf16x2 $R,$v,$v",
    "^<abs|neg><|.ftz>.f16 $H,$y",
    "^<abs|neg><|.ftz>.f16x2 $R,$v",
    "^<abs|neg>.bf16 $H,$y",
    "^<abs|neg>.bf16x2 $R,$v",
    "^<min|max><|.ftz><|.NaN><|.xorsign.abs>.f16x2 $R,$v,$v",
    "^<min|max><|.NaN><|.xorsign.abs>.bf16x2 $R,$v,$v",
    "setp.<eq|lt|neu|num>.<and|or|xor><|.ftz>.f16x2 $2,$v,$v,$q",
    "setp.<eq|lt|neu|num>.<and|or|xor>.<f16|bf16> $P,$y,$y,$q",
    "set.<lt|ge|nan>.<u32|s32>.<f16|bf16> $R,$y,$y",
    "set.<lt|ge|nan>.<u16|s16>.f16 $H,$y,$y",
    "set.<lt|ge|neu>.<and|or|xor>.f32.f64 $F,$g,$g,$q",
    "set.<lt|ge|neu>.<u32|s32>.<f16x2|bf16x2> $R,$v,$v",
    "slct.f64.<s32> $G,$g,$g,$r",
    "slct.<u16|b16|s16>.f32 $H,$h,$h,$f",
    "^cvt.<rn|rz|rm|rp><|.ftz><|.sat>.f16.f32 $H,$z",
    "cvt.<rn|rz|rm|rp>.f16.<u8|s8> $H,$y",
    "cvt.<rn|rz|rm|rp>.f16.<u64|s64> $H,$w",
    "^cvt.<rn|rz|rm|rp>.f16.f64 $H,$e",
    "cvt<|.ftz><|.sat>.f32.f16 $F,$y",
    "cvt.rn.bf16.<u32|s32> $H,$v",
    "cvt.<rni|rzi|rmi|rpi>.<u32|s32>.bf16 $R,$y",
    "cvt.<rni|rzi|rmi|rpi>.<u64|s64>.f16 $D,$y",
    "cvt.<rni|rzi|rmi|rpi><|.sat>.<u8|s8>.f16 $H,$y",
    "^<div.approx|div.full><|.ftz>.f32 $F,$f,$f",
    "^<rcp|sqrt|rsqrt>.approx<|.ftz>.f32 $F,$z",
    "^rsqrt.approx.f64 $G,$e",
    "^<ex2|lg2|sin|cos>.approx<|.ftz>.f32 $F,$z",
    /* approximations of operands for which results are not 0, 1 or infinite */
    "^cvt.rn.f32.s16 %f1,$y;\nmul.f32 %f1,%f1,<0.0625|0.00390625|0.000030517578125>;\n<ex2|sin|cos|tanh|lg2>.approx.f32 $F,%f1",
    "^tanh.approx.f32 $F,$z",
    "^<ex2|tanh>.approx.f16 $H,$y", "^<ex2|tanh>.approx.f16x2 $R,$v",
    "^<ex2.approx.ftz|tanh.approx>.bf16 $H,$y", "^<ex2.approx.ftz|tanh.approx>.bf16x2 $R,$v",
    "^<rcp|rsqrt>.approx.ftz.f64 $G,$e",
    "st$S<.wb|.cg|.cs|.wt>.u32 [$B+$o],$v",
    "ld$S<.ca|.cg|.cs>.v2.u32 $3,[$B+$o]",
    "add.<u16x2|s16x2> $R,$v,$v",
    "<min|max>.<u16x2|s16x2> $R,$v,$v",
    "<min|max>.s16x2.relu $R,$v,$v",
    "^<min|max><|.ftz><|.NaN>.f32 $F,$f,$f,$f",
    "^<add|sub|mul><|.rn|.rz|.rm|.rp><|.ftz>.f32x2 $D,$w,$w",
    "^fma.<rn|rz|rm|rp><|.ftz>.f32x2 $D,$w,$w,$w",
    "mov.b64 $D,{$z,$z}",
    "cvt.pack.sat.<u16|s16>.s32 $R,$r,$r",
    "cvt.pack.sat.<u8|s8>.s32.b32 $R,$r,$r,$r",
    "lop3.<or|and>.b32 $R\001$P,$v,$v,$v,$b,$q",
    "mov.pred $P,<0|1|-1>",
    /* memory that belongs to the thread */
    "st$S.<b8|u8|s8> [$B+$o],<$y|$v|$w>",
    "st$S.<b16|u16|s16> [$B+$o],<$y|$v>",
    "st$S.<b32|u32|s32> [$B+$o],<$v|$w>",
    "st$S.<b64|u64|s64> [$B+$o],$w",
    "st$S.f32 [$B+$o],$z",
    "st$S.f64 [$B+$o],$e",
    "st$S.v2.<b32|u32> [$B+$o],$3",
    "st$S.v4.<b32|s32> [$B+$o],$4",
    "st$S.v4.f32 [$B+$o],$8",
    "st$S.v2.<b64|u64> [$B+$o],$7",
    "st$S.v2.f64 [$B+$o],$9",
    "st$S.v2.<b8|u16|b16> [$B+$o],$5",
    "st$S.v4.<u8|b16> [$B+$o],$6",
    "ld$S.<u8|s8|b8> <$H|$R|$D>,[$B+$o]",
    "ld$S.<u16|s16|b16> <$H|$R|$D>,[$B+$o]",
    "ld$S.<u32|s32|b32> <$R|$D>,[$B+$o]",
    "ld$S.<b64|u64|s64> $D,[$B+$o]",
    "ld$S.f32 $F,[$B+$o]",
    "ld$S.f64 $G,[$B+$o]",
    "ld$S.v2.<b32|u32|s32> $3,[$B+$o]",
    "ld$S.v4.<b32|u32> $4,[$B+$o]",
    "ld$S.v4.f32 $8,[$B+$o]",
    "ld$S.v2.<b64|s64> $7,[$B+$o]",
    "ld$S.v2.f64 $9,[$B+$o]",
    "ld$S.v2.<u8|s8|u16|s16> $5,[$B+$o]",
    "ld$S.v4.<u8|s8|u16|s16> $6,[$B+$o]",
    "ld$S.v4.<u8|s8|u16|s16> $4,[$B+$o]",
    "ld.<volatile|relaxed.gpu|acquire.cta>.global.u32 $R,[%row+$o]",
    "st.<volatile|relaxed.gpu|release.cta>.global.u32 [%row+$o],$v",
    "ld.global<.ca|.cg|.cs|.lu|.cv|.nc>.u32 $R,[%in+$o]",
    "ldu.global.u32 $R,[%in+$o]",
    "ld.param.<u32|b32> $R,[pa]", "ld.param.<s16|u16> <$H|$R|$D>,[pb]",
    "ld.param.u64 $D,[pc]", "ld.param.f32 $F,[pd]", "ld.param.<u8|s8> <$H|$R>,[pe+<1|5|11>]",
    "ld.param.v2.u32 $3,[pc]", "ld.param.u32 $R,[pe+<0|4|8>]",
    "ld.const.<u32|s32> $R,[ctab+<0|4|8|12>]", "ld.global.<u16|s16> <$H|$R>,[gtab+<0|2|14>]",
    "and.b32 %t0,$v,12;\ncvt.u64.u32 %u0,%t0;\nmov.u64 %u1,ctab;\nadd.u64 %u0,%u0,%u1;\nld.const.u32 $R,[%u0]",
    /* atomics on memory that belongs to the thread */
    "atom$T.add.<u32|s32> $R,[$B+$o],$r",
    "atom$T.add.u64 $D,[$B+$o],$d",
    "^atom$T.add.f32 $F,[$B+$o],$f",
    "^atom$T.add.f64 $G,[$B+$o],$g",
    "atom$T.add.noftz.f16 $H,[$B+$o],$y",
    "atom$T.add.noftz.f16x2 $R,[$B+$o],$v",
    "atom$T.<min|max>.<u32|s32> $R,[$B+$o],$r",
    "atom$T.<min|max>.<u64|s64> $D,[$B+$o],$d",
    "atom$T.<inc|dec>.u32 $R,[$B+$o],$r",
    "atom$T.<and|or|xor>.b32 $R,[$B+$o],$r",
    "atom$T.<and|or|xor>.b64 $D,[$B+$o],$d",
    "atom$T.exch.b32 $R,[$B+$o],$r",
    "atom$T.exch.b64 $D,[$B+$o],$d",
    "atom$T.cas.b32 $R,[$B+$o],$r,$r",
    "ld$T.u32 %t0,[$B+$o];\natom$T.cas.b32 $R,[$B+$o],%t0,$r",
    "atom$T.cas.b64 $D,[$B+$o],$d,$d",
    "atom$T.cas.b16 $H,[$B+$o],$y,$y",
    "red$T.<add.u32|max.s32|xor.b32|inc.u32> [$B+$o],$r",
    "^red$T.<add.f32> [$B+$o],$f",
    /* atomics on words that all threads access; this kernel does not read these words */
    "red.global.add.u32 [%sum],$r", "red.global.min.s32 [%sum+8],$r",
    "red.global.max.u32 [%sum+16],$r", "red.global.and.b32 [%sum+24],$r",
    "red.global.or.b32 [%sum+32],$r", "red.global.xor.b32 [%sum+40],$r",
    "red.global.add.u64 [%sum+48],$d", "red.global.max.s64 [%sum+56],$d",
    "atom.global.add.u32 %t0,[%sum],$r", "atom.global.xor.b32 _,[%sum+40],$r",
    "red.<relaxed.gpu.|>global.xor.b64 [%sum+64],$d",
    "red.shared.add.u32 [cell],$r", "red.shared.max.s32 [cell+4],$r",
    "red.global.add.noftz.v2.f16 [%row+$o],$5", "red.global.add.noftz.v2.bf16x2 [%row+$o],$3",
    "^red.global.v4.f32.add [%row+$o],$8",
    "^atom.global.v2.f32.add {%f0,%f1},[%row+$o],{%f1,%f0}",
    "^cp.async.ca.shared.global [%sh+$o],[%row+$o],<4|8|16>",
    "cp.async.cg.shared.global.L2::128B [%sh+$o],[%row+$o],16;\ncp.async.commit_group;\ncp.async.wait_group 0",
    "and.b32 %t0,$v,15;\ncp.async.ca.shared.global [%sh+$o],[%row+$o],16,%t0;\ncp.async.wait_all",
    "^and.b32 %t0,$v,3;\n<|@%p1 |@!%p2 >cp.async.ca.shared.global [%sh+$o],[%row+$o],4,%t0",
    "^cp.async.ca.shared.global [%sh+$o],[%row+$o],<8,0|8,8|4,1|16,%p2>",
    "createpolicy.fractional.L2::evict_first.b64 %u0,1.0;\nld.global.L2::cache_hint.u32 $R,[%row+$o],%u0",
    "^<pmevent 3|discard.global.L2 [%row+256],128|applypriority.global.L2::evict_normal [%row],128|prefetchu.L1 [%row]>",
    /* addresses */
    "isspacep.<global|shared|local|const> $P,<%row|%shg|%log>",
    "^mov.u64 %u0,<ctab|ctab+15|ctab+16|gtab|gtab+8>;\nisspacep.<global|const> $P,%u0",
    "cvta.to.shared.u64 %u0,%shg;\nst.shared.u32 [%u0+$o],$v",
    "cvta.to.local.u64 %u0,%log;\nld.local.u32 $R,[%u0+$o]",
    "cvta.to.global.u64 %u0,%row;\nld.global.u32 $R,[%u0+$o]",
    "<membar.cta|membar.gl|fence.acq_rel.cta|fence.sc.gpu|prefetch.global.L2 [%row]|nanosleep.u32 20>",
    /* special registers and literals */
    "mov.u32 $R,<%tid.x|%ntid.x|%ctaid.x|%nctaid.x|%tid.y|%nctaid.z>",
    "mov.b32 $F,$x;\ncvt.rn.f32.s32 $F,$v", "cvt.rn.f64.s32 $G,$v;\nmul.f64 $G,$e,0d3FB999999999999A",
};
/* Operations on values that are equal in all threads, unless divergent code has written them. */
static const char *const scalar[] = { /* instructions that the scalar unit has, too */
    "<add|sub|mul.lo>.u32 $U,$u,$u", "<add|sub|mul.lo|min|max|mul.hi>.<u32|s32> $U,$u,$u",
    "<and|or|xor>.b32 $U,$u,$u", "<shl.b32|shr.u32> $U,$u,$n", "mul.wide.<u32|s32> $E,$u,$u",
    "add.<s64|u64> $E,$j,$j", "<and|or|xor>.b64 $E,$j,$j", "cvt.u64.u32 $E,$u",
    "setp.<eq|ne|lt|le|gt|ge>.<u32|s32> $Q,$u,$u", "ld.param.u32 $U,[<pa|pe+4|pc+4>]",
    "mov.u32 $U,<%ctaid.x|%ntid.x|%nctaid.x>", "ld.const.u32 $U,[ctab+<0|4|8|12>]",
    "ld.const.u64 $E,[ctab+<0|8>]", "ld.global.nc.u32 $U,[%first+<0|4|8|60|100>]",
    "ld.global.nc.u64 $E,[%first+<0|16|40>]", "ld.const.v4.u32 {%r1,_,$U,%r2},[ctab]",
    "and.b32 $U,$u,60", "and.b32 %t0,$u,60;\ncvt.u64.u32 %u0,%t0;\nadd.u64 %u0,%first,%u0;\nld.global.nc.u32 $U,[%u0+<0|4|32>]",
    "selp.b32 $U,$u,$u,$a", "mov.b32 $U,$u", "add.u32 $R,$v,$u",
};
static const char *const uniform[] = {
    "<add|sub|mul.lo|mul.hi|min|max>.<u32|s32> $U,$u,$u", "<add|sub|mul.lo>.u32 $U,$u,$u",
    "mad.lo.<u32|s32> $U,$u,$u,$u", "<and|or|xor>.b32 $U,$u,$u",
    "<shl.b32|shr.u32|shr.s32> $U,$u,<$n|$u>", "not.b32 $U,$u",
    "mul.wide.<u32|s32> $E,$u,$u", "mad.wide.<u32|s32> $E,$u,$u,$j", "add.s64 $E,$j,$j",
    "sub.s64 $E,$j,$j", "<and|or|xor>.b64 $E,$j,$j", "<shl.b64|shr.u64|shr.s64> $E,$j,$n",
    "cvt.<s64.s32|u64.u32> $E,$u", "cvt.u32.u64 $U,$j", "mul.lo.u64 $E,$j,$j", "mov.b64 {$U,_},$j",
    "mov.b64 $E,{$V,%s0}", "<popc|clz|brev>.b32 $U,$u", "^bfe.<u32|s32> $U,$u,$n,$n",
    "^bfi.b32 $U,$u,$u,$n,$n", "lop3.b32 $U,$u,$u,$u,$b", "<neg|abs>.s32 $U,$u",
    "selp.b32 $U,$u,$u,$a", "selp.b64 $E,$j,$j,$a", "<div|rem>.u32 $U,$u,<3|10|64>",
    "setp.<eq|ne|lt|le|gt|ge>.<u32|s32> $Q,$u,$u", "setp.<eq|lt>.<and|or|xor>.s32 $Q,$u,$u,$a",
    "setp.<gt|le|ne>.<u64|s64> $Q,$j,$j", "<and|or|xor>.pred $Q,$a,$a", "not.pred $Q,$a",
    "mov.u32 $U,<%ctaid.x|%ntid.x|%nctaid.x|%ctaid.y>", "ld.param.u32 $U,[<pa|pe+4|pc+4>]",
    "ld.param.s16 $U,[pb]", "ld.param.u64 $E,[pc]", "ld.param.u8 $U,[pe+<1|2|7>]",
    "ld.const.<u32|s32> $U,[ctab+<0|4|8|12>]", "ld.const.u64 $E,[ctab+<0|8>]",
    "ld.const.<u8|s8|u16|s16> $U,[ctab+<0|2|4|14>]", "ld.const.v2.u32 {$U,_},[ctab+8]",
    "ld.const.v4.u32 {_,_,$U,%r2},[ctab]",
    "and.b32 %t0,$u,12;\ncvt.u64.u32 %u1,%t0;\nmov.u64 %u0,ctab;\nadd.u64 %u0,%u0,%u1;\nld.const.u32 $U,[%u0]",
    "mov.u64 %u0,gtab;\nld.global.nc.<u16|s16> $U,[%u0+<0|6|14>]",
    "ld.global.nc.u32 $U,[%first+<0|4|8|60|100>]", "ld.global.nc.u64 $E,[%first+<0|16|40>]",
    "ld.global.nc.v4.u32 {$U,%r1,%r3,_},[%first+<0|32|96>]",
    "and.b32 %t0,$u,60;\ncvt.u64.u32 %u0,%t0;\nadd.u64 %u0,%first,%u0;\nld.global.nc.u32 $U,[%u0+<0|4|32>]",
    "mov.u32 $R,$u", "add.u32 $R,$v,$u", "mad.lo.u32 $R,$v,$u,$u", "mov.b32 $U,$u", "mov.b64 $D,$j",
    "add.s64 $D,$w,$j", "^@$a add.u32 $V,$u,1", "^@!$a mov.u32 $V,$u", "@$a mov.u32 $R,$u",
    "add.u32 $V,$u,$u", "selp.b32 $R,$v,$u,$a", "st.global.u32 [%row+$o],$u",
    "cvt.rn.f32.<u32|s32> $F,$u", "mov.u32 $V,$v", "selp.f32 $F,$f,$z,$a", "setp.lt.s32 $P,$v,$u",
    "shl.b32 $R,$v,$u", "@$a add.u32 $R,$v,$u",
};
/* Statements that all lanes of a warp, or all threads of a block, execute together. */
static const char *const together[] = {
    "bar.sync 0", "barrier.sync 1", "bar.sync <2|3>",
    "bar.sync 0;\nst.shared.b32 [%xch],$v;\nbar.sync 0;\nadd.u32 %t0,%me,$i;\nrem.u32 %t0,%t0,%nt;\nshl.b32 %t0,%t0,2;\nmov.u32 %t1,xch;\nadd.u32 %t0,%t0,%t1;\nld.shared.b32 $R,[%t0]",
    "<bar|barrier>.red.popc.u32 $R,<0|3>,$q",
    "bar.red.<and|or>.pred $P,0,$q", "add.u32 %t0,%nt,31;\nand.b32 %t0,%t0,-32;\nbarrier.cta.red.<and|or>.pred $P,<0|1>,%t0,$q", /* whole warps */
    "bar.sync 0;\nld.shared.u32 $R,[cell+<0|4>];\nbar.sync 0",
};
static const char *const warps[] = {
    "shfl.sync.<up|down|bfly|idx>.b32 $R,$v,<$n|$v>,<0x1f|0|0x1c1f|0x181f|0x1c00|0x1e01|$v>,0xffffffff",
    "shfl.sync.<up|down|bfly|idx>.b32 %r0\001%p1,$v,<$n|$v>,<0x1f|0|0x1c1f|0x181f|0x1c00|$v>,-1",
    "shfl.sync.bfly.b32 $F,$z,<1|2|4|8|16>,31,0xffffffff",
    "vote.sync.<all|any|uni>.pred $P,$q,0xffffffff",
    "vote.sync.ballot.b32 $R,$q,0xffffffff",
    "bar.warp.sync 0xffffffff",
    "match.any.sync.b32 $R,$v,0xffffffff", "match.any.sync.b64 $R,$w,-1",
    "and.b32 %t0,$v,<1|3|0>;\nmatch.any.sync.b32 $R,%t0,0xffffffff",
    "and.b32 %t0,$v,<1|0>;\nmatch.all.sync.b32 <$R|%r2\001%p3>,%t0,0xffffffff",
    "match.all.sync.b64 %r1\001%p0,$w,0xffffffff",
    "redux.sync.<add|min|max>.<u32|s32> $R,$v,0xffffffff",
    "redux.sync.<and|or|xor>.b32 $R,$v,0xffffffff",
    "^vote.sync.ballot.b32 %t0,%p1,-1;\n@!%p1 bra $L;\n<redux.sync.add.s32 $R,$v,%t0|match.any.sync.b32 $R,$v,%t0|vote.sync.all.pred $P,$q,%t0|bar.warp.sync %t0|vote.sync.ballot.b32 $R,$p,%t0>;\n$L:",
    "^and.b32 %t1,$v,3;\nmatch.any.sync.b32 %t0,%t1,-1;\nbrev.b32 %t2,%t0;\nclz.b32 %t2,%t2;\n<redux.sync.max.u32 $R,$v,%t0|vote.sync.any.pred $P,$q,%t0|match.all.sync.b32 $R,$v,%t0|elect.sync $R\001$P,%t0|shfl.sync.idx.b32 $R,$v,%t2,31,%t0>",
    "bar.warp.sync -1;\nactivemask.b32 $R",
    "elect.sync <$R|_>\001$P,0xffffffff",
    /* operations on the active lanes, which are all lanes of the warp after reconvergence */
    "^bar.warp.sync -1;\nvote.<all|any|uni>.pred $P,$q", "^bar.warp.sync -1;\nvote.ballot.b32 $R,$q",
    "^bar.warp.sync -1;\nshfl.<up|down|bfly|idx>.b32 $R,$v,<$n|$v>,<0x1f|0x1c1f|$v>",
    "^bar.warp.sync -1;\nshfl.<up|down>.b32 %r3\001%p2,$v,$n,0",
    "mov.u32 $R,<%laneid|%lanemask_eq|%lanemask_le|%lanemask_lt|%lanemask_ge|%lanemask_gt|WARP_SZ>",
};
static const char *const calls[] = {
    "{\n.param .b32 a0;\n.param .b64 a1;\n.param .b32 q;\nst.param.b32 [a0],$v;\nst.param.b64 [a1],$w;\ncall.uni (q), fn0, (a0, a1);\nld.param.b32 $R,[q];\n}",
    "{\n.param .b64 a0;\n.param .align 8 .b8 q[16];\nst.param.b64 [a0],$w;\ncall (q), fn1, (a0);\nld.param.b64 $D,[q+8];\nld.param.b32 $R,[q+4];\n}",
    "and.b32 %t0,$v,7;\n{\n.param .b32 a0;\n.param .b32 q;\nst.param.b32 [a0],%t0;\ncall (q), fn3, (a0);\nld.param.b32 $R,[q];\n}",
    "setp.lt.s32 %p3,$v,$r;\nmov.u64 %u0,fn2;\nmov.u64 %u1,fn4;\nselp.b64 %u0,%u0,%u1,%p3;\n{\n.param .b32 a0;\n.param .f32 q;\nst.param.b32 [a0],$v;\n$L: .callprototype (.param .f32 _) _ (.param .b32 _);\ncall (q), %u0, (a0), $L;\nld.param.f32 $F,[q];\n}",
    "{\n.param .b32 a0;\n.param .f32 q;\nst.param.b32 [a0],$v;\ncall.uni (q), fn2, (a0);\nld.param.f32 $F,[q];\n}",
};
/* clang-format on */
#define COUNT_OF(x) (sizeof(x) / sizeof(x)[0])

static unsigned pick(struct pm_kernel *k, unsigned n)
{
    return (unsigned)(pm_random(&k->state) % n);
}

/* ---- text ------------------------------------------------------------------------ */

struct text {
    char *p;
    size_t size, room;
};
static void put(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *fmt, ...)
{
    va_list args;
    int need;

    va_start(args, fmt);
    need = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (t->size + (size_t)need + 1 > t->room) {
        t->room = (t->size + (size_t)need) * 2 + 100;
        t->p = realloc(t->p, t->room);
    }
    va_start(args, fmt);
    t->size += (size_t)vsnprintf(t->p + t->size, t->room - t->size, fmt, args);
    va_end(args);
}

static void put_number(struct pm_kernel *k, struct text *t, char kind)
{
    static const uint32_t floats[] = { 0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                       0xff800000, 0x7fc00001, 0x00000001, 0x007fffff, 0x00800000,
                                       0x7f7fffff, 0x4b000000, 0x3effffff, 0xcf000000 };
    static const uint64_t doubles[] = { 0, UINT64_C(1) << 63, UINT64_C(0x3ff0000000000000),
                                        UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000001),
                                        1, UINT64_C(0x0010000000000000),
                                        UINT64_C(0x41dfffffffc00000), UINT64_C(0xc1e0000000000000) };
    unsigned x = pick(k, 10);
    uint64_t any = pm_random(&k->state);

    switch (kind) {
    case 'f':
        put(t, "0f%08X", x < 5 ? floats[pick(k, COUNT_OF(floats))]
                               : (uint32_t)(0x3f000000u + any % 0x2000000) ^ (uint32_t)(any >> 63 << 31));
        return;
    case 'g':
        put(t, "0d%016llX",
            (unsigned long long)(x < 5 ? doubles[pick(k, COUNT_OF(doubles))]
                                       : (any & UINT64_C(0x800fffffffffffff)) |
                                             (uint64_t)(1023 - 10 + pick(k, 40)) << 52));
        return;
    case 'h': put(t, "%d", x < 6 ? (int)(any % 200) - 100 : (int)(any & 0x7fff)); return;
    case 'r':
        if (x < 5)
            put(t, "%d", (int)(any % 200) - 100);
        else if (x < 8)
            put(t, "0x%x", (uint32_t)any);
        else
            put(t, "%u", (unsigned)UINT32_C(1) << any % 32);
        return;
    default:
        if (x < 5)
            put(t, "%d", (int)(any % 2000) - 1000);
        else
            put(t, "0x%llx", (unsigned long long)(any >> pick(k, 60)));
        return;
    }
}

/** Writes @n different registers of a pool as a vector, such as {a,b}. */
static void put_group(struct pm_kernel *k, struct text *t, const char *prefix, unsigned pool,
                      unsigned n)
{
    unsigned first = pick(k, pool);

    for (unsigned i = 0; i < n; i++)
        put(t, "%s%s%u", i == 0 ? "{" : ",", prefix, (first + i) % pool);
    put(t, "}");
}

/* Returns a register, mostly one that was written recently, so that values depend on each other in chains. */
static unsigned read_shared(struct pm_kernel *k, const struct pm_shared *s)
{
    unsigned near = s->count < 6 || pick(k, 3) == 0 ? s->count : 6;

    return s->visible[s->count - 1 - pick(k, near)];
}

/* Returns a new register, which may be read from the next statement on, or sometimes an old register. */
static unsigned write_shared(struct pm_kernel *k, struct pm_shared *s, char kind)
{
    if (s->synthetic == PM_SHARED || k->kind != 0 || pick(k, k->scalar ? 50 : 8) == 0)
        return read_shared(k, s);
    k->kind = kind;
    return k->defines = s->synthetic++;
}

static struct pm_shared *shared_of(struct pm_kernel *k, char kind)
{
    return kind == 's' ? &k->s : kind == 'e' ? &k->e : &k->q;
}

static void put_template(struct pm_kernel *k, struct text *t, const char *p, const char *end)
{
    static const struct {
        const char *word, *base;
    } spaces[] = { { ".global", "%row" }, { "", "%row" }, { ".shared", "%sh" }, { "", "%shg" },
                   { ".local", "%lo" },   { "", "%log" } };
    unsigned space = pick(k, COUNT_OF(spaces)), shared = pick(k, 4);

    for (; p < end; p++) {
        if (*p == '<') {
            const char *close = memchr(p, '>', (size_t)(end - p)), *from = p + 1;
            unsigned n = 1;

            for (const char *q = from; q < close; q++)
                n += *q == '|';
            for (unsigned chosen = pick(k, n); chosen != 0; from++)
                chosen -= *from == '|';
            const char *stop = from;

            while (*stop != '|' && stop < close)
                stop++;
            put_template(k, t, from, stop);
            p = close;
            continue;
        }
        if (*p != '$') {
            put(t, "%c", *p == 1 ? '|' : *p);
            continue;
        }
        switch (*++p) {
        case 'H': case 'y': put(t, "%%h%u", pick(k, HALVES)); break;
        case 'R': case 'v': put(t, "%%r%u", pick(k, WORDS)); break;
        case 'D': case 'w': put(t, "%%d%u", pick(k, WIDES)); break;
        case 'F': case 'z': put(t, "%%f%u", pick(k, FLOATS)); break;
        case 'G': put(t, "%%g%u", k->written = pick(k, DOUBLES)); break;
        case 'e': put(t, "%%g%u", pick(k, DOUBLES)); break;
        case 'P': case 'p': put(t, "%%p%u", pick(k, PREDICATES)); break;
        case 'q': put(t, "%s%%p%u", pick(k, 3) == 0 ? "!" : "", pick(k, PREDICATES)); break;
        case 'h': case 'r': case 'd': case 'f': case 'g':
            if (pick(k, 5) == 0) {
                put_number(k, t, *p);
            } else {
                unsigned n = *p == 'h' ? HALVES : *p == 'r' ? WORDS : *p == 'd' ? WIDES
                             : *p == 'f' ? FLOATS : DOUBLES;

                put(t, "%%%c%u", *p, pick(k, n));
            }
            break;
        case '2': {
            unsigned first = pick(k, PREDICATES);

            put(t, "%%p%u|%%p%u", first, (first + 1) % PREDICATES);
            break;
        }
        case '3': put_group(k, t, "%r", WORDS, 2); break;
        case '4': put_group(k, t, "%r", WORDS, 4); break;
        case '5': put_group(k, t, "%h", HALVES, 2); break;
        case '6': put_group(k, t, "%h", HALVES, 4); break;
        case '7': put_group(k, t, "%d", WIDES, 2); break;
        case '8': put_group(k, t, "%f", FLOATS, 4); break;
        case '9': put_group(k, t, "%g", DOUBLES, 2); break;
        case 'n': put(t, "%u", pick(k, 41)); break;
        case 'b': put(t, "%u", pick(k, 256)); break;
        case 'x': put(t, "0x%x", (uint32_t)pm_random(&k->state)); break;
        case 'i': put(t, "%u", pick(k, 8)); break;
        case 'o': put(t, "%u", 16 * pick(k, 8)); break;
        case 'U': put(t, "%%s%u", write_shared(k, &k->s, 's')); break;
        case 'E': put(t, "%%e%u", write_shared(k, &k->e, 'e')); break;
        case 'Q': put(t, "%%q%u", write_shared(k, &k->q, 'q')); break;
        case 'V':
            put(t, "%%s%u", k->scalar ? write_shared(k, &k->s, 's') : read_shared(k, &k->s));
            break;
        case 'j': put(t, "%%e%u", read_shared(k, &k->e)); break;
        case 'a': put(t, "%%q%u", read_shared(k, &k->q)); break;
        case 'u':
            if (pick(k, 5) == 0)
                put_number(k, t, 'r');
            else
                put(t, "%%s%u", read_shared(k, &k->s));
            break;
        case 'L': put(t, "M%u", k->labels); break;
        case 'S': put(t, "%s", spaces[space].word); break;
        case 'T':
            space = shared;
            put(t, "%s", spaces[space].word);
            break;
        case 'B': put(t, "%s", spaces[space].base); break;
        default: break;
        }
    }
}

/* ---- statements -------------------------------------------------------------------- */

static int add(struct pm_kernel *k, struct text *t)
{
    if (k->count == k->room) {
        k->room = k->room * 2 + 16;
        k->at = realloc(k->at, (size_t)k->room * sizeof *k->at);
    }
    k->at[k->count] = (struct pm_statement){ .text = t->p, .match = -1, .kind = k->kind,
                                             .defines = k->defines };
    if (k->kind != 0) {
        struct pm_shared *shared = shared_of(k, k->kind);

        shared->visible[shared->count++] = k->defines;
        k->kind = 0;
    }
    *t = (struct text){ 0 };
    return k->count++;
}

static void add_middle(struct pm_kernel *k, struct text *t)
{
    int at = add(k, t);

    k->at[at].middle = true;
}

static void simple(struct pm_kernel *k, const char *template, bool guards)
{
    struct text t = { 0 };

    template += *template == '^';
    /* NVIDIA's compiler executes a part of these instructions without the instructions' guard. */
    if (k->device && (strncmp(template, "set.", 4) == 0 || strncmp(template, "testp", 5) == 0))
        guards = false;
    if (guards && strchr(template, '\n') == NULL && pick(k, 7) == 0)
        put(&t, "@%s%%p%u ", pick(k, 2) ? "!" : "", pick(k, PREDICATES));
    k->labels++; /* number of the label that $L stands for */
    put_template(k, &t, template, template + strlen(template));
    size_t size = strlen(template);
    bool block = strcmp(template + size - 2, "\n}") == 0; /* NVIDIA's compiler refuses an empty statement after a block */

    put(&t, "%s\n", template[size - 1] == ':' || (k->device && block) ? "" : ";");
    if (k->device && strstr(template, "$G") != NULL) /* devices return other NaNs of f64, so these become canonical */
        put(&t, "setp.nan.f64 %%nan,%%g%u,%%g%u;\n@%%nan mov.b64 %%g%u,0x7ff8000000000000;\n", k->written, k->written,
            k->written);
    (void)add(k, &t);
}

static void condition(struct pm_kernel *k, struct text *t)
{
    static const char *const synthetic[] = {
        "setp.<eq|ne|lt|gt>.s32 $P,$v,$r", "setp.<lt|ge>.f32 $P,$z,$f",
        "and.b32 %t0,$v,<1|3|16>;\nsetp.<eq|ne>.u32 %p2,%t0,0",
        "and.b32 %t0,%me,<1|3|7|16>;\nsetp.<eq|ne>.u32 %p3,%t0,0",
        "setp.<lt|ge>.u32 %p1,%me,<3|17|30>", "setp.<eq|ne>.u32 %p0,%nt,$n",
        "setp.<eq|lt|gt>.s32 $P,$u,$u", "mov.pred $P,$a",
    };
    const char *p = synthetic[pick(k, COUNT_OF(synthetic))];

    put_template(k, t, p, p + strlen(p));
    put(t, ";\n");
}

/* Generates a branch side in a loop that some threads execute. The register of this side is live from one iteration to the next,
 * and is read only in this side. */
static void kept(struct pm_kernel *k, unsigned counter)
{
    static const char *const changed[] = { "add.u32 %%k%u,%%k%u,%u", "mul.lo.u32 %%k%u,%%k%u,%u",
                                           "xor.b32 %%k%u,%%k%u,%u" };
    struct text t = { 0 };
    unsigned l = k->labels++, p = pick(k, PREDICATES);

    put(&t, "shr.u32 %%t0,%%me,%%c%u;\nand.b32 %%t0,%%t0,%u;\nsetp.%s.u32 %%p%u,%%t0,0;\n", counter,
        1 + pick(k, 3), pick(k, 2) ? "eq" : "ne", p);
    put(&t, "@%%p%u bra L%u;\n", p, l);
    put(&t, changed[pick(k, COUNT_OF(changed))], counter, counter, 3 + 2 * pick(k, 9));
    put(&t, ";\nst.global.u32 [%%row+%u],%%k%u;\nL%u:\n", 16 * pick(k, 8), counter, l);
    (void)add(k, &t);
}

/* Returns one of @n templates. */
static const char *choose(struct pm_kernel *k, const char *const *templates, size_t n)
{
    const char *template = templates[pick(k, (unsigned)n)];

    while (k->device && *template == '^')
        template = templates[pick(k, (unsigned)n)];
    return template;
}

static void statements(struct pm_kernel *k, unsigned depth, unsigned count, bool top, bool may_call)
{
    unsigned s = k->s.count, e = k->e.count, q = k->q.count;

    for (unsigned i = 0; i < count; i++) {
        unsigned x = pick(k, 100);
        struct text t = { 0 };
        int open, close;

        if (depth != 0 && x < 7) { /* generates an if, perhaps with an else */
            unsigned l = (k->labels += 2) - 2;
            bool other = pick(k, 2);

            if (!k->scalar)
                condition(k, &t);
            if (k->scalar || pick(k, 4) == 0)
                put(&t, "@%s%%q%u bra L%u;\n", pick(k, 2) ? "!" : "", read_shared(k, &k->q), l);
            else
                put(&t, "@%s%%p%u bra L%u;\n", pick(k, 2) ? "!" : "", pick(k, PREDICATES), l);
            open = add(k, &t);
            statements(k, depth - 1, 1 + pick(k, 4), false, may_call);
            if (other) {
                put(&t, "bra L%u;\nL%u:\n", l + 1, l);
                add_middle(k, &t);
                statements(k, depth - 1, 1 + pick(k, 4), false, may_call);
            }
            put(&t, "L%u:\n", other ? l + 1 : l);
            close = add(k, &t);
        } else if (depth != 0 && x < 11 && k->counters < 8) { /* generates a loop of few iterations */
            unsigned l = (k->labels += 2) - 2, c = k->counters++;

            if (pick(k, 2))
                put(&t, "mov.u32 %%c%u,%u;\n", c, 1 + pick(k, 4));
            else if (k->scalar || pick(k, 2))
                put(&t, "and.b32 %%c%u,%%s%u,3;\nadd.u32 %%c%u,%%c%u,1;\n", c, read_shared(k, &k->s), c, c);
            else
                put(&t, "and.b32 %%c%u,%%r%u,3;\nadd.u32 %%c%u,%%c%u,1;\n", c, pick(k, WORDS), c, c);
            bool entered = !k->scalar && pick(k, 4) == 0 && !k->device; /* some threads execute a barrier in the branch side */
            bool keeps = !k->scalar && pick(k, 2) == 0;

            if (keeps)
                put(&t, "mov.u32 %%k%u,%u;\n", c, pick(k, 4));
            if (entered)
                put(&t, "@%%p%u bra L%u;\n", pick(k, PREDICATES), l + 1);
            put(&t, "L%u:\n", l);
            open = add(k, &t);
            if (keeps)
                kept(k, c);
            statements(k, depth - 1, 1 + pick(k, 4), false, may_call);
            if (entered) {
                put(&t, "L%u:\n", l + 1);
                add_middle(k, &t);
                statements(k, depth - 1, 1 + pick(k, 3), false, may_call);
            }
            char kind = k->scalar && k->q.synthetic < PM_SHARED ? 'q' : 'p';
            unsigned p = kind == 'q' ? k->q.synthetic++ : c % PREDICATES;

            put(&t, "sub.u32 %%c%u,%%c%u,1;\nsetp.ne.u32 %%%c%u,%%c%u,0;\n@%%%c%u bra L%u;\n", c, c,
                kind, p, c, kind, p, l);
            close = add(k, &t);
        } else if (depth != 0 && x < 14) { /* generates a chain of comparisons, as compilers emit for a switch */
            unsigned l = (k->labels += 6) - 6, cases = 2 + pick(k, 2);

            bool table = pick(k, 3) == 0; /* the chain uses a branch table instead of comparisons */

            bool fresh = k->scalar && k->s.synthetic < PM_SHARED && k->q.synthetic + 3 < PM_SHARED;
            unsigned q = fresh ? k->q.synthetic : 0;
            char on[8] = "t2", kind = fresh ? 'q' : 'p';

            if (fresh) { /* generates a branch that all threads take, so that the body of the branch is not divergent */
                snprintf(on, sizeof on, "s%u", k->s.synthetic++);
                k->q.synthetic += 3;
                put(&t, "and.b32 %%%s,%%s%u,3;\n", on, read_shared(k, &k->s));
            } else {
                put(&t, "and.b32 %%t2,%%r%u,3;\n", pick(k, WORDS));
            }
            if (table) {
                put(&t, "T%u: .branchtargets L%u", l, l);
                for (unsigned c = 1; c < 4; c++)
                    put(&t, ", L%u", c < cases ? l + c : l + 5);
                put(&t, ";\nbrx.idx %%%s, T%u;\n", on, l);
            }
            for (unsigned c = 0; c < cases && !table; c++)
                put(&t, "setp.eq.s32 %%%c%u,%%%s,%u;\n@%%%c%u bra L%u;\n", kind, q + c, on, c, kind, q + c,
                    l + c);
            if (!table)
                put(&t, "bra L%u;\n", l + 5);
            open = add(k, &t);
            for (unsigned c = 0; c < cases; c++) {
                put(&t, "L%u:\n", l + c);
                add_middle(k, &t);
                statements(k, depth - 1, 1 + pick(k, 3), false, may_call);
                if (pick(k, 3) != 0) { /* otherwise the case falls through to the next one */
                    put(&t, "bra L%u;\n", l + 5);
                    add_middle(k, &t);
                }
            }
            put(&t, "L%u:\n", l + 5);
            close = add(k, &t);
        } else {
            if (k->traps && x < 24) {
                put(&t, "and.b32 %%t0,%%r%u,%u;\nsetp.eq.u32 %%p%u,%%t0,%u;\n@%%p%u %s;\n",
                    pick(k, WORDS), 511, x % PREDICATES, pick(k, 512), x % PREDICATES,
                    pick(k, 4) != 0 ? "trap" : "brkpt");
                (void)add(k, &t);
            } else if (k->leaves && x < 16) {
                put(&t, "@%s%%p%u %s;\n", pick(k, 2) ? "!" : "", pick(k, PREDICATES),
                    pick(k, 2) ? "exit" : "ret");
                (void)add(k, &t);
            } else if (top && !k->leaves && x < 18)
                simple(k, choose(k, together, COUNT_OF(together)), false);
            else if (top && k->warp && x < 30)
                simple(k, choose(k, warps, COUNT_OF(warps)), false);
            else if (may_call && x < 34)
                simple(k, choose(k, calls, COUNT_OF(calls)), false);
            else if (x < (k->scalar ? 65 : 42))
                simple(k, pick(k, 4) != 0 ? scalar[pick(k, COUNT_OF(scalar))]
                                          : uniform[pick(k, COUNT_OF(uniform))], false);
            else
                simple(k, choose(k, straight, COUNT_OF(straight)), true);
            continue;
        }
        k->at[open].match = close;
        k->at[close].match = open;
    }
    if (!top) { /* registers that this block defines must not be read after it */
        k->s.count = s;
        k->e.count = e;
        k->q.count = q;
    }
}

void pm_make(struct pm_kernel *kernel, uint64_t seed, const char *name, bool with_calls, bool device)
{
    *kernel = (struct pm_kernel){ .state = seed * 7919 + 1, .device = device };
    snprintf(kernel->name, sizeof kernel->name, "%s", name);
    kernel->s = (struct pm_shared){ UNIFORM_WORDS, UNIFORM_WORDS, { 0, 1, 2, 3, 4, 5 } };
    kernel->e = (struct pm_shared){ UNIFORM_WIDES, UNIFORM_WIDES, { 0, 1 } };
    kernel->q = (struct pm_shared){ UNIFORM_PREDICATES, UNIFORM_PREDICATES, { 0, 1 } };
    kernel->scalar = pick(kernel, 3) == 0;
    kernel->warp = !kernel->scalar && pick(kernel, 2) == 0;
    kernel->leaves = !kernel->warp && !kernel->scalar && pick(kernel, 4) == 0;
    kernel->traps = pick(kernel, 25) == 0 && !device;
    statements(kernel, pick(kernel, 3), 7 + pick(kernel, 12), true,
               with_calls && pick(kernel, 2) == 0);
}

char *pm_head(uint64_t seed, bool with_calls, bool device)
{
    struct pm_kernel k = { .state = seed ^ 0x5ca1ab1e, .device = device };
    struct text t = { 0 };

    put(&t, ".version 8.8\n.target %s\n.address_size 64\n"
            ".const .align 4 .b32 ctab[4] = {1, -2, 0x12345678, 99};\n"
            ".global .align 16 .u16 gtab[8] = {1, 2, 3, 65535, 32768, 6, 7, 8};\n", device ? "sm_90" : "sm_100");
    if (!with_calls)
        return t.p;
    static const struct {
        const char *head, *tail;
    } functions[] = {
        { ".func (.param .b32 q) fn0 (.param .b32 a0, .param .b64 a1)\n{\n",
          "st.param.b32 [q],%r1;\nret;\n}\n" },
        { ".func (.param .align 8 .b8 q[16]) fn1 (.param .b64 a0)\n{\n",
          "st.param.b64 [q],%d1;\nst.param.b64 [q+8],%d2;\nret;\n}\n" },
        { ".func (.param .f32 q) fn2 (.param .b32 a0)\n{\n",
          "st.param.f32 [q],%f1;\nret;\n}\n" },
        { ".func (.param .b32 q) fn3 (.param .b32 a0)\n{\n", /* the function calls itself with a depth that is lower by one */
          "setp.eq.u32 %p0,%left,0;\n@%p0 bra END;\n{\n.param .b32 b;\n.param .b32 s;\n"
          "sub.u32 %left,%left,1;\nst.param.b32 [b],%left;\ncall (s), fn3, (b);\n"
          "ld.param.b32 %r3,[s];\nmad.lo.u32 %r2,%r3,5,%r2;\n}\nEND:\n"
          "st.param.b32 [q],%r2;\nret;\n}\n" },
        { ".func (.param .f32 q) fn4 (.param .b32 a0)\n{\n",
          "@%p2 st.param.f32 [q],%f2;\n@%p2 ret;\nst.param.f32 [q],%f3;\nret;\n}\n" },
    };
    for (unsigned f = 0; f < COUNT_OF(functions); f++) {
        put(&t, "%s.reg .b16 %%h<5>, %%th;\n.reg .b32 %%r<9>, %%t<3>;\n.reg .b64 %%d<5>, %%u<2>;\n"
                ".reg .f32 %%f<5>;\n.reg .f64 %%g<3>;\n.reg .pred %%p<4>;\n.reg .b32 %%left;\n", functions[f].head);
        put(&t, f == 1 ? "ld.param.b64 %%d0,[a0];\ncvt.u32.u64 %%r0,%%d0;\n"
                       : "ld.param.b32 %%r0,[a0];\ncvt.u64.u32 %%d0,%%r0;\n");
        put(&t, "mov.u32 %%left,%%r0;\n");
        if (f == 0)
            put(&t, "ld.param.b64 %%d1,[a1];\n");
        else
            put(&t, "mov.u64 %%d1,77;\n");
        for (unsigned i = 1; i < WORDS; i++)
            put(&t, "mad.lo.u32 %%r%u,%%r0,%u,%u;\n", i, 7919 * i, i);
        for (unsigned i = 2; i < WIDES; i++)
            put(&t, "mul.wide.u32 %%d%u,%%r%u,%%r0;\n", i, i);
        for (unsigned i = 0; i < HALVES; i++)
            put(&t, "cvt.u16.u32 %%h%u,%%r%u;\n", i, i);
        for (unsigned i = 0; i < FLOATS; i++)
            put(&t, "cvt.rn.f32.s32 %%f%u,%%r%u;\n", i, i);
        for (unsigned i = 0; i < DOUBLES; i++)
            put(&t, "cvt.rn.f64.s32 %%g%u,%%r%u;\n", i, i);
        for (unsigned i = 0; i < PREDICATES; i++)
            put(&t, "setp.lt.s32 %%p%u,%%r%u,%u;\n", i, i, i);
        for (unsigned i = 0; i < 12; i++) { /* instructions that access only registers */
            const char *p = choose(&k, straight, 60);

            p += *p == '^';
            put_template(&k, &t, p, p + strlen(p));
            put(&t, ";\n");
        }
        put(&t, "%s", functions[f].tail);
    }
    return t.p;
}

char *pm_text(const struct pm_kernel *k)
{
    struct text t = { 0 };

    put(&t, ".visible .entry %s(.param .u64 out, .param .u32 pa, .param .s16 pb, .param .u64 pc,"
            " .param .f32 pd, .param .align 4 .b8 pe[12])\n{\n", k->name);
    put(&t, ".reg .b16 %%h<5>, %%th;\n.reg .b32 %%r<9>, %%t<3>, %%c<8>, %%k<8>, %%me, %%nt, %%sh, %%lo, %%xch, %%s<64>;\n"
            ".reg .b64 %%d<5>, %%u<2>, %%in, %%row, %%sum, %%shg, %%log, %%first, %%e<64>;\n"
            ".reg .f32 %%f<5>;\n.reg .f64 %%g<3>;\n.reg .pred %%p<4>, %%q<64>, %%nan;\n"
            ".shared .align 16 .b8 shm[12288];\n.shared .align 4 .b32 xch[96];\n"
            ".shared .align 8 .b32 cell[2];\n.local .align 16 .b8 loc[128];\n");
    put(&t, "ld.param.u64 %%first,[out];\nld.param.u32 %%s0,[pa];\nmov.u32 %%s1,%%ctaid.x;\n"
            "mov.u32 %%s2,%%ntid.x;\nld.const.u32 %%s3,[ctab+4];\nmov.u32 %%s4,77;\n"
            "ld.param.u32 %%s5,[pe+4];\nld.param.u64 %%e0,[pc];\nmov.u64 %%e1,%%e0;\n"
            "setp.lt.s32 %%q0,%%s0,0;\nsetp.eq.u32 %%q1,%%s1,0;\n");
    if (k->device) { /* a register whose only definition has a guard would be undefined */
        for (unsigned i = UNIFORM_WORDS; i < k->s.synthetic; i++)
            put(&t, "mov.b32 %%s%u,0;\n", i);
        for (unsigned i = UNIFORM_WIDES; i < k->e.synthetic; i++)
            put(&t, "mov.b64 %%e%u,0;\n", i);
        for (unsigned i = UNIFORM_PREDICATES; i < k->q.synthetic; i++)
            put(&t, "mov.pred %%q%u,0;\n", i);
    }
    put(&t, "ld.param.u64 %%in,[out];\nmov.u32 %%me,%%tid.x;\nmov.u32 %%nt,%%ntid.x;\n"
            "mov.u32 %%t0,%%ctaid.x;\nmad.lo.u32 %%t1,%%t0,%%nt,%%me;\n"
            "mov.u32 %%t0,%%nctaid.x;\nmul.lo.u32 %%t0,%%t0,%%nt;\n"
            "mad.wide.u32 %%sum,%%t0,512,%%in;\nmad.wide.u32 %%in,%%t1,512,%%in;\n"
            "add.u64 %%row,%%in,128;\nmov.u32 %%sh,shm;\nmad.lo.u32 %%sh,%%me,128,%%sh;\n"
            "cvt.u64.u32 %%shg,%%sh;\ncvta.shared.u64 %%shg,%%shg;\nmov.u32 %%lo,loc;\n"
            "cvt.u64.u32 %%log,%%lo;\ncvta.local.u64 %%log,%%log;\nmov.u32 %%xch,xch;\n"
            "mad.lo.u32 %%xch,%%me,4,%%xch;\n");
    put(&t, "ld.global.v4.b32 {%%r0,%%r1,%%r2,%%r3},[%%in];\n"
            "ld.global.v4.b32 {%%r4,%%r5,%%r6,%%r7},[%%in+16];\nmov.u32 %%r8,%%me;\n"
            "ld.global.v2.b64 {%%d0,%%d1},[%%in+32];\nld.global.v2.b64 {%%d2,%%d3},[%%in+48];\n"
            "cvt.s64.s32 %%d4,%%r0;\nld.global.v4.f32 {%%f0,%%f1,%%f2,%%f3},[%%in+64];\n"
            "cvt.rn.f32.s32 %%f4,%%r8;\nld.global.v2.f64 {%%g0,%%g1},[%%in+80];\n"
            "cvt.rn.f64.s32 %%g2,%%r1;\nld.global.v4.u16 {%%h0,%%h1,%%h2,%%h3},[%%in+96];\n"
            "cvt.u16.u32 %%h4,%%r8;\n");
    for (unsigned i = 0; i < PREDICATES; i++)
        put(&t, "setp.lt.s32 %%p%u,%%r%u,0;\n", i, i);
    if (k->device) { /* the memory of a device is not cleared */
        for (unsigned i = 0; i < 128; i += 8)
            put(&t, "st.shared.u64 [%%sh+%u],0;\nst.local.u64 [%%lo+%u],0;\n", i, i);
        put(&t, "st.shared.u32 [%%xch],0;\nst.shared.u64 [cell],0;\nbar.sync 0;\n");
    }
    for (int i = 0; i < k->count; i++) {
        const struct pm_statement *one = &k->at[i];

        if (one->text != NULL)
            put(&t, "%s", one->text);
        else if (one->kind == 'q')
            put(&t, "mov.pred %%q%u,0;\n", one->defines);
        else if (one->kind != 0)
            put(&t, "mov.b%u %%%c%u,0;\n", one->kind == 's' ? 32u : 64u, one->kind, one->defines);
    }
    put(&t, "st.global.v4.b32 [%%in+256],{%%r0,%%r1,%%r2,%%r3};\n"
            "st.global.v4.b32 [%%in+272],{%%r4,%%r5,%%r6,%%r7};\n"
            "st.global.v2.b64 [%%in+288],{%%d0,%%d1};\nst.global.v2.b64 [%%in+304],{%%d2,%%d3};\n"
            "st.global.v4.f32 [%%in+320],{%%f0,%%f1,%%f2,%%f3};\n"
            "st.global.v2.f64 [%%in+336],{%%g0,%%g1};\n"
            "st.global.v4.u16 [%%in+352],{%%h0,%%h1,%%h2,%%h3};\n"
            "st.global.b64 [%%in+360],%%d4;\nst.global.f64 [%%in+368],%%g2;\n"
            "st.global.f32 [%%in+376],%%f4;\nst.global.u16 [%%in+380],%%h4;\n"
            "st.global.u32 [%%in+384],%%r8;\n");
    put(&t, "mov.u32 %%t0,0;\nmov.u64 %%u0,0;\n");
    for (unsigned i = 0; i < k->s.count; i++)
        put(&t, "mad.lo.u32 %%t0,%%t0,3,%%s%u;\n", k->s.visible[i]);
    for (unsigned i = 0; i < k->e.count; i++)
        put(&t, "mad.lo.u64 %%u0,%%u0,3,%%e%u;\n", k->e.visible[i]);
    put(&t, "st.global.u32 [%%in+400],%%t0;\nst.global.u64 [%%in+408],%%u0;\nmov.u64 %%u0,0;\n");
    for (unsigned i = 0; i < k->q.count; i++)
        put(&t, "@%%q%u or.b64 %%u0,%%u0,%llu;\n", k->q.visible[i], 1ull << i);
    put(&t, "st.global.u64 [%%in+416],%%u0;\nmov.u32 %%t0,0;\n");
    for (unsigned i = 0; i < PREDICATES; i++)
        put(&t, "@%%p%u or.b32 %%t0,%%t0,%u;\n", i, 1u << i);
    put(&t, "st.global.u32 [%%in+388],%%t0;\nret;\n}\n");
    return t.p;
}
