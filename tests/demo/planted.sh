#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check: seconds=35
#
# Faults planted into the trees of the thesis: each must be caught by the per-key histories of
# linear or by the check of the structure, on simulated cores. The faults are edits of copies of
# source files. $CC the compiler.

. "$(dirname "$0")/../script.sh"
CC=${CC:-gcc}
# Seeds that may pass before a fault is caught.
SEEDS_MAX=${PLANTED_SEEDS:-20}
cd "$tmp" || exit 1
# Per cent of the program's own transactions that abort for no reason.
rate=0

# build NAME FILE EDIT SOURCES: ./linear with FILE of demo/ edited by sed; SOURCES, FILE itself or
# those that include it, are compiled again.
build() {
	rm -rf demo new linear index_bench
	cp -r "$root/demo" demo
	sed -i "$3" "demo/$2"
	if cmp -s "$root/demo/$2" "demo/$2"; then
		not_ok "$1" "the edit does not change $2"
		return 1
	fi
	objects=
	mkdir new
	for source in $4; do
		object=new/$(echo "$source" | tr / _).o
		$CC -std=gnu11 -D_GNU_SOURCE -O2 -g -w -c -o "$object" "demo/$source" || return 1
		objects="$objects $object"
	done
	while read -r part; do
		case " $4 " in
		*" $part.c "*) ;;
		*) objects="$objects $O/obj/demo/$part.o" ;;
		esac
	done <"$O/tests/demo/parts"
	# shellcheck disable=SC2086 # several objects
	$CC -o linear "$O/obj/tests/demo/linear.o" $objects -pthread -lm &&
		$CC -o index_bench "$O/obj/demo/bench/index_bench.o" $objects -pthread -lm
}

# emulated SECONDS COMMAND...: into out. The library takes no part but that it begins the aborts.
emulated() {
	limit=$1
	shift
	timeout -k 5 "$limit" "$elide" run -q --emulate --cores=4 --seed=$seed --abort-rate=$rate \
		--mode=profile -o d.data -- "$@" >out 2>&1
}

# caught NAME FILE EDIT SOURCES ARG...: a seed on which linear with the fault says that something
# is wrong, crashes, or does not end.
caught() {
	name=$1 file=$2 edit=$3 sources=$4
	shift 4
	build "$name" "$file" "$edit" "$sources" || { not_ok "$name" 'not built'; return; }
	index=$1 scheme=$2 seed=0
	shift 2
	ulimit -c 0
	while [ $seed -lt "$SEEDS_MAX" ]; do
		seed=$((seed + 1))
		emulated 20 ./linear "$index" "$scheme" $seed 20 "$@"
		rc=$?
		[ $rc -ne 0 ] || continue
		ok "$name"
		return
	done
	not_ok "$name" "nothing was found on $SEEDS_MAX seeds"
}

# caught_sorted NAME FILE EDIT SOURCES ARG...: as caught, with index_bench, whose threads all insert
# behind the last key, so that nodes with a thread inside are moved.
caught_sorted() {
	name=$1 file=$2 edit=$3 sources=$4
	shift 4
	build "$name" "$file" "$edit" "$sources" || { not_ok "$name" 'not built'; return; }
	seed=0
	while [ $seed -lt "$SEEDS_MAX" ]; do
		seed=$((seed + 1))
		timeout -k 5 20 "$elide" run -q --emulate --cores=8 --seed=$seed --mode=off \
			-o d.data -- ./index_bench "$@" --keys=sorted --updates=100 --threads=8 \
			--preload=200 --ops=6000 --seed=$seed >out 2>&1 && continue
		ok "$name"
		return
	done
	not_ok "$name" "nothing was found on $SEEDS_MAX seeds"
}

# sound INDEX SCHEME OPTION...: the same without a fault, on the seeds on which all faults are found.
sound() {
	name=$(echo "sound $*" | tr ' =' '--')
	index=$1 scheme=$2 seed=0
	shift 2
	while [ $seed -lt 2 ]; do
		seed=$((seed + 1))
		if ! emulated 60 "$O/tests/demo/linear" "$index" "$scheme" $seed 20 "$@"; then
			not_ok "$name" "seed $seed: $(cat out)"
			return
		fi
	done
	ok "$name"
}

needs planted emulator plain
sound blink latch node=64
sound bplus latch node=64
sound bplus olc node=128
sound csb latch node=64
caught blink-no-move-right sync/link.h 's/while (node_beyond(node, key))/while (0)/' \
	sync/blink.c blink latch node=64
caught blink-parent-without-move-right sync/link.h \
	's/node = write_right(g, node, p->key);/if (node->level) node_write(g, node); else &/' \
	sync/blink.c blink latch node=64
