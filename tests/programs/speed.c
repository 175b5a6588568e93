/* Allocator calls whose price is measured: `pair N` is N times malloc and free, `mix N` does half a microsecond of work
 * for each pair, from 6 to 22 frames deep, `live N` keeps N blocks. Ends by saying how much processor time that took. */
#include "workload.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOTS 4096
#define ROUNDS 400 /* of arithmetic: half a microsecond */

static void *slots[SLOTS];
static volatile uint64_t result;

static uint64_t next(uint64_t word) {
  word ^= word << 13;
  word ^= word >> 7;
  return word ^ word << 17;
}

FUNCTION void pair(long count) {
  for (long i = 0; i < count; i++) {
    void *block = malloc(64);
    USE(block);
    free(block);
  }
  TAIL;
}

FUNCTION void *allocate(size_t bytes) {
  void *block = malloc(bytes);
  memset(block, 1, bytes < 256 ? bytes : 256);
  TAIL;
  return block;
}

FUNCTION void *descend(unsigned frames, size_t bytes) {
  void *block = frames ? descend(frames - 1, bytes) : allocate(bytes);
  TAIL;
  return block;
}

FUNCTION void work(uint64_t seed) {
  for (int i = 0; i < ROUNDS; i++)
    seed = seed * 6364136223846793005u + 1442695040888963407u;
  result = seed;
}

/* 16 bytes to 8 kB, small ones far more often; a block lives until another one takes its slot. */
FUNCTION void mix(long count) {
  uint64_t word = 88172645463325252u;
  for (long i = 0; i < count; i++) {
    word = next(word);
    void **slot = &slots[(word >> 20) % SLOTS];
    free(*slot);
    *slot = descend(2 + (word >> 50) % 16, 16 + ((word >> 8) & ((16u << ((word >> 40) % 10)) - 1)));
    work(word);
  }
  TAIL;
}

FUNCTION void live(long count) {
  for (long i = 0; i < count; i++)
    USE(malloc(16));
  TAIL;
}

static void report(void) {
  struct timespec spent;
  char line[64];
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  long long ns = spent.tv_sec * 1000000000LL + spent.tv_nsec;
  int length = snprintf(line, sizeof line, "%lld\n", ns);
  if (write(1, line, (size_t)length) != length)
    _exit(3);
}

/* Told to work, it prints its processor time before and after. */
static void measured(const char *name, long count) {
  report();
  if (!strcmp(name, "pair"))
    pair(count);
  else if (!strcmp(name, "mix"))
    mix(count);
  else
    live(count);
  report();
}

int main(int arguments, char **argument) {
  if (arguments != 3)
    return 2;
  WORKLOAD(measured(argument[1], atol(argument[2])));
}
