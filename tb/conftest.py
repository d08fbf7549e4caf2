"""Set up what every test needs."""

import os

# Amaranth would take any yosys it finds on the machine: the Verilog must be the same everywhere.
os.environ["AMARANTH_USE_YOSYS"] = "builtin"
