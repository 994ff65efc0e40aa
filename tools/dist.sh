#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the source archive of the commit that is checked out: dist.sh FILE.tar.xz
#
# The same commit gives the same bytes. Must never put in what is not committed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
file=$1
version=$(sh "$root/tools/version.sh" --release)

if [ ! -e "$root/.git" ]; then
	echo 'dist: this is no git repository, from whose commit the archive is made' >&2
	exit 1
fi
git -C "$root" diff --quiet HEAD ||
	echo 'dist: changes that are not committed are left out' >&2
mkdir -p "$(dirname "$file")"
# The number of threads is part of what xz writes.
git -C "$root" -c tar.umask=0022 archive --format=tar --prefix="elide-$version/" HEAD \
	>"$file.$$.tar"
trap 'rm -f "$file.$$.tar" "$file.$$"' EXIT
xz -6 -T1 -c <"$file.$$.tar" >"$file.$$"
mv "$file.$$" "$file"
