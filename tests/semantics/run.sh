#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=250 parts=8
#
# The semantics matrix: every row of tests/semantics/rows in every mode. What a
# program prints and how it ends must be what it is without the library. Where the
# emulated machine differs from this one, that is what it is there without the library.
#
#   run.sh [ROW...]        all rows, or some; $O is the build directory
#   run.sh --cell MODE ROW one cell, for the above
#
# Of the two modes in which some transactions are aborted at random, emulated-1 and emulated-30,
# each row has one, in turn; with ALL_RATES=yes both. In all of them the emulator ends a program in whose
# elided sections the library stores what lib/state/thread.h does not allow. JOBS is how many cells run at a time. Prints
# a line a cell, "ok MODE-ROW" or what is wrong, and the numbers of cells.

if [ "${1:-}" = --cell ]; then
	here=${0%/*} elide=$O/bin/elide
else
	. "$(dirname "$0")/../script.sh"
fi
lib=${LIB:-$O/lib/libelide-preload.so}
sums=$O/tests/preload/sums
# Seconds a cell may take; the longest takes a fortieth of it.
LIMIT=${LIMIT:-480}
unset ELIDE_POLICY

# fields ROW: of the table, to elides, expects and command.
fields() {
	IFS='|' read -r _ elides expects command <<-END
		$(grep "^$1|" "$ROWS")
	END
}

program() {
	for dir in semantics preload emulated; do
		[ -x "$O/tests/$dir/$1" ] && echo "$O/tests/$dir/$1" && return
	done
	echo "$1-is-not-built"
}

# One cell, in a directory of its own: out, err, rc and the data files.
cell() {
	mode=$1 row=$2
	mkdir -p "$TMP/$1/$2" && cd "$TMP/$1/$2" || exit 1
	fields "$2"
	set -- $command
	extra=''
	while case ${1:-} in *=*) true ;; *) false ;; esac; do
		case $1 in
		LD_PRELOAD=*) extra=${1#*=} ;;
		*) export "$1" ;;
		esac
		shift
	done
	name=$(program "$1")
	shift
	# The launcher would give the processes of a run a name in common.
	export ELIDE_OUTPUT="$PWD/data" ELIDE_POLICY=${ELIDE_POLICY:-fixed} ELIDE_RUN=1
	# What deadlocks is known from there: see behave.c.
	[ $mode = plain ] || export BEHAVE_DEADLOCKS="$TMP/plain/$row/out"
	case $mode in
	plain) set -- env ${extra:+LD_PRELOAD=$extra} "$name" "$@" ;;
	profile) set -- env ELIDE_MODE=profile LD_PRELOAD="$lib${extra:+:$extra}" "$name" "$@" ;;
	restrict)
		case $ELIDE_POLICY in restrict*) ;; *) ELIDE_POLICY=restrict ;; esac
		set -- env LD_PRELOAD="$lib${extra:+:$extra}" "$name" "$@"
		;;
	native) set -- env LD_PRELOAD="$lib${extra:+:$extra}" "$name" "$@" ;;
	*)
		rate=${mode#emulated-}
		export VALGRIND_OPTS="$("$O/tests/emulated/own-stores")"
		[ "$rate" = plain ] && rate='0 --mode=off'
		set -- "$elide" run -q --emulate --set DEADLOCK=wait --abort-rate=$rate -- \
			env ${extra:+LD_PRELOAD="$O/lib/libelide-preload.so:$extra"} "$name" "$@"
		;;
	esac
	timeout -k 5 "$LIMIT" "$@" >out 2>err </dev/null
	echo $? >rc
	# 10,000 attempts in a row without a commit switch RTM off.
	[ $mode != emulated-100 ] || sed -i '/^elide: elision switched off: transactions have stopped committing$/d' err
	# The name of the file is that of the process which came first, children have a number.
	# That of one which ended without exit() has a point in front.
	ls data* .data*.live >files 2>/dev/null
	[ ! -s files ] || "$sums" $(cat files) >sums 2>err.sums
}

if [ "${1:-}" = --cell ]; then
	cell "$2" "$3"
	exit 0
fi

# total NAME: summed over all data files of the cell in the present directory.
total() {
	tr ' ' '\n' <sums | awk -F = -v name="$1" '$1 == name { n += $2 } END { print n + 0 }'
}

# expected MODE WORD: does a word of the table hold?
expected() {
	word=$2
	case $word in
	elide:*)
		case $1 in native | emulated-0) word=${word#elide:} ;; *) return 0 ;; esac
		;;
	esac
	case $word in
	crowd:*)
		case $1 in restrict | emulated-0) word=${word#crowd:} ;; *) return 0 ;; esac
		;;
	esac
	case $word in
	!*) [ "$(total "${word#!}")" -eq 0 ] ;;
	*=*) [ "$(total "${word%=*}")" -eq "${word#*=}" ] ;;
	*) [ "$(total "$word")" -gt 0 ] ;;
	esac
}

# attempted MODE ELIDES: were transactions tried and committed as they should be?
attempted() {
	attempts=$(total attempts) commits=$(total commits)
	[ $2 = left ] || [ "$(total bad)" -eq 0 ] || { echo 'counters that contradict each other'; return; }
	case $1/$2 in
	profile/* | restrict/* | */no) [ "$attempts" -eq 0 ] || echo "$attempts attempts" ;;
	*/any | */left) ;;
	emulated-100/*)
		[ "$attempts" -gt 0 ] || echo 'no attempt was made'
		[ "$commits" -eq 0 ] || echo "$commits commits"
		;;
	native/yes | emulated-0/yes) [ "$commits" -gt 0 ] || echo "no commit in $attempts attempts" ;;
	*) [ "$attempts" -gt 0 ] || echo 'no attempt was made' ;;
	esac
}

# same_as MODE ROW: is the cell in the present directory as that of MODE?
same_as() {
	for file in rc out err; do
		cmp -s $file "$TMP/$1/$2/$file" || return
	done
}

# verdict MODE ROW: nothing, or what is wrong with the cell.
verdict() {
	reference=plain
	cd "$TMP/$1/$2" 2>/dev/null && [ -s rc ] || { echo 'the cell has no result'; return; }
	[ "$(cat rc)" -ne 124 ] || { echo "not done after $LIMIT s"; return; }
	grep -q is-not-built err && { head -n 1 err; return; }
	# A row that says nothing and fails in the reference shows nothing.
	fields "$2"
	[ -s out ] || [ "$expects" ] || [ "$(cat rc)" -eq 0 ] || { echo "exit $(cat rc), nothing printed"; return; }
	[ $1 = $reference ] && return
	case $1 in
	emulated-*)
		if ! same_as plain "$2"; then
			reference=emulated-plain
			[ -e "$TMP/$reference/$2/rc" ] || sh "$here/run.sh" --cell $reference "$2"
		fi
		;;
	esac
	other=$TMP/$reference/$2
	[ "$(cat rc)" = "$(cat "$other/rc")" ] || { echo "exit $(cat rc), not $(cat "$other/rc"): $(head -n 1 err)"; return; }
	cmp -s out "$other/out" || { diff "$other/out" out | sed -n 2,5p | tr '\n' ' '; return; }
	cmp -s err "$other/err" || { diff "$other/err" err | sed -n 2,3p | tr '\n' ' '; return; }
	[ -s sums ] || { echo "no data file: $(cat err.sums)"; return; }
	attempted $1 "$elides"
	for word in $expects; do
		expected $1 "$word" || echo "not $word: $(tr ' ' '\n' <sums | grep -v '=0$' | tr '\n' ' ' | cut -c 1-300)"
	done
}

# left_out MODE ROW: is it another row that has this mode?
left_out() {
	[ "${ALL_RATES:-no}" != yes ] || return
	case $1/$odd in
	emulated-1/*" $2 "*) return 1 ;;
	emulated-30/*" $2 "* | emulated-1/*) return 0 ;;
	*) return 1 ;;
	esac
}

# cells MODES ROWS: "MODE ROW" of each.
cells() {
	for mode in $1; do
		for row in $2; do left_out $mode $row || echo "$mode $row"; done
	done
}

# run MODES ROWS [TIMES]: their cells, TIMES as many at a time, where most of them sleep.
run() {
	cells "$1" "$2" | xargs -P $((${JOBS:-2} * ${3:-1})) -L 1 sh "$here/run.sh" --cell
}

export O TMP="$tmp" ROWS="$tmp/rows"

sed -n "/^[a-z].*|/{s/ *| */|/g;s|@tests/|$O/tests/|g;p;}" "$here/rows" >"$ROWS"
odd=" $(awk -F '|' 'NR % 2 { printf "%s ", $1 }' "$ROWS")"
rows=${*:-$(cut -d '|' -f 1 "$ROWS")}
rows=$(for row in $rows; do ! mine || echo "$row"; done)
modes='plain profile restrict'
# Where the processor has RTM that works, a plain program is elided by default.
if "$elide" doctor --json 2>/dev/null | grep -q '"rtm_usable": true'; then
	modes="$modes native" elided=native
