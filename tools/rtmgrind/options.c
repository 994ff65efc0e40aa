// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - parses the command line.
 *
 * Must never accept an option without an effect.
 */
#include "options.h"
#include "pub_tool_options.h"
#include "counters.h"
#include "model.h"
#include "stores.h"

struct rtmgrind_options opt = {
	.seed = 1,
	.rtm = True,
};

/**
 * options_parse() - parse one command-line option.
 * @arg: the option
 *
 * Return: False if it is none of the emulator's.
 */
Bool options_parse(const HChar *arg)
{
	const HChar *text;

	if VG_BINT_CLO(arg, "--seed", opt.seed, 0, 0xffffffffLL) {
	} else if VG_STR_CLO(arg, "--quantum", text) {
		model_set("quantum", text);
	} else if VG_STR_CLO(arg, "--abort-rate", text) {
		model_set("abort_rate", text);
	} else if VG_STR_CLO(arg, "--model", text) {
		model_select(text);
	} else if VG_STR_CLO(arg, "--cores", text) {
		model_set("cores", text);
	} else if VG_STR_CLO(arg, "--smt", text) {
		model_set("smt", text);
	} else if VG_STR_CLO(arg, "--sockets", text) {
		model_set("sockets", text);
	} else if (VG_STREQ(arg, "--placement=compact") || VG_STREQ(arg, "--placement=spread")) {
		model_set("spread", VG_STREQ(arg, "--placement=spread") ? "1" : "0");
	} else if VG_BINT_CLO(arg, "--block-accesses", opt.block_accesses, 0, 1000) {
	} else if VG_XACT_CLO(arg, "--deadlock=exit", opt.deadlock_waits, False) {
	} else if VG_XACT_CLO(arg, "--deadlock=wait", opt.deadlock_waits, True) {
	} else if VG_BOOL_CLO(arg, "--rtm", opt.rtm) {
	} else if (VG_STREQ(arg, "--hle=no") || VG_STREQ(arg, "--hle=yes")) {
		model_set("hle", VG_STREQ(arg, "--hle=yes") ? "1" : "0");
	} else if VG_STR_CLO(arg, "--counters", text) {
		counters_option(text);
	} else if VG_BOOL_CLO(arg, "--abort-from-start", opt.abort_from_start) {
	} else if VG_BOOL_CLO(arg, "--stacks", opt.stacks) {
	} else if VG_BOOL_CLO(arg, "--trace-txn", opt.trace) {
	} else if VG_STR_CLO(arg, "--own-stores", text) {
		opt.own_stores = stores_option(text);
		return opt.own_stores;
	} else {
		return False;
	}
	return True;
}

/** options_usage() - print the emulator's part of --help. */
void options_usage(void)
{
	VG_(printf)(
"    --seed=<number>           seed of every random choice [1]\n"
"    --quantum=<number>        mean instructions a thread runs ahead of others [200]\n"
"    --model=<name>[:<number>=<value>,...]  the simulated machine; rtmgrind(1) lists them [flat]\n"
"    --cores=<number>          its cores, in all sockets [8, or the model's]\n"
"    --smt=1|2                 hardware threads of a core [1]\n"
"    --sockets=<number>        sockets [1, or the model's]\n"
"    --placement=compact|spread  threads fill sockets in order, or take the emptiest [compact]\n"
"    --abort-rate=<percent>    transactions that abort for no reason [0]\n"
"    --abort-from-start=no|yes do not wait for the program's start-up probe with those [no]\n"
"    --rtm=no|yes              show RTM in CPUID; no: XBEGIN always fails [yes]\n"
"    --hle=no|yes              XACQUIRE and XRELEASE elide locks [as the machine's processor does]\n"
"    --counters=no|yes|<file>  performance counters at the end, to the log or a file; %%p in its\n"
"                              name is the process [no]\n"
"    --deadlock=exit|wait      a program of which no thread can go on: report and exit\n"
"                              with status 3, or wait for ever [exit]\n"
"    --block-accesses=<number> let others in after so many memory accesses, 0: after\n"
"                              each translated block [0]\n"
"    --stacks=no|yes           keep the stacks at aborts for the program to ask for [no]\n"
	);
}

/** options_debug_usage() - print the emulator's part of --help-debug. */
void options_debug_usage(void)
{
	VG_(printf)(
"    --trace-txn=no|yes        log every begin, commit and abort [no]\n"
"    --own-stores=<offset>,<size>,<first>+<bytes>,...  report any other store of a library to\n"
"                              a thread's block, or elsewhere, inside the library's transactions\n"
	);
}
