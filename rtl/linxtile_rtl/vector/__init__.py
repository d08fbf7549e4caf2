"""The vector engine: operand fetch, lanes of nested slots, combiner and write back, see docs/vector.md."""
