// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stack.c - the stack of a lock call, on the thread's stack and from that of the global-lock paths. */
#include <signal.h>
#include <ucontext.h>

#include "../../lib/evidence/stack.h"
#include "evidence-world.h"

/* A stack begins with the call that has entered the library. */
static void __noinline lock_call(struct elide_stack *stack)
{
	stack->nr_frames = elide_stack_take(stack->frames, __builtin_return_address(0));
}

static int __noinline outer_function(struct elide_stack *stack)
{
	lock_call(stack);
	return stack->nr_frames;
}

static void stacks_begin_at_the_call(void **state)
{
	struct elide_stack stack;
	uintptr_t start = (uintptr_t)outer_function;

	assert_in_range(outer_function(&stack), 3, ELIDE_STACK_FRAMES);
	assert_in_range(stack.frames[0], start, start + 64);
	start = (uintptr_t)stacks_begin_at_the_call;
	assert_in_range(stack.frames[1], start, start + 256);
	/* A call that is not on the stack: itself alone. */
	assert_int_equal(elide_stack_take(stack.frames, (const void *)0x900), 1);
	assert_int_equal(stack.frames[0], 0x900);
}

/* The same from a global-lock path, which runs on another stack. */
struct walk {
	const void *site;
	const char *stack;
	uint64_t frames[ELIDE_STACK_FRAMES];
	unsigned int nr;
};

static void walk_global(void *arg)
{
	struct walk *w = arg;

	w->stack = __builtin_frame_address(0);
	w->nr = elide_stack_take(w->frames, w->site);
}

static void __noinline lock_slowly(struct walk *w)
{
	w->site = __builtin_return_address(0);
	assert_true(elide_global_run(walk_global, w));
}

static int __noinline outer_slowly(struct walk *w)
{
	lock_slowly(w);
	return w->nr;
}

static void slow_paths_have_a_stack(void **state)
{
	uintptr_t start = (uintptr_t)outer_slowly;
	struct walk w = {0};

	assert_in_range(outer_slowly(&w), 3, ELIDE_STACK_FRAMES);
	assert_in_range(w.frames[0], start, start + 64);
	start = (uintptr_t)slow_paths_have_a_stack;
	assert_in_range(w.frames[1], start, start + 256);
	if (!valgrind_runs())
		assert_false((uintptr_t)&w - (uintptr_t)w.stack < 1 << 20);
}

static int __noinline deep(int depth, struct elide_stack *stack)
{
	volatile int below = 0;

	if (depth)
		below = deep(depth - 1, stack) + 1;
	else
		lock_call(stack);
	return below;
}

static void deep_stacks_are_cut_off(void **state)
{
	struct elide_stack stack;

	assert_int_equal(deep(100, &stack), 100);
	assert_int_equal(stack.nr_frames, ELIDE_STACK_FRAMES);
}

static struct elide_stack in_handler;

static void take_in_handler(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	lock_call(&in_handler);
	regs[REG_RIP] += 2; /* behind ud2 */
}

/* Interrupted before its first byte. */
static void __noinline __attribute__((naked, used)) trapped(void)
{
	__asm__ volatile("ud2\n\tret");
}

/* Readers look at the byte before each address. */
static void what_a_signal_interrupts(void **state)
{
	static const uint8_t returns[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	struct sigaction old, trap = {.sa_sigaction = take_in_handler, .sa_flags = SA_SIGINFO};
	uintptr_t start = (uintptr_t)take_in_handler;

	assert_int_equal(sigaction(SIGILL, &trap, &old), 0);
	trapped();
	sigaction(SIGILL, &old, NULL);
	assert_in_range(in_handler.nr_frames, 5, ELIDE_STACK_FRAMES);
	assert_in_range(in_handler.frames[0], start, start + 64);
	assert_memory_equal((const void *)(in_handler.frames[1] - 1), returns, sizeof(returns));
	assert_int_equal(in_handler.frames[2] - 1, (uintptr_t)trapped);
	start = (uintptr_t)what_a_signal_interrupts;
	assert_in_range(in_handler.frames[3], start, start + 256);
}

/* Last: the table is full after it. */
static void a_full_table_is_counted(void **state)
{
	for (uint64_t i = 0; i < EVIDENCE_BOUND + 100; i++)
		elide_stack_save((const uint64_t[]){0x20000 + i}, 1, false);
	assert_true(elide_data->dropped[ELIDE_DROPPED_STACKS] >= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_begin_at_the_call),
		cmocka_unit_test(slow_paths_have_a_stack),
		cmocka_unit_test(deep_stacks_are_cut_off),
		cmocka_unit_test(what_a_signal_interrupts),
		cmocka_unit_test(a_full_table_is_counted),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
