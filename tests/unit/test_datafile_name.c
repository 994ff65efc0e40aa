/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_datafile_name.c - where the data file goes, and whose files are left alone. */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>

#include "../../lib/base/datafile-children.h"
#include "data-folder.h"

#define MIB (1 << 20)

static void name_is_expanded(void)
{
	char expect[64];

	open_data("a-%e-%p-%x-%", MIB);
	snprintf(expect, sizeof(expect), ".a-test_datafile_name-%d-%%x-%%.live", (int)getpid());
	check(exists(expect));
	elide_data_close();
	check(!exists(expect) && exists(strtok(expect + 1, "."))); /* the name has no other dot */
}

static void older_becomes_old(void)
{
	put_older("data", 0);
	open_data("data", MIB);
	check(exists("data.old"));
	check(elide_data->state == ELIDE_FILE_LIVE);
}

static void foreign_is_left_alone(void)
{
	put("data", "my thesis");
	open_data("data", MIB);
	check(holds("data", "my thesis") && !exists("data.old"));
}

static void foreign_old_is_left_alone(void)
{
	put_older("data", 0);
	put("data.old", "my thesis");
	open_data("data", MIB);
	check(holds("data.old", "my thesis"));
}

static void symlink_is_not_followed(void)
{
	put("target", "");
	check(!symlink("target", "data"));
	open_data("data", MIB);
	check(holds("target", ""));
	check(!exists("data.old"));
}

static void directory_is_left_alone(void)
{
	check(!mkdir("data", 0700));
	open_data("data", MIB);
	check(!rmdir("data"));
}

static void same_run_gets_its_pid(void)
{
	char expect[64];

	put_older("data", 42);
	check(!elide_data_open("data", 42, MIB, ELIDE_DATA_FIRST));
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && !exists("data.old"));
	check(elide_data->run == 42);
	elide_data_close();
	check(is_of(strcpy(expect, elide_data_path()), getpid()) && strstr(expect, "/data."));
}

static void live_file_gets_its_pid(void)
{
	char expect[64];

	open_data("data", MIB);
	elide_data_forget();
	open_data("data", MIB); /* the writer is this very process, which maps the first one still */
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && exists(".data.live") && !exists("data.old"));
}

/* In a volume that containers share: the writers live, but not by our /proc. */
static void other_namespaces_file_is_left_alone(void)
{
	char own[64], second[64];

	snprintf(own, sizeof(own), ".data.%d.live", (int)getpid());
	snprintf(second, sizeof(second), ".data.%d.2.live", (int)getpid());
	for (int i = 0; i < 3; i++) {
		open_data("data", MIB);
		elide_data->pid_start++;
		elide_data_forget();
		check(exists(".data.live") && exists(own) == (i > 0) && exists(second) == (i > 1));
	}
	check(!system("test $(ls -A | wc -l) = 3"));
}

static void killed_process_leaves_an_older_file(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		open_data("data", MIB);
		raise(SIGKILL);
	}
	check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	open_data("data", MIB);
	check(is_of("data.old", pid) && is_of(".data.live", getpid()));
	check(!system("test $(ls -A | wc -l) = 2"));
}

static void child_gets_its_pid(void)
{
	char expect[64];

	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && !exists("data") && !exists(".data.live"));
}

/* A process number comes again in a run of many: no file of the run makes room, those of others do. */
static void child_gets_a_number_again(void)
{
	char name[32], second[64], third[64];

	snprintf(name, sizeof(name), "data.%d", (int)getpid());
	snprintf(second, sizeof(second), "%s.2", name);
	snprintf(third, sizeof(third), "%s.3", name);
	put_ended(name, 7, 1, 0);
	check(!elide_data_open("data", 7, MIB, ELIDE_DATA_CHILD));
	elide_data_close();
	check(is_of(name, 0) && is_of(second, getpid()));
	munmap(elide_data, MIB);
	elide_data_forget();
	/* Without the launcher: of those that started at 1000 and later, while this one did at 900. */
	unlink(name);
	unlink(second);
	put_ended(name, 0, 1, 0);
	put_ended(second, 0, 1, 0);
	elide_data_start(900, 0);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	elide_data_close();
	check(is_of(name, 0) && is_of(second, 0) && is_of(third, getpid()));
	munmap(elide_data, MIB);
	elide_data_forget();
	elide_data_start(1100, 0);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	elide_data_close();
	strcat(second, ".old");
	check(is_of(name, getpid()) && !exists(second));
	strcat(name, ".old");
	check(is_of(name, 0));
}

