#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The completion of bash and zsh, by lines that completion.py types in these shells. What is
# expected comes from elide's own lists: its help, elide tunables, --emulate=list.

. "$(dirname "$0")/../script.sh"
no_settings

# Options of a command as --help has them, with '=' where an argument is required.
options() { "$elide" "$1" --help | sed -nE 's/^  (-., |    )(--[a-z-]+)(=?).*/\2\3/p' | tr '\n' ' ' | sed 's/ $//'; }
commands() { "$elide" help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | tr '\n' ' ' | sed 's/ $//'; }
tunables() { "$elide" tunables --json | jq -r '.tunables[] | select(.scope != "launcher") | .name' | tr '\n' ' ' | sed 's/ $//'; }
models() { "$elide" run --emulate=list | cut -d ' ' -f 1 | tr '\n' ' ' | sed 's/ $//'; }
numbers() { "$elide" run --emulate=list:flat | sed -n '2,$s/ .*//p' | tr '\n' ' ' | sed 's/ $//'; }

# values NAME: of a tunable.
values() { "$elide" tunables --json "$1" | jq -r '.tunables[0].values | if type == "array" then join(" ") else gsub("[|]"; " ") end'; }

# Files to complete: one that elide has written, one that it has not, a directory.
mkdir "$tmp/d" "$tmp/d/sub"
"$O/tests/tools/mkdata" "$tmp/d/run.data" profile
echo text >"$tmp/d/run.text"
printf '#!/bin/sh\n' >"$tmp/d/server"
chmod +x "$tmp/d/server"

# A process with the library, which runs until its input ends.
mkfifo "$tmp/input"
exec 9<>"$tmp/input"
LD_PRELOAD=$O/lib/libelide-preload.so ELIDE_OUTPUT=$tmp/d/looper.data \
	"$O/tests/tools/looper" <"$tmp/input" >/dev/null &
pid=$!
# What it writes is found by the name that it is to have.
for ((i = 0; i < 500 && $(ls -A "$tmp/d" | grep -c looper) == 0; i++)); do sleep 0.02; done
clean_up() { kill $pid; wait; }

# TEXT<TAB>WORD...; behind '=' the words alone.
cases() {
	printf '%s\t%s\n' \
		'elide ' "$(commands)" \
		'elide re' 'report' \
		'elide run --mode=' 'auto elide profile off' \
		'elide run --mode ' 'auto elide profile off' \
		'elide run --mode=p' 'profile' \
		'elide run --policy=' "$(values POLICY)" \
		'elide run --policy=fixed:c' 'conflict= capacity=' \
		'elide run --policy=damon:backoff=3,' '3,backoff=' \
		'elide run --set POLICY=restrict:' 'crowd=' \
		'elide run --placement=s' 'spread' \
		'elide run --kinds=mutex,' 'mutex,rwlock mutex,spin' \
		'elide run --emulate=h' 'haswell' \
		'elide run --emulate=list:h' 'haswell' \
		'elide run --emulate=' "$(models) list" \
		'elide run --set SPIN_' 'SPIN_BUSY=' \
		'elide run --set DEADLOCK=' 'exit wait' \
		'elide run --set=DEADLOCK=w' 'wait' \
		'elide run --set ' "$(tunables | sed 's/\>/=/g')" \
		'elide report --sort=wa' 'wait wasted ...' \
		'elide report --by=' 'lock site stack line thread time chain' \
		'elide report --color=a' 'auto always' \
		'elide report --folded=' 'abort wait block others' \
		'elide report run' 'run.data' \
		'elide report -i run' 'run.data' \
		'elide report loo' 'looper.data' \
		'elide report run.data run' 'run.data' \
		'elide report --perf run' 'run.data run.text' \
		'elide diff --by=' 'lock site' \
		'elide diff run.data ' 'looper.data run.data sub' \
		'elide top --by=' 'lock site' \
		'elide compare --output=' 'none first all' \
		'elide ctl 1 ' 'off on snapshot reset' \
		"elide stacks $pid" "$pid ..." \
		'elide doctor --sysroot=s' 'sub' \
		'elide doctor ./ser' './server' \
		'elide tunables MAX_L' 'MAX_LOCKS' \
		'elide help dif' 'diff' \
		'elide completion ' 'bash zsh' \
		'elide run -q ./ser' './server' \
		'elide run -q -- ./ser' './server' \
		'elide run --emulate=flat:times' 'timeslice='
	[ "$1" = zsh ] || printf '%s\t%s\n' \
		'elide run --emulate=flat:' "$(numbers | sed 's/\>/=/g')"
	for command in $(commands); do
		# zsh adds '=' to a single completion only.
		printf 'elide %s --\t%s\n' "$command" "$(options "$command" | tr -d "$([ "$1" = bash ] || echo =)")"
	done
	# The program's own completion, which is kill's.
	printf '%s\t%s\n' 'elide run -- ./server ru' 'run.data run.text'
}

for shell in bash zsh; do
	script=$tmp/$shell/_elide
	mkdir "$tmp/$shell"
	if ! command -v $shell >/dev/null; then
		skip "completion of $shell" 'it is not installed'
		continue
	fi
	"$elide" completion $shell >"$script"
	cmp -s "$script" "$O/completion/elide.$shell" && ok "elide completion $shell" ||
		not_ok "elide completion $shell" 'the installed file differs'
	cases $shell | timeout 300 python3 "$here/completion.py" $shell "$script" "$tmp/d" >"$tmp/lines" 2>&1
	rc=$?
	adopt "$tmp/lines" completion.py $rc
done

# Whatever an option's argument is called, its words are known: N, FILE and the like have none.
unknown=$("$elide" completion bash | awk -F '\t' '$1 == "option" && $5 != "no" && $6 == "text" { print $2, $3 }' |
	while read -r command name; do
		"$elide" "$command" --help | grep -E -- "$name\[?=\[?(HOW|WHAT|WHEN|KEY|MODE|TYPE|NAME|MODEL|LIST)\b" | sed "s/^/$command/"
	done)
[ -z "$unknown" ] && ok 'each option with words has them' || not_ok 'each option with words has them' "$unknown"

for call in 'completion' 'completion fish' 'completion bash zsh'; do
	# shellcheck disable=SC2086 # several words
	"$elide" $call >"$tmp/out" 2>"$tmp/err"
	rc=$?
	[ $rc -eq 2 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" = 1 ] && ok "elide $call" ||
		not_ok "elide $call" "exit $rc, $(head -n 3 "$tmp/out" "$tmp/err")"
done
finish
