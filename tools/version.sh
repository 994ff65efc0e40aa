#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the version of this tree. The number is the one at the top of debian/changelog.
#
#   version.sh             0.1.0 of the commit with the tag v0.1.0, else 0.1.0+gCOMMIT; with
#                          .changed if files differ from the commit, 0.1.0+unknown without one
#   version.sh --release   0.1.0, whatever the commit
#
# The commit is git's, or in a source archive the one that git archive has written in here.
# Must never depend on the time, the machine or the directory.
set -u

root=$(dirname "$0")/..
commit='$Format:%H$'
tag='$Format:%(describe:tags,match=v[0-9]*)$'
changed=

release=$(sed -n '1s/^[^(]*(\([^)]*\)).*/\1/p' "$root/debian/changelog")
if [ "${1:-}" = --release ]; then
	echo "$release"
	exit 0
fi
# Only a repository of this tree: an unpacked archive may lie within another one.
if [ -e "$root/.git" ]; then
	commit=$(git -C "$root" rev-parse HEAD 2>/dev/null)
	tag=$(git -C "$root" describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null)
	[ -z "$commit" ] || git -C "$root" diff --quiet HEAD || changed=.changed
fi
case $commit in
*[!0-9a-f]* | '') echo "$release+unknown" ;;
*)
	if [ "$tag$changed" = "v$release" ]; then
		echo "$release"
	else
		echo "$release+g$(echo "$commit" | cut -c1-12)$changed"
	fi
	;;
esac
