#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=10
#
# The source archive and the version: make dist twice, and what tools/version.sh says in
# repositories made for it.

. "$(dirname "$0")/../script.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS

is() { [ "$2" = "$3" ] && ok "$1" || not_ok "$1" "'$2' instead of '$3'"; }

release=$(dpkg-parsechangelog -l "$root/debian/changelog" -S Version 2>/dev/null ||
	sed -n '1s/.*(\(.*\)).*/\1/p' "$root/debian/changelog")
is 'the release is that of the changelog' "$(sh "$root/tools/version.sh" --release)" "$release"
is 'pkg-config has it too' "$(make -s -C "$root" O="$O" --eval 'print: ; @echo $(VERSION)' print)" "$release"

# A repository with a commit: git's identity and settings are the test's own.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=test \
	GIT_AUTHOR_EMAIL=test@test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@test
if ! command -v git >/dev/null; then
	skip 'versions of commits, make dist' 'git is not installed'
	finish
fi
tree=$tmp/tree
mkdir -p "$tree/tools" "$tree/debian"
cp "$root/tools/version.sh" "$root/tools/dist.sh" "$tree/tools"
cp "$root/.gitattributes" "$tree"
echo 'elide (7.8.9) unstable; urgency=medium' >"$tree/debian/changelog"
# A source archive's script names the commit already: here it is to be the tree's.
sed -i "s/^commit=.*/commit='\$Format:%H\$'/" "$tree/tools/version.sh"
sed -i "s/^tag=.*/tag='\$Format:%(describe:tags,match=v[0-9]*)\$'/" "$tree/tools/version.sh"
version() { sh "$1/tools/version.sh"; }
is 'without a repository' "$(version "$tree")" '7.8.9+unknown'
git -C "$tree" init -q
git -C "$tree" add .
git -C "$tree" commit -q -m one
commit=$(git -C "$tree" rev-parse HEAD | cut -c1-12)
is 'of a commit' "$(version "$tree")" "7.8.9+g$commit"
unpacked() {
	rm -rf "$tmp/un"
	mkdir "$tmp/un"
	sh "$tree/tools/dist.sh" "$tmp/dist.tar.xz" && tar -C "$tmp/un" -xf "$tmp/dist.tar.xz" &&
		version "$tmp/un/elide-7.8.9"
}
is 'of its archive' "$(unpacked)" "7.8.9+g$commit"
# An archive that is unpacked inside of a repository is not of that repository's commit.
mkdir -p "$tree/build" && cp -r "$tmp/un/elide-7.8.9" "$tree/build"
echo /build >>"$tree/.git/info/exclude"
is 'of its archive in a repository' "$(version "$tree/build/elide-7.8.9")" "7.8.9+g$commit"
git -C "$tree" tag v7.8.8
is 'with the tag of another release' "$(version "$tree")" "7.8.9+g$commit"
git -C "$tree" tag -d v7.8.8 >/dev/null
git -C "$tree" tag v7.8.9
is 'of the release' "$(version "$tree")" '7.8.9'
is "of the release's archive" "$(unpacked)" '7.8.9'
echo >>"$tree/debian/changelog"
is 'of changed files' "$(version "$tree")" "7.8.9+g$commit.changed"
is 'changes are not archived' "$(unpacked 2>"$tmp/err"; cat "$tmp/err")" "7.8.9
dist: changes that are not committed are left out"
git -C "$tree" commit -q -a -m two
is 'after the release' "$(version "$tree")" "7.8.9+g$(git -C "$tree" rev-parse HEAD | cut -c1-12)"

if [ ! -e "$root/.git" ]; then
	skip 'make dist' 'this is a source archive itself'
	finish
fi
unset GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
for n in 1 2; do
	(umask 0$((n))7 && TZ=Asia/Tokyo make -s -C "$root" O="$tmp/o$n" dist) >/dev/null 2>&1
done
archive=$tmp/o1/dist/elide-$release.tar.xz
cmp -s "$archive" "$tmp/o2/dist/elide-$release.tar.xz" && ok 'the same bytes twice' ||
	not_ok 'the same bytes twice' "$(ls -l "$tmp"/o?/dist)"
tar -tf "$archive" | sed "s|^elide-$release/||; /\/\$/d; /^\$/d" | sort >"$tmp/in-archive"
git -C "$root" ls-tree -r --name-only HEAD | sort >"$tmp/in-commit"
cmp -s "$tmp/in-archive" "$tmp/in-commit" && ok 'the files of the commit, all and no others' ||
	not_ok 'the files of the commit, all and no others' "$(diff "$tmp/in-archive" "$tmp/in-commit" | head -n 5)"
finish