else
	skip semantics-native 'RTM cannot be used on this processor'
fi
why=$(lacks emulator)
if [ -z "$why" ] && "$elide" run -q --emulate true; then
	modes="$modes emulated-0 emulated-1 emulated-30 emulated-100"
	: "${elided:=emulated-0}"
else
	skip semantics-emulated "${why:-elide run --emulate fails}"
fi
modes=${MODES:-$modes}
# Those that deadlock are given 2.5 s.
run plain "$rows" 4
run "${modes#plain }" "$rows"
for cell in $(cells "$modes" "$rows" | tr ' ' /); do
	why=$(verdict ${cell%/*} ${cell#*/})
	[ -z "$why" ] && ok "${cell%/*}-${cell#*/}" || not_ok "${cell%/*}-${cell#*/}" "$why"
done
nr_cells=$nr

# The report of the misuse program names every place marked in it, and no other.
misuse_places() {
	case " $(echo $rows) " in *' misuse '*) ;; *) return ;; esac
	says='unlock-free=unlocks a lock that nobody holds
unlock-foreign=unlocks a lock that another thread holds
destroy-held=destroys a lock that is held
relock=locks again a lock that it holds
exit-held=locks a lock that its thread holds when it ends
owner-died=gets a lock whose holder has ended
not-recoverable=locks a lock that is not recoverable'
	awk '/^PLACE/ { split($2, f, "("); name = f[1] }
	     match($0, /plant [a-z-]+ [a-z-]+/) {
		split(substr($0, RSTART, RLENGTH), p, " ")
		print name, "misuse.c:" NR, p[2], p[3] }' "$here/misuse.c" | sort >"$TMP/places"
	for mode in $modes; do
		[ $mode != plain ] || continue
		cd "$TMP/$mode/misuse" 2>/dev/null || continue
		"$elide" report $(sed 's/^/-i /' files) 2>/dev/null | sed -n 's/^misuse: //p' >said
		echo "$says" | while IFS='=' read -r type words; do
			sed -n "s/^\([^ ]* [^ ]*\) $words (\([a-z-]*\).*/\1 $type \2/p" said
		done | sort -u >named
		if grep 'holder has ended' said | grep -qv '; the first was thread [1-9]'; then
			not_ok "$mode-misuse-places" "no owner: $(grep 'holder has ended' said)"
		elif cmp -s "$TMP/places" named; then
			ok "$mode-misuse-places ($(wc -l <named))"
		else
			not_ok "$mode-misuse-places" "$(diff "$TMP/places" named | grep '^[<>]' | head -n 4 | tr '\n' ' ')"
		fi
	done
}

