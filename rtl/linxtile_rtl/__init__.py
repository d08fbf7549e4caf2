"""linxtile in Amaranth: each module is one unit of the block diagram in docs/architecture.md."""
