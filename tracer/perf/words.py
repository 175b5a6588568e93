"""Words that the tracer and the process without rights share: arguments of probes, and marks in stacks."""

from __future__ import annotations

# The return address that a probe reads, and one that the kernel may have put into the stack already.
CALLER, PERHAPS_KNOWN_CALLER = "caller", "perhaps_known_caller"

# They begin a frame that the tracer names, which knows what the process has mapped; the second goes if the frame
# before it is that very function.
ADDRESS, PERHAPS_KNOWN_ADDRESS = "@0x", "@?0x"
