"""perf of the kernel's own tools, run by us: for hosts without bcc."""
