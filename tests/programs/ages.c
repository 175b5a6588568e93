/* keep_old keeps 10 blocks of 1,000 bytes when it gets a line; keep_young keeps 5 of 64 bytes at the next. */
#include "workload.h"
#include <stdlib.h>

FUNCTION void *keep(size_t bytes) {
  void *block = malloc(bytes);
  TAIL;
  return block;
}

FUNCTION void keep_old(void) {
  for (int i = 0; i < 10; i++)
    USE(keep(1000));
  TAIL;
}

FUNCTION void keep_young(void) {
  for (int i = 0; i < 5; i++)
    USE(keep(64));
  TAIL;
}

int main(void) {
  say("ready");
  if (!await_line())
    return 1;
  keep_old();
  say("done");
  if (!await_line())
    return 1;
  keep_young();
  say("done");
  await_line();
  return 0;
}
