// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_learned.c - the file of ELIDE_LEARNED: its format, what is hostile, and its replacement.
 * Longer than 500 lines, as all of them make the same files.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/small-file.h"
#include "../../lib/compiler.h"
#include "../../lib/state/learned.h"
#include "child.h"

#define MACHINE "processors=4 rtm=2"
#define MIB     (1u << 20)

static struct elide_module program = {.build_id_len = 20, .build_id = "program-build-id-001",
				      .path = "/opt/program"};
static struct elide_module library = {.build_id_len = 16, .build_id = "library-build-id",
				      .path = "/usr/lib/liblocks.so.1"};

static struct learned_image *new_image(void)
{
	struct learned_image *image = calloc(1, sizeof(*image));

	check(image);
	return image;
}

static uint64_t *new_bytes(void)
{
	void *bytes = calloc(1, LEARNED_MAX);

	check(bytes);
	return bytes;
}

/* A class of the program with a site in the library. */
static struct learned_class make_class(struct learned_image *image, uint64_t offset, uint8_t arm)
{
	return (struct learned_class){
		.object = learned_image_object(image, &program),
		.type = ELIDE_CLASS_STATIC,
		.kind = ELIDE_KIND_MUTEX,
		.offset = offset,
		.array = 256,
		.nr_sites = 1,
		.arm = arm,
		.asked = 3,
		.period_us = 4000,
		.due_us = 1000,
		.aborts = 70,
		.confidence = 990,
		.waits = 80,
		.sites[0] = {
			.object = learned_image_object(image, &library),
			.kind = ELIDE_KIND_MUTEX,
			.offset = 0x77,
		},
	};
}

static void add(struct learned_image *image, uint64_t offset, uint8_t arm)
{
	struct learned_class c = make_class(image, offset, arm);

	learned_image_class(image, &c, 0);
}

/* A file with classes at 0x3000, 0x1000 and 0x2000. */
static size_t make_file(uint64_t *bytes)
{
	struct learned_image *image = new_image();
	size_t size;

	add(image, 0x3000, POLICY_ARM_patient);
	add(image, 0x1000, POLICY_ARM_real);
	add(image, 0x2000, POLICY_ARM_keen);
	size = learned_image_write(image, MACHINE, bytes);
	free(image);
	return size;
}

/* What the file has of the class of a lock at @offset. */
static const struct learned_class *find(const struct learned_file *f, uint64_t offset)
{
	struct learned_class wanted = {.type = ELIDE_CLASS_STATIC, .kind = ELIDE_KIND_MUTEX,
				       .offset = offset};
	bool other_build;

	wanted.object = learned_object(f, &program, &other_build);
	return wanted.object == LEARNED_NONE ? NULL : learned_class(f, &wanted);
}

static void what_was_written_is_read(void **state)
{
	uint64_t *bytes = new_bytes();
	size_t size = make_file(bytes);
	const struct learned_class *c;
	struct learned_site wanted = {.kind = ELIDE_KIND_MUTEX, .offset = 0x77};
	struct learned_file f;
	bool other_build;

	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_int_equal(f.header->nr_classes, 3);
	assert_true(f.same_arms);
	c = find(&f, 0x2000);
	assert_non_null(c);
	assert_int_equal(f.arm[c->arm], POLICY_ARM_keen);
	assert_int_equal(c->asked, 3);
	assert_int_equal(c->confidence, 990);
	assert_int_equal(c->period_us, 4000);
	assert_int_equal(c->due_us, 1000);
	assert_int_equal(c->aborts, 70);
	assert_int_equal(c->waits, 80);
	wanted.object = learned_object(&f, &library, &other_build);
	assert_false(other_build);
	assert_non_null(learned_site(&f, c, &wanted));
	wanted.kind = ELIDE_KIND_SPIN;
	assert_null(learned_site(&f, c, &wanted));
	wanted = (struct learned_site){.kind = ELIDE_KIND_MUTEX, .offset = 0x78,
				       .object = wanted.object};
	assert_null(learned_site(&f, c, &wanted));
	free(bytes);
}

/* Any lock of an array, and no other one. */
static void an_array_is_found_by_its_locks(void **state)
{
	uint64_t *bytes = new_bytes();
	size_t size = make_file(bytes);
	struct learned_file f;

	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_ptr_equal(find(&f, 0x20ff), find(&f, 0x2000));
	assert_null(find(&f, 0x2100));
	assert_null(find(&f, 0xfff));
	assert_null(find(&f, 0));
	free(bytes);
}

