// A pool that carves its blocks out of chunks that it takes from malloc, with functions of its own for both ways.
#include <cstddef>
#include <cstdlib>
#include <new>

static char *chunk;
static size_t used, size_of_chunk;

static char *carved(size_t bytes) {
  bytes = (bytes + 16 + 15) & ~(size_t)15; // 16 bytes before each block: none begins where the chunk does
  if (used + bytes > size_of_chunk) {
    size_of_chunk = 1 << 16;
    chunk = (char *)malloc(size_of_chunk);
    used = 0;
  }
  used += bytes;
  return chunk + used - bytes + 16;
}

extern "C" {
void *arena_get(const char *, size_t bytes) { return bytes > 1000 ? nullptr : carved(bytes); }
void *arena_get_many(const char *, size_t objects, size_t, size_t, size_t bytes) { return carved(objects * bytes); }
void arena_put(const char *, void *) { __asm__ volatile(""); }
}

namespace arena {
void *take(size_t bytes) {
  if (bytes > 1000)
    throw std::bad_alloc();
  return carved(bytes);
}
} // namespace arena
