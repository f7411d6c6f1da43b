# SPDX-License-Identifier: Apache-2.0
# Completion of lanewise for bash. The lists of commands and options are the output of the program itself.
_lanewise()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]}
    local command=${COMP_WORDS[1]} files=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ] || { [ "$COMP_CWORD" = 2 ] && [ "$command" = help ]; }; then
        COMPREPLY=($(compgen -W "$("$program" help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')" -- "$cur"))
        return
    fi
    case $prev in
    -w | --warp) COMPREPLY=($(compgen -W '4 8 16 32 64' -- "$cur")); return ;;
    -p | --policy) COMPREPLY=($(compgen -W 'converge rr_quantum rr minpc minpc_step maxpc most_lanes stack_like' -- "$cur")); return ;;
    --reconv) COMPREPLY=($(compgen -W 'cbar stack frontier multipath early likely dualpath' -- "$cur")); return ;;
    --push-order) COMPREPLY=($(compgen -W 'smaller larger fall_through' -- "$cur")); return ;;
    --profile-by) COMPREPLY=($(compgen -W 'kernel launch' -- "$cur")); return ;;
    --tags) COMPREPLY=($(compgen -W 'off shadow compact' -- "$cur")); return ;;
    --tag-rules) COMPREPLY=($(compgen -W 'table exact fold' -- "$cur")); return ;;
    --tag-expansion) COMPREPLY=($(compgen -W 'lazy eager' -- "$cur")); return ;;
    -e | --emit) COMPREPLY=($(compgen -W 'obj ptx asm cfg' -- "$cur")); return ;;
    --control) COMPREPLY=($(compgen -W 'auto keep' -- "$cur")); return ;;
    --compiler | --clang) COMPREPLY=($(compgen -c -- "$cur" | grep -E '^(clang(-[0-9]+)?|nvcc)$' | sort -u)); return ;;
    --gdb-arch | -a | --arch) COMPREPLY=($(compgen -W 'x86-64 aarch64' -- "$cur")); return ;;
    --gdb-program) COMPREPLY=($(compgen -c -- "$cur" | grep -E '^gdb' | sort -u)); return ;;
    --tag-plan) COMPREPLY=($(compgen -W 'gain all' -- "$cur")); return ;;
    --timing-set | --set) COMPREPLY=($(compgen -W "$("$program" timing fermi 2>/dev/null | awk '
            /^[a-z0-9_]*:/ { section = $1; sub(":", "", section) }
            section == "units" && /^  / { sub(":", "", $1); print section "." $1 ".pipes=", section "." $1 ".lanes=", section "." $1 ".latency="; next }
            /^  [A-Za-z0-9_]*:/ { sub(":", "", $1); print section "." $1 "=" }')" -- "$cur")); compopt -o nospace 2>/dev/null; return ;;
    --mechanism) COMPREPLY=($(compgen -W "$("$program" timing --mechanisms 2>/dev/null | awk '{ print $1 }')" -- "$cur")); return ;;
    --timing-sample | --timing-window | --timing-events) COMPREPLY=(); return ;;
    -c | --command | --grid | --block | --global | --offset | --shared | --arg | --entry | --tolerance | --native-timeout) COMPREPLY=(); return ;;
    --engine) COMPREPLY=($(compgen -W 'interpreter native auto auto-unshared' -- "$cur")); return ;;
    --cache) COMPREPLY=($(compgen -W 'on off' -- "$cur")); return ;;
    --level) COMPREPLY=($(compgen -W '0 1 3 4' -- "$cur")); return ;;
    esac
    # --dump BUFFER=FILE: completes the buffers of the launch file, which may be anywhere in the line. Bash splits words at
    # "=", so FILE is another word.
    if [ "$prev" = -d ] || [ "$prev" = --dump ]; then
        local word names=
        for word in "${COMP_WORDS[@]}"; do
            case $word in
            *.yaml | *.yml) [ ! -r "$word" ] || names="$names $(awk '
                /^[^ #]/ { inside = /^buffers:/; sub(/^buffers:/, "") }
                inside {
                    if (!flow && $0 ~ /^ +[^ #{]+:/ && (indent == 0 || match($0, /[^ ]/) == indent)) {
                        indent = match($0, /[^ ]/); name = $1; sub(/:.*/, "", name); gsub(/["\047]/, "", name); print name
                    }
                    if ($0 ~ /^ *\{/) flow = 1
                    while (flow && match($0, /[{}]|[A-Za-z_][A-Za-z0-9_]*:/)) {
                        token = substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH)
                        if (token == "{") level++; else if (token == "}") level--; else if (level == 1) { sub(/:/, "", token); print token }
                    }
                }' "$word")" ;;
            esac
        done
        COMPREPLY=($(compgen -S = -W "$names" -- "$cur"))
        compopt -o nospace 2>/dev/null
        return
    fi
    if [ "$prev" = = ] || [ "$cur" = = ]; then
        case ${COMP_WORDS[COMP_CWORD-3]}${COMP_WORDS[COMP_CWORD-2]} in
        -d* | --dump* | --expect*) [ "$cur" != = ] || cur=; COMPREPLY=($(compgen -f -- "$cur")); return ;;
        esac
    fi
    # --timing=MACHINE: bash makes three words of this. A GPU model may also be the word after --timing.
    if [ "$prev" = = ] && [ "${COMP_WORDS[COMP_CWORD-2]}" = --timing ]; then
        COMPREPLY=($(compgen -W "$("$program" timing 2>/dev/null | cut -d ' ' -f 1)" -f -- "$cur"))
        return
    fi
    if [ "$prev" = --timing ] && [ "$cur" != = ] && [ "${cur#-}" = "$cur" ]; then
        COMPREPLY=($(compgen -W "$("$program" timing 2>/dev/null | cut -d ' ' -f 1)" -- "$cur")
            $(compgen -f -- "$cur" | grep '\.yaml$') $(compgen -d -S / -- "$cur"))
        return
    fi
    # --check=LIST: kinds and classes of findings, separated by commas, each with an optional "-" before it. The word after
    # --check may be a list as well, or the launch file, or an option if it begins with "-".
    if { [ "$prev" = = ] && [ "${COMP_WORDS[COMP_CWORD-2]}" = --check ]; } ||
        { [ "$prev" = --check ] && { [ "$cur" = = ] || [ "${cur#-}" = "$cur" ]; }; }; then
        local before=
        [ "$prev" != --check ] || [ "$cur" = = ] || files=$(compgen -f -- "$cur" | grep -E '\.ya?ml$'; compgen -d -S / -- "$cur")
        [ "$cur" != = ] || cur=
        case $cur in *,*) before=${cur%,*}, cur=${cur##*,} ;; esac
        case $cur in -*) before=$before- cur=${cur#-} ;; esac
        COMPREPLY=($(compgen -P "$before" -W "default all $("$program" explain 2>/dev/null | awk '{ print $1, $2 }')" -- "$cur" | sort -u) $files)
        compopt -o nospace 2>/dev/null
        return
    fi
    case $cur in
    -*)
        COMPREPLY=($(compgen -W "$("$program" help "$command" 2>/dev/null |
            sed -n 's/^  [^-]*\(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p')" -- "$cur"))
        return ;;
    esac
    case $command in
    explain) COMPREPLY=($(compgen -W "default all $("$program" explain 2>/dev/null | awk '{ print $1, $2 }')" -- "$cur" | sort -u)); return ;;
    timing) COMPREPLY=($(compgen -W "compare $("$program" timing 2>/dev/null | cut -d ' ' -f 1)" -f -- "$cur")); return ;;
    run | debug | gdb) files='yaml|yml|cl|cu|ptx|s|lwo' ;;
    compile) files='cl|cu|ptx' ;;
    cc) files='cu|cpp|cc|cxx|c|o|a' ;;
    template) files='cl|cu|ptx|s|lwo' ;;
    asm) files='s' ;;
    dis) files='lwo|s|ptx|cl|cu' ;;
    esac
    case $prev in -*) files= ;; esac
    if [ -n "$files" ]; then
        COMPREPLY=($(compgen -f -- "$cur" | grep -E "\.($files)\$") $(compgen -d -S / -- "$cur"))
        compopt -o nospace 2>/dev/null
        [ ${#COMPREPLY[@]} = 1 ] && [ "${COMPREPLY[0]%/}" = "${COMPREPLY[0]}" ] && compopt +o nospace 2>/dev/null
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}
complete -F _lanewise lanewise
