# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Completion of bench_sweep for bash: its options, by its own --help, the machines of --emulate, by elide's,
# and behind "--" a program with its own completion. Must never run that program.
_bench_sweep() {
	local cur=${COMP_WORDS[COMP_CWORD]} i words

	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -- ]] || continue
		if declare -F _command_offset >/dev/null && ((COMP_CWORD > i + 1)); then
			_command_offset $((i + 1))
		else
			mapfile -t COMPREPLY < <(compgen -W 'index_bench tatp_bench page_bench' -- "$cur"; compgen -c -- "$cur")
		fi
		return
	done
	# Readline takes "=" for a word of its own.
	if [[ ${COMP_WORDS[COMP_CWORD - 1]} == --emulate || ${COMP_WORDS[*]:COMP_CWORD-2:2} == '--emulate =' ||
		$cur == = && ${COMP_WORDS[COMP_CWORD - 1]} == --emulate ]]; then
		words=$(elide run --emulate=list 2>/dev/null | cut -d ' ' -f 1)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "${cur#=}")
		return
	fi
	words=$(bench_sweep --help 2>/dev/null | sed -nE 's/^  (--[a-z-]+(=)?).*/\1/p')
	mapfile -t COMPREPLY < <(compgen -W "$words --" -- "$cur")
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _bench_sweep bench_sweep
