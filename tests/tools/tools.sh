#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The elide command: launcher, reports, doctor, tunables, manual pages.

. "$(dirname "$0")/common.sh"
preload=$O/lib/libelide-preload.so

# Usage
expect 'unknown command' 2 '' 'elide: unknown command reprot, nearest is report' reprot
expect 'unknown option' 2 '' 'elide: unknown option --srot, nearest is --sort' report --srot
expect 'unknown option of run' 125 '' 'elide: unknown option --moed, nearest is --mode' run --moed
expect 'unknown sort key' 2 '' 'elide: --sort=wastd is no column, nearest is wasted' report --sort=wastd
expect 'unknown --by' 2 '' 'elide: --by=lokc: nearest is lock' report --by lokc
expect 'unknown --folded' 2 '' 'elide: --folded=wiat: nearest is wait' report --folded=wiat
expect '--sort of a view' 2 '' 'elide: --by=line has an order of its own: --sort is for rows' \
	report --by line --sort wait
expect '--by and --suggest' 2 '' 'elide: --by does not go with --suggest' report --by site --suggest
expect '--suggest of nothing' 2 '' 'elide: nosuch.data: No such file or directory' \
	report --suggest nosuch.data
expect 'bad number' 2 '' 'elide: --top=x: not a number from 0 to 1000000' report --top x
expect 'missing argument' 2 '' 'elide: option --sort needs an argument' report --sort
expect 'argument too many' 2 '' 'elide: option --json=1 takes no argument' report --json=1
expect 'unknown letter' 2 '' 'elide: unknown option -Z, see --help' report -Z
expect 'version' 0 "elide $(cat "$O/obj/version")" '' --version
expect 'run without a program' 125 '' \
	'elide: no program given: elide run [OPTION...] -- PROGRAM [ARGUMENT...]' run
run_elide
[ $rc -eq 2 ] && [ ! -s out ] && grep -q '^usage: elide' err && ok 'no command' ||
	not_ok 'no command' "exit $rc: $(cat out err)"

# Launcher: before the start
mkdir directory d
echo 'not a program' >plain
expect 'not found' 127 '' 'elide: nosuch-program: not found' run nosuch-program
expect 'not found by path' 127 '' 'elide: ./nosuch: not found' run ./nosuch
expect 'empty name' 127 '' 'elide: : not found' run ''
expect 'not executable' 126 '' 'elide: ./plain: not executable' run ./plain
expect 'a directory' 126 '' 'elide: ./directory: not executable' run ./directory
printf '#!/nonexistent/sh\n' >lost
chmod +x lost
expect 'script without interpreter' 127 '' \
	'elide: ./lost: its interpreter /nonexistent/sh is not there' run ./lost
# Launcher: a machine that cannot be emulated is refused before the program starts.
# refused NAME MESSAGE OPTION...
refused() {
	name=$1 message=$2
	shift 2
	rm -f started
	expect "$name" 2 '' "elide: --emulate: $message" run "$@" touch started
	[ ! -e started ] || not_ok "$name" 'the program was started'
}
models=$(sed -n 's/^MODEL(\([a-z0-9-]*\),.*/\1/p; s/^LIKE(\([a-z0-9-]*\),.*/\1/p' \
	"$here/../../tools/rtmgrind/models.def")
list=$(echo "$models" | paste -sd, | sed 's/,/, /g')
refused 'emulated machine unknown' \
	"there is no machine 'haswel', nearest is haswell; there are $list" --emulate=haswel
refused 'emulated machine: number unknown' "the machine has no number 'l1_way', nearest is l1_ways" \
	--emulate=haswell:l1_way=4
refused 'emulated machine: no value' "'l1_ways' is not NUMBER=VALUE" --emulate=haswell:l1_ways
refused 'emulated machine: nothing behind the colon' "'' is not NUMBER=VALUE" --emulate=haswell:
refused 'emulated machine: comma at the end' "'' is not NUMBER=VALUE" --emulate=haswell:smt=1,
refused 'emulated machine: empty value' 'smt= is not a number' --emulate=haswell:smt=
refused 'emulated machine: no number' 'l1_ways=few is not a number' --emulate=haswell:l1_ways=few
refused 'emulated machine: out of range' 'l1_ways=64 is impossible, nearest is 32' \
	--emulate=haswell:l2=14,l1_ways=64
refused '0 cores' 'cores=0 is impossible, nearest is 1' --emulate --cores=0
refused '3 hardware threads' 'smt=3 is impossible, nearest is 2' --emulate --smt=3
refused 'more aborts than transactions' 'abort_rate=101 is impossible, nearest is 100' \
	--emulate --abort-rate=101
refused '17 sockets' 'sockets=17 is impossible, nearest is 16' --emulate --sockets=17
run_elide run --emulate=list
[ $rc -eq 0 ] && [ "$(cut -d ' ' -f 1 out)" = "$models" ] && ok 'emulated machines are listed' ||
	not_ok 'emulated machines are listed' "exit $rc: $(cat out err)"
run_elide run --emulate=list:graniterapids
sed -n 's/^PARAM(\([a-z0-9_]*\),.*/\1/p' "$here/../../tools/rtmgrind/model.def" >want
[ $rc -eq 0 ] && tail -n +2 out | cut -d ' ' -f 1 | diff want - >diff.out &&
	grep -q '^l1_ways  *12 ways .* \[CPUID leaf 4\]$' out && # its own
	grep -q '^l2_kib  *2048 ' out && grep -q '^caches  *1 ' out && # and of those it is like
	grep -q '^domain  *0 ' out && ok 'numbers of a machine are listed' || # and nobody's
	not_ok 'numbers of a machine are listed' "exit $rc: $(cat diff.out err)"
expect 'numbers of an unknown machine' 2 '' \
	"elide: --emulate: there is no machine 'x'; there are $list" \
	run --emulate=list:x

# tests/emulated/selftest.sh has the valgrinds with which the emulator does not work.
mkdir bin
env PATH="$tmp/bin" "$elide" run --emulate /bin/true >out 2>err
rc=$?
[ $rc -eq 2 ] && [ "$(cat err)" = 'elide: --emulate: valgrind is not installed' ] &&
	ok 'valgrind is not installed' || not_ok 'valgrind is not installed' "exit $rc: $(cat err)"

if [ ! -e "$preload" ]; then
	skip 'launcher' "there is no $preload"
