/* 2^13 different stacks, each allocating 16 bytes twice: a turn to left or right at each of 13 levels. */
#include "workload.h"
#include <stdlib.h>

#define LEVELS 13

static volatile int depth;

FUNCTION void right(int levels, unsigned turns);

FUNCTION void end(void) {
  for (int i = 0; i < 2; i++)
    USE(malloc(16));
  TAIL;
}

static inline __attribute__((always_inline)) void turn(int levels, unsigned turns);

FUNCTION void left(int levels, unsigned turns) {
  turn(levels, turns);
  depth += 1;
}

FUNCTION void right(int levels, unsigned turns) {
  turn(levels, turns);
  depth += 2;
}

static inline __attribute__((always_inline)) void turn(int levels, unsigned turns) {
  if (!levels)
    end();
  else if (turns & 1)
    right(levels - 1, turns >> 1);
  else
    left(levels - 1, turns >> 1);
}

FUNCTION void run(void) {
  for (unsigned turns = 0; turns < 1u << LEVELS; turns++)
    left(LEVELS, turns);
  TAIL;
}

int main(void) { WORKLOAD(run()); }
