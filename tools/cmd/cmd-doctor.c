// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-doctor.c - elide doctor: can locks be profiled and elided here, in this program, and if not, why not.
 *
 * Must never change anything but the record of the emulator's self-test, nor start the program.
 */
#include <errno.h>
#include <getopt.h>
#include <gnu/libc-version.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/json.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/program.h"
#include "../base/unseen.h"
#include "../counters/pmu.h"
#include "../names/names.h"
#include "../run/locks.h"
#include "../run/valgrind.h"
#include "cmd.h"

enum { OPT_JSON = 256, OPT_SYSROOT };

static const struct option_desc options[] = {
	{OPT_JSON, "json", NULL, "print JSON"},
	{OPT_SYSROOT, "sysroot", "DIR", "judge a machine by a copy of its /proc and /sys in DIR"},
	OPTION_HELP,
};

/* The glibc with whose locks elide was tested; the library verifies their layout at each start. */
static const char *const glibc_tested[] = {"2.36", "2.41"};

/* All that elide doctor reports. */
struct findings {
	struct machine machine;
	int of_sysroot;
	enum elide_run_mode mode;
	char why[512];
	struct emulator emulator;
	char emulator_why[512]; /* empty if it can be used */
	char pmu_why[512];      /* empty if transactions can be counted */
	int has_program;
	struct program program;
	struct lock_uses uses;
};

static const char *yes(int truth)
{
	return truth ? "yes" : "no";
}

static int glibc_is_tested(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(glibc_tested); i++)
		if (!strcmp(gnu_get_libc_version(), glibc_tested[i]))
			return 1;
	return 0;
}

/* Why the library cannot be loaded into the program; NULL if it can. */
static const char *program_obstacle(const struct program *p)
{
	enum unseen u = unseen_obstacle(p);

	if (!p->is_elf)
		return "not an ELF program";
	return u == NR_UNSEEN ? NULL : unseen_text(u);
}

/* The answer, in one line. What is emulated runs here, whatever machine is judged. */
static void print_answer(const struct findings *f)
{
	const char *obstacle = f->has_program ? program_obstacle(&f->program) : NULL;

	if (obstacle) {
		printf("profile: no, %s. elide: no; emulated: no.\n\n", obstacle);
		return;
	}
	printf("profile: yes. elide: %s, %s; emulated: %s%s.\n\n", yes(f->mode == ELIDE_RUN_ELIDE), f->why,
	       f->emulator_why[0] ? "no, " : "yes", f->emulator_why);
}

static void print_machine(const struct findings *f)
{
	const struct machine *m = &f->machine;

	printf("RTM in CPUID           %s\n", yes(m->has_rtm));
	printf("RTM_ALWAYS_ABORT       %s\n", yes(m->always_abort));
	printf("processor              %s%s\n", m->vendor[0] ? m->vendor : "unknown",
	       m->hypervisor ? ", under a hypervisor" : "");
	printf("TSX Asynchronous Abort %s\n", m->taa[0] ? m->taa : "the kernel does not say");
	printf("kernel                 Linux %s, %s\n", m->kernel[0] ? m->kernel : "unknown",
	       m->tsx_parameter[0] ? m->tsx_parameter : "no tsx= parameter");
	if (m->probe_died)
		printf("probe                  the process that tried died\n");
	else if (m->probed)
		printf("probe                  of %d transactions each, %u empty and %u storing "
		       "ones committed\n",
		       PROBE_ATTEMPTS, m->empty_commits, m->storing_commits);
	else
		printf("probe                  not tried\n");
	if (!f->of_sysroot)
		printf("glibc                  %s, %s\n", gnu_get_libc_version(),
		       glibc_is_tested()
			       ? "known layout of locks"
			       : "not tried yet; the library verifies the layout of locks at start");
	printf("hardware counters      %s\n",
	       f->pmu_why[0] ? f->pmu_why : "ready: elide run --pmu=stat");
	if (f->of_sysroot)
		return;
	if (f->emulator_why[0])
		printf("emulator               %s\n", f->emulator_why);
	else
		printf("emulator               ready, its self-test has passed on valgrind %s: elide run "
		       "--emulate\n", f->emulator.version);
}

/* Names of objects that have one of the bits of @features or @unseen. */
static json_t *users_of(const struct lock_uses *u, unsigned int features, uint32_t unseen)
{
	json_t *list = json_array();

	for (size_t i = 0; i < u->nr; i++)
		if (u->objects[i].features & features || u->objects[i].unseen & unseen)
			json_array_append_new(list, json_text(u->objects[i].name));
	return list;
}

/* All that has no rows in the program, or only rows of waits. */
static uint32_t unseen_in_program(const struct findings *f)
{
	uint32_t set = unseen_of_program(&f->program);

	for (size_t i = 0; i < f->uses.nr; i++)
		set |= f->uses.objects[i].unseen;
	/* The inlined calls are those of its runtime. */
	if (f->program.is_go || f->program.is_static)
		set &= ~UNSEEN_BIT(futex);
	return set;
}

