#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=10
#
# bench_sweep: which variants it runs, how it ranks those of a program with known throughputs, what it
# says of failures, and the benchmarks themselves.

. "$(dirname "$0")/bench.sh"
no_settings
# For the directories of runs with elide.
export TMPDIR=$tmp
bench=$O/bin/bench_sweep

# A benchmark whose throughput is known. Two of its latches are equal but for noise of some per mille, by
# the seed: a and b; c is slower; d is fastest with 4 threads alone; e fails its check in the third round;
# f ends with an error; g does not exist here.
cat >"$tmp/fake" <<'END'
#!/bin/bash
for arg; do
	case $arg in
	--list)
		printf 'latch %s\n' 'a a spin lock' 'b a pthread mutex' 'c a spin lock' 'd a spin lock' 'e x' 'f x' 'g x'
		exit
		;;
	--latch=*) latch=${arg#*=} ;;
	--threads=*) threads=${arg#*=} ;;
	--seed=*) seed=${arg#*=} ;;
	--csv) csv=yes ;;
	--noise=*) ;;
	*) echo "fake: $arg: no such option" >&2; exit 2 ;;
	esac
done
[ "$csv" ] || exit 2
echo 'fake: 9 threads on 2 processors' >&2
# Rounds 1, 2, 3... of a: +1, -1, +2, -2...; of b the opposite.
noise=$(((seed + 1) / 2 * (seed % 2 ? 1 : -1)))
check=ok
case $latch in
a) rate=$((1000 + noise)) ;;
b) rate=$((1000 - noise)) ;;
c) rate=$((500 + seed)) ;;
d) rate=$((${threads:-1} == 4 ? 2000 + seed : 250)) ;;
e) rate=9000; [ "$seed" -ne 3 ] || check='key 1, "x": lost' ;;
f) rate=9000; echo 'fake: no memory' >&2 ;;
g) echo 'fake: --latch=g: not on this processor' >&2; exit 2 ;;
esac
echo 'name,seed,throughput_ops_s,check'
echo "\"a, b\",$seed,$rate,\"${check//\"/}\""
[ "$latch" != f ] || exit 1
END
chmod +x "$tmp/fake"

# sweep ARG...: as JSON into $tmp/out
sweep() { bench_run --json "$@"; }

# is NAME FILTER WANTED: of the JSON
is() {
	got=$(jq -rc "$2" "$tmp/out" 2>&1)
	[ "$got" = "$3" ] && ok "$1" || not_ok "$1" "$got, not $3; $(cat "$tmp/err")"
}

test_usage() {
	refused no-program 'no program: bench_sweep [OPTION]... -- PROGRAM [ARGUMENT]...' --rounds=2
	refused two-formats '--json, --csv: one of them' --json --csv -- "$tmp/fake"
	refused bad-vary '--vary=latch: must be NAME=VALUE,VALUE...' --vary=latch -- "$tmp/fake"
	refused empty-value '--vary=latch=a,: must be NAME=VALUE,VALUE...' --vary=latch=a, -- "$tmp/fake"
	refused vary-threads '--vary=threads: use --threads' --vary=threads=1,2 -- "$tmp/fake"
	refused bad-value '--vary=latch=x: must be one of a, b, c, d, e, f, g' --vary=latch=a,x -- "$tmp/fake"
	refused bad-threads '--threads=1,0: must be up to 32 different numbers from 1 to 1024, with commas' \
		--threads=1,0 -- "$tmp/fake"
	refused seed-of-program "--seed: not among the arguments of $tmp/fake, but before --" -- "$tmp/fake" --seed=1
	refused no-variant-runs 'no variant runs: a: fake: --load=1: no such option' \
		--vary=latch=a,b -- "$tmp/fake" --load=1
	refused no-defaults '/bin/true: has no variants of its own here; use --vary=NAME=VALUE,VALUE...' -- /bin/true
	refused no-such-program 'no variant runs: 1: No such file or directory' --vary=x=1 -- "$tmp/none"
	refused nothing-to-elide "--elide: no variant has a lock of pthreads by the program's --list" \
		--elide --vary=latch=a,c -- "$tmp/fake"
	bench_run --help
	missing=
	for word in $(sed -n 's/^OPT_[A-Z]*([a-z_]*, "\([a-z-]*\)".*/\1/p' "$root/demo/sweep/options.def"); do
		grep -q "^  --$word" "$tmp/out" && grep -q "^\.It Fl -$word\( \|$\)" "$root/man/bench_sweep.1" ||
			missing="$missing $word"
	done
	[ -z "$missing" ] && ok options-are-documented || not_ok options-are-documented "$missing"
}

