# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, sourced by tests
#
# What the tests of a demo program have in common, beside ../script.sh: $bench is the program.

. "$(dirname "$0")/../script.sh"

# unwarned: $tmp/err without the line that warns of more threads than this machine has processors
unwarned() { sed -i '/: warning: --threads=[0-9]* on [0-9]* processor/d' "$tmp/err"; }

# bench_run ARG...: into $tmp/out, $tmp/err and $rc. 60 s: a hundred times what a run takes.
bench_run() {
	timeout 60 "$bench" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	unwarned
}

# refused NAME MESSAGE ARG...: exit 2, nothing on stdout, exactly this one line on stderr.
refused() {
	name=$1 want="${bench##*/}: $2"
	shift 2
	bench_run "$@"
	if [ $rc -ne 2 ]; then
		not_ok "$name" "exit $rc, not 2"
	elif [ -s "$tmp/out" ]; then
		not_ok "$name" "wrote to stdout"
	elif [ "$(cat "$tmp/err")" != "$want" ]; then
		not_ok "$name" "said \"$(cat "$tmp/err")\", not \"$want\""
	else
		ok "$name"
	fi
}

# without_rtm SCHEME: the option that a scheme with transactions of its own needs on a processor
# without RTM: then it acquires latches.
without_rtm() {
	case $1 in rtm) grep -qw rtm /proc/cpuinfo || echo --attempts=0 ;; esac
}

names() { "$bench" --list | awk -v kind="$1" '$1 == kind { print $2 }'; }

# in_words KIND: "a, b, c"
in_words() { names "$1" | paste -sd, | sed 's/,/, /g'; }

# documented LIST...: the options of the lists are in --help and the manual page, and the names
# that they have as values in --list, too.
documented() {
	"$bench" --help >"$tmp/help"
	page=man/${bench##*/}.1 missing=
	for word in $(sed -n 's/^OPT_[A-Z]*([a-z_]*, "\([a-z-]*\)".*/\1/p' "$@"); do
		grep -q "^  --$word" "$tmp/help" || missing="$missing --help:$word"
		grep -q "^\.It Fl -$word\( \|\$\)" "$page" || missing="$missing man:$word"
	done
	for word in $(sed -n 's/^[A-Z]*([a-z_]*, "\([a-z-]*\)",.*/\1/p' "$@"); do
		"$bench" --list | grep -qw -- "$word" || missing="$missing --list:$word"
		grep -qw -- "$word" "$tmp/help" || missing="$missing --help:$word"
		grep -qw -- "$word" "$page" || missing="$missing man:$word"
	done
	if [ -n "$missing" ]; then
		not_ok names-are-documented "missing:$missing"
	else
		ok names-are-documented
	fi
}
