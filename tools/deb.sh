#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian packages from the source archive into $O/deb; in an unpacked source archive,
# from its files. Must never build from what is not in the archive.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
O=${O:-build}
version=$(sh "$root/tools/version.sh" --release)

if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
	echo 'deb: needs the packages dpkg-dev and debhelper' >&2
	exit 1
fi
rm -rf "$O/deb"
mkdir -p "$O/deb/elide-$version"
O=$(cd "$O" && pwd)
source=$O/deb/elide-$version
if [ -e "$root/.git" ]; then
	sh "$root/tools/dist.sh" "$O/dist/elide-$version.tar.xz"
	tar -C "$O/deb" -xf "$O/dist/elide-$version.tar.xz"
else
	case $O in "$root"/*) leave=./${O#"$root"/} ;; *) leave=./build ;; esac
	tar -C "$root" --exclude="$leave" -cf - . | tar -C "$source" -xf -
fi
# The settings of the make that has called this are not those of the package.
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES O
cd "$source"
DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} ${DEB_BUILD_OPTIONS:-}" \
	dpkg-buildpackage -us -uc >../build.log 2>&1 || {
	tail -n 20 ../build.log >&2
	echo "deb: dpkg-buildpackage failed: ${source%/*}/build.log" >&2
	exit 1
}
cd ..
rm -rf "$source"
ls -1 ./*.deb
