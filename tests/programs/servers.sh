#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=20
#
# Servers of Debian, profiled under a bounded load: the lock that is waited for most is in the first row,
# by a name that its developers know. The packages are downloaded and unpacked below $O/packages, and
# nothing of the system is touched: no service, user or fixed port. Each server listens on the loopback
# interface and is ended by its id.
#
# servers.sh [NAME...]; SERVERS names them, too, and Without names all are tried but mariadb,
# which make check-long adds.

. "$(dirname "$0")/../script.sh"
packages=$O/packages
server=
clean_up() { [ -z "$server" ] || kill -KILL "$server" 2>/dev/null; }
cd "$tmp" || exit 1
no_settings
LIMIT=120 # seconds, for a load of two

# libraries PACKAGE...: those that they depend on, by others, too, and that are not installed. Their
# names differ from release to release.
libraries() {
	local name

	apt-cache depends --recurse --no-pre-depends --no-recommends --no-suggests --no-conflicts \
		--no-breaks --no-replaces --no-enhances "$@" 2>/dev/null |
		grep -E '^(lib|lua)[^:]*$' | sort -u |
		while read -r name; do
			case " $* " in *" $name "*) continue ;; esac
			[ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
				! apt-cache show --no-all-versions "$name" >/dev/null 2>&1 || echo "$name"
		done
}

# unpack NAME PACKAGE...: to $root, with the libraries that they need; false if they cannot be had.
unpack() {
	root=$packages/$1
	shift
	[ ! -e "$root/.complete" ] || return 0
	mkdir -p "$root.new"
	# shellcheck disable=SC2046 # names of packages
	(cd "$root.new" && timeout 300 apt-get -q -o APT::Sandbox::User=root download "$@" $(libraries "$@")) \
		>download 2>&1 || return
	for deb in "$root".new/*.deb; do
		dpkg -x "$deb" "$root.new" || return
	done
	rm -f "$root".new/*.deb
	touch "$root.new/.complete"
	rm -rf "$root"
	mv "$root.new" "$root"
}

# with ARG...: a command with the libraries of the packages.
with() { LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu "$@"; }

# A port that is free now; to $port.
find_port() {
	port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
}

# start COMMAND...: profiled; the server's id, not the launcher's, to $server.
start() {
	rm -f elide.data*
	LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu LD_PRELOAD=$O/lib/libelide-preload.so \
		ELIDE_MODE=profile "$@" >server.out 2>&1 &
	server=$!
}

# await COMMAND...: until it succeeds; false if the server ends before.
await() {
	local tries=$((LIMIT * 10))

	until "$@" >/dev/null 2>&1; do
		kill -0 "$server" 2>/dev/null && [ $((tries--)) -gt 0 ] || return
		sleep 0.1
	done
}

stop() {
	kill "$server"
	wait "$server"
	server=
}

# first FILE: the first row that a user sees; with $kind the first that has it.
first() {
	"$elide" report --width=200 -i "$1" 2>/dev/null | sed -n '/^LOCK /,/^$/{s/  */ /g;p}' |
		sed 1d | grep -m 1 -e "${kind:- }"
}

# judge NAME PATTERN FILE...: the first row of each file matches.
judge() {
	local name=$1 pattern=$2 row

	shift 2
	[ -e "$1" ] || { not_ok "$name" "no data: $(tail -n 2 server.out)"; return; }
	for file in "$@"; do
		row=$(first "$file")
		echo "note $name: $row"
		if ! echo "$row" | grep -qE -- "$pattern"; then
			not_ok "$name" "its first row is $row"
			return
		fi
	done
	ok "$name"
}

redis() {
	unpack redis redis-server redis-tools || { skip redis "$(tail -n 1 download)"; return; }
	find_port
	start "$root/usr/bin/redis-server" --port "$port" --bind 127.0.0.1 --save '' --io-threads 4 \
		--io-threads-do-reads yes
	if ! await with "$root/usr/bin/redis-cli" -h 127.0.0.1 -p "$port" ping ||
		! with timeout $LIMIT "$root/usr/bin/redis-benchmark" -h 127.0.0.1 -p "$port" -t get,set \
			-c 50 -n 60000 -P 16 -q >load 2>&1; then
		not_ok redis "$(tail -n 1 server.out) $(tail -n 1 load)"
		return
	fi
	stop
	# From Redis 8 on its I/O threads wait for events. What is held longest is the lock that modules
	# call with, and what is waited for, in some runs, the one of the clients that an I/O thread and
	# the main thread exchange. jemalloc's thread, which waits for work, comes before all locks.
	kind=' mutex ' judge redis \
		'^io_threads_mutex| mutex (afterSleep|[a-zA-Z]*(From|To)(IO|Main)Thread[a-zA-Z]*) ' elide.data
}

