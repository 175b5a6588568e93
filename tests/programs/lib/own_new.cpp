// An allocator to be preloaded whose operator new makes its blocks itself, as jemalloc's does: a short way that ends in a
// ret, and a long one in another function that it jumps to, which may throw.
#include <cstddef>
#include <new>

static char pool[64 << 20] __attribute__((aligned(128)));
static size_t used;

static inline void *taken(size_t bytes) {
  size_t start = __atomic_fetch_add(&used, (bytes + 127) & ~(size_t)127, __ATOMIC_RELAXED);
  return bytes > sizeof pool || start + bytes > sizeof pool ? nullptr : pool + start;
}

extern "C" __attribute__((noinline, visibility("hidden"))) void *take_large(size_t bytes) {
  void *block = taken(bytes);
  if (!block)
    throw std::bad_alloc();
  return block;
}

void *operator new(size_t bytes) {
  if (bytes > 100)
    return take_large(bytes);
  return taken(bytes);
}

void *operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void *) noexcept {}
void operator delete[](void *) noexcept {}
void operator delete(void *, size_t) noexcept {}
void operator delete[](void *, size_t) noexcept {}

extern "C" {
void *malloc(size_t bytes) { return taken(bytes); }
void free(void *) {}
void *calloc(size_t objects, size_t bytes) {
  size_t product;
  return __builtin_mul_overflow(objects, bytes, &product) ? nullptr : taken(product);
}
}