# What is ranked how, with all rounds that the default has.
test_ranking() {
	sweep -- "$tmp/fake"
	[ $rc -eq 1 ] && ok 'a failed variant is exit 1' || not_ok 'a failed variant is exit 1' "$rc: $(cat "$tmp/err")"
	is 'default variants' '[.results[0].variants[].name] | join(" ")' 'a b c d e f g'
	is 'default rounds' .rounds 9
	is 'what fits' '[.results[0].variants[] | select(.fits) | .name] | join(" ")' 'a b'
	is 'what is slower' '[.results[0].variants[] | select(.status == "ranked" and .high < 1) | .name] | join(" ")' 'c d'
	is 'the median' '.results[0].variants[2] | "\(.median) \(.beside_best > 0.49 and .beside_best < 0.52)"' '505 true'
	is 'the check' '.results[0].variants[4] | "\(.status): \(.why)"' 'failed: key 1, x: lost'
	is 'an error' '.results[0].variants[5] | "\(.status): \(.why)"' 'failed: fake: no memory'
	is 'left out' '.results[0].variants[6] | "\(.status): \(.why)"' 'left out: fake: --latch=g: not on this processor'
	is 'the sentence' '.conclusion | sub("\\([^)]*\\)"; "(X)") | sub("[0-9.]+ % ahead"; "N % ahead")' \
		'a fits as well as b, N % ahead of c, the first that is slower (X); confidence 95 %.'

	bench_run --csv -- "$tmp/fake" --latch=c
	want=$(printf '%s\n' 'threads,variant,elided,status,median,spread,beside_best,low,high,fits,why' \
		',"c",false,"ranked",504,0.0069,1.0000,1.0000,1,true,""')
	[ "$(cat "$tmp/out")" = "$want" ] && ok 'one variant as CSV' || not_ok 'one variant as CSV' "$(cat "$tmp/out" "$tmp/err")"

	sweep --rounds=4 --vary=latch=a,c -- "$tmp/fake"
	is 'too few rounds' .conclusion 'With 4 rounds no difference can be found: this needs at least 5.'
	is 'too few rounds: no interval' '.results[0].variants[1] | "\(.low) \(.high)"' '0 null'

	sweep --vary=latch=a,b --vary=noise=1,2 -- "$tmp/fake"
	is 'all combinations' '[.results[0].variants[] | .options | join(" ")] | join("; ")' \
		'--latch=a --noise=1; --latch=a --noise=2; --latch=b --noise=1; --latch=b --noise=2'
}

test_threads() {
	sweep --threads=4,1,2 --vary=latch=c,d -- "$tmp/fake"
	is 'ascending threads' '[.results[].threads] | join(" ")' '1 2 4'
	is 'the choice changes' '.conclusion | gsub("[0-9.]+ to [0-9.]+ %"; "X") | gsub("[0-9.]+ %"; "N %")' \
		'With 1 to 2 threads c fits, at least N % ahead of all others; with 4 threads d fits, N % ahead of c (X); the choice changes at 4 threads; confidence N %.'
	bench_run --threads=1,4 --vary=latch=c,d -- "$tmp/fake"
	grep -qx '4 threads' "$tmp/out" && grep -Eq '^  d +2.00k +[0-9.]+% +1 +-  fits$' "$tmp/out" &&
		ok 'the table' || not_ok 'the table' "$(cat "$tmp/out" "$tmp/err")"
}

