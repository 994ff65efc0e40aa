#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes a root directory with a release of Debian, and runs commands in it.
#
#   debian-root.sh RELEASE DIR [PACKAGE...]     makes DIR: the release and these packages
#   debian-root.sh --in DIR COMMAND [ARG...]    runs COMMAND as root of DIR; its exit code
#
# A root that was made before, of the same release and packages, is unpacked from
# $ROOTS/RELEASE-HASH.tar (ROOTS: $O/roots, build/roots), unless the file is older
# than 7 days. The archives are those that apt uses here, or deb.debian.org.
# EXPIRED=yes takes package lists of a mirror that is behind, past the date until which
# they are valid; their signatures are verified all the same.
# COMMAND has /proc, /dev, /dev/shm and /dev/pts of its own; processes that it
# leaves behind end with it. Directories are mounted with BIND='FROM:TO ...'.
# Must never change the machine outside DIR and ROOTS. Needs root and mmdebstrap.
set -eu

ROOTS=${ROOTS:-${O:-build}/roots}

die() { echo "debian-root: $*" >&2; exit 2; }

usage() { sed -n '5,6s/^# *//p' "$0" >&2; exit 2; }

# Lines of sources.list for release $1. apt names the archives of the distribution by
# release, so that sources of others never get in; sid has neither updates nor security.
sources() {
	host=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	apt-get indextargets --format '$(ORIGIN)|$(RELEASE)|$(REPO_URI)|$(COMPONENT)' \
		'Identifier: Packages' 2>/dev/null | sort -u |
	while IFS='|' read -r origin suite uri component; do
		[ "$origin" = Debian ] && [ "$component" = main ] || continue
		case $suite in
		"$host") echo "deb $uri $1 main";;
		"$host-updates"|"$host-security")
			[ "$1" = sid ] || echo "deb $uri $1-${suite#"$host"-} main";;
		esac
	done
}

# apt of the new root goes through the same proxy.
proxies() {
	for scheme in http https; do
		eval "$(apt-config shell proxy "Acquire::$scheme::Proxy")"
		[ -z "${proxy:-}" ] || printf '%s\n' "--aptopt=Acquire::$scheme::Proxy \"$proxy\""
		proxy=
	done
}

# Makes the archive $2 of release $1 with the packages that follow.
make_archive() {
	release=$1 archive=$2
	shift 2
	lines=$(sources "$release")
	[ -n "$lines" ] || lines="deb http://deb.debian.org/debian $release main"
	include=$(echo "$*" | tr ' ' ,)
	mkdir -p "$ROOTS"
	# Two that make the same archive at a time must not write one file.
	new=$archive.$$.tar
	trap 'rm -f "$new" "$new.log" "$new.options"' EXIT
	proxies >"$new.options"
	set -- --quiet --mode=root --variant=apt --dpkgopt=force-unsafe-io \
		--hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr
	[ "${EXPIRED:-}" != yes ] || set -- "$@" '--aptopt=Acquire::Check-Valid-Until "false"'
	while IFS= read -r option; do
		set -- "$@" "$option"
	done <"$new.options"
	[ -z "$include" ] || set -- "$@" "--include=$include"
	if ! echo "$lines" | mmdebstrap "$@" "$release" "$new" - >"$new.log" 2>&1; then
		tail -n 20 "$new.log" >&2
		die "mmdebstrap could not make $release"
	fi
	mv "$new" "$archive"
}

make_root() {
	release=$1 dir=$2
	shift 2
	case $release in ''|*[!a-z]*) die "'$release' is not the name of a release";; esac
	[ ! -d "$dir" ] || [ -z "$(ls -A "$dir")" ] || die "$dir is not empty"
	command -v mmdebstrap >/dev/null || die 'needs the package mmdebstrap'
	packages=$(printf '%s\n' "$@" | sort -u | tr '\n' ' ')
	hash=$(echo "$packages" | sha256sum | cut -c1-12)
	archive=$ROOTS/$release-$hash.tar
	[ -n "$(find "$archive" -mtime -7 2>/dev/null)" ] ||
		make_archive "$release" "$archive" $packages
	mkdir -p "$dir"
	tar -C "$dir" -xpf "$archive" --numeric-owner
	cp /etc/resolv.conf "$dir/etc/resolv.conf"
	# Packages that are installed later start no services.
	printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
	chmod 755 "$dir/usr/sbin/policy-rc.d"
}

# The mounts are in a namespace that ends with the command. The shell stays as process 1 of the
# other namespace: it reaps, and signals have their usual effects in COMMAND.
run_in() {
	dir=$1
	shift
	[ -x "$dir/bin/sh" ] || die "$dir is no root"
	DIR=$dir exec unshare --mount --pid --fork --kill-child --propagation private -- sh -eu -c '
		mount --bind "$DIR" "$DIR"
		mount -t proc proc "$DIR/proc"
		mount --rbind /sys "$DIR/sys"
		mount -t tmpfs -o mode=755 dev "$DIR/dev"
		mkdir -p "$DIR/dev/pts" "$DIR/dev/shm"
		mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$DIR/dev/pts"
		mount -t tmpfs -o mode=1777 shm "$DIR/dev/shm"
		ln -s pts/ptmx "$DIR/dev/ptmx"
		ln -s /proc/self/fd "$DIR/dev/fd"
		ln -s fd/0 "$DIR/dev/stdin"
		ln -s fd/1 "$DIR/dev/stdout"
		ln -s fd/2 "$DIR/dev/stderr"
		for node in null zero full random urandom tty; do
			: >"$DIR/dev/$node"
			mount --bind "/dev/$node" "$DIR/dev/$node"
		done
		for pair in ${BIND:-}; do
			mkdir -p "$DIR/${pair#*:}"
			mount --rbind "${pair%%:*}" "$DIR/${pair#*:}"
		done
		# Where chroot alone changed the root, nobody there might make namespaces of users.
		cd "$DIR"
		mount --move . /
		rc=0
		chroot . env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" DEBIAN_FRONTEND=noninteractive \
			"$@" || rc=$?
		exit $rc
	' sh "$@"
}

[ $# -ge 2 ] || usage
[ "$(id -u)" -eq 0 ] || die 'needs root'
case $1 in
--in)	shift
	[ $# -ge 2 ] || usage
	run_in "$@";;
-*)	usage;;
*)	make_root "$@";;
esac
