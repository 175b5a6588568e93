/* Touches fresh pages in malloc: a few when it is told to work, and thousands at once before it exits. */
#include "workload.h"
#include <stdlib.h>
#include <sys/prctl.h>

#define PAGE 4096UL

FUNCTION void take(int blocks) {
  for (int i = 0; i < blocks; i++)
    USE(malloc(3 * PAGE));
  TAIL;
}

FUNCTION void begin(void) {
  take(29); /* malloc must also have asked for more memory */
  TAIL;
}

FUNCTION void burst(void) {
  take(3001);
  TAIL;
}

int main(void) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  USE(malloc(PAGE));
  say("ready");
  if (!await_line())
    return 1;
  begin();
  say("done");
  await_line();
  burst();
  return 0;
}
