#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make install into an empty tree, and what is there works without the build directory's:

. "$(dirname "$0")/../script.sh"
cd "$tmp" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
no_settings
prefix=/opt/elide
to=$tmp$prefix

# counted NAME OPTION...: the installed program under the installed launcher and library
counted() {
	local name=$1

	shift
	rm -f run.data
	if ! timeout 60 "$to/bin/elide" run -q "$@" -o run.data -- \
			"$to/bin/index_bench" --threads=2 --preload=1000 --ops=5000 --json >out 2>err; then
		not_ok "$name" "exit $?: $(cat out err)"
	elif ! grep -q '"check":"ok"' out || [ -s err ]; then
		not_ok "$name" "$(cat out err)"
	elif ! "$to/bin/elide" report --json run.data | grep -q '"acquired": 5000,'; then
		not_ok "$name" "$("$to/bin/elide" report --json run.data | grep -m1 acquired)"
	else
		ok "$name"
	fi
}

if make -s -C "$root" O="$O" DESTDIR="$tmp" PREFIX=$prefix install >log 2>&1; then
	ok install
else
	not_ok install "$(tail -n 3 log | tr '\n' ' ')"
	finish
fi

missing=
for file in bin/elide bin/index_bench bin/search_bench bin/latch_bench bin/tatp_bench bin/page_bench bin/bench_sweep \
	    lib/libelide.a lib/libelide.so lib/libelide.so.0 lib/libelide-preload.so \
	    lib/pkgconfig/elide.pc include/elide.h libexec/elide/launch \
	    share/bash-completion/completions/elide share/zsh/site-functions/_elide \
	    share/bash-completion/completions/bench_sweep share/zsh/site-functions/_bench_sweep \
	    share/doc/elide/examples/elide.conf share/doc/elide/examples/elide-snapshot@.service; do
	[ -s "$to/$file" ] || missing="$missing $file"
done
for page in "$O"/man/*; do
	[ -s "$to/share/man/man${page##*.}/${page##*/}" ] || missing="$missing ${page##*/}"
done
[ -z "$missing" ] && ok files || not_ok files "missing:$missing"
stray=$(find "$tmp" -path "$to" -prune -o -type f ! -name log -print)
[ -z "$stray" ] && ok 'nothing outside the prefix' || not_ok 'nothing outside the prefix' "$stray"

counted 'run from the installed tree'
why=$(lacks emulator)
if [ -n "$why" ]; then
	skip 'emulated from the installed tree' "$why"
else
	counted 'emulated from the installed tree' --emulate
fi

# As Debian has it: libraries by machine, zsh's functions apart
if make -s -C "$root" O="$O" DESTDIR="$tmp/deb" PREFIX=/usr libdir=/usr/lib/x86_64-linux-gnu \
		zshdir=/usr/share/zsh/vendor-completions install >log 2>&1 &&
   [ -s deb/usr/lib/x86_64-linux-gnu/libelide.so.0 ] && [ ! -e deb/usr/lib/libelide.so.0 ] &&
   [ -s deb/usr/share/zsh/vendor-completions/_elide ] &&
   grep -q '^libdir=${prefix}/lib/x86_64-linux-gnu$' deb/usr/lib/x86_64-linux-gnu/pkgconfig/elide.pc; then
	ok 'install with libdir and zshdir'
else
	not_ok 'install with libdir and zshdir' "$(tail -n 3 log | tr '\n' ' ')"
fi
to=$tmp/deb/usr
counted 'run from there'
to=$tmp$prefix

# A program of the user's own, built with what is installed
cat >user.c <<'SOURCE'
#include <elide.h>
#include <stdio.h>
int main(void)
{
	const char *why = NULL;

	elide_status(&why);
	printf("%s\n", why);
	return !why;
}
SOURCE
if ! command -v pkg-config >/dev/null; then
	skip 'pkg-config' 'it is not installed'
else
	flags=$(PKG_CONFIG_PATH=$to/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp \
		pkg-config --cflags --libs elide)
	# shellcheck disable=SC2086 # several flags
	if [ "$(PKG_CONFIG_PATH=$to/lib/pkgconfig pkg-config --variable=prefix elide)" = $prefix ] &&
	   ${CC:-cc} -o user user.c $flags 2>err && LD_LIBRARY_PATH=$to/lib timeout 10 ./user >out &&
	   [ -s out ]; then
		ok 'pkg-config'
	else
		not_ok 'pkg-config' "$flags: $(head -n 3 err)"
	fi
fi

finish
