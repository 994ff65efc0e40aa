#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of the manual pages: each command in a literal block of a page's EXAMPLES behind a
# line '.\" compared' is run, and what it prints is compared with what the page says. A line "..."
# of the page stands for any lines.
#
# They run in a directory with these data files, which are made up:
#   elide.data   everything that can be sampled
#   before.data  the same program with fewer locks and nothing sampled
#   elide.conf   settings suggested for elide.data
#   server       a program with the library in it that has taken a lock and waits
# A page in $required without an example is a failure: commands add theirs.

. "$(dirname "$0")/common.sh"
required='elide-ctl.1 elide-doctor.1 elide-report.1 elide-run.1 elide-tunables.1'

PATH=$O/bin:$PATH

# extract PAGE: its examples as DIRECTORY/N.cmd and N.want.
extract() {
	awk -v dir="$2" '
		/^\.Sh / { examples = /EXAMPLES/ }
		/^\.Ed/ { literal = 0 }
		literal {
			sub(/^\\&/, "")
			gsub(/\\e/, "\\")
			if (/^\$ /) {
				n++
				print substr($0, 3) >(dir "/" n ".cmd")
				printf "" >(dir "/" n ".want")
			} else if (n) {
				print >(dir "/" n ".want")
			}
		}
		examples && compared && /^\.Bd -literal/ { literal = 1 }
		{ compared = /^\.\\" compared$/ }' "$1"
}

# What differs from build to build: addresses in the objects, paths and build-ids.
normal() {
	tr -d '\r' | sed 's/mkdata+0x[0-9a-f]*/mkdata+0xN/g
		s|[^ "]*/tests/tools/mkdata|/opt/mkdata|g
		s|'"$tmp/work"'|/srv|g
		s|^\(build-id .* \)[0-9a-f]*$|\10123456789abcdef|
		s|"[^"]*/tests/tools/subject|"tests/tools/subject|g'
}

# matches WANT GOT: are they the same, "..." standing for any lines?
matches() {
	awk 'NR == FNR { want[++n] = $0; next }
		{ got[++m] = $0 }
		# Lines from i of what is wanted against lines from j: greedy, the next line decides.
		END {
			i = j = 1
			while (i <= n) {
				if (want[i] == "...") {
					if (++i > n) exit 0
					while (j <= m && got[j] != want[i]) j++
				}
				if (j > m || got[j] != want[i]) {
					printf "line %d is \"%s\", not \"%s\"\n", j, got[j], want[i]
					exit 1
				}
				i++
				j++
			}
			if (j <= m) { printf "line %d is \"%s\", not the end\n", j, got[j]; exit 1 }
		}' "$1" "$2"
}

mkdir "$tmp/work" && cd "$tmp/work" || exit 1
"$O/tests/tools/mkdata" elide.data full
"$O/tests/tools/mkdata" before.data elide
"$O/tests/tools/mkdata" profile.data profile
elide report --suggest >elide.conf
mkfifo input
{ echo; exec sleep 6000; } >input &
feeder=$!
clean_up() { kill $feeder 2>/dev/null; }
cat >server <<END
#!/bin/sh
LD_PRELOAD=$O/lib/libelide-preload.so ELIDE_OUTPUT=server.data exec $O/tests/tools/looper <input >/dev/null
END
# The pages give it a second, which a busy machine may not have for it.
mkdir "$tmp/bin"
cat >"$tmp/bin/sleep" <<'END'
#!/bin/sh
tries=300
until [ -s .server.data.live ] || [ $((tries -= 1)) -le 0 ]; do /bin/sleep 0.1; done
exec /bin/sleep "$@"
END
chmod +x server "$tmp/bin/sleep"
for page in "$O"/man/elide*.1; do
	name=${page##*/}
	rm -rf "$tmp/$name"
	mkdir "$tmp/$name"
	extract "$page" "$tmp/$name"
	for command in "$tmp/$name"/*.cmd; do
		[ -e "$command" ] || continue
		want=${command%.cmd}.want
		PATH=$tmp/bin:$PATH timeout 60 sh "$command" 2>&1 </dev/null | normal >"$tmp/got"
		[ -n "${SHOW:-}" ] && cat "$command" "$tmp/got"
		if difference=$(matches "$want" "$tmp/got"); then
			ok "$name: $(cat "$command")"
		else
			not_ok "$name: $(cat "$command")" "$difference"
		fi
	done
done
for name in $required; do
	[ -e "$tmp/$name/1.cmd" ] && ok "$name has an example" ||
		not_ok "$name has an example" 'there is none whose output can be compared'
done
# The comparison itself: a wrong word and a missing line are seen.
printf 'a\n...\nc\n' >want
printf 'a\nb\nb\nc\n' >got
printf 'a\nb\nd\n' >wrong
printf 'a\nb\nc\nd\n' >longer
matches want got >/dev/null && ! matches want wrong >/dev/null && ! matches want longer >/dev/null &&
	ok 'differences are seen' || not_ok 'differences are seen' 'they are not'
finish
