/* bcc sizes map arrays with this, so it must be a constant expression. */
#pragma once

#define roundup_pow_of_two(n) ((n) <= 1 ? 1UL : (1UL << (64 - __builtin_clzll((unsigned long long)(n) - 1))))
