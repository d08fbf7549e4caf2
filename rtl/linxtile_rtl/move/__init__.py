"""Move engines: tiles from and to memory over AXI4."""
