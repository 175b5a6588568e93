/* Allocates from an inlined function: with debug information (inlined) there is a frame for it, and a line. */
#include "workload.h"
#include <stdlib.h>

static inline __attribute__((always_inline)) void make_row(int columns) {
  USE(malloc((size_t)columns * 8));
}

FUNCTION void parse_row(int columns) {
  make_row(columns);
  TAIL;
}

FUNCTION void parse_table(void) {
  for (int row = 0; row < 19; row++)
    parse_row(4);
  TAIL;
}

int main(void) { WORKLOAD(parse_table()); }
