/* Threads that free each other's blocks as fast as they can; then keep_at_end keeps 127 blocks of 1,000 bytes. All that
 * once for each line. */
#include "workload.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 32
#define ROUNDS 1000
#define SLOTS 256

static _Atomic(void *) slots[SLOTS];

FUNCTION void exchange(unsigned seed) {
  for (int i = 0; i < ROUNDS; i++) {
    seed = seed * 1664525 + 1013904223;
    void *block = seed & 0x300 ? malloc(16 + (seed >> 20)) : realloc(malloc(8), 16 + (seed >> 20));
    void *other = atomic_exchange(&slots[(seed >> 12) % SLOTS], block);
    if ((seed & 0x7000) == 0x1000 && other)
      other = realloc(other, 50 + (seed >> 20));
    free(other);
  }
  TAIL;
}

static void *thread(void *number) {
  exchange((unsigned)(long)number * 7919 + 1);
  return NULL;
}

FUNCTION void keep_at_end(void) {
  for (int i = 0; i < 127; i++)
    USE(malloc(1000));
  TAIL;
}

FUNCTION void run(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, thread, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < SLOTS; i++)
    free(atomic_exchange(&slots[i], NULL));
  keep_at_end();
  TAIL;
}

int main(void) {
  for (say("ready"); await_line(); say("done"))
    run();
  return 0;
}