# The benchmarks: their variants are those of their lists, all are right, and none is refused but for lack of RTM.
test_benchmarks() {
	sweep --rounds=1 -- index_bench --threads=2 --ops=2000 --preload=1000
	is 'variants of index_bench' '[.results[0].variants[].name] | sort | join(",")' "$("$O/bin/index_bench" --list |
		awk '$1 == "variant" { gsub(",", ""); for (i = 3; i <= NF; i++) if ($i != "none") print $2, $i }' |
		LC_ALL=C sort | paste -sd,)"
	is 'index_bench runs' '[.results[0].variants[] | select(.status != "ranked") | .name] | join(" ")' \
		"$(grep -qw rtm /proc/cpuinfo || echo bx rtm)"
	sweep --rounds=1 -- index_bench --index=blink --ops=2000 --preload=1000
	is 'a given index' '[.results[0].variants[].name] | join(", ")' 'blink latch, blink latch-pthread, blink latch-hle'
	sweep --rounds=1 -- tatp_bench --threads=2 --operations=500 --subscribers=100
	is 'tatp_bench runs' '[.results[0].variants[] | select(.status == "ranked") | .name] | join(",")' \
		"$("$O/bin/tatp_bench" --list | awk '$1 == "kind" && $2 != "none" { print $2 }' | paste -sd,),as they are"
	sweep --rounds=1 -- page_bench --threads=2 --operations=1000 --pool-mib=64
	is 'page_bench runs' '[.results[0].variants[] | select(.status == "ranked") | .name] | join(" ")' \
		"$("$O/bin/page_bench" --list | awk '$1 == "latch" { print $2 }' | paste -sd' ')"
}

test_elide() {
	sweep --rounds=1 --elide --vary=scheme=mutex,spin-rw -- index_bench --threads=2 --ops=2000 --preload=1000
	is 'with the library' '[.results[0].variants[] | "\(.name) \(.status)"] | join("; ")' \
		'mutex ranked; spin-rw ranked; mutex, elided ranked'
	sweep --rounds=1 --elide --vary=latch=a,b -- "$tmp/fake"
	is 'by description' '[.results[0].variants[].name] | join("; ")' 'a; b; b, elided'
	why=$(lacks emulator plain)
	if [ -n "$why" ]; then
		skip 'on an emulated machine' "$why"
		return
	fi
	# Virtual time repeats exactly, and 4 threads on 4 cores that only search gain by elision.
	for run in 1 2; do
		sweep --emulate=haswell --rounds=2 --elide --vary=scheme=mutex -- \
			index_bench --threads=4 --ops=2000 --updates=0 --preload=1000
		cp "$tmp/out" "$tmp/emulated.$run"
	done
	is 'on an emulated machine' '[.results[0].variants[] | "\(.status) \(.fits)"] | join("; ")' 'ranked false; ranked true'
	cmp -s "$tmp/emulated.1" "$tmp/emulated.2" && ok 'emulated, it repeats' || not_ok 'emulated, it repeats' "$(
		cat "$tmp/emulated.1" "$tmp/emulated.2")"
	left=$(find "$tmp" -name 'bench-sweep.*')
	[ -z "$left" ] && ok 'nothing is left' || not_ok 'nothing is left' "$left"
}

# A signal ends the program that runs, and what is printed is of complete rounds.
test_signal() {
	printf '%s\n' '#!/bin/sh' '[ "$1" != --list ] || exit 2' \
		"echo \$\$ >$tmp/pid.new; mv $tmp/pid.new $tmp/pid; exec sleep 60" >"$tmp/slow"
	chmod +x "$tmp/slow"
	"$bench" --vary=x=1 -- "$tmp/slow" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	for ((i = 0; i < 500; i++)); do
		[ ! -s "$tmp/pid" ] || break
		sleep 0.02
	done
	kill $pid
	wait $pid
	rc=$?
	[ $rc -eq 130 ] && [ ! -s "$tmp/out" ] && ! kill -0 "$(cat "$tmp/pid")" 2>/dev/null && ok interrupted ||
		not_ok interrupted "exit $rc: $(cat "$tmp/out" "$tmp/err")"
}

# Completion of bash: what is behind a word.
test_completion() {
	# shellcheck disable=SC2016 # of the other shell
	words() { PATH=$O/bin:$PATH bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bench_sweep 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' - "$root/demo/sweep/completion.bash" "$@" | paste -sd' '; }
	got=$(words bench_sweep --v)
	[ "$got" = --vary= ] && ok 'completion of an option' || not_ok 'completion of an option' "$got"
	got=$(words bench_sweep -- page_be)
	[ "${got%% *}" = page_bench ] && ok 'completion of a program' || not_ok 'completion of a program' "$got"
	if command -v zsh >/dev/null; then
		zsh -n "$root/demo/sweep/completion.zsh" && ok 'completion of zsh' || not_ok 'completion of zsh' 'a syntax error'
	fi
}

needs sweep jq
test_usage
test_ranking
test_threads
test_benchmarks
test_elide
test_signal
test_completion
finish
