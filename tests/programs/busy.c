/* free_old gives back 11 blocks from before the first line, 4 of them by realloc; keep keeps 23 blocks of 4,096 bytes; then churn allocates and gives back without pause until it gets a line. */
#include "workload.h"
#include <poll.h>
#include <stdlib.h>

static void *old[11];

FUNCTION void free_old(void) {
  for (int i = 0; i < 7; i++)
    free(old[i]);
  for (int i = 7; i < 11; i++)
    USE(realloc(old[i], 64));
  TAIL;
}

FUNCTION void keep(void) {
  for (int i = 0; i < 23; i++)
    USE(malloc(4096));
  TAIL;
}

FUNCTION void churn(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  while (poll(&input, 1, 0) == 0)
    for (int i = 0; i < 1000; i++) {
      void *block = malloc(64);
      USE(block);
      free(block);
    }
  TAIL;
}

FUNCTION void run(void) {
  free_old();
  keep();
  churn();
  await_line();
  TAIL;
}

int main(void) {
  for (int i = 0; i < 11; i++)
    old[i] = malloc(32);
  WORKLOAD(run());
}
