/* A malloc of the program's own, before the C library's, that is under way while the recording begins, is left by a longjmp, and ends its thread. */
#include "workload.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

enum { WAITS = 777, JUMPS = 888, EXITS = 999 };

extern void *__libc_malloc(size_t bytes);
static jmp_buf before;
static volatile size_t wanted;

__attribute__((noinline)) void *malloc(size_t bytes) {
  if (bytes == WAITS) {
    say("ready");
    await_line();
  }
  if (bytes == JUMPS)
    longjmp(before, 1);
  if (bytes == EXITS)
    pthread_exit(NULL);
  void *block = __libc_malloc(bytes);
  TAIL;
  return block;
}

FUNCTION void leave_by_longjmp(void) {
  for (volatile int i = 0; i < 7; i++) {
    wanted = JUMPS;
    if (!setjmp(before))
      USE(malloc(wanted));
  }
  TAIL;
}

static void *leave_by_exit(void *unused) {
  wanted = EXITS;
  USE(malloc(wanted));
  return unused;
}

FUNCTION void keep_afterwards(void) {
  for (int i = 0; i < 11; i++)
    USE(malloc(100));
  TAIL;
}

FUNCTION void keep_what_was_under_way(void) {
  wanted = WAITS;
  void *block = malloc(wanted);
  USE(block);
  free(block);
  USE(malloc(40));
  TAIL;
}

/* A block from before the recording, and a new one that may well get its address. */
FUNCTION void free_early(void *early) {
  free(early);
  USE(malloc(50));
  TAIL;
}

int main(void) {
  void *early = __libc_malloc(50);
  keep_what_was_under_way();
  leave_by_longjmp();
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, leave_by_exit, NULL);
    pthread_join(thread, NULL);
  }
  free_early(early);
  keep_afterwards();
  say("done");
  await_line();
  return 0;
}