caught bplus-no-coupling sync/bplus.c '/^static.*couple(/,/^}/s/acquire(g, child.*/;/;
	/^static.*couple(/,/^}/{s/release(g, node, inner);/release(g, node, inner); acquire(g, child, node->level > 1 ? inner : leaf);/}' \
	sync/bplus.c bplus latch node=64
caught bplus-stale-root sync/bplus.c 's/if (likely(root == node_get_link(tree->root)))/if (1)/' \
	sync/bplus.c bplus latch node=64
caught olc-no-version-check latch/version.h \
	's/return __atomic_load_n(word, __ATOMIC_RELAXED) == version;/return 1;/' \
	sync/bplus-olc.c bplus olc node=128
caught olc-no-increment latch/version.h \
	's/__atomic_load_n(word, __ATOMIC_RELAXED) + VERSION_HELD,/__atomic_load_n(word, 0) - 1,/' \
	sync/bplus-olc.c bplus olc node=128
caught_sorted csb-moved-without-latch sync/csb.c \
	's/[a-z]*_children(g, layout, node, from, last, NULL);/;/' sync/csb.c \
	--index=csb --scheme=latch --node=64
caught_sorted csb-moved-to-group-without-latch sync/csb.c \
	's/[a-z]*_children(g, layout, node, from, last, below);/;/' sync/csb.c \
	--index=csb --scheme=latch --node=64
caught csb-no-coupling sync/csb.c '/^static.*couple(/,/^}/{
	s/csb_node \*child = acquire_child(g, &tree->layout, node, key);/csb_node *child = csb_child(\&tree->layout, node, child_at(node, key));/
	s/release(g, node);/release(g, node); acquire(g, child);/}' sync/csb.c csb latch node=64

sound olfit version node=64
caught olfit-no-move-right sync/link-version.h 's/if (likely(!node_beyond(node, key)))/if (1)/' \
	sync/olfit.c olfit version node=64
caught olfit-no-version-check latch/version.h \
	's/return __atomic_load_n(word, __ATOMIC_RELAXED) == version;/return 1;/' \
	sync/olfit.c olfit version node=64
caught olfit-no-increment latch/version.h \
	's/__atomic_load_n(word, __ATOMIC_RELAXED) + VERSION_HELD,/__atomic_load_n(word, 0) - 1,/' \
	sync/olfit.c olfit version node=64
caught olfit-latch-without-check sync/link-version.h \
	's/!version_upgrade(&node->word, version)/(version_acquire(\&node->word), 0)/' \
	sync/olfit.c olfit version node=64

sound bw cas node=64
caught bw-no-move-right sync/bw.c 's/if (bw_beyond(node, key))/if (0)/' sync/bw.c bw cas node=64
# Others would tell it, on their way.
caught bw-parent-not-told sync/bw.c 's/if (unlikely(step->made))/if (0)/; s/!path->helped)/0)/' \
	sync/bw.c bw cas node=64
caught bw-parent-told-twice sync/bw.c 's/if (bw_child(.*== right)/if (0)/' sync/bw.c bw cas node=64
caught bw-no-epoch bw/step.c 's/epoch_retire(&thread->epoch, /pool_put(/' bw/step.c bw cas node=64

# With spurious aborts, so that steps under latches run beside transactions.
rate=20
sound bw mwcas node=64
sound bw mwcas node=64 attempts=0
caught bw-latch-not-read sync/bw-words.h 's/if (unlikely(node_get(tree->latch)))/if (0)/' \
	sync/bw.c bw mwcas node=64 attempts=1
caught bw-lone-cas sync/bw.c \
	's/swap_words(tree, thread, steps, nr);/(nr > 1 ? swap_words(tree, thread, steps, nr) : swap_word(tree, steps));/' \
	sync/bw.c bw mwcas node=64 attempts=0
caught bw-parents-not-changed sync/bw.c 's/while (steps\[\*nr - 1\].made)/while (0)/' \
	sync/bw.c bw mwcas node=64
caught bw-words-not-compared sync/bw-words.h 's/!= steps\[i\].old)/!= steps[i].old \&\& !i)/' \
	sync/bw.c bw mwcas node=64
sound bx rtm node=64
sound bx rtm node=64 fallback=version
caught bx-no-move-right sync/bx.c 's/while (node_beyond(node, key))/while (0)/' \
	sync/bx.c bx rtm node=64
caught bx-latch-not-read sync/bx.c 's/if (unlikely(by_version(g) ? .*/if (0)/' \
	sync/bx.c bx rtm node=64
caught bx-version-not-raised sync/bx.c 's/node_set(node->word, .*/;/' \
	sync/bx.c bx rtm node=64 fallback=version
finish
