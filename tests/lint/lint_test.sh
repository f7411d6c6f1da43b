#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the lints: this script creates small trees with violations, for which the lints must fail.
set -u
lint=$(cd "${srcdir:-.}" && pwd)/tests/lint/lint_includes.sh
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
plant() { # usage: plant FILE LINE. Writes LINE to FILE in the tree, and expects that the include lint fails
    rm -rf "$tmp"/* && mkdir -p "$tmp/${1%/*}"
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n%s\n' "$2" >"$tmp/$1"
    if "$lint" "$tmp" >/dev/null; then
        echo "lint_includes does not report $1 with '$2'"
        exit 1
    fi
}
plant emu/a.c '#include "timing/timing.h"'
plant base/a.c '#include "isa/isa.h"'
plant debug/a.c '#include "emu/emu_machine_priv.h"'
plant gdbstub/a.c '#include "shell/shell.h"'
plant timing/core/a.c '#include "debug/debug.h"'
plant timing/core/a.c '#include "emu/emu_machine_priv.h"'
plant timing/core/a.h '#include "timing/timing.h"'
plant emu/memory/a.c '#include "emu/engine/emu_engine_priv.h"'
plant emu/cellar/a.c '#include "emu/emu.h"'
plant emu/a.c '#include "emu/emu_state_view.h"'
plant debug/a.c '#include "emu/emu_state_view.h"'
plant launch/a.c '#include <yaml.h>'
plant emu/a.h '#include <immintrin.h>'
plant emu/a.c 'void f(void) { _mm_setcsr(0); }'
plant base/a.h 'static inline void f(void) { __asm__("nop"); }'
plant emu/a.c "$(yes ';' | head -n 1001)"
rm -rf "$tmp"/* && mkdir "$tmp/isa"
printf '/* SPDX-License-Identifier: Apache-2.0 */\n#include "base/lw.h"\n' >"$tmp/isa/a.c"
"$lint" "$tmp" || { echo "lint_includes reports an error in a correct tree"; exit 1; }

# The lint of public headers must report a function that no other directory calls and that has no row with a reason, and rows that
# are not needed. usage: public STATUS TEXT ROWS. TEXT is the content of debug/a.c; ROWS are those of lint_public.tsv
public() {
    rm -rf "$tmp"/* && mkdir -p "$tmp/emu" "$tmp/debug" "$tmp/tests/lint"
    printf '%s\n' 'int emu_a(int x);' 'static inline int emu_b(void) { return emu_a(1); }' 'struct s { int (*emu_m)(int); };' \
        '/* int emu_old(void); */ void emu_c(void);' 'int emu_d(void); int emu_e(void);' >"$tmp/emu/emu.h"
    printf '%s\n' "$2" >"$tmp/debug/a.c"
    printf "$3" >"$tmp/tests/lint/lint_public.tsv"
    "${lint%/*}/lint_public.sh" "$tmp" >/dev/null
    [ $? = "$1" ] || { echo "lint_public: not exit status $1 with '$2' and rows '$3'"; exit 1; }
}
every='emu_a(emu_b()); emu_c(); emu_d();'
public 0 "$every emu_e();" ''
public 1 "$every /* emu_e() */ \"emu_e()\";" ''
public 0 "$every" 'emu_e\twhy\n'
public 1 "$every" 'emu_e\t\n'
public 1 "$every emu_e();" 'emu_e\twhy\n'
public 1 "$every emu_e();" 'emu_gone\twhy\n'

# The lint of parameters must report an @name that is not a parameter, in any line of the comment. usage: params STATUS TEXT. TEXT
# is the content of emu/a.h
params() {
    rm -rf "$tmp"/* && mkdir -p "$tmp/emu"
    printf "$2\n" >"$tmp/emu/a.h"
    "${lint%/*}/lint_params.sh" "$tmp" >/dev/null
    [ $? = "$1" ] || { echo "lint_params: not exit status $1 with '$2'"; exit 1; }
}
params 0 '/** Of @a. */\nint f(int a);'
params 1 '/** Of @b. */\nint f(int a);'
params 1 '/** f.\n * @b  room */\nint f(int a, /* b */\n      int c);'
params 0 '/** Of @a; of g @b. */\nint f(int a);\nint g(int b);'
params 1 '/** Of @b. */\nint f(int a);\n\nint g(int b);'
params 1 '/** Of @b. */\nstatic inline int f(int a)\n{ int b = a; return b; }'
params 1 'struct s {\n    /** Of @b. */\n    int (*f)(int a);\n};'
params 1 '/** @b  a member */\nstruct s {\n    int b;\n};'

# The lint of names must report a name in a comment that is neither a name of the code or of a file, nor the start of one. usage:
# names STATUS TEXT. TEXT is the content of emu/a.c
names() {
    rm -rf "$tmp"/* && mkdir -p "$tmp/emu"
    printf "$2\n" >"$tmp/emu/a.c"
    : >"$tmp/emu/emu_words.c"
    "${lint%/*}/lint_names.sh" "$tmp" >/dev/null
    [ $? = "$1" ] || { echo "lint_names: not exit status $1 with '$2'"; exit 1; }
}
names 0 '/* emu_f() and emu_x, "emu_old", `emu_old`; emu_words.c; words, x*y */\nint emu_f(int emu_x);'
names 1 '/* emu_old */\nint emu_f(int x);'
names 1 '/* see\n * old() */\nint f(int x);'
names 1 '/* emu_words_priv.h */'
names 0 '/* EMU_A_*, s_add of "s_add_u32" */ const char *s = "EMU_A_ONE s_add_u32";'
names 1 '/* EMU_B_* */ enum { EMU_A_ONE };'
names 1 '/* emu_old */ /* emu_old */ const char *s = "/* emu_old2 */";'
names 1 'int x; // emu_old'

# The lint of vector files must report expected values without a source, and those whose source is the emulator.
rm -rf "$tmp"/* && mkdir -p "$tmp/tests/emu/exec/vectors"
for source in '# Source: exact integers.' '# Source: runs of the emulator.' '# Source: docs/reference/isa.md, by hand.' 'op nop'; do
    for name in a b; do
        printf '# SPDX-License-Identifier: Apache-2.0\n# nop\n%s\n' "$source" >"$tmp/tests/emu/exec/vectors/$name.txt"
    done
    "${lint%/*}/lint_vectors.sh" "$tmp" >/dev/null
    found=$?
    case $source in *exact*) want=0 ;; *) want=1 ;; esac
    [ $found = $want ] || { echo "lint_vectors: exit status $found with '$source'"; exit 1; }
done

# The lint of the steps of nightly.sh must report a step whose test does not exist, a test without a step, and a step without its
# variable.
top=$(cd "${srcdir:-.}" && pwd)
for change in 's/ / /' 's:tests/emu/exec/$sweep:tests/$sweep:' 's/LW_EXHAUSTIVE=1//' '/^step threads/d' 's/LW_REPEATS=20//' \
    '/^step silicon/d' 's:prop_endless:prop_endles:' '/^step endless/d' 's:bench/timing_trends:bench/timing_trend:'; do
    sed "$change" "$top/tests/nightly.sh" >"$tmp/nightly.sh"
    "${lint%/*}/lint_nightly.sh" "$tmp/nightly.sh" >/dev/null
    found=$?
    case $change in 's/ / /') want=0 ;; *) want=1 ;; esac
    [ $found = $want ] || { echo "lint_nightly: exit status $found after $change"; exit 1; }
done

# The lint of the saved state must report a member that is not listed, also if the size of the structure does not change.
rm -rf "$tmp"/* && cp -R "$top/emu" "$tmp/emu"
"$top/tests/lint/lint_state.sh" "$tmp" || exit 1
for place in 'bool parts;' 'uint64_t cta_generation;' 'struct emu_log \*log;'; do
    header=$(cd "$top/emu" && grep -l "^    $place" *_priv.h) || { echo "no '$place'"; exit 1; }
    sed "s/^    $place/    bool hidden;\n&/" "$top/emu/$header" >"$tmp/emu/$header"
    "$top/tests/lint/lint_state.sh" "$tmp" >/dev/null && { echo "lint_state does not report a new member before $place"; exit 1; }
    cp "$top/emu/$header" "$tmp/emu/$header"
done
exit 0
