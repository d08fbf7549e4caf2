"""Synthesis counts cells unit by unit and refuses what must not reach an FPGA."""

import pytest

from linxtile_rtl.gates import AIM, move_config, print_gates
from linxtile_rtl.synth import GATES, report, synthesise, unit_of
from linxtile_rtl.yosys import YosysError

TWO_REGISTERS = """
module top(input clk, input [3:0] i, output [3:0] o);
  wire [3:0] between;
  stage first (.clk(clk), .i(i), .o(between));
  stage second (.clk(clk), .i(between), .o(o));
endmodule
module stage(input clk, input [3:0] i, output reg [3:0] o);
  always @(posedge clk) o <= i;
endmodule
"""

LATCH = "module top(input enable, input i, output reg o); always @* if (enable) o = i; endmodule"
LOOP = "module top(input i, output o); assign o = ~(o & i); endmodule"
TWO_DRIVERS = "module top(input i, input j, output o); assign o = i; assign o = j; endmodule"
UNDRIVEN = "module top(output o); wire nothing; assign o = nothing; endmodule"


def test_a_module_used_twice_counts_twice(tmp_path):
    modules = {module.name: module for module in synthesise(TWO_REGISTERS, "top", tmp_path)}
    assert modules["stage"].instances == 2
    assert modules["stage"].cells["FF"] == 4
    assert report(list(modules.values()), "top").splitlines()[-1].split()[:3] == ["all", "0", "8"]


@pytest.mark.parametrize(
    "text, complaint",
    [
        (LATCH, "dlatch"),
        (LOOP, "logic loop"),
        (TWO_DRIVERS, "multiple conflicting drivers"),
        (UNDRIVEN, "is used but has no driver"),
    ],
    ids=["latch", "loop", "two drivers", "undriven"],
)
def test_what_no_synchronous_design_has_is_refused(tmp_path, text, complaint):
    with pytest.raises(YosysError, match=complaint):
        synthesise(text, "top", tmp_path)


def test_a_unit_is_what_stands_below_the_top_or_is_shared():
    assert [unit_of(name, "core") for name in ("core", "core.binder", "core.binder.inner", "lane.adder")] == [
        "(top)",
        "binder",
        "binder",
        "lane",
    ]


MAJORITY = """
module top(input clk, input a, input b, input c, output reg o);
  always @(posedge clk) o <= a & b | c & (a ^ b);
endmodule
"""


@pytest.mark.parametrize("flatten", [True, False])
def test_gates_are_counted_apart_from_flip_flops(tmp_path, flatten):
    (module,) = synthesise(MAJORITY, "top", tmp_path, target=GATES, flatten=flatten)
    # Two gates with a multiplexer, four without.
    assert 2 <= module.cells["gates"] <= 4
    assert module.cells["FF"] == 1


def test_gates_of_modules_add_up(tmp_path):
    modules = synthesise(TWO_REGISTERS, "top", tmp_path, target=GATES)
    assert report(modules, "top", GATES).splitlines()[-1].split() == ["all", "0", "8"]
    (module,) = synthesise(TWO_REGISTERS, "top", tmp_path, target=GATES, flatten=True)
    assert module.cells == {"gates": 0, "FF": 8}


def test_the_move_engines_are_measured_without_a_transposer():
    config = move_config()
    assert (config.axi_data_bytes, config.reads_outstanding) == (8, 16)
    assert config.move_layouts >= {"NORM"} and not config.move_layouts & {"ND2ZN", "DN2NZ", "NZ2DN", "ZN2ND"}


@pytest.mark.slow
def test_the_gates_of_the_move_engines_are_told_against_their_aim(capsys):
    total = print_gates()
    assert total > 1000
    assert capsys.readouterr().out.splitlines()[-2].startswith(f"{total} gates, {abs(total - AIM)} ")