static void another_build_is_seen(void **state)
{
	struct elide_module rebuilt = program, unnamed = {.path = "/opt/program"};
	uint64_t *bytes = new_bytes();
	size_t size = make_file(bytes);
	struct learned_file f;
	bool other_build;

	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	rebuilt.build_id[0] ^= 1;
	assert_int_equal(learned_object(&f, &rebuilt, &other_build), LEARNED_NONE);
	assert_true(other_build);
	strcpy(rebuilt.path, "/opt/other");
	assert_int_equal(learned_object(&f, &rebuilt, &other_build), LEARNED_NONE);
	assert_false(other_build);
	assert_int_equal(learned_object(&f, &unnamed, &other_build), LEARNED_NONE);
	free(bytes);
}

static enum elide_learned open_changed(uint64_t *bytes, size_t size)
{
	struct learned_header *h = (struct learned_header *)bytes;
	struct learned_file f;

	if (size >= sizeof(*h) && size % 8 == 0)
		h->checksum = learned_checksum(bytes, size);
	return learned_open(&f, bytes, size, MACHINE);
}

static void what_cannot_be_used_is_named(void **state)
{
	uint64_t *good = new_bytes(), *bytes = new_bytes();
	struct learned_header *h = (struct learned_header *)bytes;
	size_t size = make_file(good);
	struct learned_file f;

	assert_int_equal(learned_open(&f, good, 0, MACHINE), ELIDE_LEARNED_new);
	assert_int_equal(learned_open(&f, good, 7, MACHINE), ELIDE_LEARNED_foreign);
	assert_int_equal(learned_open(&f, good, 100, MACHINE), ELIDE_LEARNED_damaged);
	assert_int_equal(learned_open(&f, good, size - 8, MACHINE), ELIDE_LEARNED_damaged);
	assert_int_equal(learned_open(&f, good, size, "processors=8 rtm=2"), ELIDE_LEARNED_machine);
	assert_null(f.header);
	memcpy(bytes, good, size);
	h->magic++;
	assert_int_equal(open_changed(bytes, size), ELIDE_LEARNED_foreign);
	memcpy(bytes, good, size);
	h->version++;
	assert_int_equal(open_changed(bytes, size), ELIDE_LEARNED_version);
	free(good);
	free(bytes);
}

/* A change of any bit is seen. */
static void damage_is_seen(void **state)
{
	uint64_t *bytes = new_bytes();
	size_t size = make_file(bytes);
	struct learned_file f;

	for (size_t i = 0; i < size; i++)
		for (int bit = 0; bit < 8; bit++) {
			((char *)bytes)[i] ^= 1 << bit;
			assert_int_not_equal(learned_open(&f, bytes, size, MACHINE),
					     ELIDE_LEARNED_used);
			((char *)bytes)[i] ^= 1 << bit;
		}
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	free(bytes);
}

/* Each member out of its range, with a checksum that fits. */
static void numbers_out_of_range_are_refused(void **state)
{
	uint64_t *good = new_bytes(), *bytes = new_bytes();
	size_t size = make_file(good), objects, classes;
	struct learned_header *h = (struct learned_header *)bytes;
	struct learned_arm *arm = (struct learned_arm *)(h + 1);
	struct learned_object *o = (struct learned_object *)(arm + POLICY_NR_ARMS);
	struct learned_class *c = (struct learned_class *)(o + 2);

	objects = ((struct learned_header *)good)->nr_objects;
	classes = ((struct learned_header *)good)->nr_classes;
	assert_int_equal(objects, 2);
	assert_int_equal(classes, 3);
#define REFUSED(change)                                                             \
	do {                                                                        \
		memcpy(bytes, good, size);                                          \
		change;                                                             \
		assert_int_equal(open_changed(bytes, size), ELIDE_LEARNED_damaged); \
	} while (0)
	memcpy(bytes, good, size);
	assert_int_equal(open_changed(bytes, size), ELIDE_LEARNED_used);
	REFUSED(h->header_size = 8);
	REFUSED(h->size += 8);
	REFUSED(h->nr_arms = 65);
	REFUSED(h->nr_arms = UINT32_MAX);
	REFUSED(h->nr_objects = UINT32_MAX);
	REFUSED(h->nr_objects = 0);
	REFUSED(h->nr_classes = UINT32_MAX);
	REFUSED(h->nr_classes--);
	REFUSED(memset(h->machine, 'x', sizeof(h->machine)));
	REFUSED(memset(arm[1].name, 'x', sizeof(arm[1].name)));
	REFUSED(o[1].build_id_len = 0);
	REFUSED(o[1].build_id_len = 37);
	REFUSED(memset(o[1].path, 'x', sizeof(o[1].path)));
	REFUSED(c[1].object = 2);
	REFUSED(c[1].type = 0);
	REFUSED(c[1].type = 4);
	REFUSED(c[1].kind = 0);
	REFUSED(c[1].kind = ELIDE_NR_KINDS);
	REFUSED(c[1].shared = 2);
	REFUSED(c[1].nr_sites = 9);
	REFUSED(c[1].arm = POLICY_NR_ARMS);
	REFUSED(c[1].confidence = 1001);
	REFUSED(c[1].offset = c[0].offset);
	REFUSED(c[1].offset = c[2].offset + 1);
	REFUSED(c[1].sites[0].object = 2);
	REFUSED(c[1].sites[0].kind = ELIDE_NR_KINDS);
	free(good);
	free(bytes);
}

