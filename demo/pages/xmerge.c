#include "xmerge.h"
bool xmerge(struct page_tree *tree, struct frame *frame, uint32_t id) { return false; }