static bool imports_dlopen(const struct lock_object *o)
{
	return o->imports_dlopen;
}

static bool is_by_name(const struct lock_object *o)
{
	return o->by_name;
}

/* Objects for which @is holds, by name. */
static json_t *those(const struct lock_uses *u, bool (*is)(const struct lock_object *o))
{
	json_t *list = json_array();

	for (size_t i = 0; i < u->nr; i++)
		if (is(&u->objects[i]))
			json_array_append_new(list, json_text(u->objects[i].name));
	return list;
}

static void print_names(json_t *list)
{
	json_t *name;
	size_t i;

	json_array_foreach(list, i, name) printf("%s%s", i ? ", " : "", json_string_value(name));
	printf("%s\n", json_array_size(list) ? "" : "none");
	json_decref(list);
}

/* Objects that may be opened by dlopen(), as far as their names are known. */
static void print_opened(const struct lock_uses *u)
{
	json_t *callers = those(u, imports_dlopen);

	if (json_array_size(callers)) {
		printf("opened by dlopen       ");
		print_names(those(u, is_by_name));
		printf("   Others may be, whose locks are not in this list, by: ");
		print_names(json_incref(callers));
	}
	json_decref(callers);
}

/* A reason, the objects that it is found in, and what shows those locks. */
static void print_reason(const struct findings *f, enum unseen u)
{
	json_t *users = users_of(&f->uses, 0, 1u << u);

	printf("  %s", unseen_name(u));
	printf("%s", json_array_size(users) ? ": " : "\n");
	if (json_array_size(users))
		print_names(json_incref(users));
	json_decref(users);
	if (*unseen_text(u))
		printf("     %s; use %s\n", unseen_text(u), unseen_use(u));
}

static void print_unseen(const struct findings *f)
{
	uint32_t set = unseen_in_program(f);
	bool found = false;

	printf("Locks that are not seen, as far as symbols tell:\n");
	for (unsigned int u = 0; u < NR_UNSEEN; u++) {
		if (!(set >> u & 1) || unseen_scope(u) == UNSEEN_CALLS)
			continue;
		print_reason(f, u);
		found = true;
	}
	if (!found)
		printf("  none\n");
	if (unseen_in(set, UNSEEN_CALLS) == NR_UNSEEN)
		return;
	printf("Locks whose waits are rows of kind futex, while other acquisitions are not counted:\n");
	for (unsigned int u = 0; u < NR_UNSEEN; u++)
		if (set >> u & 1 && unseen_scope(u) == UNSEEN_CALLS)
			print_reason(f, u);
}

static void print_program(const struct findings *f)
{
	const struct program *p = &f->program;
	const char *obstacle = program_obstacle(p);

	printf("\n%s%s%s\n", p->path, p->is_script ? ": a script for " : "",
	       p->is_script ? p->elf : "");
	printf("can be preloaded       %s%s\n", obstacle ? "no, " : "yes",
	       obstacle ? obstacle : "");
	if (!p->is_elf)
		return;
	if (p->sanitizer[0])
		printf("sanitizer              %s, which elide run loads before its library\n",
		       p->sanitizer);
	for (int i = 0; i < NR_IMPORTS; i++) {
		printf("uses %-17s ", lock_feature_names[i]);
		print_names(users_of(&f->uses, 1u << i, 0));
	}
	for (size_t i = 0; i < f->uses.nr; i++)
		if (f->uses.objects[i].missing)
			printf("library not found      %s\n", f->uses.objects[i].name);
	print_opened(&f->uses);
	print_unseen(f);
}

static json_t *json_program(const struct findings *f)
{
	const struct program *p = &f->program;
	json_t *o = json_object(), *uses = json_object(), *hidden = json_object();
	uint32_t set = unseen_in_program(f);

	for (int i = 0; i < NR_IMPORTS; i++)
		json_object_set_new(uses, lock_feature_names[i], users_of(&f->uses, 1u << i, 0));
	for (unsigned int u = 0; u < NR_UNSEEN; u++)
		if (set >> u & 1)
			json_object_set_new(hidden, unseen_name(u), users_of(&f->uses, 0, 1u << u));
	json_object_set_new(o, "path", json_text(p->path));
	json_object_set_new(o, "interpreter", json_text(p->is_script ? p->elf : NULL));
	json_object_set_new(o, "sanitizer", json_text(p->sanitizer[0] ? p->sanitizer : NULL));
	json_object_set_new(o, "obstacle", json_text(program_obstacle(p)));
	json_object_set_new(o, "uses", uses);
	json_object_set_new(o, "dlopen", those(&f->uses, imports_dlopen));
	json_object_set_new(o, "opened", those(&f->uses, is_by_name));
	json_object_set_new(o, "hidden", hidden);
	json_object_set_new(o, "unseen", json_unseen(set));
	return o;
}