else
# Launcher: the program as it is
printf '#!/bin/sh\nprintf "%%s|" "$LD_PRELOAD" "${ELIDE_POLICY-unset}" "$@"\n' >show
chmod +x show
expect 'exit code, output, arguments' 0 "$preload|unset|a b||" '' run -q -- ./show 'a b' ''
expect 'exit code of the program' 7 '' '' run -q sh -c 'exit 7'
expect 'found by PATH' 3 '' '' run -q -- sh -c 'exit 3'
expect 'killed by a signal' 137 '' '' run -q sh -c 'kill -KILL $$'
expect 'settings' 0 "$preload|fixed|" '' run -q --policy fixed ./show
expect 'any setting' 0 "$preload|glibc|" '' run -q --set policy=glibc ./show
expect 'unknown setting' 125 '' \
	'elide: ELIDE_POLCY is unknown, nearest is ELIDE_POLICY' run -q --set POLCY=x ./show
expect 'setting that is gone' 125 '' \
	'elide: ELIDE_RETRY_BUSY is gone (write ELIDE_POLICY=adaptive:busy=N, or fixed or hpca)' \
	run -q --set RETRY_BUSY=3 ./show
expect 'numbers of a policy' 0 "$preload|fixed:conflict=3,busy=0|" '' \
	run -q --policy=fixed:conflict=3,busy=0 ./show
expect 'number that the policy has not' 125 '' 'elide: ELIDE_POLICY=glibc:busy=1: glibc has no numbers' \
	run -q --policy=glibc:busy=1 ./show
expect 'number of a policy out of range' 125 '' \
	'elide: ELIDE_POLICY=hpca:busy=1001: busy is 0 to 1000 attempts' run -q --set POLICY=hpca:busy=1001 ./show
expect 'bad value' 125 '' \
	'elide: ELIDE_POLICY=fixd is not one of adaptive|fixed|glibc|damon|hpca|never|restrict, nearest is fixed' \
	run -q --policy=fixd ./show
expect 'bad value of a set' 125 '' \
	'elide: ELIDE_KINDS=mutx is not one of mutex|rwlock|spin, nearest is mutex' run -q --kinds=mutx ./show
expect 'bad value that nothing is near' 125 '' \
	'elide: ELIDE_MODE=xyz is not one of auto|elide|profile|off' run -q --set MODE=xyz ./show
expect 'bad number' 125 '' 'elide: ELIDE_STACKS=many is not a number' run -q --stacks=many ./show
ELIDE_POLICY=fixd
export ELIDE_POLICY
run_elide run -q --mode=profile ./show
[ $rc -eq 0 ] && [ "$(cat out)" = "$preload|fixd|" ] && ok 'a bad value in the environment does not end the run' ||
	not_ok 'a bad value in the environment does not end the run' "exit $rc: $(cat out err)"
unset ELIDE_POLICY
# Launcher: files of settings
cat >elide.conf <<'EOF'
# comments, and empty lines

POLICY = fixed
 ELIDE_HEAP=3
LOCKS = a!b=off,c=profile
EOF
printf '#!/bin/sh\nprintf "%%s|" "$ELIDE_POLICY" "$ELIDE_HEAP" "$ELIDE_LOCKS" "$LD_BIND_NOW"\n' >shows
chmod +x shows
expect 'file of settings' 0 'fixed|3|a!b=off,c=profile||' '' run -q --conf elide.conf ./shows
expect 'options go before the file of settings' 0 'glibc|3|x=on||' '' \
	run -q --policy=glibc --conf=elide.conf --set LOCKS=x=on ./shows
echo 'LD_BIND_NOW = 1' >now.conf
ELIDE_POLICY=never
export ELIDE_POLICY
expect 'the file of settings goes before the environment' 0 'fixed|3|a!b=off,c=profile||' '' \
	run -q --conf elide.conf ./shows
expect 'file of settings: LD_BIND_NOW' 0 'never|||1|' '' run -q --conf now.conf ./shows
unset ELIDE_POLICY
printf 'POLCY = fixed\nnonsense\nPOLICY = fixd\nRUN = 5\nbuild-id x\nWATCH = 5\n' >bad.conf
expect 'file of settings: what is wrong in it' 0 '||||' \
	'elide: bad.conf:1: POLCY is unknown, nearest is ELIDE_POLICY, ignored
elide: bad.conf:2: "nonsense" is no setting NAME = VALUE, ignored
elide: ELIDE_POLICY=fixd is not one of adaptive|fixed|glibc|damon|hpca|never|restrict, nearest is fixed, using adaptive
elide: bad.conf:4: RUN is set by the launcher alone, ignored
elide: bad.conf:5: build-id takes the path of an object and its build-id, ignored
elide: bad.conf:6: WATCH is gone (RTM is switched off after 10000 attempts without a commit), ignored' \
	run -q --conf bad.conf ./shows
echo 'SEED = 4' >c.conf
expect 'file of settings: of the emulator' 0 '||||' \
	'elide: c.conf:1: SEED is a setting of the emulated machine: it does nothing without --emulate
elide: no data file was written: no lock was taken, or the library was not loaded' \
	run --conf c.conf ./shows
expect 'file of settings: not there' 125 '' 'elide: --conf=nosuch.conf: No such file or directory' \
	run --conf nosuch.conf ./shows
"$mkdata" made.data full
"$elide" report --suggest made.data >made.conf
run_elide run --conf made.conf "$mkdata"
[ $rc -eq 2 ] && ! grep -q 'was made for' err && ok 'file of settings: of the program itself' ||
	not_ok 'file of settings: of the program itself' "exit $rc: $(cat err)"
sed 's/^\(build-id .* \)\(.*\)/\10\2/' made.conf >other.conf
echo 'build-id /nonexistent/lib.so 00' >>other.conf
run_elide run --conf other.conf sh -c 'exit 0'
cat >want <<EOF
elide: other.conf was made for another build of $mkdata
elide: other.conf was made for /nonexistent/lib.so: No such file or directory
elide: other.conf was made for other programs than
EOF
head -3 err | sed 's/ than .*/ than/' >said
same 'file of settings: objects that differ' want said
run_elide run -q --conf other.conf sh -c 'exit 0'
[ ! -s err ] && ok 'file of settings: quiet' || not_ok 'file of settings: quiet' "$(cat err)"
expect 'stacks' 0 '7|' '' run -q --stacks=7 sh -c 'printf "%s|" "$ELIDE_STACKS"'

expect 'setting without value' 125 '' \
	'elide: --set=POLICY: it takes NAME=VALUE, elide tunables lists the names' run --set POLICY ./show
expect 'setting of the emulator' 0 "$preload|unset|" \
	"elide: --cores is a setting of the emulated machine: it does nothing without --emulate
