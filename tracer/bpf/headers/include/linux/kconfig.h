/* bcc includes this first; its helpers ask for these switches. */
#pragma once

#define CONFIG_64BIT 1
#define CONFIG_X86 1
#define CONFIG_X86_64 1
#define CONFIG_BPF_SYSCALL 1

#include <linux/types.h>