# Debian's program has no symbols: the row is in its own data.
memcached() {
	unpack memcached memcached libmemcached-tools ||
		{ skip memcached "$(tail -n 1 download)"; return; }
	find_port
	start "$root/usr/bin/memcached" -u root -l 127.0.0.1 -p "$port" -U 0 -t 4
	if ! await with "$root/usr/bin/memcping" --servers="127.0.0.1:$port" ||
		! with timeout $LIMIT "$root/usr/bin/memcaslap" -s "127.0.0.1:$port" -T 2 -c 16 -x 60000 \
			>load 2>&1; then
		not_ok memcached "$(tail -n 1 server.out) $(tail -n 1 load)"
		return
	fi
	stop
	judge memcached '^memc[^ ]*d\+0x' elide.data
}

# fetch PORT: 8 clients, 40 requests each of a file that the thread pool reads.
fetch() {
	timeout $LIMIT python3 -c 'import sys, threading, urllib.request
def get():
    for _ in range(40):
        assert len(urllib.request.urlopen(sys.argv[1]).read()) == 2000000
        done.append(1)
done = []
clients = [threading.Thread(target=get) for _ in range(8)]
[c.start() for c in clients]
[c.join() for c in clients]
sys.exit(len(done) != 320)' "http://127.0.0.1:$1/big"
}

nginx() {
	unpack nginx nginx nginx-common || { skip nginx "$(tail -n 1 download)"; return; }
	find_port
	mkdir -p www && head -c 2000000 /dev/zero >www/big
	chmod 755 "$tmp" www
	cat >nginx.conf <<END
daemon off;
worker_processes 2;
pid $tmp/nginx.pid;
error_log $tmp/error.log;
thread_pool default threads=8 max_queue=65536;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $tmp/1;
	proxy_temp_path $tmp/2;
	fastcgi_temp_path $tmp/3;
	uwsgi_temp_path $tmp/4;
	scgi_temp_path $tmp/5;
	aio threads;
	sendfile off;
	output_buffers 2 16k;
	server { listen 127.0.0.1:$port; root $tmp/www; }
}
END
	start "$root/usr/sbin/nginx" -p "$tmp" -c "$tmp/nginx.conf"
	if ! await test -s nginx.pid || ! fetch "$port" >load 2>&1; then
		not_ok nginx "$(tail -n 1 server.out) $(tail -n 1 load)"
		return
	fi
	stop
	# As root its workers are another user's, who cannot write here.
	judge nginx ' ngx_thr[^ ]* ' elide.data.*
}

# No server, but threads that wait for the interpreter's lock.
python() {
	# Not a script that starts it.
	local python

	python=$(python3 -c 'import sys; print(sys.executable)')
	timeout $LIMIT "$elide" run -q --mode=profile -- "$python" -c 'import threading
def count():
    for _ in range(10000000):
        pass
threads = [threading.Thread(target=count) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]' >server.out 2>&1
	judge python '^_PyRuntime' elide.data
}

mariadb() {
	local socket=$tmp/db.sock share

	unpack mariadb mariadb-server-core mariadb-client-core mariadb-common sysbench ||
		{ skip mariadb "$(tail -n 1 download)"; return; }
	share=$root/usr/share
	find_port
	mkdir db
	start "$root/usr/sbin/mariadbd" --no-defaults --user="$(id -un)" --datadir="$tmp/db" \
		--skip-grant-tables --bind-address=127.0.0.1 --port="$port" --socket="$socket" \
		--pid-file="$tmp/db.pid" --lc-messages-dir="$share/mysql" \
		--character-sets-dir="$share/mysql/charsets" --innodb-buffer-pool-size=64M \
		--innodb-flush-log-at-trx-commit=2
	sysbench() {
		LUA_PATH="$share/sysbench/?.lua" with timeout $LIMIT "$root/usr/bin/sysbench" \
			"$share/sysbench/oltp_read_write.lua" --mysql-host=127.0.0.1 --mysql-port="$port" \
			--mysql-user=root --mysql-db=sbtest --tables=2 --table-size=5000 --threads=16 "$@"
	}
	if ! await with "$root/usr/bin/mariadb" --no-defaults -h 127.0.0.1 -P "$port" \
		-e 'create database sbtest' || ! sysbench prepare >load 2>&1 ||
		! sysbench --time=0 --events=4000 run >load 2>&1; then
		not_ok mariadb "$(tail -n 1 server.out) $(tail -n 1 load)"
		return
	fi
	stop
	# Debian's program has the names of functions, and not those of its own variables.
	# The threads of its background, which wait once for as long as it runs, come later.
	judge mariadb '^(LOCK_[a-z_]* mutex|first thread_pool_generic)' elide.data
}

for name in ${*:-${SERVERS:-redis memcached nginx python}}; do
	rm -rf elide.data* load server.out
	"$name"
	[ -z "$server" ] || stop
done
finish
