"""Verilator's lint passes what Amaranth writes and nothing worse."""

import pytest

from linxtile_sim.lint import lint, main

CLEAN = """
module clean(input clk, input [3:0] i, output reg [3:0] o = 0);
  always @(posedge clk) o <= i + 1;
endmodule
"""
LATCH = "module latch(input enable, input i, output reg o); always @* if (enable) o = i; endmodule"
UNDRIVEN = "module undriven(output o); wire nothing; assign o = nothing; endmodule"


def written(tmp_path, name, text):
    file = tmp_path / f"{name}.v"
    file.write_text(text)
    return file


def test_amaranths_style_is_clean(tmp_path, capsys):
    assert main([str(written(tmp_path, "clean", CLEAN))]) == 0
    assert capsys.readouterr().out.endswith("clean.v: clean\n")


@pytest.mark.parametrize("name, text, rule", [("latch", LATCH, "LATCH"), ("undriven", UNDRIVEN, "UNDRIVEN")])
def test_a_fault_is_reported(tmp_path, name, text, rule):
    assert f"%Warning-{rule}" in lint(written(tmp_path, name, text))
    assert main([str(tmp_path / f"{name}.v")]) == 1
