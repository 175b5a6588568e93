"""`python -m tracer` is `memflame`."""

from __future__ import annotations

import sys

from tracer.commands import main

sys.exit(main())
