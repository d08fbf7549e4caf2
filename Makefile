# Every target is a command that one could type; all output goes under build/.

PY := .venv/bin/python
PYTEST := $(PY) -m pytest -n auto --dist worksteal -q
PRESETS := small default
export AMARANTH_USE_YOSYS := builtin

.DEFAULT_GOAL := help
.PHONY: help setup sim test sweep soak waves verilog synth bench mutants docs lint clean

help:  ## print this list
	@sed -n 's/^\([a-z]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "make %-9s %s\n", $$1, $$2 }'

setup: .venv/.ok  ## fetch compilers, simulators and Python packages (the other targets do so by themselves)

.venv/.ok: pyproject.toml constraints.txt tools/setup
	tools/setup

sim: setup  ## unit benches and the first example on the generated Verilog, in Icarus and Verilator
	$(PYTEST) -m "not slow" tb/rtl tb/sim
	$(PY) -m linxtile_sim.example

test: setup  ## every test but the long sweeps
	$(PYTEST) -m "not slow" tb

sweep: setup  ## the long sweeps that test and sim leave out
	$(PYTEST) -m slow tb

soak: setup  ## 2,000 random move programs with faults on a slow and irregular memory, in lockstep with the model
	$(PY) -m linxtile_sim.soak

waves: setup  ## run the first example with waves, and write a GTKWave save file
	$(PY) -m linxtile_sim.example --waves

verilog: setup  ## write build/verilog/linxtile_<preset>.v and lint it with Verilator
	$(PY) -m linxtile_rtl.export $(PRESETS)
	$(PY) -m linxtile_sim.lint $(PRESETS:%=build/verilog/linxtile_%.v)

synth: setup  ## synthesise for ECP5 with Yosys, print the cells of each unit, and the gates of the move engines
	$(PY) -m linxtile_rtl.synth $(PRESETS)

bench: setup  ## measure cycles of the RTL against their bounds, and the speed of the model against numpy's
	$(PY) -m linxtile_sim.bench
	$(PY) tools/bench_model.py

mutants: setup  ## plant bugs in the RTL one by one and name the test that catches each
	$(PY) tools/mutants.py

docs: setup  ## build the documentation, worked examples and notebooks included, in build/docs
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

lint: setup  ## ruff and mypy
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

clean:  ## remove everything generated but .venv
	rm -rf build .pytest_cache .ruff_cache .mypy_cache
