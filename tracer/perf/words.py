"""Words that the tracer and the process without rights share: arguments of probes, and marks in stacks."""

from __future__ import annotations

# The return address that a probe reads: missing in the stack, perhaps put there by the kernel, or surely in it.
CALLER, PERHAPS_KNOWN_CALLER, RETURN_ADDRESS = "caller", "perhaps_known_caller", "return_address"

# Where the kernel lets a function return to that another tracer has a return probe on: x86_64, [uprobes] in the maps.
TRAMPOLINES = range(0x7FFF_FFFF_E000, 0x7FFF_FFFF_F000)

# They begin a frame that the tracer names, which knows what the process has mapped; the second goes if the frame
# before it is that very function.
ADDRESS, PERHAPS_KNOWN_ADDRESS = "@0x", "@?0x"
