#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds and tests the tree in a new root of a Debian release.
#
#   check-debian.sh RELEASE [TARGET]     make TARGET there, else make check; its exit code
#
# The root has the packages that tools/deps.sh names and nothing else; it is $O/check/RELEASE, and
# what was there is removed first. JOBS goes to make check. The tree's files are copied, without
# what git ignores, and are one commit there. Must never write into the tree. Needs root, git and
# mmdebstrap.
set -eu

cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '5,5s/^# *//p' "$0" >&2; exit 2; }
release=$1 target=${2:-check} O=${O:-build}
export O
root=$O/check/$release

if grep -q " $(realpath -m "$root")/" /proc/self/mounts; then
	echo "check-debian: something is mounted below $root" >&2
	exit 2
fi
rm -rf "$root"
# shellcheck disable=SC2046 # names of packages
tools/debian-root.sh "$release" "$root" $(tools/deps.sh --list)
mkdir "$root/src"
git ls-files -z --cached --others --exclude-standard |
	tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x --no-same-owner -C "$root/src"
tools/debian-root.sh --in "$root" sh -c 'cd /src && git init -q && git add -A &&
	git -c user.name=check -c user.email=check@localhost commit -qm tree'
tools/debian-root.sh --in "$root" apt-get -qq update ||
	echo 'check-debian: tests that download packages find none: apt-get update fails' >&2
exec tools/debian-root.sh --in "$root" env ELIDE_DEPS=skip JOBS="${JOBS:-$(nproc)}" \
	make -C /src O=build "$target"
