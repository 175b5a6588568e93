// Takes blocks from libarena.so's pool, gives some back, and has others from malloc.
#include "workload.h"
#include <cstdlib>
#include <new>

extern "C" void *arena_get(const char *, size_t bytes);
extern "C" void *arena_get_many(const char *, size_t objects, size_t, size_t, size_t bytes);
extern "C" void arena_put(const char *, void *);
namespace arena {
void *take(size_t bytes);
}

FUNCTION void keep_from_arena() {
  for (int i = 0; i < 101; i++)
    USE(arena_get("", 100));
  USE(arena_get("", 5000)); // refused
  TAIL;
}

FUNCTION void keep_many() {
  for (int i = 0; i < 7; i++)
    USE(arena_get_many("", 3, 0, 0, 40));
  TAIL;
}

FUNCTION void give_back() {
  for (int i = 0; i < 53; i++)
    arena_put("", arena_get("", 64));
  TAIL;
}

// 9 of 19 throw.
FUNCTION void keep_after_refusal() {
  for (int i = 0; i < 19; i++) {
    try {
      USE(arena::take(i % 2 ? 5000 : 80));
    } catch (const std::bad_alloc &) {
    }
  }
  TAIL;
}

FUNCTION void keep_malloc() {
  for (int i = 0; i < 11; i++)
    USE(malloc(30));
  TAIL;
}

FUNCTION void run() {
  keep_from_arena();
  keep_many();
  give_back();
  keep_after_refusal();
  keep_malloc();
  TAIL;
}

int main() { WORKLOAD(run()); }
