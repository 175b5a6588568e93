// A library that brings the C++ runtime, and an allocator of its own under mimalloc's names.
#include <cstdlib>
#include <new>

#define USE(pointer) __asm__ volatile("" ::"r"(pointer) : "memory")

static volatile size_t too_much = 1UL << 62;

extern "C" {
__attribute__((noinline)) void *mi_malloc(size_t bytes) {
  static char pool[1 << 16];
  static size_t used;
  used += (bytes + 15) & ~(size_t)15;
  return pool + used - ((bytes + 15) & ~(size_t)15);
}

__attribute__((noinline)) void mi_free(void *block) { USE(block); }

void keep_by_new() {
  for (int i = 0; i < 17; i++)
    USE(new char[200]);
  for (int i = 0; i < 5; i++) {
    long *number = new long;
    USE(number);
    delete number;
  }
}

// 5 of 9 throw.
void keep_after_bad_alloc() {
  for (int i = 0; i < 9; i++) {
    try {
      USE(new char[i % 2 ? 40 : too_much]);
    } catch (const std::bad_alloc &) {
    }
  }
}

void keep_from_pool() {
  for (int i = 0; i < 31; i++)
    USE(mi_malloc(64));
  mi_free(mi_malloc(100));
}
}