/* Twenty processes start at once: each has a file, one of them the name, and nobody complains. */
static void processes_that_start_together(void)
{
	struct {
		int go, opened;
	} volatile *all = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[20];
	int status;

	for (int i = 0; i < 20; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			while (!all->go)
				sched_yield();
			open_data("data", MIB);
			/* All are alive together, unless one of them has failed. */
			__atomic_fetch_add(&all->opened, 1, __ATOMIC_SEQ_CST);
			for (int ms = 0; all->opened < 20 && ms < 20000; ms++)
				usleep(1000);
			_exit(0);
		}
	}
	all->go = 1;
	for (int i = 0; i < 20; i++)
		check(waitpid(pids[i], &status, 0) == pids[i] && !status);
	check(!system("test $(ls -A | wc -l) = 20 && test -f .data.live"));
}

/* Who truncates the name, or copies another file to it, does not meet the mapped file. */
static void name_is_replaced_meanwhile(void)
{
	open_data("data", MIB);
	check(!exists("data"));
	put("data", "");
	use();
	elide_data_close();
	check(is_of("data", getpid()) && !system("test $(ls -A | wc -l) = 1"));
}

static void older_is_put_there_meanwhile(void)
{
	open_data("data", MIB);
	put_older("data", 0);
	elide_data_close();
	check(is_of("data", getpid()) && exists("data.old") && !system("test $(ls -A | wc -l) = 2"));
}

static void foreign_is_put_there_meanwhile(void)
{
	char expect[64];

	open_data("data", MIB);
	put("data", "my thesis");
	elide_data_close();
	snprintf(expect, sizeof(expect), "data.%d", (int)getpid());
	check(holds("data", "my thesis") && is_of(expect, getpid()));
	check(!system("test $(ls -A | wc -l) = 2"));
}

/* What a killed process counted is kept, even if its name is taken by a file of another kind. */
static void foreign_is_in_the_way_of_a_killed_process(void)
{
	char expect[64];
	pid_t pid = fork();
	int status;

	if (!pid) {
		open_data("data", MIB);
		raise(SIGKILL);
	}
	check(waitpid(pid, &status, 0) == pid);
	put("data", "my thesis");
	check(elide_data_open("data", 0, MIB, ELIDE_DATA_FIRST) == 0 && !elide_data_path());
	snprintf(expect, sizeof(expect), "data.%d", (int)pid);
	check(holds("data", "my thesis") && is_of(expect, pid) && !system("test $(ls -A | wc -l) = 2"));
}

static void folder_goes_away(void)
{
	check(!mkdir("folder", 0700));
	open_data("folder/data", 4 * MIB);
	check(!rename("folder", "moved") && !mkdir("folder", 0700));
	use();
	elide_data_close();
	check(is_of("moved/.data.live", getpid()) && !rmdir("folder"));
}

/* There is no room in such a name for more bytes: the file has it from the start. */
static void long_name(void)
{
	char name[251], expect[270];

	memset(name, 'n', 250);
	name[250] = '\0';
	put_older(name, 0);
	open_data(name, MIB);
	check(is_of(name, getpid()));
	snprintf(expect, sizeof(expect), "%s.old", name);
	check(exists(expect));
	use();
	elide_data_close();
	check(is_of(name, getpid()) && !system("test $(ls -A | wc -l) = 2"));
}

/* After exec(): the file that the program before it wrote is of this very process. */
static void file_of_the_program_before(void)
{
	int go[2], status;
	char byte, expect[64];
	pid_t pid;

	check(!pipe(go));
	pid = fork();
	if (!pid) {
		open_data("data", MIB);
		munmap(elide_data, MIB); /* as exec() does */
		elide_data_forget();
		open_data("data", MIB);
		elide_data_close();
		check(write(go[1], "x", 1) == 1);
		_exit(0);
	}
	close(go[1]);
	check(read(go[0], &byte, 1) == 1 && waitpid(pid, &status, 0) == pid && !status);
	snprintf(expect, sizeof(expect), "data.%d", (int)pid);
	check(is_of("data", pid) && is_of(expect, pid) && !system("test $(ls -A | wc -l) = 2"));
}

/* The command that a service is stopped with must not take the name of what the service counted. */
static void idle_process_displaces_no_counts(void)
{
	put_ended("data", 0, 3, 5000);
	check(elide_data_open("data", 0, MIB, ELIDE_DATA_EXIT) == -EEXIST);
	check(!system("test $(ls -A | wc -l) = 1"));
	/* In a run of its own it does. */
	check(!elide_data_open("data", 42, MIB, ELIDE_DATA_EXIT));
	elide_data_close();
	check(is_of("data", getpid()) && exists("data.old"));
}

static void idle_process_displaces_an_idle_one(void)
{
	put_ended("data", 0, 0, 5000);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_EXIT));
	elide_data_close();
	check(is_of("data", getpid()) && exists("data.old"));
}