# The report of the program of lock orders names every edge marked in it, and no other.
order_places() {
	case " $(echo $rows) " in *' order-planted '*) ;; *) return ;; esac
	# The name of a class of locks that were initialised is where that was.
	awk 'function name(n) { return n in class ? class[n] : n }
	     /^PLACE/ { split($2, f, "("); place = f[1]; next }
	     NF < 4 { next }
	     { at = place " order.c:" FNR }
	     NR == FNR { if ($(NF - 2) == "class") class[$(NF - 1)] = "made in " at; next }
	     $(NF - 3) == "held" { held = name($(NF - 2)) " (" $(NF - 1) ") at " at }
	     $(NF - 3) == "taken" { print "held: " held "; taken: " name($(NF - 2)) \
		" (" $(NF - 1) ") at " at }' "$here/order.c" "$here/order.c" | sort >"$TMP/edges"
	for mode in $modes; do
		[ $mode != plain ] || continue
		cd "$TMP/$mode/order-planted" 2>/dev/null || continue
		"$elide" report $(sed 's/^/-i /' files) 2>/dev/null |
			sed -n 's/^ *\(held: .*\); by thread [0-9]*$/\1/p' | sort -u >named
		if cmp -s "$TMP/edges" named; then
			ok "$mode-order-places ($(wc -l <named))"
		else
			not_ok "$mode-order-places" "$(diff "$TMP/edges" named | grep '^[<>]' | head -n 4 | tr '\n' ' ')"
		fi
	done
}

