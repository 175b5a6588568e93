// One function for each way to get memory, with a prime number of calls; tests/ebpf/truth.py has what each one keeps.
#include "workload.h"
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <pthread.h>
#include <sys/wait.h>

static volatile size_t too_much = 1UL << 62;
static volatile size_t half_the_bits = 1UL << 32;
static volatile size_t nothing = 0;
static void *volatile no_block = nullptr;

FUNCTION void keep_malloc() {
  for (int i = 0; i < 101; i++)
    USE(malloc(1000));
  TAIL;
}

FUNCTION void keep_calloc() {
  for (int i = 0; i < 53; i++)
    USE(calloc(10, 100));
  TAIL;
}

FUNCTION void keep_realloc() {
  for (int i = 0; i < 19; i++) {
    void *block = malloc(10);
    USE(block);
    USE(realloc(block, 5000));
  }
  TAIL;
}

FUNCTION void keep_realloc_of_null() {
  for (int i = 0; i < 7; i++)
    USE(realloc(no_block, 300));
  TAIL;
}

// The block that could not grow is still there.
FUNCTION void fail_realloc() {
  for (int i = 0; i < 5; i++) {
    void *block = malloc(64);
    USE(block);
    USE(realloc(block, too_much));
  }
  TAIL;
}

FUNCTION void free_by_realloc() {
  for (int i = 0; i < 3; i++) {
    void *block = malloc(64);
    USE(block);
    USE(realloc(block, nothing));
  }
  TAIL;
}

FUNCTION void keep_reallocarray() {
  for (int i = 0; i < 11; i++)
    USE(reallocarray(no_block, 3, 111));
  TAIL;
}

// 2^32 times 2^32 is 0 in 64 bits, but no request for 0 bytes: the block stays.
FUNCTION void overflow_reallocarray() {
  for (int i = 0; i < 3; i++) {
    void *block = malloc(48);
    USE(block);
    USE(reallocarray(block, half_the_bits, half_the_bits));
  }
  TAIL;
}

FUNCTION void overflow_calloc() {
  for (int i = 0; i < 3; i++)
    USE(calloc(half_the_bits, half_the_bits));
  TAIL;
}

FUNCTION void keep_posix_memalign() {
  for (int i = 0; i < 7; i++) {
    void *block = nullptr;
    if (posix_memalign(&block, 64, 4096))
      abort();
    USE(block);
  }
  TAIL;
}

// What was in the result before is no block.
FUNCTION void fail_posix_memalign() {
  for (int i = 0; i < 7; i++) {
    void *block = (void *)0x1234;
    if (!posix_memalign(&block, 3, 4096))
      abort();
    USE(block);
  }
  TAIL;
}

FUNCTION void keep_aligned_alloc() {
  for (int i = 0; i < 5; i++)
    USE(aligned_alloc(64, 512));
  TAIL;
}

FUNCTION void keep_memalign() {
  for (int i = 0; i < 3; i++)
    USE(memalign(64, 640));
  TAIL;
}

FUNCTION void keep_valloc() {
  for (int i = 0; i < 2; i++)
    USE(valloc(100));
  TAIL;
}

FUNCTION void keep_pvalloc() {
  for (int i = 0; i < 2; i++)
    USE(pvalloc(100));
  TAIL;
}

FUNCTION void free_all() {
  for (int i = 0; i < 1009; i++) {
    void *block = malloc(32);
    USE(block);
    free(block);
  }
  free(nullptr);
  TAIL;
}

FUNCTION void keep_empty() {
  for (int i = 0; i < 13; i++)
    USE(malloc(0));
  TAIL;
}

FUNCTION void fail_malloc() {
  for (int i = 0; i < 3; i++)
    USE(malloc(too_much));
  TAIL;
}

// So large that malloc maps it.
FUNCTION void keep_large() {
  for (int i = 0; i < 2; i++)
    USE(malloc(1 << 20));
  TAIL;
}

FUNCTION void free_large() {
  for (int i = 0; i < 2; i++) {
    void *block = malloc(1 << 20);
    USE(block);
    free(block);
  }
  TAIL;
}

struct alignas(128) Wide {
  char bytes[128];
};

FUNCTION void keep_new() {
  for (int i = 0; i < 17; i++)
    USE(new long);
  TAIL;
}

FUNCTION void keep_new_array() {
  for (int i = 0; i < 11; i++)
    USE(new char[200]);
  TAIL;
}

FUNCTION void keep_new_aligned() {
  for (int i = 0; i < 5; i++)
    USE(new Wide);
  TAIL;
}

FUNCTION void keep_new_nothrow() {
  for (int i = 0; i < 7; i++)
    USE(new (std::nothrow) char[24]);
  TAIL;
}

FUNCTION void delete_all() {
  for (int i = 0; i < 23; i++) {
    char *bytes = new char[200];
    USE(bytes);
    delete[] bytes;
    Wide *wide = new Wide;
    USE(wide);
    delete wide;
  }
  TAIL;
}

// An allocation that is left by an exception, and then others at the same depth of the stack.
FUNCTION void keep_after_bad_alloc() {
  for (int i = 0; i < 19; i++) {
    try {
      USE(new char[i % 2 ? 40 : too_much]);
    } catch (const std::bad_alloc &) {
    }
  }
  TAIL;
}

FUNCTION void keep_in_thread() {
  for (int i = 0; i < 251; i++)
    USE(malloc(48));
  TAIL;
}

static void *thread(void *) {
  keep_in_thread();
  return nullptr;
}

FUNCTION void run_threads() {
  pthread_t threads[4];
  for (auto &one : threads)
    pthread_create(&one, nullptr, thread, nullptr);
  for (auto &one : threads)
    pthread_join(one, nullptr);
  TAIL;
}

static void *handed_over[503];

static void *free_handed_over(void *) {
  for (void *block : handed_over)
    free(block);
  return nullptr;
}

FUNCTION void free_in_other_thread() {
  for (auto &block : handed_over)
    block = malloc(72);
  pthread_t other;
  pthread_create(&other, nullptr, free_handed_over, nullptr);
  pthread_join(other, nullptr);
  TAIL;
}

FUNCTION int descend(int levels) {
  if (!levels) {
    USE(malloc(777));
    return 1;
  }
  int depth = descend(levels - 1);
  TAIL;
  return depth + 1;
}

// Deeper than a stack that the kernel walks.
FUNCTION void keep_deep() {
  USE((void *)(long)descend(300));
  TAIL;
}

// What the child does with its copy of the memory is not the parent's.
FUNCTION void fork_child() {
  void *block = malloc(333);
  USE(block);
  pid_t child = fork();
  if (!child) {
    for (int i = 0; i < 10; i++)
      USE(malloc(100));
    free(block);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  TAIL;
}

FUNCTION void run() {
  keep_malloc();
  keep_calloc();
  keep_realloc();
  keep_realloc_of_null();
  fail_realloc();
  free_by_realloc();
  keep_reallocarray();
  overflow_reallocarray();
  overflow_calloc();
  keep_posix_memalign();
  fail_posix_memalign();
  keep_aligned_alloc();
  keep_memalign();
  keep_valloc();
  keep_pvalloc();
  free_all();
  keep_empty();
  fail_malloc();
  keep_large();
  free_large();
  keep_new();
  keep_new_array();
  keep_new_aligned();
  keep_new_nothrow();
  delete_all();
  if (!getenv("NEW_ABORTS")) // mimalloc's does, as it was built without exceptions
    keep_after_bad_alloc();
  run_threads();
  free_in_other_thread();
  keep_deep();
  fork_child();
  TAIL;
}

int main() { WORKLOAD(run()); }
