"""Simulation of linxtile: runner, stream drivers and monitors, memory, lockstep check."""
