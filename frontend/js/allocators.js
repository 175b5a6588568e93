// Counts what allocator functions hold as their callers': the last frame of each heap stack is malloc, and says nothing.
// tracer/profile/tree/allocators.py does the same for pages without script; tests hold both to one list and rule.

const ALLOCATORS = new RegExp(
  "^(__libc_|__GI_|__GI___|__|_int_|je_|_rjem_|mi_|tc_)?(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc" +
    "|posix_memalign|valloc|pvalloc|mallocx|rallocx|mmap|mmap64|mremap|brk|sbrk)$" +
    "|^mi_(heap_)?(malloc|zalloc|calloc|mallocn|realloc|reallocn|rezalloc|recalloc)(_small|_aligned)?$" +
    "|^(mi|tc)_new(array|_n)?(_aligned)?(_nothrow)?$|^tc_malloc_skip_new_handler$" +
    "|^(strdup|strndup|wcsdup|v?asprintf|getline|getdelim)$" +
    "|^(sysmalloc|__default_morecore|tcache_init|_mid_memalign)$" +
    "|^operator new(\\[\\])?($|\\()|^_Zn[wa]m" +
    "|^(_rjem_)?(je_)?(imalloc|imalloc_body|imalloc_no_sample|malloc_default|prof_alloc_prep|prof_tctx_create" +
    "|prof_backtrace|prof_backtrace_impl)$|^tcmalloc::|^\\[inside lib(jemalloc|tcmalloc)[^\\]]*\\]$",
);
// Of a fault or a page the allocator itself may be the cause.
const KEEPS_ALLOCATORS = new Set(["faults", "pages"]);

export const isAllocator = (name) => ALLOCATORS.test(name);

/**
 * The columns without the allocator frames at the ends of stacks, and the names of those; sums stay the same.
 * Writes into the columns that it gets.
 */
export function foldAllocators(columns) {
  const isKnown = columns.strings.map(isAllocator);
  if (KEEPS_ALLOCATORS.has(columns.header.value_type?.unit) || !isKnown.includes(true)) return { columns, folded: [] };
  const parent = parentsOf(columns);
  const isFolded = endsOfStacks(columns, parent, isKnown);
  const folded = new Set();
  for (let i = columns.n - 1; i > 0; i--) {
    if (!isFolded[i]) continue;
    folded.add(columns.strings[columns.names[i]]);
    columns.self[parent[i]] += columns.self[i];
    if (columns.self2) columns.self2[parent[i]] += columns.self2[i];
  }
  return { columns: folded.size ? without(columns, parent, isFolded) : columns, folded: [...folded].sort() };
}

function parentsOf({ n, childCounts }) {
  const parent = new Int32Array(n).fill(-1);
  for (let i = 0, next = 1; i < n; i++) for (const end = next + childCounts[i]; next < end; next++) parent[next] = i;
  return parent;
}

// A frame goes only with all that it called. Those right below the root stay: they have no caller to count for.
function endsOfStacks({ n, names, childCounts }, parent, isKnown) {
  const keptChildren = Uint32Array.from(childCounts);
  const isFolded = new Uint8Array(n);
  for (let i = n - 1; i > 0; i--) {
    if (!isKnown[names[i]] || keptChildren[i] > 0 || parent[i] === 0) continue;
    isFolded[i] = 1;
    keptChildren[parent[i]]--;
  }
  return isFolded;
}

function without(columns, parent, isFolded) {
  const { childCounts, names, self, self2 } = columns;
  for (let i = 1; i < columns.n; i++) if (isFolded[i]) childCounts[parent[i]]--;
  let n = 0;
  for (let i = 0; i < columns.n; i++) {
    if (isFolded[i]) continue;
    childCounts[n] = childCounts[i];
    names[n] = names[i];
    self[n] = self[i];
    if (self2) self2[n] = self2[i];
    n++;
  }
  const cut = (column) => column && column.subarray(0, n);
  return { ...columns, n, childCounts: cut(childCounts), names: cut(names), self: cut(self), self2: cut(self2) };
}