elide: no data file was written: no lock was taken, or the library was not loaded" run --cores=3 ./show
libm=$(ldconfig -p | sed -n 's/.*libm\.so\.6 (libc6,x86-64.*=> //p' | head -1)
LD_PRELOAD=$libm
export LD_PRELOAD
expect 'LD_PRELOAD is kept' 0 "$preload:$libm|unset|" '' run -q ./show
unset LD_PRELOAD
printf 'printf "shell:%%s" "$1"' >no-interpreter
chmod +x no-interpreter
expect 'script without #!' 0 'shell:x' '' run -q ./no-interpreter x

# Launcher: programs that nothing can be preloaded into
printf 'int main(void) { return 5; }\n' >five.c
runs='it runs without elision'
if ${CC:-cc} -static -o static five.c 2>cc.err; then
	expect 'static' 5 '' "elide: ./static is statically linked: no library can be loaded into it; $runs
elide: no data file was written: the program is statically linked: no library can be loaded into it" run ./static
else
	skip 'static' "cannot link: $(head -1 cc.err)"
fi
if ${CC:-cc} -m32 -o short five.c 2>cc.err && ./short; [ $? -eq 5 ]; then
	bits32='a 32-bit program: the library is for 64-bit programs'
	none="elide: no data file was written: the program is $bits32"
	expect '32-bit' 5 '' "elide: ./short is $bits32; $runs
$none" run ./short
	expect '32-bit emulated' 125 '' \
		"elide: ./short is $bits32; the emulator cannot run it" run --emulate ./short
	printf '#!%s/short\n' "$tmp" >short-script
	chmod +x short-script
	expect 'script for a 32-bit interpreter' 5 '' \
		"elide: $tmp/short is $bits32; $runs
$none" run ./short-script
else
	skip '32-bit' "cannot build or run 32-bit programs: $(head -1 cc.err)"
fi
if ${CC:-cc} -o privileged five.c && chmod 755 . && chown nobody privileged 2>cc.err &&
   chmod 4755 privileged; then
	run_elide run -q ./privileged
	[ $rc -eq 5 ] && ok 'setuid runs' || not_ok 'setuid runs' "exit $rc"
	run_elide run ./privileged
	head -1 err >first
	echo "elide: ./privileged is setuid, setgid or has capabilities: the loader preloads nothing then; $runs" >want
	same 'setuid' want first
else
	skip 'setuid' "cannot make a program another user's: $(cat cc.err)"
fi

# Launcher: a sanitizer's runtime has to be the first object
printf '#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n' >san.c
printf 'int main(void) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 9; }\n' >>san.c
for sanitizer in address thread; do
	name="sanitizer: $sanitizer"
	if [ -n "${SAN:-}" ] || ! ${CC:-cc} -fsanitize=$sanitizer -o san san.c -pthread 2>cc.err ||
	   ! ldd san | grep -q "lib[at]san.so"; then
		skip "$name" "no shared runtime: $(head -1 cc.err)"
		continue
	fi
	run_elide run -q --mode=profile -o san.data ./san
	[ $rc -eq 9 ] && [ ! -s err ] && [ "$("$elide" report --csv san.data | wc -l)" -eq 2 ] && ok "$name" ||
		not_ok "$name" "exit $rc: $(cat err)"
	run_elide doctor ./san
	grep -q "^sanitizer  *lib[at]san.so.*, which elide run loads before its library" out &&
		ok "$name, doctor" || not_ok "$name, doctor" "$(cat out err)"
done

# Launcher: output
expect 'output not writable' 4 '' \
	'elide: /nonexistent/x cannot be written: No such file or directory; the program runs, what is counted is lost
elide: no data file was written: /nonexistent/: No such file or directory' \
	run -o /nonexistent/x sh -c 'exit 4'
expect 'learned not writable' 4 '' \
	'elide: /nonexistent/x cannot be written: No such file or directory; the program runs, what is learnt is lost
elide: no data file was written: no lock was taken, or the library was not loaded' \
	run --learned=/nonexistent/x sh -c 'exit 4'

# Report: locks that the library cannot see
unseen='not counted: locks of objects loaded by dlmopen, which have a C library of their own'
run_elide run -q --mode=profile -o other.data "$O/tests/preload/scenario" dlmopen
"$elide" report other.data >out 2>&1
[ $rc -eq 0 ] && grep -qx "$unseen" out && [ "$("$elide" report --json other.data | jq .program.dlmopen)" = true ] &&
	ok 'a namespace of dlmopen' || not_ok 'a namespace of dlmopen' "exit $rc: $(cat out)"
run_elide run -q --mode=profile -o other.data "$O/tests/preload/scenario" plain
"$elide" report other.data >out 2>&1
[ $rc -eq 0 ] && ! grep -q dlmopen out && ok 'no namespace' || not_ok 'no namespace' "exit $rc: $(cat out)"
rm -f other.data*

# Launcher: a script that takes the library from the program
script_of() { printf '#!/bin/sh\n# LD_PRELOAD=none\n%s\n' "$1" >starts && chmod +x starts; }
for line in 'LD_PRELOAD= exec true' 'export LD_PRELOAD=libm.so.6; exec true' 'unset LD_PRELOAD; exec true' \
	'exec env -i true' 'exec env -u LD_PRELOAD true'; do
	script_of "$line"
	for how in ./starts 'sh ./starts'; do
		expect "a script replaces LD_PRELOAD: $how, $line" 0 '' \
			"elide: no data file was written: line 3 of ./starts replaces LD_PRELOAD, so the library was not loaded; it should add to it: LD_PRELOAD=...:\$LD_PRELOAD" \
			run $how
	done
done
for line in 'LD_PRELOAD=libm.so.6:$LD_PRELOAD exec sh -c :' ': "${LD_PRELOAD:-}"'; do
	script_of "$line"
	expect "a script that keeps LD_PRELOAD: $line" 0 '' \
		'elide: no data file was written: no lock was taken, or the library was not loaded' run ./starts
done

# Launcher: a program that writes a data file itself, as the library would
cat >writer <<EOF
#!/bin/sh
for file; do
	case \$file in
	*.[0-9]*) $mkdata "\$file" elide "\$ELIDE_RUN" 999;;
	*) $mkdata "\$file" elide "\$ELIDE_RUN" \$\$;;
	esac
done
exit 9
EOF
chmod +x writer
ELIDE_MODE=off
export ELIDE_MODE
expect 'next command' 9 '' 'elide: counted in elide.data; next: elide report' run ./writer elide.data
"$elide" report --json elide.data 2>err | grep -q '"exit": 9' && ok 'exit status in the data file' ||
	not_ok 'exit status in the data file' "$(cat err)"
