/* Serves lines below functions with large frames, 25 kB of stack deep; for each it allocates 8 kB deeper. */
#include "workload.h"
#include <stdlib.h>
#include <string.h>

/* A function of its own at each turn: it calls the next of its kind, and at last `end`. */
#define WIDE(name, end)                                                                                                \
  FUNCTION char name(int levels) {                                                                                     \
    char wide[1000];                                                                                                   \
    memset(wide, levels, sizeof wide);                                                                                 \
    USE(wide);                                                                                                         \
    if (levels)                                                                                                        \
      wide[0] = name(levels - 1);                                                                                      \
    else                                                                                                               \
      end;                                                                                                             \
    USE(wide);                                                                                                         \
    return wide[0];                                                                                                    \
  }

WIDE(work_below, USE(malloc(100)))

FUNCTION void serve(void) {
  say("ready");
  while (await_line()) {
    work_below(7);
    say("done");
  }
  TAIL;
}

WIDE(serve_below, serve())

int main(void) {
  serve_below(24);
  return 0;
}
