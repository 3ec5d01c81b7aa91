"""`python -m tailwork.cli`."""

import sys

from tailwork.cli import main

sys.exit(main())
