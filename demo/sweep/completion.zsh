#compdef bench_sweep
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion of bench_sweep for zsh: as completion.bash.
local -a options
options=(${(f)"$(bench_sweep --help 2>/dev/null | sed -nE 's/^  (--[a-z-]+=?)[A-Z]* +(.*)/\1[\2]/p' | sed -E 's/:/\\:/g; s/=\[/=-[/; s/(=-.*)$/\1:value:/')"})
options=("${(@)options:#--emulate*}" '--emulate=-[machine of elide run --emulate]:machine:($(elide run --emulate=list 2>/dev/null | cut -d " " -f 1))')
_arguments -S "${options[@]}" '(-)*::program:_normal'
