#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: no, make check-deb runs it: it needs root, mmdebstrap, an archive of Debian and minutes
#
# The packages in clean roots of the releases that are its arguments: built twice from the source
# archive in different circumstances, compared, examined by lintian and autopkgtest, installed over
# an older version, purged. The packages stay in $O/deb-RELEASE. Must never build or install outside
# of these roots.

. "$(dirname "$0")/../script.sh"
export ROOTS=${ROOTS:-$O/roots}
work=$(mktemp -d "$O/check-deb.XXXXXX") || exit 1
clean_up() { rm -rf "$work"; }
version=$(sh "$root/tools/version.sh" --release)

root() { "$root/tools/debian-root.sh" "$@"; }
# inside ROOT COMMAND: with the packages and the source in /in.
inside() { local dir=$1; shift; BIND=$debs:/in root --in "$dir" bash -c "$*" >"$log" 2>&1; }
# last: the end of the last command's output, in one line.
last() { tail -n 15 "$log" | tr '\n' '|'; }

# What debian/control names as needed for the build.
build_depends() {
	sed -n '/^Build-Depends:/,/^[^ ]/{/^ /p}' "$root/debian/control" | sed 's/[(<].*//; s/,//; s/ //g'
}

# build NAME DIRECTORY COMMAND: in the root, where the paths are others each time.
build() {
	local name=$1 dir=$2 command=$3

	mkdir -p "$work/$release/build$dir"
	tar -C "$work/$release/build$dir" -xf "$O/dist/elide-$version.tar.xz"
	BIND='' root --in "$work/$release/build" bash -c "cd $dir/elide-$version && $command" \
		>"$log" 2>&1 && return 0
	not_ok "$release: $name" "$(last)"
	return 1
}

# The second time by make deb, without git.
build_twice() {
	local one=$work/$release/build/a differ='' file
	local two=$work/$release/build/home/another/place/elide-$version/build/deb

	# shellcheck disable=SC2046 # several packages
	root "$release" "$work/$release/build" build-essential $(build_depends) || return 1
	build 'built from the source archive' /a \
		"umask 022; TZ=UTC DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -us -uc" || return 1
	ok "$release: built from the source archive"
	cp "$one"/*.deb "$one"/*.dsc "$one"/*.tar.xz "$one"/*.changes "$one"/*.buildinfo "$debs"
	build 'built again by make deb' /home/another/place \
		'umask 027; TZ=Asia/Tokyo LC_ALL=C HOME=/tmp JOBS=1 DEB_BUILD_OPTIONS=nocheck make deb' ||
		return 1
	for file in "$one"/*.deb "$one"/*.tar.xz; do
		cmp -s "$file" "$two/${file##*/}" || differ="$differ ${file##*/}"
	done
	[ -z "$differ" ] && ok "$release: built again by make deb, the same bytes" ||
		not_ok "$release: built again by make deb, the same bytes" "$differ"
	rm -rf "$work/$release/build"
}