/* Arms go by name: one that this library lacks, or that is never an incumbent, is not known. */
static void arms_go_by_name(void **state)
{
	uint64_t *bytes = new_bytes();
	size_t size = make_file(bytes);
	struct learned_header *h = (struct learned_header *)bytes;
	struct learned_arm *arm = (struct learned_arm *)(h + 1);
	struct learned_arm swapped;
	struct learned_file f;

	swapped = arm[POLICY_ARM_real];
	arm[POLICY_ARM_real] = arm[POLICY_ARM_patient];
	arm[POLICY_ARM_patient] = swapped;
	strcpy(arm[POLICY_ARM_keen].name, "no-such-arm");
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_damaged);
	h->checksum = learned_checksum(bytes, size);
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_false(f.same_arms);
	assert_int_equal(f.arm[find(&f, 0x3000)->arm], POLICY_ARM_real);
	assert_int_equal(f.arm[find(&f, 0x1000)->arm], POLICY_ARM_patient);
	assert_null(find(&f, 0x2000));
	strcpy(arm[POLICY_ARM_keen].name, "probe");
	h->checksum = learned_checksum(bytes, size);
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_null(find(&f, 0x2000));
	free(bytes);
}

static void files_are_merged(void **state)
{
	uint64_t *old = new_bytes(), *bytes = new_bytes();
	struct learned_image *image = new_image();
	struct learned_class c;
	struct learned_file f;
	size_t size;

	assert_int_equal(learned_open(&f, old, make_file(old), MACHINE), ELIDE_LEARNED_used);
	add(image, 0x2000, POLICY_ARM_lean); /* the new one's counts */
	add(image, 0x500, POLICY_ARM_lean);
	/* Used, and nothing was decided: one of each file, and one of none. */
	c = make_class(image, 0x1000, POLICY_ARM_patient);
	learned_image_class(image, &c, 400);
	c.offset = 0x9000;
	learned_image_class(image, &c, 400);
	learned_image_merge(image, &f);
	size = learned_image_write(image, MACHINE, bytes);
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_int_equal(f.header->nr_classes, 4);
	assert_int_equal(f.arm[find(&f, 0x2000)->arm], POLICY_ARM_lean);
	assert_int_equal(find(&f, 0x2000)->due_us, 1000);
	assert_int_equal(f.arm[find(&f, 0x500)->arm], POLICY_ARM_lean);
	assert_int_equal(f.arm[find(&f, 0x1000)->arm], POLICY_ARM_real);
	assert_int_equal(find(&f, 0x1000)->due_us, 600);
	assert_int_equal(f.arm[find(&f, 0x3000)->arm], POLICY_ARM_patient);
	assert_null(find(&f, 0x9000));
	free(image);
	free(old);
	free(bytes);
}

/* Of a program that was built anew the old build goes. */
static void another_build_replaces(void **state)
{
	struct elide_module before = program;
	uint64_t *old = new_bytes(), *bytes = new_bytes();
	struct learned_image *image = new_image();
	struct learned_file f;
	bool other_build;
	size_t size;

	assert_int_equal(learned_open(&f, old, make_file(old), MACHINE), ELIDE_LEARNED_used);
	program.build_id[3] ^= 1;
	add(image, 0x500, POLICY_ARM_lean);
	learned_image_merge(image, &f);
	size = learned_image_write(image, MACHINE, bytes);
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_int_equal(f.header->nr_classes, 1);
	assert_int_equal(learned_object(&f, &before, &other_build), LEARNED_NONE);
	program = before;
	free(image);
	free(old);
	free(bytes);
}