static int print_json(const struct findings *f)
{
	const struct machine *m = &f->machine;
	json_t *o = json_object(), *machine = json_object(), *emulator = json_object();

	json_object_set_new(machine, "vendor", json_text(m->vendor));
	json_object_set_new(machine, "rtm", json_boolean(m->has_rtm));
	json_object_set_new(machine, "rtm_always_abort", json_boolean(m->always_abort));
	json_object_set_new(machine, "hypervisor", json_boolean(m->hypervisor));
	json_object_set_new(machine, "tsx_async_abort", json_text(m->taa));
	json_object_set_new(machine, "tsx_parameter", json_text(m->tsx_parameter));
	json_object_set_new(machine, "kernel", json_text(m->kernel));
	json_object_set_new(machine, "one_processor", json_boolean(m->one_processor));
	json_object_set_new(machine, "probed", json_boolean(m->probed));
	json_object_set_new(machine, "empty_commits", json_number(m->empty_commits));
	json_object_set_new(machine, "storing_commits", json_number(m->storing_commits));
	json_object_set_new(machine, "pmu_tx_events", json_boolean(m->has_tx_events));
	json_object_set_new(machine, "pmu_usable", json_boolean(!f->pmu_why[0]));
	json_object_set_new(machine, "pmu_why", json_text(f->pmu_why));
	json_object_set_new(emulator, "usable", json_boolean(!f->emulator_why[0]));
	json_object_set_new(emulator, "valgrind", json_text(f->emulator.version));
	json_object_set_new(emulator, "why", json_text(f->emulator_why));
	json_object_set_new(o, "schema", json_integer(1));
	json_object_set_new(o, "rtm_usable", json_boolean(f->mode == ELIDE_RUN_ELIDE));
	json_object_set_new(o, "mode", json_text(mode_name(f->mode)));
	json_object_set_new(o, "why", json_text(f->why));
	json_object_set_new(o, "machine", machine);
	json_object_set_new(o, "emulator", emulator);
	if (f->has_program)
		json_object_set_new(o, "program", json_program(f));
	return json_print(o, stdout);
}

static int look_at_program(struct findings *f, const char *name)
{
	char path[PATH_MAX];
	int rc = program_find(name, path);

	if (rc == -EACCES)
		rc = snprintf(path, sizeof(path), "%s", name) < PATH_MAX ? 0 : -ENAMETOOLONG;
	if (!rc)
		rc = program_inspect(path, &f->program);
	if (!rc && f->program.is_elf)
		rc = locks_find(f->program.elf, &f->uses);
	if (rc)
		say("%s: %s", name, strerror(-rc));
	f->has_program = 1;
	return rc;
}

/**
 * cmd_doctor() - elide doctor.
 */
int cmd_doctor(int argc, char **argv)
{
	struct findings f = {0};
	const char *sysroot = NULL;
	int key, as_json = 0, rc;

	while ((key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		if (key == 'h') {
			options_help(
				"doctor [OPTION...] [PROGRAM]",
				"Says whether locks can be profiled and elided here. Exit code: 0 profiled, 1 not.",
				options, ARRAY_SIZE(options));
			return 0;
		}
		if (key == OPTIONS_BAD)
			return EXIT_USAGE;
		if (key == OPT_JSON)
			as_json = 1;
		else
			sysroot = optarg;
	}
	if (argc - optind > 1) {
		say("doctor takes one program: elide doctor [OPTION...] [PROGRAM]");
		return EXIT_USAGE;
	}
	f.of_sysroot = !!sysroot;
	rc = machine_read(&f.machine, sysroot);
	if (rc) {
		say("%s/proc/cpuinfo: %s", sysroot, strerror(-rc));
		return EXIT_USAGE;
	}
	if (!pmu_why_not(&f.machine, sysroot ? NULL : pmu_open, f.pmu_why, sizeof(f.pmu_why)))
		f.pmu_why[0] = '\0';
	f.mode = machine_mode(&f.machine, f.why, sizeof(f.why));
	if (!emulator_find(&f.emulator, f.emulator_why, sizeof(f.emulator_why)))
		f.emulator_why[0] = '\0';
	if (optind < argc && look_at_program(&f, argv[optind]))
		return EXIT_USAGE;
	if (as_json) {
		rc = print_json(&f);
	} else {
		print_answer(&f);
		print_machine(&f);
		if (f.has_program)
			print_program(&f);
		if (f.mode == ELIDE_RUN_PROFILE)
			printf("\nWhere threads wait for the same lock (verdict bottleneck), elide run "
			       "--mode=elide restricts how many do.\n");
	}
	locks_free(&f.uses);
	if (rc)
		return EXIT_USAGE;
	return f.has_program && program_obstacle(&f.program) ? EXIT_CONDITION : 0;
}
