/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * call-signals.h - for test_call.c: signal handlers that look calls up, jump and fork while the thread
 * that they interrupt does.
 */
#ifndef TESTS_UNIT_CALL_SIGNALS_H
#define TESTS_UNIT_CALL_SIGNALS_H

/* Handlers that fork, of each process; rounds of the thread. */
#define FORKS  3
#define ROUNDS 4000

static struct {
	uint32_t seed;
	volatile sig_atomic_t may_jump, wrong, handled, jumped, forks, is_child;
	sigjmp_buf back;
} s;

static uint32_t draw(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* Some lock at some site: a few classes, and sites of which some share a guess. */
static const char *any_call(uint32_t *seed)
{
	const struct line *lock = lock_of(draw(seed) % 4, draw(seed) % 50);
	const char *site = &sites[draw(seed) % 4 * ELIDE_NR_GUESSES + draw(seed) % 4];
	const struct elide_call *call = get(lock, site);

	/* In the middle of a global-lock path there is none; else it must be the one. */
	if (call && call->row && (call->row->site != (uintptr_t)site || call->row->kind != KIND))
		return "the call is another one";
	return NULL;
}

static void on_signal(int nr)
{
	uint32_t seed = draw(&s.seed);

	(void)nr;
	s.handled = s.handled + 1;
	for (int i = 0; i < 3; i++)
		s.wrong |= any_call(&seed) != NULL;
	if (s.forks && seed % 16 == 0) {
		s.forks = s.forks - 1;
		if (!fork()) {
			s.forks = 0;
			s.is_child = 1;
		}
	}
	if (s.may_jump && seed % 4 == 0) {
		s.jumped = s.jumped + 1;
		siglongjmp(s.back, 1);
	}
}

static void every(int us)
{
	const struct itimerval timer = {{.tv_usec = us}, {.tv_usec = us}};

	assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* All calls, without signals: each is there, and is the right one. */
static const char *all_are_right(void)
{
	for (unsigned int class = 0; class < 4; class++)
		for (unsigned int nr = 0; nr < 50; nr++)
			for (unsigned int i = 0; i < 16; i++) {
				const char *site = &sites[i / 4 * ELIDE_NR_GUESSES + i % 4];
				const struct line *lock = lock_of(class, nr);
				const struct elide_call *call = get(lock, site);

				if (!is_of(call, site, elide_registry_find(lock)) ||
				    look(lock, site) != call)
					return "a call is wrong after signals";
			}
	for (uint32_t nr = 1; nr <= elide_self->nr_calls; nr++) {
		const struct elide_call *call = elide_call_at(elide_self, nr);

		if (elide_call_known(elide_self, elide_call_tag(call), call->row->site, call->row->kind) != call)
			return "two calls are the same after signals";
	}
	return NULL;
}

static volatile uint32_t round_nr;

static void one_round(void)
{
	uint32_t seed = s.seed ^ round_nr * 2654435761u;

	for (int i = 0; i < 8; i++)
		s.wrong |= any_call(&seed) != NULL;
	/* So that there is something to be made again. */
	if (round_nr % 8 == 0)
		elide_calls_forget((uintptr_t)sites, (uintptr_t)sites + sizeof(sites));
	if (round_nr % 4 == 0)
		elide_lock_gone(lock_of(draw(&seed) % 4, draw(&seed) % 50));
}

static const char *interrupted(void)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	const char *wrong;
	sigset_t alarm;

	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	round_nr = 0;
	sigsetjmp(s.back, 1);
	s.may_jump = 1;
	/* At least one of the handlers' ways, on whatever machine. */
	while (round_nr < ROUNDS || (round_nr < 100 * ROUNDS && !s.is_child && (!s.jumped || s.forks))) {
		round_nr = round_nr + 1;
		one_round();
	}
	s.may_jump = 0;
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	if (s.is_child)
		elide_data_path(); /* a fork may have come after the last call */
	wrong = s.wrong ? "a call was wrong between signals" : all_are_right();
	if (s.is_child) {
		if (wrong)
			fprintf(stderr, "child, seed %u: %s\n", s.seed, wrong);
		_exit(wrong || unlink(elide_data_path()));
	}
	return wrong;
}

static void signals(void **state)
{
	sigset_t alarm, before;
	int status;

	s.seed = getpid();
	s.forks = FORKS;
	print_message("seed %u\n", s.seed);
	/* Only the thread of the test gets them. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, &before);
	every(200);
	in_second_thread(interrupted);
	every(0);
	signal(SIGALRM, SIG_IGN);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (wait(&status) > 0)
		assert_int_equal(status, 0);
}

#endif