# A wrapper of each kind broken on purpose must fail a row of its kind.
broken_wrappers() {
	# Without arguments only: somebody who asks for a row wants that.
	[ "$1" -eq 0 ] || return
	if [ "${elided:-}" != native ]; then
		skip broken-wrappers 'they are tried natively'
		return
	fi
	sound=$TMP
	for pair in mutex:relock-errorcheck rwlock:held-rwlock spin:trylock-own \
		    cond:wait-in-section c11:held-c11 cond:order-planted sem:sem-cancel \
		    barrier:barrier-waits futex:futex-calls; do
		kind=${pair%:*} row=${pair#*:}
		case " $(echo $rows) " in *" $row "*) ;; *) continue ;; esac
		TMP=$sound/broken-$kind-$row
		mkdir "$TMP" && ln -s "$sound/plain" "$TMP/plain"
		LIB=$O/tests/semantics/broken-$kind.so LIMIT=20 sh "$here/run.sh" --cell native $row
		why=$(verdict native $row)
		TMP=$sound
		case $why in
		'' | *'has no result') not_ok "broken-$kind-is-caught-by-$row" "$row passed: $why" ;;
		*) ok "broken-$kind-is-caught-by-$row" ;;
		esac
	done
}

# RTM that is there and never commits is switched off, and that is said.
never_commits() {
	mine || return
	case "$1 $modes" in '0 '*emulated-100*) ;; *) return ;; esac
	cd "$TMP" || return
	ELIDE_OUTPUT=$TMP/data COUNT_ROUNDS=100 timeout 60 "$elide" run -q --emulate \
		--abort-rate=100 --policy=fixed:other=1000 -- "$O/tests/preload/count" mutex 1 >out 2>err
	rc=$?
	if [ "$rc $(cat err)" = '0 elide: elision switched off: transactions have stopped committing' ]; then
		ok never-commits-is-switched-off
	else
		not_ok never-commits-is-switched-off "exit $rc: $(head -n 2 err | tr '\n' ' ')"
	fi
}

misuse_places
order_places
broken_wrappers $#
never_commits $#
echo "$nr_cells cells: $(echo $rows | wc -w) rows in $(echo $modes | wc -w) modes"
finish
