/* keep keeps 23 blocks of 4,096 bytes; then churn allocates and gives back without pause until it gets a line. */
#include "workload.h"
#include <poll.h>
#include <stdlib.h>

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
  keep();
  churn();
  await_line();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