/* As many classes as there is room for, in no order: no file is larger than the bound. */
static void a_full_file_has_its_bound(void **state)
{
	struct learned_image *image = new_image();
	uint64_t *bytes = new_bytes();
	struct learned_file f;
	size_t size;

	for (uint32_t i = 0; i < LEARNED_CLASSES + 10; i++)
		add(image, (uint64_t)(i * 2654435761u) << 16 | i, POLICY_ARM_real);
	assert_int_equal(image->left_out, 10);
	for (struct elide_module m = library; image->nr_objects < LEARNED_OBJECTS; m.build_id[0]++) {
		m.build_id[1] = image->nr_objects / 200;
		assert_int_not_equal(learned_image_object(image, &m), LEARNED_NONE);
	}
	program.build_id[5] ^= 1;
	assert_int_equal(learned_image_object(image, &program), LEARNED_NONE);
	program.build_id[5] ^= 1;
	size = learned_image_write(image, MACHINE, bytes);
	assert_in_range(size, LEARNED_MAX / 2, LEARNED_MAX);
	assert_int_equal(learned_open(&f, bytes, size, MACHINE), ELIDE_LEARNED_used);
	assert_int_equal(f.header->nr_classes, LEARNED_CLASSES);
	for (uint32_t i = 0; i < LEARNED_CLASSES; i += 97)
		assert_non_null(find(&f, (uint64_t)(i * 2654435761u) << 16 | i));
	free(image);
	free(bytes);
}

