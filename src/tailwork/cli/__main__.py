"""`python -m tailwork.cli`."""

import sys

from tailwork.__main__ import main

sys.exit(main())
