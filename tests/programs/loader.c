/* Loads a library only when it works, and calls its function that keeps 31 blocks of 512 bytes. */
#include "workload.h"
#include <dlfcn.h>
#include <stdlib.h>

FUNCTION void load_and_keep(void) {
  void *library = dlopen("libkeeper.so", RTLD_NOW);
  if (!library)
    abort();
  ((void (*)(void))dlsym(library, "keep_in_library"))();
  TAIL;
}

int main(void) { WORKLOAD(load_and_keep()); }