/* Runs in a folder of its own, in a child. */
static void in_folder(void (*body)(void))
{
	char folder[] = "/tmp/elide-learned-XXXXXX", command[64];
	int status = 0;
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	pid = fork();
	if (!pid) {
		check(!chdir(folder));
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(status, 0);
}

static void replaced_whole(void)
{
	struct stat st;
	char bytes[16];

	check(elide_small_read("file", bytes, sizeof(bytes)) == -ENOENT);
	check(!elide_small_replace("file", "first", 5));
	check(!stat("file", &st) && (st.st_mode & 07777) == 0600);
	check(elide_small_read("file", bytes, sizeof(bytes)) == 5 && !memcmp(bytes, "first", 5));
	check(elide_small_read("file", bytes, 4) == -EFBIG);
	check(!elide_small_replace("file", "second", 6));
	check(elide_small_read("file", bytes, sizeof(bytes)) == 6 && !memcmp(bytes, "second", 6));
	check(!system("test $(ls | wc -l) = 1"));
}

static void a_file_is_replaced_whole(void **state)
{
	in_folder(replaced_whole);
}

static void not_followed(void)
{
	char bytes[16], stale[64];

	check(!elide_small_replace("target", "kept", 4) && !symlink("target", "link"));
	check(elide_small_read("link", bytes, sizeof(bytes)) == -ELOOP);
	check(!mkfifo("pipe", 0600) && !mkdir("folder", 0700));
	check(elide_small_read("pipe", bytes, sizeof(bytes)) == -EINVAL);
	check(elide_small_read("folder", bytes, sizeof(bytes)) == -EINVAL);
	check(elide_small_read("nowhere/file", bytes, sizeof(bytes)) == -ENOENT);
	/* A link with the name of the new file, of whoever guessed the process id. */
	snprintf(stale, sizeof(stale), "file.%d.new", getpid());
	check(!symlink("target", stale));
	check(!elide_small_replace("file", "new", 3));
	check(elide_small_read("file", bytes, sizeof(bytes)) == 3);
	check(elide_small_read("target", bytes, sizeof(bytes)) == 4 && !memcmp(bytes, "kept", 4));
	for (int nr = 2; nr <= 16; nr++) {
		snprintf(stale, sizeof(stale), "file.%d.%d.new", getpid(), nr);
		check(!symlink("target", stale));
	}
	check(elide_small_replace("file", "newer", 5) == -EEXIST);
	check(elide_small_read("file", bytes, sizeof(bytes)) == 3);
}

static void links_are_not_followed(void **state)
{
	in_folder(not_followed);
}

static void limited(void)
{
	struct rlimit limit = {1000, 1000};
	static char bytes[2000];

	check(!elide_small_replace("file", "old", 3));
	check(!setrlimit(RLIMIT_FSIZE, &limit));
	check(elide_small_replace("file", bytes, sizeof(bytes)) == -EFBIG);
	check(elide_small_read("file", bytes, sizeof(bytes)) == 3 && !memcmp(bytes, "old", 3));
	check(!system("test $(ls | wc -l) = 1"));
}

static void a_size_limit_leaves_the_old_file(void **state)
{
	in_folder(limited);
}

static void full(void)
{
	static char bytes[MIB];

	check(!elide_small_replace("file", "old", 3));
	check(elide_small_replace("file", bytes, sizeof(bytes)) == -ENOSPC);
	check(elide_small_read("file", bytes, sizeof(bytes)) == 3 && !memcmp(bytes, "old", 3));
	check(!system("test $(ls | wc -l) = 1"));
}

/* A file system of 64 KiB, in a name space of its own. */
static void full_disk(void)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		_exit(77);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", ".", "tmpfs", 0, "size=64k"))
		_exit(77);
	check(!chdir(getcwd((char[256]){0}, 256)));
	full();
	check(!chdir("/"));
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	char folder[] = "/tmp/elide-learned-XXXXXX";
	int status = 0;
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	pid = fork();
	if (!pid) {
		check(!chdir(folder));
		full_disk();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(rmdir(folder), 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no file system may be mounted here */
	assert_int_equal(status, 0);
}

/* Another process that does not let go is not waited for. */
static void held_lock(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY), lock;

	check(fd >= 0 && !flock(fd, LOCK_EX));
	check(elide_small_lock("file") == -EWOULDBLOCK);
	check(!flock(fd, LOCK_UN));
	lock = elide_small_lock("file");
	check(lock >= 0 && flock(fd, LOCK_EX | LOCK_NB));
	elide_small_unlock(lock);
	check(!flock(fd, LOCK_EX | LOCK_NB));
	check(elide_small_lock("nowhere/file") == -ENOENT);
}

static void the_lock_has_a_bound(void **state)
{
	in_folder(held_lock);
}

#define WRITERS 8
#define ROUNDS  20

/* One end of a process: merge one more class with the file, and replace it. */
static void end_once(uint64_t offset, bool locks)
{
	struct learned_image *image = new_image();
	uint64_t *bytes = new_bytes(), *old = new_bytes();
	struct learned_file f = {0};
	int lock = -1;
	ssize_t n;

	/* Here a writer has to get its turn, however busy the machine is. */
	while (locks && (lock = elide_small_lock("file")) == -EWOULDBLOCK)
		;
	check(!locks || lock >= 0);
	n = elide_small_read("file", old, LEARNED_MAX);
	check(n == -ENOENT || learned_open(&f, old, n, MACHINE) == ELIDE_LEARNED_used);
	add(image, offset, POLICY_ARM_lean);
	learned_image_merge(image, &f);
	check(!elide_small_replace("file", bytes, learned_image_write(image, MACHINE, bytes)));
	elide_small_unlock(lock);
	free(image);
	free(bytes);
	free(old);
}

static uint64_t seed;

static void write_at_once(bool locks)
{
	uint64_t *bytes = new_bytes(), random = seed;
	struct learned_file f;
	int status, failed = 0;

	for (int w = 0; w < WRITERS; w++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		if (fork())
			continue;
		for (int i = 0; i < ROUNDS; i++) {
			/* The others end in between, or not. */
			for (uint32_t n = random >> 40 & 7; n; n--)
				sched_yield();
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			end_once(0x1000 * (uint64_t)(w * ROUNDS + i + 1), locks);
		}
		_exit(0);
	}
	while (wait(&status) > 0)
		failed |= status;
	check(!failed);
	check(learned_open(&f, bytes, elide_small_read("file", bytes, LEARNED_MAX), MACHINE) ==
	      ELIDE_LEARNED_used);
	/* With the lock nothing is lost; without it at least the last writer's is there. */
	check(!locks || f.header->nr_classes == WRITERS * ROUNDS);
	check(f.header->nr_classes >= 1 && !system("test $(ls | wc -l) = 1"));
	free(bytes);
}

static void locked_writers(void)
{
	write_at_once(true);
}

static void unlocked_writers(void)
{
	write_at_once(false);
}

static void several_writers_leave_a_whole_file(void **state)
{
	for (seed = 1; seed <= 3; seed++) {
		print_message("seed %lu\n", (unsigned long)seed);
		in_folder(locked_writers);
		in_folder(unlocked_writers);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(an_array_is_found_by_its_locks),
		cmocka_unit_test(another_build_is_seen),
		cmocka_unit_test(what_cannot_be_used_is_named),
		cmocka_unit_test(damage_is_seen),
		cmocka_unit_test(numbers_out_of_range_are_refused),
		cmocka_unit_test(arms_go_by_name),
		cmocka_unit_test(files_are_merged),
		cmocka_unit_test(another_build_replaces),
		cmocka_unit_test(a_full_file_has_its_bound),
		cmocka_unit_test(a_file_is_replaced_whole),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(a_size_limit_leaves_the_old_file),
		cmocka_unit_test(a_full_disk_leaves_the_old_file),
		cmocka_unit_test(the_lock_has_a_bound),
		cmocka_unit_test(several_writers_leave_a_whole_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
