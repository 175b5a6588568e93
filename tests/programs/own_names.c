/* Functions that only one allocator has, in whichever is preloaded, and an allocator of the program's own under jemalloc's
 * prefix, hidden as a linker leaves one that it took out of a library. */
#include "workload.h"
#include <dlfcn.h>
#include <stdlib.h>

#define HIDDEN __attribute__((noinline, visibility("hidden")))

static char pool[1 << 20];
static size_t used;

HIDDEN void *je_malloc(size_t bytes) {
  char *block = pool + used;
  used += (bytes + 15) & ~(size_t)15;
  TAIL;
  return block;
}

HIDDEN void je_sdallocx(void *block, size_t bytes, int flags) {
  USE(block);
  (void)bytes, (void)flags;
}

FUNCTION void keep_hidden(void) {
  for (int i = 0; i < 11; i++)
    USE(je_malloc(200));
  for (int i = 0; i < 5; i++)
    je_sdallocx(je_malloc(64), 64, 0);
  TAIL;
}

typedef void *(*take_t)(size_t, size_t);
typedef void *(*again_t)(void *, size_t, size_t);
typedef void (*give_t)(void *, size_t, size_t);

FUNCTION void keep_own(take_t take, again_t again, give_t give, size_t second) {
  for (int i = 0; i < 7; i++)
    USE(take(100, second));
  for (int i = 0; i < 3; i++)
    USE(again(take(10, second), 300, second));
  for (int i = 0; i < 13; i++)
    give(take(50, second), 50, second);
  TAIL;
}

FUNCTION void run(void) {
  keep_hidden();
  if (dlsym(RTLD_DEFAULT, "mallocx"))
    keep_own((take_t)dlsym(RTLD_DEFAULT, "mallocx"), (again_t)dlsym(RTLD_DEFAULT, "rallocx"),
             (give_t)dlsym(RTLD_DEFAULT, "sdallocx"), 0);
  if (dlsym(RTLD_DEFAULT, "mi_malloc_aligned"))
    keep_own((take_t)dlsym(RTLD_DEFAULT, "mi_malloc_aligned"), (again_t)dlsym(RTLD_DEFAULT, "mi_realloc_aligned"),
             (give_t)dlsym(RTLD_DEFAULT, "mi_free_size_aligned"), 64);
  TAIL;
}

int main(void) { WORKLOAD(run()); }