run_elide run -q sh -c './writer elide.data; exit 3'
"$elide" report --json elide.data | grep -q '"exit": 3' && not_ok 'exit status of another process' 'written' ||
	ok 'exit status of another process'
expect 'next command, output named' 9 '' \
	"elide: counted in other; next: elide report -i 'other'" run -o other ./writer other
expect 'next command, with children' 9 '' \
	"elide: counted in d/x.1 and files of its children; next: elide report -i 'd/x.1' -i 'd/x.22'" \
	run -o d/x.%p sh -c './writer d/x.1 d/x.22'
run_elide run --report ./writer elide.data
[ $rc -eq 9 ] && [ ! -s out ] && grep -q '^LOCK ' err && ok 'report at the end' ||
	not_ok 'report at the end' "exit $rc: $(cat err)"
run_elide run --report=report.txt ./writer elide.data
[ $rc -eq 9 ] && [ ! -s out ] && [ ! -s err ] && grep -q '^LOCK ' report.txt &&
	ok 'report to a file' || not_ok 'report to a file' "exit $rc: $(cat err)"
unset ELIDE_MODE

# Launcher: signals that another process sends reach the program, and the launcher outlives it
for sig in TERM INT HUP QUIT USR1 USR2; do
	# The shell has its background jobs ignore INT and QUIT, and nohup(1) HUP.
	setsid -w timeout 100 env --default-signal "$elide" run -q sh -c \
		"trap 'echo got; exit 6' $sig; echo \$PPID >ready; while :; do sleep 0.05; done" >out 2>err &
	pid=$!
	i=0
	while [ ! -s ready ] && [ $i -lt 1000 ]; do sleep 0.05; i=$((i + 1)); done
	kill -$sig "$(cat ready)"
	wait $pid
	rc=$?
	rm -f ready
	[ $rc -eq 6 ] && [ "$(cat out)" = got ] && ok "SIG$sig is handed on" ||
		not_ok "SIG$sig is handed on" "exit $rc: $(cat out err)"
done

# Launcher: what the terminal sends, the program gets once; the launcher lives on.
cat >terminal.py <<'EOF'
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "sh", "-c",
        "trap 'echo got >>count' INT; echo >ready; i=0;"
        "while [ $i -lt 900 ] && [ ! -s count ]; do sleep 0.05; i=$((i + 1)); done; sleep 0.3; exit 8"])
while not os.path.exists("ready"):
    time.sleep(0.05)
os.write(fd, b"\x03")
text = b""
try:
    while chunk := os.read(fd, 4096):
        text += chunk
except OSError:
    pass
sys.exit(0 if os.WEXITSTATUS(os.waitpid(pid, 0)[1]) == 8 and b"elide: " in text else 1)
EOF
if command -v python3 >/dev/null; then
	timeout 60 python3 terminal.py "$elide"
	rc=$?
	[ $rc -eq 0 ] && [ "$(cat count)" = got ] && ok 'interrupt from the terminal' ||
		not_ok 'interrupt from the terminal' "exit $rc, $(wc -l <count) times"
else
	skip 'interrupt from the terminal' 'python3 is not installed'
fi

# Launcher: it starts without a loader, whose libraries would be what it takes most time for.
if [ -n "${SAN:-}" ]; then
	skip 'linked statically' 'a sanitizer is a library'
else
	readelf -lW "$elide" >segments && ! grep -q INTERP segments && ok 'linked statically' ||
		not_ok 'linked statically' "$(cat segments)"
fi

# Launcher: emulated
why=$(lacks emulator)
if [ -n "$why" ]; then
	skip emulated "$why"
else
	expect 'emulated: exit code and output' 5 'a b' '' run -q --emulate sh -c 'echo a b | cat; exit 5'
	expect 'emulated: killed by a signal' 143 '' '' run -q --emulate sh -c 'kill -TERM $$'
	expect 'emulated: the model has its own number of cores' 0 64 '' run -q --emulate=epyc7702 nproc
	expect 'emulated: cores' 0 6 '' run -q --emulate=haswell --cores=3 --smt=2 nproc
	ELIDE_MODEL=epyc7702:cores=16
	export ELIDE_MODEL
	expect 'emulated: the environment' 0 16 '' run -q --emulate nproc
	expect 'emulated: options go before the environment' 0 3 '' \
		run -q --emulate=haswell --cores=3 nproc
	expect 'emulated: an option goes before the number of the model' 0 8 '' \
		run -q --emulate --smt=2 --cores=8 --smt=1 nproc
	ELIDE_MODEL=falt
	expect 'emulated: unknown model in the environment' 0 8 \
		"elide: ELIDE_MODEL: there is no machine 'falt', nearest is flat; there are $list; using flat" \
		run -q --emulate nproc
	unset ELIDE_MODEL
	for geometry in '--cores=3 --sockets=2:3 cores cannot be dealt out to 2 sockets' \
			'--emulate=haswell:l1_kib=31:31 KiB with 8 ways make 62 sets, not a power of two' \
			'--emulate=epyc7702:die=6:a die of 6 cores does not fit'; do
		rm -f started
		# shellcheck disable=SC2086 # several options
		run_elide run --emulate ${geometry%:*} touch started
		[ $rc -eq 2 ] && [ ! -s out ] && [ ! -e started ] && [ "$(wc -l <err)" -eq 1 ] &&
			grep -qF "${geometry##*:}" err && ok "emulated: refused: ${geometry%:*}" ||
			not_ok "emulated: refused: ${geometry%:*}" "exit $rc: $(cat out err)"
	done
	# The launcher of the emulator is not elided: only the processes of the program are.
	printf '#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void loaded(void)\n{\nchar b[99] = "";\nif (readlink("/proc/self/exe", b, 98) > 0)\nfprintf(stderr, "%%s\\n", b);\n}\n' >witness.c
	${CC:-cc} -shared -fPIC -o witness.so witness.c
	LD_PRELOAD=$tmp/witness.so "$elide" run -q --emulate "$(realpath /bin/sh)" -c 'cat </dev/null; exit 0' 2>&1 >/dev/null |
		grep -v "$elide" >seen
	realpath /bin/sh "$(command -v cat)" >want
	same 'emulated: its launcher is not preloaded' want seen
fi
fi # preload library

