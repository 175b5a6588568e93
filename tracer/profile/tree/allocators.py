"""A call tree without the allocator functions at the ends of its stacks: what they hold counts as their callers'.

frontend/js/allocators.js does the same to what is drawn; tests/view/allocators.json holds both to one list and rule.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from tracer.profile.model import ValueType
from tracer.profile.tree.calltree import CallTree
from tracer.profile.tree.prune import prune

PATTERN = (
    r"^(__libc_|__GI_|__GI___|__|_int_|je_|_rjem_|mi_|tc_)?(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc"
    r"|posix_memalign|valloc|pvalloc|mallocx|rallocx|mmap|mmap64|mremap|brk|sbrk)$"
    r"|^mi_(heap_)?(malloc|zalloc|calloc|mallocn|realloc|reallocn|rezalloc|recalloc)(_small|_aligned)?$"
    r"|^(mi|tc)_new(array|_n)?(_aligned)?(_nothrow)?$|^tc_malloc_skip_new_handler$"
    r"|^(strdup|strndup|wcsdup|v?asprintf|getline|getdelim)$"
    r"|^(sysmalloc|__default_morecore|tcache_init|_mid_memalign)$"
    r"|^operator new(\[\])?($|\()|^_Zn[wa]m"
    r"|^(_rjem_)?(je_)?(imalloc|imalloc_body|imalloc_no_sample|malloc_default|prof_alloc_prep|prof_tctx_create"
    r"|prof_backtrace|prof_backtrace_impl)$|^tcmalloc::|^\[inside lib(jemalloc|tcmalloc)[^\]]*\]$"
)
KEEPS_ALLOCATORS = ("faults", "pages")  # units: of a fault or a page the allocator itself may be the cause
_ALLOCATORS = re.compile(PATTERN.replace("$", r"\Z"))  # in Python `$` also matches before a line's end


def is_allocator(name: str) -> bool:
    return _ALLOCATORS.search(name) is not None


def keeps_allocators(value_type: ValueType) -> bool:
    return value_type.unit in KEEPS_ALLOCATORS


def fold_allocators(tree: CallTree) -> CallTree:
    """Sums stay the same. The tree itself where there is nothing to fold."""
    is_folded = _ends_of_stacks(tree)
    return prune(tree, ~is_folded) if is_folded.any() else tree


def _ends_of_stacks(tree: CallTree) -> npt.NDArray[np.bool_]:
    """A frame goes only with all that it called. Those right below the root stay: they have no caller to count for."""
    is_known = np.array([is_allocator(name) for name in tree.names], np.bool_)
    kept_children = np.bincount(tree.parent[1:], minlength=len(tree))
    is_folded = np.zeros(len(tree), np.bool_)
    for level in reversed(tree.levels[2:]):
        gone = level[is_known[tree.name[level]] & (kept_children[level] == 0)]
        is_folded[gone] = True
        np.subtract.at(kept_children, tree.parent[gone], 1)
    return is_folded
