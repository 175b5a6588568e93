/* What a call of an allocator function asks for, and where it came from, at the function's first instructions.
 *
 * Defines: LAST_POSITION (of the arguments to read), and those of target.h.
 */

/* What the probe's cookie says of a function, low byte first: its number, then the position of each argument that
 * matters, counted from 1, 0 for none. tracer/collectors/allocators.py writes it. */
#define FUNCTION(cookie) ((u32)(cookie)&0xff)
#define SIZE_ARGUMENT(cookie) (((u32)(cookie) >> 8) & 0xf)
#define FACTOR_ARGUMENT(cookie) (((u32)(cookie) >> 12) & 0xf)
#define BLOCK_ARGUMENT(cookie) (((u32)(cookie) >> 16) & 0xf)
#define RESULT_ARGUMENT(cookie) (((u32)(cookie) >> 20) & 0xf)
#define SYMBOL(cookie) (((u32)(cookie) >> 24) & 0xff)
#define IS_LEFT_BY_RET(cookie) ((u32)((cookie) >> 32) & 1)
#define CODE_BYTES(cookie) ((cookie) >> 40)

#define OVERFLOW (~0ULL)

static __always_inline u64 later_argument(struct pt_regs *context, u32 position) {
#if LAST_POSITION > 3
  u64 fourth = context->cx, fifth = context->r8, sixth = context->r9;
  OPAQUE(fourth);
  OPAQUE(fifth);
  OPAQUE(sixth);
  return position == 4 ? fourth : position == 5 ? fifth : position == 6 ? sixth : 0;
#else
  return 0;
#endif
}

static __always_inline u64 argument(struct pt_regs *context, u32 position) {
  u64 first = context->di, second = context->si, third = context->dx;
  OPAQUE(first);
  OPAQUE(second);
  OPAQUE(third);
  return position == 1   ? first
         : position == 2 ? second
         : position == 3 ? third
                         : later_argument(context, position);
}

static __always_inline u64 requested_bytes(struct pt_regs *context, u64 cookie) {
  u64 bytes = argument(context, SIZE_ARGUMENT(cookie));
  if (!FACTOR_ARGUMENT(cookie))
    return bytes;
  u64 objects = argument(context, FACTOR_ARGUMENT(cookie));
  u64 product = bytes * objects;
  OPAQUE(product);
  if (bytes && product / bytes != objects)
    return OVERFLOW; /* the allocator refuses it; the product must not look like a request for 0 bytes */
  return product;
}

static __always_inline u64 return_address(struct pt_regs *context) { return word_at(context->sp); }