/* One that began before the other ended was beside it, and does not follow it. */
static void process_beside_an_ended_one(void)
{
	char expect[64];

	put_ended("data", 0, 3, 5000); /* it ended at 6000 */
	elide_data_start(5999, 0);
	open_data("data", MIB);
	elide_data_close();
	snprintf(expect, sizeof(expect), "data.%d", (int)getpid());
	check(is_of(expect, getpid()) && is_of("data", 0));
	munmap(elide_data, MIB);
	elide_data_forget();
	elide_data_start(6001, 0);
	open_data("data", MIB);
	elide_data_close();
	check(is_of("data", getpid()) && is_of("data.old", 0));
}

/* Set when the file was last written. */
static void set_age(const char *name, int seconds)
{
	struct timespec times[2];

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	check(!utimensat(AT_FDCWD, name, times, 0));
}

/* Of the files of children the oldest go, if their processes have ended, and none of another name. */
static void children_are_bounded(void)
{
	static const char *const stay[] = {"data", "dat.1", "data.1x", "data.x", "data.old", "data.2.base",
					   "data-%p.3", "edata.4"};
	struct elide_header h = {.magic = ELIDE_DATA_MAGIC, .state = ELIDE_FILE_CLOSED};
	char name[64];
	int fd;

	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		put_older(stay[i], 0);
		set_age(stay[i], 100000);
	}
	put("data.99", "my thesis");
	set_age("data.99", 100000);
	check(!elide_data_open("data", 0, MIB, ELIDE_DATA_CHILD));
	set_age(elide_data_path(), 100000);
	for (int i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), i % 2 ? "data.5000%d" : ".data.5000%d.live", i);
		h.dropped[ELIDE_DROPPED_FILES] = i == 3 ? 100 : 0;
		fd = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);
		check(fd >= 0 && write(fd, &h, sizeof(h)) == sizeof(h));
		close(fd);
		set_age(name, 1000 - i);
	}
	/* With the foreign and the live one there are 42. */
	check(!elide_children_bound("data", "/bin/x", 42));
	check(elide_children_bound("data", "/bin/x", 37) == 105);
	for (int i = 1; i <= 40; i++) {
		snprintf(name, sizeof(name), i % 2 ? "data.5000%d" : ".data.5000%d.live", i);
		check(exists(name) == (i > 5));
	}
	check(elide_children_bound("data", "/bin/x", 1) == 35);
	check(exists(elide_data_path()) && holds("data.99", "my thesis"));
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++)
		check(exists(stay[i]));
	check(!elide_children_bound("%e%p", "/bin/data", 1) && exists("data.1x"));
}

/* A process that has just created the file, and has no header yet. */
static void unfinished_file_is_left_alone(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char expect[64];
	int fd;

	put(".data.live", "");
	fd = open(".data.live", O_RDWR);
	check(!fcntl(fd, F_OFD_SETLK, &lock));
	open_data("data", MIB);
	snprintf(expect, sizeof(expect), ".data.%d.live", (int)getpid());
	check(exists(expect) && holds(".data.live", ""));
}

/* One that was killed then. */
static void unfinished_file_is_replaced(void)
{
	put(".data.live", "");
	open_data("data", MIB);
	check(is_of(".data.live", getpid()) && !system("test $(ls -A | wc -l) = 1"));
}

#define TESTS(T) \
	T(name_is_expanded, NULL) \
	T(older_becomes_old, NULL) \
	T(foreign_is_left_alone, "elide: data exists and is not a data file: left alone, nothing is saved\n") \
	T(foreign_old_is_left_alone, "elide: data.old exists and is not a data file: left alone, nothing is saved\n") \
	T(name_is_replaced_meanwhile, NULL) \
	T(older_is_put_there_meanwhile, NULL) \
	T(foreign_is_put_there_meanwhile, "elide: /tmp/elide-test-") \
	T(foreign_is_in_the_way_of_a_killed_process, "elide: data exists and is not a data file: left alone") \
	T(folder_goes_away, NULL) \
	T(long_name, NULL) \
	T(file_of_the_program_before, NULL) \
	T(idle_process_displaces_no_counts, NULL) \
	T(idle_process_displaces_an_idle_one, NULL) \
	T(process_beside_an_ended_one, NULL) \
	T(children_are_bounded, NULL) \
	T(unfinished_file_is_replaced, NULL) \
	T(unfinished_file_is_left_alone, NULL) \
	T(symlink_is_not_followed, "elide: data exists and is not a data file") \
	T(directory_is_left_alone, "elide: data exists and is not a data file") \
	T(same_run_gets_its_pid, NULL) \
	T(live_file_gets_its_pid, NULL) \
	T(other_namespaces_file_is_left_alone, NULL) \
	T(killed_process_leaves_an_older_file, NULL) \
	T(child_gets_its_pid, NULL) \
	T(child_gets_a_number_again, NULL) \
	T(processes_that_start_together, NULL)

TESTS(DATA_TEST)

int main(void)
{
	static const struct CMUnitTest tests[] = {TESTS(DATA_ENTRY)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
