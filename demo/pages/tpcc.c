#include "work.h"
const struct workload work_tpcc;
uint64_t tpcc_pages(const struct options *opts) { return 0; }
