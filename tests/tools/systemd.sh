#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The examples for systemd, which need not run: systemd-analyze reads them as a unit, and what they
# say is done by hand with a process in the place of the service. $O is the build directory.

O=$(realpath "${O:-build}") || exit 1
units=$(realpath "$(dirname "$0")/../../tools/systemd")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset LD_PRELOAD
# shellcheck disable=SC2046 # several names
unset $(env | sed -n 's/^\(ELIDE_[A-Z_]*\)=.*/\1/p')
failed=0

ok() { echo "ok $1"; }
not_ok() { failed=1; echo "not ok $1: $2"; }

# verify NAME UNIT...: systemd says nothing of them.
verify() {
	local name=$1
	shift
	(cd "$work/units" && SYSTEMD_UNIT_PATH=$PWD: timeout 60 \
		systemd-analyze verify --man=no "$@") >"$work/out" 2>&1 && [ ! -s "$work/out" ] &&
		ok "$name" || not_ok "$name" "$(head -n 3 "$work/out")"
}

mkdir -p "$work/units/demo.service.d"
cp "$units"/elide-snapshot@.* "$work/units"
cp "$units/elide.conf" "$work/units/demo.service.d"
printf '[Service]\nExecStart=/bin/sleep 1\nUser=daemon\nProtectSystem=strict\n' \
	>"$work/units/demo.service"
if ! command -v systemd-analyze >/dev/null; then
	echo 'skip systemd-analyze verify: it is not installed (package systemd)'
else
	verify 'a service with the drop-in' ./demo.service
	verify 'the template' ./elide-snapshot@demo.service ./elide-snapshot@demo.timer
	# It does find faults.
	sed -i 's/^StateDirectory/StateDirectories/' "$work/units/demo.service.d/elide.conf"
	(cd "$work/units" && SYSTEMD_UNIT_PATH=$PWD: systemd-analyze verify --man=no ./demo.service) 2>&1 |
		grep -q StateDirectories && ok 'a fault is found' ||
		not_ok 'a fault is found' 'systemd-analyze accepts StateDirectories'
fi

# value FILE KEY: of a unit, with the specifiers %S, %N and %i and quoted characters resolved.
value() {
	sed -n "s/^$2=//p" "$units/$1" | sed "s|%%|\\x01|g; s|%S|$work|g; s|%[Ni]|demo|g; s|\\x01|%|g; s|\\\$\\\$|\$|g"
}

# The service: its environment is the drop-in's, its directory is made as systemd does.
mkdir -p "$work/$(value elide.conf StateDirectory)" "$work/$(value elide-snapshot@.service StateDirectory)"
mkfifo "$work/input"
exec 9<>"$work/input"
mapfile -t environment < <(value elide.conf Environment)
env "LD_LIBRARY_PATH=$O/lib" "${environment[@]}" "$O/tests/tools/looper" <"$work/input" >"$work/count" &
pid=$!
trap 'kill $pid 2>/dev/null; wait; rm -rf "$work"' EXIT
echo >&9
for ((i = 0; i < 600; i++)); do
	[ -s "$work/count" ] && break
	sleep 0.1
done
[ -s "$work/elide/demo/.elide.data.live" ] && ok 'the drop-in loads the library' ||
	not_ok 'the drop-in loads the library' "no data file; $(ls -R "$work/elide")"

# The template's command, with a systemctl that knows this process.
mkdir "$work/bin"
printf '#!/bin/sh\n[ "$*" = "show --property=MainPID --value demo.service" ] && echo %s\n' $pid \
	>"$work/bin/systemctl"
chmod +x "$work/bin/systemctl"
PATH=$work/bin:$O/bin:$PATH bash -c "$(value elide-snapshot@.service ExecStart)" >"$work/out" 2>&1
rc=$?
snapshot=$(echo "$work"/elide-snapshot/demo.*.data)
if [ $rc -eq 0 ] && [ -s "$snapshot" ] &&
   "$O/bin/elide" report --csv "$snapshot" | grep -q '"mutex","looper","work"'; then
	ok 'the template takes a snapshot'
else
	not_ok 'the template takes a snapshot' "exit $rc, $(head -n 3 "$work/out")"
fi
exit $failed
