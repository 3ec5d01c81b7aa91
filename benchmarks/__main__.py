"""`python -m benchmarks`."""

import sys

from benchmarks.command import main

sys.exit(main())
