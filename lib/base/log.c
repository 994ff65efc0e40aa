/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.c - see log.h.
 *
 * A write may raise SIGPIPE or SIGXFSZ, stop a process in the background (SIGTTOU), or block if nobody
 * reads. So the signals are blocked meanwhile, and the first two are taken back. A pipe or a terminal is
 * opened anew with O_NONBLOCK: the program's open file description keeps its flags.
 */
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "datafile-writer.h"
#include "log.h"
#include "syscalls.h"
#include "text.h"

/* What descriptor 2 was at the start. */
static struct {
	bool started;
	bool keep;
	bool known;
	dev_t dev;
	ino_t ino;
} first;

/* Lines that were not written: their number, and the last. */
static struct {
	uint32_t nr;
	char text[sizeof(((struct elide_header *)0)->unsaid)];
} unsaid;

#define SIGNAL_BIT(nr) (1ull << ((nr) - 1))

void elide_log_start(void)
{
	struct stat st;

	first.started = true;
	if (sys_fstat(STDERR_FILENO, &st))
		return;
	first.known = true;
	first.dev = st.st_dev;
	first.ino = st.st_ino;
}

void elide_log_keep(void)
{
	first.keep = true;
}

const char *elide_log_last(void)
{
	return unsaid.text;
}

/* May the file be longer by @len bytes, at its end or at the descriptor's offset? */
static bool fits(const struct stat *st, size_t len)
{
	off_t at = sys_call(lseek, STDERR_FILENO, 0, SEEK_CUR, 0, 0, 0);

	return sys_size_allowed((at > st->st_size ? at : st->st_size) + len);
}

/* To a pipe or a terminal. A line is shorter than PIPE_BUF, so it is written whole or not at all. */
static bool write_without_blocking(const char *line, size_t len)
{
	struct pollfd poll = {.fd = STDERR_FILENO, .events = POLLOUT};
	int fd = sys_open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	bool done;

	if (fd >= 0) {
		done = sys_write(fd, line, len) == (ssize_t)len;
		sys_close(fd);
		return done;
	}
	/* ENXIO: nobody reads. Else there is no /proc, or the process has given up privileges. */
	return errno != ENXIO && sys_call(poll, (long)&poll, 1, 0, 0, 0, 0) == 1 &&
	       poll.revents == POLLOUT && sys_write(STDERR_FILENO, line, len) == (ssize_t)len;
}

static bool write_line(const char *line, size_t len)
{
	struct stat st;

	if (sys_fstat(STDERR_FILENO, &st))
		return false;
	if (first.started &&
	    (!first.known || st.st_dev != first.dev || st.st_ino != first.ino))
		return false;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return fits(&st, len) && sys_write(STDERR_FILENO, line, len) == (ssize_t)len;
	case S_IFSOCK:
		return sys_call(sendto, STDERR_FILENO, (long)line, len,
				MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0) == (ssize_t)len;
	case S_IFIFO:
	case S_IFCHR:
		return write_without_blocking(line, len);
	default:
		return false;
	}
}

/* Can a signal be taken back? A filter may forbid it. @pending: receives the pending signals */
static bool may_take_back(uint64_t *pending)
{
	static const struct timespec now;
	static const uint64_t none;

	return !sys_call(rt_sigpending, (long)pending, SYS_SIGSET, 0, 0, 0, 0) &&
	       sys_call(rt_sigtimedwait, (long)&none, 0, (long)&now, SYS_SIGSET, 0, 0) < 0 &&
	       errno == EAGAIN;
}

/* Take back a signal that the write has raised; one that was pending before stays. */
static bool write_quietly(const char *line, size_t len)
{
	static const uint64_t all = ~0ull, raised = SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ);
	static const struct timespec now;
	uint64_t mask, pending = 0, mine;
	bool can, done;

	if (READ_ONCE(sys_forbidden) || !sys_may(rt_sigprocmask))
		return false;
	if (sys_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&mask, SYS_SIGSET, 0, 0))
		return false;
	can = may_take_back(&pending);
	done = can && write_line(line, len);
	mine = raised & ~pending;
	if (can && !done && mine)
		sys_call(rt_sigtimedwait, (long)&mine, 0, (long)&now, SYS_SIGSET, 0, 0);
	sys_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, SYS_SIGSET, 0, 0);
	return done;
}

void elide_log_fill(struct elide_header *h)
{
	h->nr_unsaid = unsaid.nr;
	memcpy(h->unsaid, unsaid.text, sizeof(h->unsaid));
}

/* @line without the line feed at its end. */
static void keep(const char *line, size_t len)
{
	size_t most = sizeof(unsaid.text) - 1;

	len = len < most ? len : most;
	memcpy(unsaid.text, line, len);
	unsaid.text[len] = '\0';
	__atomic_add_fetch(&unsaid.nr, 1, __ATOMIC_RELAXED);
	if (elide_data)
		elide_log_fill(elide_data);
}

void elide_log(const char *format, ...)
{
	static const char prefix[] = "elide: ";
	const int begin = sizeof(prefix) - 1;
	char line[512] = "elide: ";
	int saved = errno, len = begin, n;
	va_list args;

	va_start(args, format);
	n = elide_text_list(line + len, sizeof(line) - len - 1, format, args);
	va_end(args);
	len += n < (int)sizeof(line) - len - 1 ? n : (int)sizeof(line) - len - 2;
	line[len] = '\n';
	if (first.keep || !write_quietly(line, len + 1))
		keep(line + begin, len - begin);
	errno = saved;
}
