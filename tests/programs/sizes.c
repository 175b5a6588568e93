/* Blocks on both sides of 100 and of 1,000 bytes; grow and shrink move theirs across a bound by realloc. */
#include "workload.h"
#include <malloc.h>
#include <stdlib.h>

FUNCTION void *keep(size_t bytes) {
  void *block = malloc(bytes);
  USE(block);
  TAIL;
  return block;
}

FUNCTION void keep_sizes(void) {
  static const size_t sizes[] = {0, 1, 99, 100, 101, 999, 1000, 1001, 100000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    keep(sizes[i]);
  TAIL;
}

FUNCTION void free_sizes(void) {
  for (size_t bytes = 98; bytes < 103; bytes++)
    free(keep(bytes));
  TAIL;
}

/* 3 into the bounds from below, 5 out of them above. */
FUNCTION void grow(void) {
  for (int i = 0; i < 3; i++)
    USE(realloc(keep(10), 500));
  for (int i = 0; i < 5; i++)
    USE(realloc(keep(600), 2000));
  TAIL;
}

/* 7 out of the bounds below, 2 into them from above. */
FUNCTION void shrink(void) {
  for (int i = 0; i < 7; i++)
    USE(realloc(keep(200), 20));
  for (int i = 0; i < 2; i++)
    USE(realloc(keep(3000), 300));
  TAIL;
}

/* A realloc that fails leaves the block as it was. */
FUNCTION void fail_to_grow(void) {
  for (int i = 0; i < 4; i++)
    USE(realloc(keep(700), (size_t)1 << 62));
  TAIL;
}

/* Asks for 50 bytes; an allocator that makes a page of it in a call of its own must not count that. */
FUNCTION void keep_page(void) {
  for (int i = 0; i < 3; i++)
    USE(pvalloc(50));
  TAIL;
}

FUNCTION void run(void) {
  keep_sizes();
  free_sizes();
  grow();
  shrink();
  fail_to_grow();
  keep_page();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
