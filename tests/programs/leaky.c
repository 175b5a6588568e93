/* leak_cache keeps 23 blocks of 4,096 bytes; serve_requests gives back all of its 1,009. */
#include "workload.h"
#include <stdlib.h>

FUNCTION void leak_cache(void) {
  for (int i = 0; i < 23; i++)
    USE(malloc(4096));
  TAIL;
}

FUNCTION void serve_requests(void) {
  for (int i = 0; i < 1009; i++) {
    void *request = malloc(32);
    USE(request);
    free(request);
  }
  TAIL;
}

FUNCTION void run(void) {
  leak_cache();
  serve_requests();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
