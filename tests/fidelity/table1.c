// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table1.c - HPCA'14 table 1 recomputed: the probability of a conflict at each
 * level of an index tree. Uses no transaction.
 *
 * The formula is printed as P_S = 1 / 0.69b^L. Read literally, 1 / (0.69 b^L),
 * it misses the table, by 0.69 at level 0 already; (0.69 b)^-L fits it. And
 * P_ACCESS is printed as 1 / nodes, but fits nodes of 23 children below the 16
 * of level 3, 74 % full, while the table's own number of nodes is that of 31.
 */
#include <math.h>

#include "fidelity.h"

#define BRANCHING 31.0
/* Average filling of a node, HPCA'14 2.2. */
#define FILLING 0.69
/* What the printed values of P_ACCESS fit, see above. */
#define CHILDREN 23.0

static const struct level {
	double nodes, p_access, p_s, p_c;
} printed[] = {
	{465000, 5.14e-6, 1, 5.14e-6},
	{15100, 1.18e-4, 4.68e-2, 5.52e-6},
	{496, 2.72e-3, 2.19e-3, 5.94e-6},
	{16, 6.25e-2, 1.02e-4, 6.39e-6},
	{1, 1, 4.78e-6, 4.78e-6},
};

/* Level whose nodes hang below the root. */
#define BELOW_ROOT 3

static double apart(double ours, double theirs)
{
	return 100 * fabs(ours / theirs - 1);
}

int main(void)
{
	double p_s_gap = 0, p_access_gap = 0, p_c_gap = 0;
	unsigned int l;

	fidelity_begin(false);
	for (l = 0; l < ARRAY_SIZE(printed); l++) {
		const struct level *p = &printed[l];
		double p_s = pow(FILLING * BRANCHING, -(double)l);
		double p_access = l > BELOW_ROOT ? 1 :
				  1 / (printed[BELOW_ROOT].nodes * pow(CHILDREN, BELOW_ROOT - l));

		curve("p_s", l, p_s);
		curve("p_s_literally", l, 1 / (FILLING * pow(BRANCHING, l)));
		curve("p_s_printed", l, p->p_s);
		curve("p_access", l, p_access);
		curve("p_access_of_printed_nodes", l, 1 / p->nodes);
		curve("p_access_printed", l, p->p_access);
		curve("p_c", l, p_access * p_s);
		curve("p_c_printed", l, p->p_c);
		p_s_gap = fmax(p_s_gap, apart(p_s, p->p_s));
		p_access_gap = fmax(p_access_gap, apart(p_access, p->p_access));
		p_c_gap = fmax(p_c_gap, apart(p_access * p_s, p->p_c));
	}
	figure("p_s_gap", p_s_gap);
	figure("p_access_gap", p_access_gap);
	figure("p_c_gap", p_c_gap);
	return 0;
}