packages() {
	local want='elide elide-dbgsym elide-rtmgrind elide-rtmgrind-dbgsym libelide-dev libelide0 libelide0-dbgsym'
	local got found depends

	got=$(for deb in "$debs"/*.deb; do dpkg-deb -f "$deb" Package; done | sort | tr '\n' ' ')
	[ "$got" = "$want " ] && ok "$release: packages" || not_ok "$release: packages" "$got"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$work/$release/unpacked/$(dpkg-deb -f "$deb" Package)"
	done
	found=$(grep -rlE 'build-deb|/home/another|/a/elide-' "$work/$release/unpacked" \
		--exclude-dir=debug --exclude-dir=.build-id | head -n 3)
	[ -z "$found" ] && ok "$release: no file names the build tree" ||
		not_ok "$release: no file names the build tree" "$found"
	depends=$(dpkg-deb -f "$debs"/elide-rtmgrind_*.deb Depends)
	[[ $depends =~ valgrind\ \(=\ [0-9:.+~a-z-]*\) ]] && ok "$release: rtmgrind's valgrind" ||
		not_ok "$release: rtmgrind's valgrind" "$depends"
}

lint() {
	root "$release" "$work/$release/lint" lintian || return 1
	# With --show-overrides lintian fails for what is overridden, too.
	# One source for two releases has the version of Debian's policy that both know, 4.6.2.
	if inside "$work/$release/lint" 'lintian --display-info --fail-on error,warning,info \
			--suppress-tags out-of-date-standards-version --allow-root /in/*.changes &&
			{ lintian --show-overrides --allow-root /in/*.changes || :; }'; then
		ok "$release: lintian"
	else
		not_ok "$release: lintian" "$(last)"
	fi
	grep -a '^[NO]:' "$log" | sed 's/^/  /'
	rm -rf "$work/$release/lint"
}

autopkgtest() {
	root "$release" "$work/$release/test" autopkgtest || return 1
	inside "$work/$release/test" 'apt-get -q update && cd /tmp && autopkgtest --no-built-binaries \
		--apt-upgrade /in/elide_*.deb /in/elide-rtmgrind_*.deb /in/libelide*.deb /in/*.dsc -- null'
	rc=$?
	grep -aE '^[a-z]+ +(PASS|FAIL|SKIP)' "$log" | sed 's/^/  /'
	[ $rc -eq 0 ] && ok "$release: autopkgtest" || not_ok "$release: autopkgtest" "exit $rc, $(last)"
	rm -rf "$work/$release/test"
}

# README's first lines, in a root that has nothing else.
try_it() {
	root "$release" "$work/$release/try" || return 1
	sed -n '/^## Try it/,/^| package/{/^```$/,/^```$/{/^```$/!p}}' "$root/README.md" >"$debs/try-it"
	[ "$(grep -c '^elide ' "$debs/try-it")" -ge 3 ] || {
		not_ok "$release: README's lines" "found: $(tr '\n' '|' <"$debs/try-it")"
		return
	}
	inside "$work/$release/try" 'cp /in/*.deb /in/try-it /root && cd /root &&
		echo "APT::Get::Assume-Yes \"true\";" >/etc/apt/apt.conf.d/yes && apt-get -q update &&
		bash -e ./try-it && elide report | grep "^mode elide, RTM emulated"' &&
		ok "$release: README's lines" || not_ok "$release: README's lines" "$(last)"
	rm -rf "$work/$release/try" "$debs/try-it"
}

# An older version: the same packages with another number, and a file that is there no more.
make_older() {
	local deb dir

	for deb in "$debs"/elide_*.deb "$debs"/elide-rtmgrind_*.deb "$debs"/libelide*_*.deb; do
		case $deb in *dbgsym*) continue ;; esac
		dir=$work/$release/older/$(dpkg-deb -f "$deb" Package)
		mkdir -p "$work/$release/older"
		dpkg-deb -R "$deb" "$dir"
		sed -i "s/\b$version\b/0.0.1/g" "$dir/DEBIAN/control"
		mkdir -p "$dir/usr/share/doc/${dir##*/}" && echo old >"$dir/usr/share/doc/${dir##*/}/older"
		dpkg-deb --root-owner-group -b "$dir" "$debs/older/${dir##*/}.deb" >/dev/null
	done
}

# Everything but what apt and dpkg keep for themselves.
listing() {
	find "$1" -xdev \( -path "$1/in" -o -path "$1/var/lib/dpkg" -o -path "$1/var/lib/apt" \
		-o -path "$1/var/cache" -o -path "$1/var/log" -o -path "$1/tmp" -o -path "$1/proc" \
		-o -path "$1/etc/ld.so.cache" -o -path "$1/root" \) -prune -o -printf '%P %y %l\n' | sort
}

# A process that runs while its library is replaced counts on, and the new elide reads its file.
across_upgrade='
	export DEBIAN_FRONTEND=noninteractive
	new="/in/elide_*.deb /in/elide-rtmgrind_*.deb /in/libelide0_*.deb /in/libelide-dev_*.deb"
	apt-get -q update && apt-get install -y -q --no-install-recommends /in/older/*.deb || exit 1
	test -e /usr/share/doc/elide/older || exit 1
	cd /tmp
	ELIDE_OUTPUT=/tmp/run.data LD_PRELOAD=libelide-preload.so \
		index_bench --threads=2 --preload=1000 --ops=2000000000 >/dev/null &
	until test -s .run.data.live; do sleep 0.1; done
	apt-get install -y -q $new || exit 1
	elide ctl $! snapshot && kill $! && elide report run.data.snapshot && elide report run.data || exit 1
	wait
	! test -e /usr/share/doc/elide/older || exit 1
	# root, too, changes nothing that is installed, and the self-test has passed at the build.
	elide doctor >/dev/null
	elide run -q --emulate -- index_bench --threads=2 --preload=1000 --ops=2000 >/dev/null || exit 1
	! test -e ~/.cache/elide || { echo "the self-test was run again"; exit 1; }
	dpkg --verify elide elide-rtmgrind libelide0 libelide-dev >changed
	! test -s changed || { cat changed; exit 1; }
	test "$(dpkg-query -W -f "\${Version}" elide)" = '"$version"

upgrade_and_purge() {
	local dir=$work/$release/clean found

	mkdir "$debs/older"
	make_older
	root "$release" "$dir" || return 1
	# What they depend on is there before and stays.
	found=$(for deb in "$debs"/elide_*.deb "$debs"/elide-rtmgrind_*.deb "$debs"/libelide*_*.deb; do
		dpkg-deb -f "$deb" Depends
	done | tr ',' '\n' | sed 's/(.*//; s/|.*//' | grep -v elide | sort -u | tr '\n' ' ')
	inside "$dir" "apt-get -q update && apt-get install -y -q --no-install-recommends $found" || return 1
	listing "$dir" >"$work/$release/before"
	inside "$dir" "$across_upgrade" && ok "$release: upgrade" || not_ok "$release: upgrade" "$(last)"
	inside "$dir" 'dpkg --purge elide-rtmgrind elide libelide-dev libelide0' ||
		not_ok "$release: purge" "$(last)"
	listing "$dir" >"$work/$release/after"
	found=$(diff "$work/$release/before" "$work/$release/after" | grep '^[<>]')
	[ -z "$found" ] && ok "$release: nothing is left after purge" ||
		not_ok "$release: nothing is left after purge" "$(echo "$found" | head -n 5 | tr '\n' '|')"
	rm -rf "$dir" "$debs/older"
}

[ "$(id -u)" -eq 0 ] && command -v mmdebstrap >/dev/null || {
	echo 'check-deb: needs root and the package mmdebstrap' >&2
	exit 1
}
sh "$root/tools/dist.sh" "$O/dist/elide-$version.tar.xz" || exit 1
for release; do
	debs=$O/deb-$release
	log=$work/$release/log
	rm -rf "$debs"
	mkdir -p "$debs" "$work/$release/unpacked"
	# A step that cannot begin has said why; those after it need what it makes.
	build_twice && packages && lint && autopkgtest && try_it && upgrade_and_purge ||
		not_ok "$release" 'not all steps were possible'
done
[ $nr -gt 0 ] || not_ok deb 'no release was named'
finish
