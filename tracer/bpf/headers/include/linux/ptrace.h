#pragma once

#include <uapi/linux/ptrace.h>
