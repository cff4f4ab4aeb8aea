"""`python -m mcp_sim` is `mcp-sim`."""

import sys

from mcp_sim.cli import main

sys.exit(main())
