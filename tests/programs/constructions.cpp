// operator new in small and large sizes, given back, and left by an exception.
#include "workload.h"
#include <new>

static volatile size_t too_much = 1UL << 62;

FUNCTION void keep_small() {
  for (int i = 0; i < 17; i++)
    USE(new long);
  TAIL;
}

FUNCTION void keep_large() {
  for (int i = 0; i < 11; i++)
    USE(new char[200]);
  TAIL;
}

FUNCTION void delete_all() {
  for (int i = 0; i < 23; i++) {
    char *bytes = new char[200];
    USE(bytes);
    delete[] bytes;
  }
  TAIL;
}

// 10 of 19 throw.
FUNCTION void keep_after_bad_alloc() {
  for (int i = 0; i < 19; i++) {
    try {
      USE(new char[i % 2 ? 40 : too_much]);
    } catch (const std::bad_alloc &) {
    }
  }
  TAIL;
}

FUNCTION void run() {
  keep_small();
  keep_large();
  delete_all();
  keep_after_bad_alloc();
  TAIL;
}

int main() { WORKLOAD(run()); }
