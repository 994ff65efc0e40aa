#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The examples for systemd, which need not run: systemd-analyze reads them as a unit, and what
# they say is done by hand with a process in the place of the service.

. "$(dirname "$0")/../script.sh"
units=$root/tools/systemd
no_settings

# verify NAME UNIT...: systemd says nothing of them.
verify() {
	local name=$1
	shift
	(cd "$tmp/units" && SYSTEMD_UNIT_PATH=$PWD: timeout 60 \
		systemd-analyze verify --man=no "$@") >"$tmp/out" 2>&1 && [ ! -s "$tmp/out" ] &&
		ok "$name" || not_ok "$name" "$(head -n 3 "$tmp/out")"
}

mkdir -p "$tmp/units/demo.service.d"
cp "$units"/elide-snapshot@.* "$tmp/units"
cp "$units/elide.conf" "$tmp/units/demo.service.d"
printf '[Service]\nExecStart=/bin/sleep 1\nUser=daemon\nProtectSystem=strict\n' \
	>"$tmp/units/demo.service"
if ! command -v systemd-analyze >/dev/null; then
	skip 'systemd-analyze verify' 'it is not installed (package systemd)'
else
	verify 'a service with the drop-in' ./demo.service
	verify 'the template' ./elide-snapshot@demo.service ./elide-snapshot@demo.timer
	# It does find faults.
	sed -i 's/^StateDirectory/StateDirectories/' "$tmp/units/demo.service.d/elide.conf"
	(cd "$tmp/units" && SYSTEMD_UNIT_PATH=$PWD: systemd-analyze verify --man=no ./demo.service) 2>&1 |
		grep -q StateDirectories && ok 'a fault is found' ||
		not_ok 'a fault is found' 'systemd-analyze accepts StateDirectories'
fi

# value FILE KEY: of a unit, with the specifiers %S, %N and %i and quoted characters resolved.
value() {
	sed -n "s/^$2=//p" "$units/$1" | sed "s|%%|\\x01|g; s|%S|$tmp|g; s|%[Ni]|demo|g; s|\\x01|%|g; s|\\\$\\\$|\$|g"
}

# The service: its environment is the drop-in's, its directory is made as systemd does.
mkdir -p "$tmp/$(value elide.conf StateDirectory)" "$tmp/$(value elide-snapshot@.service StateDirectory)"
mkfifo "$tmp/input"
exec 9<>"$tmp/input"
mapfile -t environment < <(value elide.conf Environment)
env "LD_LIBRARY_PATH=$O/lib" "${environment[@]}" "$O/tests/tools/looper" <"$tmp/input" >"$tmp/count" &
pid=$!
clean_up() { kill $pid 2>/dev/null; wait; }
echo >&9
for ((i = 0; i < 600; i++)); do
	[ -s "$tmp/count" ] && break
	sleep 0.1
done
[ -s "$tmp/elide/demo/.elide.data.live" ] && ok 'the drop-in loads the library' ||
	not_ok 'the drop-in loads the library' "no data file; $(ls -R "$tmp/elide")"

# The template's command, with a systemctl that knows this process.
mkdir "$tmp/bin"
printf '#!/bin/sh\n[ "$*" = "show --property=MainPID --value demo.service" ] && echo %s\n' $pid \
	>"$tmp/bin/systemctl"
chmod +x "$tmp/bin/systemctl"
PATH=$tmp/bin:$O/bin:$PATH bash -c "$(value elide-snapshot@.service ExecStart)" >"$tmp/out" 2>&1
rc=$?
snapshot=$(echo "$tmp"/elide-snapshot/demo.*.data)
if [ $rc -eq 0 ] && [ -s "$snapshot" ] &&
   "$O/bin/elide" report --csv "$snapshot" | grep -q '"mutex","looper","work"'; then
	ok 'the template takes a snapshot'
else
	not_ok 'the template takes a snapshot' "exit $rc, $(head -n 3 "$tmp/out")"
fi
finish
