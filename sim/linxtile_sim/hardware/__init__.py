"""Simulated hardware around the core: memory, write trace and digests, so that Python wakes once a block."""
