/* A shared library that allocates for its caller. */
#include <stdlib.h>

__attribute__((noinline)) void keep_in_library(void) {
  for (int i = 0; i < 31; i++) {
    void *block = malloc(512);
    __asm__ volatile("" ::"r"(block) : "memory");
  }
  __asm__ volatile("" ::: "memory");
}