# doctor: an interpreter that env finds, and futexes
printf '#!/usr/bin/env -S LC_ALL=C sh -e\n' >by-env
chmod +x by-env
run_elide doctor ./by-env
grep -qx "./by-env: a script for $(command -v sh)" out && ok 'doctor: a script for env' ||
	not_ok 'doctor: a script for env' "$(cat out err)"
cat >futex.c <<'EOF2'
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
int word;
int main(void) { return syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0); }
EOF2
if ${CC:-cc} -o futex futex.c 2>cc.err; then
	run_elide doctor ./futex
	grep -qx '  futex calls by syscall(2): futex' out && ok 'doctor: futex calls' ||
		not_ok 'doctor: futex calls' "$(cat out err)"
else
	skip 'doctor: futex calls' "cannot build: $(head -1 cc.err)"
fi
cp /bin/true five && run_elide doctor ./five
grep -q 'futex calls' out && not_ok 'doctor: no futex calls' "$(cat out)" || ok 'doctor: no futex calls'

# doctor: where the loader finds libraries. prog needs liba.so, that needs libb.so, that opens libc-own.so.
mkdir -p tree/bin tree/lib/sub
printf '#include <pthread.h>\nint c(pthread_mutex_t *m) { return pthread_mutex_lock(m); }\n' >c.c
printf '#include <dlfcn.h>\nint b(void) { return !dlopen("%%s/sub/libc-own.so" + 7, RTLD_NOW); }\n' >b.c
printf 'int b(void);\nint a(void) { return b(); }\n' >a.c
printf 'int a(void);\nint main(void) { return a(); }\n' >prog.c
if ! { ${CC:-cc} -w -shared -fPIC -o tree/lib/sub/libc-own.so c.c && ${CC:-cc} -w -shared -fPIC -o tree/lib/libb.so b.c &&
	${CC:-cc} -shared -fPIC -o tree/lib/liba.so a.c -Ltree/lib -lb; } 2>cc.err; then
	skip 'doctor: libraries' "cannot build: $(head -1 cc.err)"
