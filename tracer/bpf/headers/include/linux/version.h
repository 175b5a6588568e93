/* The kernel that runs: MEMFLAME_KERNEL_VERSION is a define of the build, never a constant of a header. */
#pragma once

#define KERNEL_VERSION(major, minor, patch) (((major) << 16) + ((minor) << 8) + ((patch) > 255 ? 255 : (patch)))
#define LINUX_VERSION_CODE MEMFLAME_KERNEL_VERSION
