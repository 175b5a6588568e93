/* A small allocator to be preloaded: it takes the memory from one array and gives nothing back. */
#include <stddef.h>
#include <stdint.h>

static char pool[64 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t bytes) {
  if (bytes >= sizeof pool)
    return NULL;
  size_t start = __atomic_fetch_add(&used, (bytes + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  if (start + bytes + 16 > sizeof pool)
    return NULL;
  *(size_t *)(pool + start) = bytes;
  return pool + start + 16;
}

void free(void *block) { __asm__ volatile("" ::"r"(block) : "memory"); }

void *calloc(size_t objects, size_t bytes) {
  size_t product;
  return __builtin_mul_overflow(objects, bytes, &product) ? NULL : malloc(product);
}

void *realloc(void *block, size_t bytes) {
  char *grown = malloc(bytes);
  if (block && grown)
    for (size_t i = 0; i < bytes && i < ((size_t *)block)[-2]; i++)
      grown[i] = ((char *)block)[i];
  return grown;
}