else
	# found HOW MISSING: the libraries that are not found
	found() {
		run_elide doctor ./link
		missing=$(sed -n 's/^library not found *//p' out | tr '\n' ' ')
		[ "$missing" = "$2" ] && ok "doctor: libraries: $1" || not_ok "doctor: libraries: $1" "$(cat out err)"
	}
	ln -s tree/bin/prog link
	${CC:-cc} -o tree/bin/prog prog.c -Ltree/lib -la -Wl,-rpath-link,tree/lib \
		-Wl,--disable-new-dtags,-rpath,'$ORIGIN/nowhere:${ORIGIN}/../lib'
	found 'RPATH, behind a symbolic link' ''
	grep -qx 'uses mutex             libc-own.so' out && grep -qx 'opened by dlopen       libc-own.so' out &&
		grep -qx '   Others may be, whose locks are not in this list, by: libb.so' out &&
		ok 'doctor: libraries: dlopen' || not_ok 'doctor: libraries: dlopen' "$(cat out err)"
	${CC:-cc} -o tree/bin/prog prog.c -Ltree/lib -la -Wl,-rpath-link,tree/lib \
		-Wl,--enable-new-dtags,-rpath,'$ORIGIN/../lib'
	found 'RUNPATH is not for what libraries need' 'libb.so '
	LD_LIBRARY_PATH="nowhere;$tmp/tree/lib"
	export LD_LIBRARY_PATH
	found 'LD_LIBRARY_PATH' ''
	unset LD_LIBRARY_PATH
	mkdir -p tree/lib64 && mv tree/lib/*.so tree/lib64/
	${CC:-cc} -o tree/bin/prog prog.c -Ltree/lib64 -la -Wl,-rpath-link,tree/lib64 \
		-Wl,--disable-new-dtags,-rpath,"$tmp"'/tree/$LIB'
	found '$LIB in a path' ''
fi

# Reports: the exact texts.
# compare SCENARIO FORM...: what is printed, of one data file.
compare() {
	scenario=$1
	shift
	form=$(echo "$*" | tr -d ' ')
	"$elide" report "$@" $scenario.data >"$scenario$form" 2>&1
	as_expected "$scenario$form" "$scenario$form" "report $scenario $*"
}
for scenario in elide profile killed idle full; do
	"$mkdata" $scenario.data $scenario
	for form in --json --csv --width=200; do
		compare $scenario $form
	done
done
# --html replaces an earlier page, and nothing else.
cp elide.data kept.data
expect '--html does not replace the data' 2 '' \
	'elide: kept.data exists but is not a page of elide report: it is left as it is' \
	report --html kept.data kept.data
cmp -s elide.data kept.data && ok 'the data is left as it is' || not_ok 'the data is left as it is' changed
: >first.html
expect '--html fills an empty file' 0 '' '' report --html first.html full.data
cp first.html again.html
expect '--html replaces a page' 0 '' '' report --html first.html elide.data
! cmp -s first.html again.html && "$elide" report --html - elide.data | cmp -s - first.html &&
	ok 'the page is the new one' || not_ok 'the page is the new one' 'it is not'
# A full disk is said, and so is a file whose rows are lost.
if [ -c /dev/full ]; then
	for form in --json --csv --width=100; do
		"$elide" report $form elide.data >/dev/full 2>err
		rc=$?
		[ $rc -eq 2 ] && [ "$(cat err)" = 'elide: standard output: No space left on device' ] &&
			ok "report $form to a full disk" || not_ok "report $form to a full disk" "exit $rc: $(cat err)"
	done
else
	skip 'a full disk' 'there is no /dev/full'
fi
head -c 18647 elide.data >norows.data
run_elide report norows.data
[ $rc -eq 1 ] && grep -q 'missing: rows 5, misuses 1, lock orders 1; what is left is reported' err &&
	ok 'a file without its rows' || not_ok 'a file without its rows' "exit $rc: $(cat err)"
for view in --by=stack --by=line; do
	for form in --json --csv --width=200; do
		compare full $view $form
	done
	compare profile $view
done
for form in --folded --folded=wait --folded=block --suggest; do
	compare full $form
done
compare profile --suggest
for how in --json --csv --width=100; do
	compare profile --by=thread $how
	LC_ALL=C compare profile --by=time $how
done
for view in thread time; do
	compare idle --by=$view
done
compare full --by=lock --width=200
compare full --by=site --width=200
# Colours: none in a pipe unless asked for; on a terminal, but with NO_COLOR.
on_terminal() { script -qec "$*" /dev/null </dev/null; }
escape=$(printf '\033')
coloured() {
	name=$1 want=$2
	shift 2
	case $("$@" | tr -d '\r') in
	*"$escape[1;31mbottleneck$escape[0m"*) is=yes ;;
	*"$escape"*) is=partly ;;
	*) is=no ;;
	esac
	[ $is = "$want" ] && ok "$name" || not_ok "$name" "coloured: $is"
}
coloured 'no colour in a pipe' no "$elide" report profile.data
coloured '--color=always' yes "$elide" report --color=always profile.data
if command -v script >/dev/null; then
	TERM=xterm
	export TERM
	coloured 'colour on a terminal' yes on_terminal "$elide" report profile.data
	coloured '--color=never' no on_terminal "$elide" report --color=never profile.data
	NO_COLOR=1
	export NO_COLOR
	coloured 'NO_COLOR' no on_terminal "$elide" report profile.data
	coloured '--color=always goes before NO_COLOR' yes "$elide" report --color=always profile.data
	unset NO_COLOR
else
	skip 'colour on a terminal' 'script is not installed'
fi
expect 'a wrong --color' 2 '' 'elide: --color=alway: nearest is always' report --color=alway
# The profile view fits, and names stay before numbers that matter less.
for width in 80 100 120; do
	"$elide" report --width=$width profile.data | sed '/^total/,$d; 1,3d' >fitted
	longest=$(awk '{ if (length > n) n = length } END { print n }' fitted)
	[ "$longest" -le $width ] && grep -q '^subject_index_lock .*subject_insert.* bottleneck$' fitted &&
		! grep -q ' - .* - .* - ' fitted &&
		ok "profile view fits $width columns" ||
		not_ok "profile view fits $width columns" "$(cat fitted)"
done
for width in 80 120; do
	longest=$("$elide" report --width=$width elide.data | sed '/^total/,$d; 1,3d' |
		awk '{ if (length > n) n = length } END { print n }')
	[ "$longest" -le $width ] && [ "$longest" -gt $((width - 15)) ] && ok "table fits $width columns" ||
		not_ok "table fits $width columns" "longest line has $longest"
done
[ "$("$elide" report --csv --top 2 elide.data | wc -l)" -eq 3 ] && ok '--top' || not_ok '--top' 'rows'

# Reports: children
"$mkdata" parent elide 77 10
"$mkdata" parent.11 profile 77 11
"$mkdata" parent.12 idle 77 12
"$mkdata" parent.13 elide 78 13
"$mkdata" parent.14.old elide 77 14
pids=$("$elide" report --json parent 2>err | sed -n 's/ *"pid": \([0-9]*\),/\1/p' | tr '\n' ' ')
[ "$pids" = '10 11 12 ' ] && ok 'children of the run' || not_ok 'children of the run' "pids $pids"
pids=$("$elide" report --json --no-children parent | sed -n 's/ *"pid": \([0-9]*\),/\1/p')
[ "$pids" = 10 ] && ok 'no children' || not_ok 'no children' "pids $pids"
pids=$("$elide" report --csv parent parent.11 -i parent.13 | tail -n +2 | cut -d, -f2 | uniq | tr '\n' ' ')
[ "$pids" = '13 10 11 ' ] && ok 'files only once' || not_ok 'files only once' "pids $pids"
"$elide" report parent | grep -q '^1 process took no lock' && ok 'idle child in one line' ||
	not_ok 'idle child in one line' "$("$elide" report parent | tail -3)"
# json NAME CONDITION COMMAND...: what it prints is JSON, and the condition holds of it, d.
json() {
	name=$1 condition=$2
	shift 2
	if ! command -v python3 >/dev/null; then
		skip "$name" 'python3 is not installed'
		return
	fi
	"$@" 2>err | python3 -c "import json, sys; d = json.load(sys.stdin); assert $condition" 2>>err &&
		ok "$name" || not_ok "$name" "$(tail -1 err)"
}
json 'JSON of several processes' 'd["schema"] == 2 and len(d["processes"]) == 3' \
	"$elide" report --json parent
# Reports: merged
"$elide" report --merge --json parent parent.13 >merged.json 2>err
"$elide" report --json parent parent.13 >each.json 2>err
json 'merged rows are sums' '(lambda m, e: m["program"]["processes"] == 4 and len(m["rows"]) == 5
	and all(m["totals"][k] == sum(p["totals"][k] or 0 for p in e)
		for k in ("acquired", "contended", "failed"))
	and all(m["totals"]["causes"][k] == sum(p["totals"]["causes"][k] or 0 for p in e)
		for k in ("conflict", "busy", "syscall"))
	and m["totals"]["wait_ns"]["count"] == sum(p["totals"]["wait_ns"]["count"] for p in e)
	and m["program"]["threads"] == 8)(d, json.load(open("each.json"))["processes"])' cat merged.json
run_elide report parent
[ "$(grep -c '^LOCK ' out)" -eq 1 ] && grep -q '(2 processes, the first is 10)' out &&
	grep -q '^   pid 11, subject: 26.6k acquisitions, waited 600ms, 2 threads$' out &&
	grep -qx 'elide: 1 data file of other runs is left out: parent.13' err &&
	ok 'the table is of all processes' || not_ok 'the table is of all processes' "$(cat out err)"
run_elide report --each parent
[ "$(grep -c '^LOCK ' out)" -eq 2 ] && ok '--each' || not_ok '--each' "$(cat out)"
run_elide report parent parent.13
[ "$(grep -c '^LOCK ' out)" -eq 3 ] && ok 'files of two runs are not merged' ||
	not_ok 'files of two runs are not merged' "$(cat out)"
run_elide report --html merged.html parent
[ "$(grep -c '<article ' merged.html)" -eq 4 ] && grep -q 'all 3 processes of the run' merged.html &&
	ok 'a page of all processes and each' || not_ok 'a page of all processes and each' "$(cat err)"
json 'JSON of one process' 'd["schema"] == 2 and len(d["rows"]) == 4' "$elide" report --json elide.data

# Reports: bad files
: >empty
head -c 300 /dev/urandom >foreign
head -c 100 elide.data >header
printf 'ELDEDATA\005' >version
tail -c +10 elide.data >>version
expect 'no data file' 2 '' 'elide: elide.nosuch: No such file or directory' report elide.nosuch
expect 'empty file' 2 '' 'elide: empty: empty (offset 0)' report empty
expect 'foreign file' 2 '' 'elide: foreign: not an elide data file (offset 0)' report foreign
expect 'file cut in its header' 1 '' 'elide: header: ends within its header (offset 100)' report header
expect 'other version' 2 '' \
	'elide: version: written in version 5 of the format, this elide reads version 10 (offset 8)' report version
head -c 26624 elide.data >cut
lost='the file ends at offset 26624, 6144 bytes are lost; missing: misuses 1, lock orders 1'
run_elide report cut
[ $rc -eq 1 ] && grep -qx "DAMAGED: $lost. The numbers are of what is left." out &&
	grep -qx "elide: cut: damaged: $lost; what is left is reported" err &&
	ok 'tail lost' || not_ok 'tail lost' "exit $rc: $(cat out err)"
# damaged NAME COMMAND...: it says what is lost, and its exit status is 1.
damaged() {
	local name=$1

	shift
	run_elide "$@"
	[ $rc -eq 1 ] && grep -q "cut: damaged: $lost; what is left is" err && ok "damaged: $name" ||
		not_ok "damaged: $name" "exit $rc: $(cat err)"
}
for view in lock site stack line thread time; do
	damaged "by $view" report --by=$view cut
done
damaged JSON report --json cut
grep -q "\"damaged\": \"$lost\"" out && ok 'damaged: key of JSON' || not_ok 'damaged: key of JSON' "$(cat out)"
damaged CSV report --csv cut
damaged 'stacks folded' report --folded=wait cut
damaged page report --html cut.html cut
grep -q "<b>Damaged:</b> $lost" cut.html && ok 'damaged: on the page' || not_ok 'damaged: on the page' ''
for format in pprof openmetrics trace; do
	damaged $format report --$format cut.$format cut
done
damaged suggestions report --suggest cut
damaged diff diff elide.data cut
damaged 'diff JSON' diff --json cut elide.data
damaged top top --batch --count 1 -i cut
damaged merge merge -o cut.merged cut
run_elide report cut.merged
[ $rc -eq 1 ] && grep -q 'damaged: missing: misuses 1, lock orders 1' err && ok 'what was joined stays damaged' ||
	not_ok 'what was joined stays damaged' "exit $rc: $(cat err)"
# Cut anywhere, or with a block of zeroes anywhere: never other numbers with exit status 0.
"$elide" report --json elide.data >whole.json
size=$(stat -c %s elide.data) silent=
for at in $(seq 16 4099 "$size"); do
	head -c "$at" elide.data >cut
	cp elide.data zeroed
	dd if=/dev/zero of=zeroed bs=1 count=512 seek="$at" conv=notrunc status=none
	for file in cut zeroed; do
		"$elide" report --json $file >out 2>err && ! cmp -s out whole.json && silent="$silent $file:$at"
	done
done
[ -z "$silent" ] && ok 'nothing is lost silently' || not_ok 'nothing is lost silently' "$silent"
run_elide report --csv empty elide.data
[ $rc -eq 2 ] && [ "$(wc -l <out)" -eq 5 ] && ok 'the good file is reported beside a bad one' ||
	not_ok 'the good file is reported beside a bad one' "exit $rc: $(cat out err)"

# Arguments may hold passwords: files are for their owner alone, and ELIDE_ARGS=0 leaves them out.
(umask 022; "$elide" run -q --report=secret.txt -o secret.data -- "$O/tests/tools/sections" --password=xyzzy
	"$elide" report --html secret.html secret.data
	"$elide" merge -q -o secret.merged secret.data
	"$elide" report --trace secret.trace secret.data) >/dev/null 2>&1
modes=$(stat -c %a secret.data secret.txt secret.html secret.merged secret.trace | sort -u)
[ "$modes" = 600 ] && ok 'files are for their owner alone' || not_ok 'files are for their owner alone' "$(ls -l secret.*)"
grep -q xyzzy secret.data && ok 'arguments are in the file' || not_ok 'arguments are in the file' ''
"$elide" run -q --set ARGS=0 -o hidden.data -- "$O/tests/tools/array" --password=xyzzy >/dev/null 2>&1
run_elide report hidden.data
grep -q xyzzy hidden.data && not_ok 'ELIDE_ARGS=0' 'they are in the file' || ok 'ELIDE_ARGS=0'
grep -q 'array (arguments left out) (pid' out && ok 'the report says that arguments were left out' ||
	not_ok 'the report says that arguments were left out' "$(cat out err)"
json 'JSON says that arguments were left out' 'd["program"]["args_left_out"] is True and len(d["program"]["argv"]) == 1' \
	"$elide" report --json hidden.data

# What a process could not write to standard error, and its filter, are told; nothing reaches the terminal.
"$mkdata" unsaid.data unsaid
"$elide" merge -q -o unsaid.merged unsaid.data 2>err
said='cannot write ?]0;title? <b>&zzz'
for file in unsaid.data unsaid.merged; do
	run_elide report $file
	grep -qF "standard error: 2 lines, the last: $said" out && grep -q 'seccomp filter' out &&
		ok "the report of $file has unsaid lines" || not_ok "the report of $file has unsaid lines" "$(cat out err)"
	json "JSON of $file has unsaid lines" 'd["program"]["filter"] is True and d["program"]["unsaid"]["lines"] == 2 and d["program"]["unsaid"]["last"].startswith("cannot write \x1b]0;title") and len(d["program"]["unsaid"]["last"]) == 254' \
		"$elide" report --json $file
	"$elide" report --html - $file >page.html 2>err
	grep -q 'standard error: 2 lines, the last: .*&lt;b&gt;&amp;zzz' page.html && grep -q 'seccomp filter' page.html &&
		ok "the page of $file has unsaid lines" || not_ok "the page of $file has unsaid lines" "$(cat err)"
done

# Doctor, on copies of other machines' files
machine() {
	rm -rf root
	mkdir -p root/proc/sys/kernel root/sys/devices/system/cpu/vulnerabilities
	printf 'vendor_id : %s\nflags : fpu %s\n' "$1" "$2" >root/proc/cpuinfo
	echo "$3" >root/sys/devices/system/cpu/vulnerabilities/tsx_async_abort
	echo "root=/dev/sda $4" >root/proc/cmdline
	echo 6.1.0-test >root/proc/sys/kernel/osrelease
}
# diagnose NAME ANSWER: whether it can be elided; what is emulated is the same on each machine.
diagnose() {
	run_elide doctor --sysroot root
	if [ $rc -eq 0 ] && [ "$(sed -n '1s/; emulated: .*\.$//p' out)" = "profile: yes. elide: $2" ] && grep -q 'Linux 6.1.0-test' out; then
		ok "doctor: $1"
	else
		not_ok "doctor: $1" "exit $rc: $(head -1 out)"
	fi
}
machine GenuineIntel 'rtm' 'Not affected' tsx=on
diagnose 'RTM' 'yes, CPUID shows RTM'
echo 0-1 >root/sys/devices/system/cpu/online
diagnose 'two processors' 'yes, CPUID shows RTM'
echo 0 >root/sys/devices/system/cpu/online
diagnose 'one processor' 'no, RTM works, but there is one processor and no two sections run at once; --mode=elide insists'
machine GenuineIntel 'rtm rtm_always_abort' 'Not affected' ''
diagnose 'always aborts' 'no, RTM_ALWAYS_ABORT: the microcode aborts every transaction'
machine GenuineIntel rtm 'Vulnerable: Clear CPU buffers attempted, no microcode' ''
diagnose 'TAA' 'no, RTM works, but the kernel says it leaks (TAA: Vulnerable: Clear CPU buffers attempted, no microcode); --mode=elide insists'
machine AuthenticAMD avx2 'Not affected' ''
diagnose 'other vendor' 'no, AMD has no RTM'
machine GenuineIntel avx2 'Not affected' tsx=off
diagnose 'tsx=off' 'no, the kernel was started with tsx=off'
expect 'doctor: no such sysroot' 2 '' 'elide: nosuch/proc/cpuinfo: No such file or directory' \
	doctor --sysroot nosuch
expect 'doctor: no such program' 2 '' 'elide: nosuch: No such file or directory' doctor nosuch
run_elide doctor
[ $rc -eq 0 ] && grep -q '^profile: yes\. elide: .*; emulated: .*\.$' out && grep -q '^probe ' out && ok 'doctor: this machine' ||
	not_ok 'doctor: this machine' "exit $rc: $(cat out err)"

# Doctor, on programs
cat >locks.c <<'EOF'
#include <pthread.h>
#include <threads.h>
pthread_mutex_t m;
mtx_t c;
void absl_spin_lock(void) { }
int main(void) { return pthread_mutex_lock(&m) + mtx_lock(&c); }
EOF
cat >inner.c <<'EOF'
#include <pthread.h>
pthread_rwlock_t l;
int inner(void) { return pthread_rwlock_rdlock(&l); }
void lock2(void) __asm__("_ZN4absl12lts_202206235Mutex4LockEv");
void lock2(void) { }
EOF
mkdir lib
${CC:-cc} -shared -fPIC -o lib/libinner.so inner.c
${CC:-cc} -o locks locks.c -Llib -Wl,--no-as-needed -linner -Wl,-rpath,'$ORIGIN/lib'
run_elide doctor ./locks
for want in 'can be preloaded       yes' 'uses mutex             locks' \
	    'uses rwlock            libinner.so' 'uses spin              none' \
	    'uses c11               locks' '  absl::Mutex: libinner.so' \
	    '  spinlocks of its own: locks'; do
	grep -qx "$want" out && ok "doctor: $want" || not_ok "doctor: $want" "$(cat out err)"
done
rm lib/libinner.so
run_elide doctor ./locks
grep -qx 'library not found      libinner.so' out && ok 'doctor: library missing' ||
	not_ok 'doctor: library missing' "$(cat out err)"
if [ -e static ]; then
	run_elide doctor ./static
	[ $rc -eq 1 ] && grep -q '^profile: no, statically linked: .*\. elide: no; emulated: no\.$' out && ok 'doctor: static' || not_ok 'doctor: static' "$(cat out)"
fi
run_elide doctor --json ./lost
[ $rc -eq 2 ] && ok 'doctor: interpreter missing' || not_ok 'doctor: interpreter missing' "exit $rc"

# Tunables
listed=$("$elide" tunables | sed -n 's/^ELIDE_\([A-Z_]*\)=.*/\1/p' | sort)
inlist=$(sed -n 's/^ELIDE_[A-Z]* *([a-z_]*, \([A-Z_]*\),.*/\1/p' "$here/../../lib/tunables.def" | sort)
[ -n "$inlist" ] && [ "$listed" = "$inlist" ] && ok 'tunables: all of them' ||
	not_ok 'tunables: all of them' "$listed"
