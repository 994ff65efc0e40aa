#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes of elide(7), taken from the page and run: the unit file under a systemd of its own,
# the containers with podman and bwrap, several on one volume. Each is controlled from outside.
# Only the paths of the recipes are replaced.

. "$(dirname "$0")/../script.sh"
page=$O/man/elide.7
server=$O/tests/tools/looper
cd "$tmp" || exit 1
chmod 755 . # a dynamic user reads its input here
started=()

# stop_all: what was started in the background.
stop_all() {
	[ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null
	wait
	started=()
}
clean_up() { stop_all; }

# check NAME COMMAND...: the command succeeds; if not, why.
check() {
	local name=$1

	shift
	if "$@" >check.out 2>&1; then ok "$name"; else not_ok "$name" "$(tail -n 1 check.out)"; fi
}

# recipe NAME: the text between the next .Bd and .Ed, as a reader sees it.
recipe() {
	awk -v mark=".\\\\\" recipe $1" '$0 == mark { found = 1 } found && /^\.Ed/ { exit }
		found && shown { print } found && /^\.Bd/ { shown = 1 }' "$page" | sed 's/\\e/\\/g'
}

# value KEY FILE: of the report's totals.
value() {
	"$elide" report --json --no-children -i "$2" |
		sed -n '/^ "totals"/,/^ }/s/^  "'"$1"'": \([0-9]*\),*$/\1/p'
}

# servers: the ids here of those that run in a pid namespace of their own.
servers() {
	local p

	for p in /proc/[0-9]*; do
		[ "$p/exe" -ef "$server" ] || continue
		[ "$(readlink "$p/ns/pid")" = "$(readlink /proc/self/ns/pid)" ] || echo "${p#/proc/}"
	done 2>/dev/null
}

# await COMMAND...: until it succeeds; a minute at most, for a machine that does much else.
await() {
	local tries=600

	until "$@" || [ $((tries--)) -le 0 ]; do sleep 0.1; done
}

# are N: do as many servers have data files?
are() {
	local pid

	pids=$(servers)
	[ "$(echo $pids | wc -w)" -eq "$1" ] || return
	for pid in $pids; do "$elide" ctl -o probe "$pid" snapshot || return; done >/dev/null 2>&1
}

# goes_on PID BEFORE: has it taken more locks than that?
goes_on() {
	"$elide" ctl -o "$tmp/now" "$1" snapshot 2>/dev/null
	[ "$(value acquired now)" -gt "$2" ]
}

# controlled NAME PID: every verb, from outside.
controlled() {
	local name=$1 pid=$2 before

	check "$name: off" "$elide" ctl "$pid" off
	check "$name: snapshot" "$elide" ctl -o "$tmp/now" "$pid" snapshot
	! grep -qw rtm /proc/cpuinfo || check "$name: the report says it is off" \
		grep -q 'switched off by elide ctl' <("$elide" report -i now)
	# The unit has its own /tmp: there the program is under another name.
	[ "$(readlink "/proc/$pid/exe")" != "$server" ] || check \
		"$name: the report names the line" grep -q 'work looper.c:19' <("$elide" report -i now)
	check "$name: on" "$elide" ctl "$pid" on
	before=$(value acquired now)
	await goes_on "$pid" "$before"
	check "$name: it has gone on" test "$(value acquired now)" -gt "$before"
	check "$name: reset" "$elide" ctl "$pid" reset
}

# The servers run until they read the end of this.
open_input() {
	rm -f in
	mkfifo -m 644 in
	exec 9<>in
}

# started_one: the last command in the background is to be ended.
started_one() { started+=($!); }

# The unit file. systemd says what it does not know on standard error only.
verified() {
	local says

	sed 's|^ExecStart=.*|ExecStart=/bin/true|' "$1" >unit/myserver.service
	says=$(systemd-analyze verify "$PWD/unit/myserver.service" 2>&1) && [ -z "$says" ]
}

unit_is_understood() {
	if ! command -v systemd-analyze >/dev/null; then
		skip 'unit: systemd-analyze' 'systemd is not installed'
		return
	fi
	mkdir -p unit
	check 'unit: systemd-analyze verify' verified myserver.service
	sed 's/^StateDirectory/StateDirectry/' myserver.service >wrong.service
	check 'unit: a misspelt line is found' eval '! verified wrong.service'
}

# The host's /usr and nothing of its settings. It ends at once when it is ended.
nspawn="systemd-nspawn -q --register=no --keep-unit -D / --volatile=yes --private-network
	--kill-signal=SIGKILL --machine=elide-$$"

service_runs() {
	local why pid file

	if ! why=$(timeout 60 $nspawn true 2>&1 </dev/null); then
		skip service "systemd-nspawn cannot start a container: $(echo "$why" | tail -n 1)"
		return
	fi
	open_input
	sed -e "s|/usr/local/lib/libelide|/srv/build/lib/libelide|" \
		-e "s|^ExecStart=.*|ExecStart=/srv/build${server#"$O"}|" \
		-e "/^ExecStart/aStandardInput=file:/srv/input/in" myserver.service >run.service
	timeout 200 $nspawn --bind-ro="$O:/srv/build" --bind-ro="$tmp:/srv/input" \
		--bind-ro="$tmp/run.service:/etc/systemd/system/myserver.service" \
		-b systemd.unit=myserver.service systemd.firstboot=off </dev/null >boot 2>&1 9>&- &
	started_one
	await are 1
	pid=$pids
	if [ -z "$pid" ]; then
		not_ok service "no server: $(tail -n 1 boot)"
		stop_all
		return
	fi
	# As the server sees it.
	root=/proc/$pid/root
	file=$root/var/lib/private/myserver/elide.data
	check 'service: the file is where the unit says' test -f "$file"
	check 'service: a user of its own' test "$(stat -c %u "$file")" -ge 61184
	check 'service: nobody else reads it' test "$(stat -c %a "$file")" = 600
	controlled service "$pid"
	exec 9>&-
	await eval '[ -z "$(servers)" ]'
	stop_all
}

# shared NAME COMMAND...: three containers on one volume, started by the command.
shared() {
	local name=$1 pid

	shift
	rm -rf vol
	mkdir vol
	open_input
	for pid in 1 2 3; do
		"$@" <in >"out.$pid" 2>&1 9>&- &
		started_one
	done
	await are 3
	if [ "$(echo $pids | wc -w)" -ne 3 ]; then
		not_ok "$name" "$(echo $pids | wc -w) of 3 run: $(cat out.*)"
		exec 9>&-
		stop_all
		return
	fi
	for pid in $pids; do controlled "$name" "$pid"; done
	exec 9>&-
	await eval '[ -z "$(servers)" ]'
	wait
	check "$name: a file each" test "$(ls vol | grep -c '^elide.data[.0-9]*$')" -eq 3
	rm -f vol/*.base
	# What each has said it has done, and what is in the files.
	check "$name: nothing is lost" test "$(sort -n out.?)" = \
		"$(for file in vol/*; do value acquired "$file"; done | sort -n)"
}

# Runtimes and limits to try: podman asks for more files than some roots may have.
podman_run() {
	local options='-i --rm --network=none' command

	mkdir -p root/usr root/proc root/sys root/dev root/tmp
	for command in bin lib lib64; do ln -sfn usr/$command root/$command; done
	for more in '' '--runtime runc' \
		'--runtime runc --ulimit nofile=1024:1024 --ulimit nproc=1024:1024'; do
		why=$(timeout 60 podman run $options $more -v /usr:/usr:ro --rootfs "$tmp/root" \
			/usr/bin/true 2>&1 </dev/null) || continue
		command=$(recipe podman | sed -e 's/^\$ //' -e "s|/usr/local/lib/libelide|$O/lib/libelide|" \
			-e "s|myserver:/data|$tmp/vol:/data|" \
			-e "s|podman run|podman run $options $more -v /usr:/usr:ro -v $O:$O:ro|" \
			-e "s|myserver\$|--rootfs $tmp/root $server|")
		shared podman timeout 200 sh -c "$command"
		return
	done
	skip podman "it cannot run a container: $(echo "$why" | tail -n 1)"
}

bwrap_run() {
	local command why

	if ! why=$(timeout 60 bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid true 2>&1); then
		skip bwrap "it cannot make namespaces: $(echo "$why" | tail -n 1)"
		return
	fi
	command=$(recipe bwrap | sed -e 's/^\$ //' -e "s|/usr/local/lib/libelide|$O/lib/libelide|" \
		-e "s|/var/lib/myserver|$tmp/vol|g" -e "s|/usr/sbin/myserver|$server|")
	shared bwrap timeout 200 sh -c "$command"
}

recipe myserver.service >myserver.service
check 'the page has its recipes' test -s myserver.service -a "$(recipe podman | wc -l)" -gt 2 \
	-a "$(recipe bwrap | wc -l)" -gt 2
unit_is_understood
service_runs
podman_run
bwrap_run
finish
