/* Calls a function of a shared library that keeps 31 blocks of 512 bytes. */
#include "workload.h"

void keep_in_library(void);

FUNCTION void use_library(void) {
  keep_in_library();
  TAIL;
}

int main(void) { WORKLOAD(use_library()); }