ELIDE_FILE_MAX=2000 ELIDE_CORES=4 ELIDE_SEED=5 "$elide" tunables FILE_MAX seed >out 2>err
cat >want <<'EOF'
ELIDE_FILE_MAX=64 (default)
    uint 1..1024 MiB, default 64, for the library
    size the data file may grow to
ELIDE_SEED=5
    uint 0..4294967295 seed, default 1, for the emulator
    seed of every random choice of the emulated machine
EOF
same 'tunables: present values' want out
cat >want <<'EOF'
elide: ELIDE_CORES is gone (write ELIDE_MODEL=flat:cores=N, or elide run --cores=N), ignored
elide: ELIDE_FILE_MAX=2000 is out of range, nearest is 1024, using 64
EOF
same 'tunables: bad value, and a setting that is gone' want err
expect 'tunables: unknown name' 2 '' 'elide: STAKS is unknown, nearest is ELIDE_STACKS' tunables STAKS
json 'tunables: JSON' '[t["default"] for t in d["tunables"] if t["name"] == "POLICY"] == ["adaptive"]' \
	"$elide" tunables --json
json 'tunables: numbers of the policies' '[(n["policies"], n["min"], n["max"], n["default"])
	for n in d["tunables"][0]["numbers"] if n["name"] == "conflict"] == [("adaptive|fixed|hpca", 0, 1000, 5)]' \
	"$elide" tunables --json POLICY
json 'doctor: JSON' 'd["mode"] == "profile" and not d["rtm_usable"]' \
	"$elide" doctor --sysroot root --json

# Manual pages: every long option of --help is in the page, and no page has one more
for command in run report doctor stacks attach tunables; do
	"$elide" $command --help | grep -o -- '--[a-z][a-z-]*' | sort -u >in-help
	grep '^\.It Fl' "$O/man/elide-$command.1" | grep -o ' -[a-z][a-z-]*' | sed 's/ -/--/' |
		sort -u >in-page
	same "manual page of $command has its options" in-help in-page
done
for setting in $inlist; do
	grep -q "^\.It Ev ELIDE_$setting\$" "$O/man/elide-tunables.7" ||
		not_ok 'manual page of the settings' "$setting is missing"
done
if command -v mandoc >/dev/null; then
	for page in "$O"/man/*; do
		mandoc -T lint -W warning "$page" >lint && ok "mandoc ${page##*/}" ||
			not_ok "mandoc ${page##*/}" "$(cat lint)"
	done
else
	skip 'mandoc' 'it is not installed'
fi

finish
