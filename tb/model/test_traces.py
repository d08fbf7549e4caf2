"""The machine against worked programs that were computed by two other programs (tb/data/traces.json)."""

import json
from pathlib import Path

import pytest

from linxtile import Machine
from linxtile.isa.codes import REGISTER_NUMBERS, register_name
from linxtile.isa.faults import RULES
from linxtile.retired import flag_names

TRACES = json.loads((Path(__file__).parents[1] / "data" / "traces.json").read_text(encoding="utf-8"))


def expand(text):
    """Return the bytes of a token list: ``HEX*N`` is a group N times."""
    groups = (token.partition("*") for token in text.split())
    return b"".join(bytes.fromhex(group) * int(count or 1) for group, _, count in groups)


def number(text):
    """Return the value of a hex string."""
    return int(text, 16)


def machine_of(trace):
    """Return a machine set up as the trace says, with its program loaded."""
    machine = Machine()
    assert machine.config.tile_ram_bytes == trace["tile_ram_bytes"]
    for name, value in trace["gprs"].items():
        machine.gprs[REGISTER_NUMBERS[name]] = number(value)
    for address, data in trace["memory"].items():
        machine.memory.write(number(address), bytes.fromhex(data))
    machine.memory.set_error_pages(map(number, trace["error_pages"]))
    words = [(number(word), (len(word) - 2) // 2) for _, word, _ in trace["words"]]
    machine.load(b"".join(word.to_bytes(size, "little") for word, size in words), number(trace["program_base"]))
    return machine


def state_of(record):
    """Return queues, released names, pointer and sticky flags as a trace writes them."""
    live = {name: [tile.base, tile.size, tile.element_bits // 8] for name, tile in record.queues.live().items()}
    return live, record.queues.released(), record.pointer, flag_names(record.flags)


def stored(writes):
    """Return address -> byte for a list of stores."""
    return {address + place: byte for address, data in writes for place, byte in enumerate(data)}


def check_step(got, step):
    """Compare one retired block with its step."""
    assert got.block == number(step["block"])
    assert got.operation == step["op"].partition(".")[0]
    assert {name: bytes(tile) for name, tile in got.new_tiles.items()} == {
        name: expand(text) for name, text in step.get("new_tiles", {}).items()
    }
    expected = [(number(address), bytes.fromhex(data)) for address, data in step.get("memory", {}).items()]
    assert stored(got.writes) == stored(expected)
    assert flag_names(got.block_flags) == step.get("block_flags", [])
    registers = {name: number(value) for name, value in step.get("gprs", {}).items()}
    assert {register_name(register): value for register, value in got.registers.items()} == registers
    assert state_of(got) == (step["queues"], step["released"], step["pointer"], step["flags"])


@pytest.mark.parametrize("trace", TRACES, ids=lambda trace: trace["name"])
def test_a_worked_program_comes_out_as_printed(trace):
    machine = machine_of(trace)
    result = machine.run()
    for got, step in zip(result.blocks, trace["steps"], strict=True):
        check_step(got, step)
    for address, data in trace["final_memory"].items():
        assert machine.memory.read(number(address), len(data) // 2).hex() == data
    for address, data in trace["memory"].items():
        kept = stored([(number(address), bytes.fromhex(data))])
        changed = stored([(number(place), bytes.fromhex(new)) for place, new in trace["final_memory"].items()])
        for place in kept.keys() - changed.keys():
            assert machine.memory.read(place, 1)[0] == kept[place]
    expected = trace["fault"]
    if expected is None:
        assert result.fault is None
        return
    fault = result.fault
    assert (fault.rule.name, fault.number, fault.trap, fault.cause) == (
        expected["rule"], expected["row"], expected["trap"], expected["cause"],
    )  # fmt: skip
    assert fault.stage.name.lower() == expected["stage"]
    assert (fault.block, fault.word) == (number(expected["block"]), number(expected["word"]))
    assert fault.traparg0 == number(expected["traparg0"])
    assert state_of(result) == (expected["queues"], expected["released"], expected["pointer"], expected["flags"])
    registers = {name: number(value) for name, value in expected["gprs_after"].items()}
    assert {register_name(register): value for register, value in enumerate(result.gprs) if value} == registers


def test_the_traces_reach_each_stage_of_a_fault():
    rules = {trace["fault"]["rule"] for trace in TRACES if trace["fault"]}
    assert {row.stage.name for row in RULES if row.rule.name in rules} == {"WORD", "CLOSE", "BIND", "EXECUTE"}
