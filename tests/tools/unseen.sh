#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=9
# What is not seen is said: elide run, report, its page, top and doctor name one reason in the same words.

. "$(dirname "$0")/common.sh"
CC=${CC:-gcc}
export ELIDE_MODE=profile

# Four threads take turns at a mutex for 1 ms each, 160 ms in all.
cat >turns.c <<'EOF'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *arg)
{
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		usleep(1000);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
EOF

# reasons FILE: of its report, ID|TEXT|USE a line; sentence FILE: what it says of them.
reasons() { "$elide" report --json -i "$1" | jq -r '.thread_time.unseen.reasons[] | .id + "|" + .text + "|" + .use'; }
sentence() { "$elide" report --json -i "$1" | jq -r '.thread_time.unseen.sentence'; }

# named NAME ID COMMAND...: the report of a run has that reason alone, as doctor has it of the program.
named() {
	local name=$1 id=$2 want text use

	shift 2
	want=$("$elide" doctor --json "$1" | jq -r '.program.unseen[] | .id + "|" + .text + "|" + .use')
	IFS='|' read -r _ text use <<<"$want"
	# A launcher that gets no processor takes no sample: three tries.
	for _ in 1 2 3; do
		rm -f one.data*
		run_elide run -q -o one.data -- "$@"
		[[ "$(sentence one.data)" != *"$text; use $use."* ]] || break
	done
	if [ $rc -ne 0 ] || [ "${want%%|*}" != "$id" ] || [ "$(reasons one.data)" != "$want" ]; then
		not_ok "$name" "exit $rc, doctor '$want', report '$(reasons one.data)': $(cat err)"
	elif [[ "$(sentence one.data)" != *"$text; use $use."* ]]; then
		not_ok "$name: a sentence" "$(sentence one.data)"
	elif "$elide" report -i one.data --width 2000 | grep -qF "$text; use $use." &&
	     "$elide" report -i one.data --html page.html 2>err && grep -q 'class=sum>[^<]*; use ' page.html; then
		ok "$name"
	else
		not_ok "$name: on the screen and the page" "$("$elide" report -i one.data --width 2000; cat err)"
	fi
}

$CC -o dynamic turns.c -pthread || exit 1
echo of Go >info
if objcopy --add-section .go.buildinfo=info dynamic cgo 2>err; then
	named 'a Go program with C code' cgo ./cgo
else
	skip 'a Go program with C code' "$(tail -n 1 err)"
fi
if $CC -static -o static turns.c -pthread 2>err; then
	named 'a static program' linked ./static
	objcopy --add-section .go.buildinfo=info static go
	named 'a Go program' go ./go

	run_elide run -o one.data -- ./static
	grep -qx 'elide: no lock was seen: the program is statically linked: .*; the time of threads is in one.data; next: elide report -i .one.data.' err &&
		ok 'what next' || not_ok 'what next' "$(cat err)"
	[ -e one.data.old ] && ok 'the older file' || not_ok 'the older file' "$(ls)"

	# Beside another one, and as the share of both.
	rm -f both.data*
	run_elide run -q -o both.data -- sh -c './static & ./dynamic; wait'
	"$elide" report -i both.data --width 1000 >out
	grep -qE '^ +(\./)?static \(pid [0-9]+\), [0-9]+% of the thread time of all processes: .*It is statically linked' out &&
		ok 'a child' || not_ok 'a child' "$(cat out)"
	grep -qE '^lock +mutex' out && ok 'beside rows' || not_ok 'beside rows' "$(cat out)"

	# The names that ELIDE_OUTPUT asks for; a file that is none of ours is left alone.
	run_elide run -q -o '%e-%p.data' -- ./static
	ls static-*.data >list 2>&1 && [ "$(wc -l <list)" -eq 1 ] && ok '%e and %p' || not_ok '%e and %p' "$(ls)"
	echo precious >mine.data
	run_elide run -q -o mine.data -- ./static
	[ "$(cat mine.data)" = precious ] && ls mine.data.[0-9]* >/dev/null && ok 'a file that is none of ours' ||
		not_ok 'a file that is none of ours' "$(ls; cat mine.data err)"
else
	skip 'a static program' "$(tail -n 1 err)"
fi

# The loader goes by its name.
loader=$(readelf -lW dynamic | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p')
ln -s "$loader" ld-musl-test.so.1
$CC -o musl turns.c -pthread -Wl,--dynamic-linker="$PWD/ld-musl-test.so.1"
named 'a program of musl' musl ./musl

# A launcher that gets no processor takes no sample, as in named().
for _ in 1 2 3; do
	run_elide run -q -o without.data -- env -u LD_PRELOAD ./dynamic
	[ ! -e without.data ] || break
done
[ "$(reasons without.data | cut -d'|' -f1)" = without ] && ok 'a program without LD_PRELOAD' ||
	not_ok 'a program without LD_PRELOAD' "$("$elide" report -i without.data)"

# OpenMP: three threads wait at a barrier for one that sleeps.
cat >barrier.c <<'EOF'
#include <omp.h>
#include <unistd.h>
int main(void)
{
#pragma omp parallel num_threads(4)
	for (int i = 0; i < 40; i++) {
		if (!omp_get_thread_num())
			usleep(5000);
#pragma omp barrier
	}
	return 0;
}
EOF
if gcc -fopenmp -o barrier barrier.c 2>err; then
	OMP_WAIT_POLICY=passive
	export OMP_WAIT_POLICY
	named 'a program of OpenMP' openmp ./barrier
	share=$("$elide" report --json -i one.data | jq '.thread_time | 100 * .unseen.futex_ns / .total_ns')
	[ "${share%.*}" -ge 20 ] && [ "${share%.*}" -le 90 ] && ok 'its share' || not_ok 'its share' "$share"
else
	skip 'a program of OpenMP' "$(tail -n 1 err)"
fi

# A library with the name and functions of the Java VM: four threads wake each other in turn, a fifth has no work.
cat >parker.h <<'EOF'
#include <pthread.h>
struct Parker {
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	bool ready = false;
	void park();
	void unpark();
};
EOF
cat >jvm.cc <<'EOF'
#include "parker.h"
void Parker::park()
{
	pthread_mutex_lock(&m);
	while (!ready)
		pthread_cond_wait(&c, &m);
	ready = false;
	pthread_mutex_unlock(&m);
}
void Parker::unpark()
{
	pthread_mutex_lock(&m);
	ready = true;
	pthread_cond_signal(&c);
	pthread_mutex_unlock(&m);
}
EOF
cat >java.cc <<'EOF'
#include <unistd.h>
#include "parker.h"
static Parker parkers[5];
static void *run(void *arg)
{
	long i = (long)arg;
	for (int n = 0; n < 25; n++) {
		parkers[i].park();
		usleep(2000);
		parkers[(i + 1) % 4].unpark();
	}
	return nullptr;
}
static void *idle(void *)
{
	parkers[4].park();
	return nullptr;
}
int main()
{
	pthread_t t[5];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], nullptr, run, (void *)i);
	pthread_create(&t[4], nullptr, idle, nullptr);
	parkers[0].unpark();
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], nullptr);
	parkers[4].unpark();
	pthread_join(t[4], nullptr);
}
EOF
if g++ -shared -fPIC -o libjvm.so jvm.cc -pthread 2>err && g++ -o java java.cc -L. -ljvm -Wl,-rpath,"$PWD" -pthread 2>err; then
	named 'a Java VM' java ./java
	"$elide" report -i one.data --width 300 >out
	grep -q 'do .*jstack PID' out && ok 'a finding' || not_ok 'a finding' "$(cat out)"
	grep -q 'waits for work' out && not_ok 'not called idle' "$(cat out)" || ok 'not called idle'
else
	skip 'a Java VM' "$(tail -n 1 err)"
fi

# A process that runs.
sleep 60 &
pid=$!
run_elide top $pid
grep -qF "$pid is running without elide's library: " err && ok 'top' || not_ok 'top' "$(cat err)"
kill $pid
finish
