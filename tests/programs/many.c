/* Much memory in blocks of known sizes: what is kept and what is freed is known, for estimates to be compared with. */
#include "workload.h"
#include <stdlib.h>

FUNCTION void keep_small(void) {
  for (int i = 0; i < 40000; i++)
    USE(malloc(100));
  TAIL;
}

FUNCTION void keep_medium(void) {
  for (int i = 0; i < 2000; i++)
    USE(malloc(10000));
  TAIL;
}

FUNCTION void keep_large(void) {
  for (int i = 0; i < 20; i++)
    USE(malloc(1 << 20));
  TAIL;
}

FUNCTION void free_half(void) {
  for (int i = 0; i < 4000; i++) {
    void *block = malloc(5000);
    USE(block);
    if (i % 2)
      free(block);
  }
  TAIL;
}

/* Each call makes another one, of the same size, inside of the allocator. */
FUNCTION void keep_arrays(void) {
  for (int i = 0; i < 2000; i++)
    USE(reallocarray(NULL, 100, 100));
  TAIL;
}

FUNCTION void grow(void) {
  for (int i = 0; i < 1000; i++)
    USE(realloc(malloc(10000), 20000));
  TAIL;
}

FUNCTION void fail(void) {
  for (int i = 0; i < 5; i++)
    USE(malloc((size_t)1 << 62));
  TAIL;
}

FUNCTION void run(void) {
  keep_small();
  keep_medium();
  keep_large();
  free_half();
  keep_arrays();
  grow();
  fail();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
