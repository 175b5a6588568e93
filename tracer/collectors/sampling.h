/* Which allocations are followed, so that one is for each so many bytes on average (a Poisson process), and how much each
 * of them stands for.
 *
 * Each processor counts bytes down from a random distance. An allocation of s bytes is chosen with probability
 * 1 - exp(-s / SAMPLE_BYTES) and stands for 1 / that many of its kind, so sums are right on average. The kernel has no
 * exponential function: tracer/collectors/sampling.py fills the tables. One of 0 bytes is chosen like one of 1.
 *
 * What all allocations add up to is counted here as well, exactly.
 *
 * Defines: SAMPLE_BYTES, and those of target.h.
 */
#define DISTANCES 4096
#define SAMPLES_ALWAYS (16ULL * SAMPLE_BYTES) /* not chosen once in 9 million times */
#define ESTIMATE_STEPS 4096
#define ESTIMATE_FRACTION_BITS 8
#define MOST_BYTES (1ULL << 47) /* more can only fail */
#define FILTER_SLOTS 8192

struct sampler {
  s64 left; /* bytes until the next one is chosen */
  u64 bytes;
  u64 objects;
};

BPF_PERCPU_ARRAY(samplers, struct sampler, 1);
BPF_ARRAY(distances, u64, DISTANCES);
/* Bytes that an allocation of i / ESTIMATE_STEPS of SAMPLES_ALWAYS stands for, times 256. */
BPF_ARRAY(estimates, u64, ESTIMATE_STEPS + 1);
/* How many live blocks there are by a part of their address: most frees are of blocks that were not chosen, and a look into
 * this small table tells. */
BPF_ARRAY(filter, u64, FILTER_SLOTS);

static __always_inline struct sampler *own_sampler(void) {
  u32 first = 0;
  return samplers.lookup(&first);
}

/* Whether this processor's next allocation of that size will be chosen. */
static __always_inline bool is_due(u64 bytes) {
  struct sampler *sampler = own_sampler();
  return sampler && sampler->left < (s64)bytes;
}

/* Counts an allocation, and chooses. */
static __always_inline bool is_chosen(u64 bytes) {
  struct sampler *sampler = own_sampler();
  if (!sampler || bytes >= MOST_BYTES)
    return false;
  __sync_fetch_and_add(&sampler->bytes, bytes);
  __sync_fetch_and_add(&sampler->objects, 1);
  sampler->left -= bytes ? bytes : 1;
  if (sampler->left >= 0)
    return false;
  u32 drawn = bpf_get_prandom_u32() % DISTANCES;
  u64 *distance = distances.lookup(&drawn);
  if (distance)
    sampler->left = *distance;
  return true;
}

/* A call that was counted and failed. */
static __always_inline void uncount_bytes(u64 bytes) {
  struct sampler *sampler = own_sampler();
  if (!sampler || bytes >= MOST_BYTES)
    return;
  __sync_fetch_and_add(&sampler->bytes, -bytes);
  __sync_fetch_and_add(&sampler->objects, -1);
}

/* Bytes that a chosen allocation of at least 1 byte stands for: between two entries of the table on a straight line. */
static __always_inline u64 estimated_bytes(u64 bytes) {
  if (bytes >= SAMPLES_ALWAYS)
    return bytes;
  u64 place = (bytes << 24) / SAMPLE_BYTES; /* in 1 / 2^24 of SAMPLE_BYTES; a step is 2^16 of these */
  u32 below = place >> 16, above = below + 1;
  u64 *low = estimates.lookup(&below), *high = estimates.lookup(&above);
  if (!low || !high)
    return bytes;
  u64 estimate = *low + (((*high - *low) * (place & 0xffff)) >> 16);
  return (estimate + (1 << (ESTIMATE_FRACTION_BITS - 1))) >> ESTIMATE_FRACTION_BITS;
}

/* Objects that it stands for: rounded up or down at random, right on average. */
static __always_inline u64 estimated_objects(u64 bytes, u64 estimate) {
  return estimate / bytes + (bpf_get_prandom_u32() % bytes < estimate % bytes);
}

static __always_inline u64 *filter_slot(u64 address) {
  u32 slot = (address >> 4 ^ address >> 17) % FILTER_SLOTS;
  return filter.lookup(&slot);
}

static __always_inline bool may_be_live(u64 address) {
  u64 *blocks_here = filter_slot(address);
  return blocks_here && *blocks_here;
}

static __always_inline void note_live(u64 address, s64 change) {
  u64 *blocks_here = filter_slot(address);
  if (blocks_here)
    __sync_fetch_and_add(blocks_here, change);
}
