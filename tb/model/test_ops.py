"""Functions of `linxtile.ops`: what they offer, what they refuse, and small results worked out by hand."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from linxtile import Flag, Mask, Tile, explain, ops
from linxtile.isa.operations import OPERATIONS
from linxtile.operations import implementation

README = Path(__file__).parents[2] / "README.md"
FP16 = Tile.from_values([[1.0, -2.0, 0.5], [4.0, 8.0, 16.0]], "FP16", shape=(3, 4), pad="Max")
S8 = Tile.from_values([[100, -100], [7, 0]], "S8")
OTHER = Tile.from_values([[1.0]], "FP16")


def test_every_operation_of_the_model_has_a_function_and_no_other():
    executed = {row.name.replace(".", "_") for row in OPERATIONS if implementation(row) is not None}
    assert set(ops.__all__) - {"Flags"} == executed


@pytest.mark.parametrize("name", sorted(set(ops.__all__) - {"Flags"}))
def test_every_function_says_what_it_does_and_has_types(name):
    function = getattr(ops, name)
    assert function.__doc__ and function.__doc__.splitlines()[0].endswith(".")
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in signature.parameters.values())


def test_results_have_the_geometry_of_their_operands_and_padding():
    total = ops.TADD(FP16, FP16, pad="Min")
    assert total.shape == (3, 4) and total.valid_shape == (2, 3)
    assert total.values().tolist() == [[2, -4, 1], [8, 16, 32]]
    assert (total.codes[2] == 0xFBFF).all() and (total.codes[:, 3] == 0xFBFF).all()
    assert (ops.TADD(FP16, FP16).codes[2] == 0).all()


def test_scalars_are_values_or_tiles_of_one_element():
    assert ops.TMULS(S8, 2).values().tolist() == [[-56, 56], [14, 0]]
    assert ops.TADDS(FP16, 0.5).values()[0].tolist() == [1.5, -1.5, 1.0]
    rounded = Tile.from_values([[0.1]], "FP16")
    assert ops.TMAXS(FP16, rounded).values()[0, 1] == float(np.float16(0.1))


def test_flags_are_collected_only_where_asked_for():
    flags = ops.Flags()
    big, zero = Tile.from_values([[60000.0]], "FP16"), Tile.from_values([[0.0]], "FP16")
    ops.TADD(big, big)
    assert flags.raised == Flag(0) and repr(flags) == "Flags(none)"
    ops.TADD(big, big, flags=flags)
    assert flags.raised == Flag.OF and Flag.OF in flags and Flag.DZ not in flags
    ops.TDIV(big, zero, flags=flags)
    assert repr(flags) == "Flags(DZ, OF)"
    flags.clear()
    assert flags.raised == Flag(0)


def test_flags_of_padding_are_not_raised():
    tile = Tile([[0x3C00, 0x7C01]], "FP16", (1, 1))
    flags = ops.Flags()
    ops.TADD(tile, tile, flags=flags)
    assert flags.raised == Flag(0)


def test_the_left_fold_rounds_in_index_order():
    values = [[2048.0, 1.0, 1.0, 1.0]]
    tile = Tile.from_values(values, "FP16")
    assert ops.TROWSUM(tile).values().tolist() == [[2050.0]]
    assert ops.TROWSUM(tile, order="left_fold").values().tolist() == [[2048.0]]
    column = Tile.from_values(np.transpose(values), "FP16")
    assert ops.TCOLSUM(column).values().tolist() == [[2050.0]]
    assert ops.TCOLSUM(column, order="left_fold").values().tolist() == [[2048.0]]
    assert ops.TROWPROD(S8, order="left_fold").values().tolist() == [[-10000 % 256 - 256 * (-10000 % 256 > 127)], [0]]


def test_padding_takes_no_part_in_a_reduction():
    tile = Tile.from_values(-np.ones((3, 4)), "FP16", shape=(4, 8))
    assert ops.TROWMAX(tile).values().tolist() == [[-1.0]] * 3
    assert ops.TCOLSUM(Tile.from_values(np.ones((1, 161)), "S32")).values().tolist() == [[1] * 161]
    assert ops.TROWSUM(Tile.from_values(np.ones((161, 1)), "S32")).values().tolist() == [[1]] * 161


def test_selection_follows_the_mask():
    mask = ops.TCMP(FP16, ops.TABS(FP16), "LT")
    assert mask.bits[:2, :3].tolist() == [[False, True, False], [False, False, False]]
    assert ops.TSEL(mask, ops.TNEG(FP16), FP16).values().tolist() == [[1, 2, 0.5], [4, 8, 16]]
    assert ops.TSELS(mask, FP16, 9.0).values().tolist() == [[9, -2, 9], [9, 9, 9]]


def test_the_session_of_the_readme_gives_a_softmax(capsys):
    session = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    names = {}
    exec(session, names)
    shown = capsys.readouterr().out
    assert shown.startswith("Tile FP16 2 x 3\n") and "RNE takes the lower" in shown
    exact = np.exp(names["scores"].values())
    exact /= exact.sum(axis=1, keepdims=True)
    assert np.abs(names["softmax"].values() / exact - 1).max() < 2**-9


def test_explain_picks_the_element_of_each_operand():
    assert explain("TADD", [FP16, FP16], (1, 2)).code == 0x5000
    vector = Tile.from_values([[1.0], [2.0]], "FP16")
    assert explain("TROWEXPANDADD", [FP16, vector], (1, 0)).exact == "6"
    assert explain("TADDS", [FP16, 0.5], (0, 1)).exact == "-1.5"
    assert explain("TCVT", [FP16], (0, 1), to="S8").code == 0xFE


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: ops.TADD(FP16, 1), TypeError, "TADD: operand 1 must be a Tile, not int"),
        (lambda: ops.TADD(FP16, OTHER), ValueError, "TADD: operand 1 must have the shape (3, 4) of operand 0, not (1, 1)"),
        (lambda: ops.TADD(S8, ops.TCVT(S8, "U8")), ValueError, "TADD: operand 1 must have the data_type S8 of operand 0, not U8"),
        (lambda: ops.TADD(S8, Tile(S8.codes, "S8", (1, 2))), ValueError, "TADD: operand 1 must have the valid_shape (2, 2) of operand 0, not (1, 2)"),
        (lambda: ops.TAND(FP16, FP16), ValueError, "TAND takes S64, U64, S32, U32, S16, U16, S8, U8, not FP16"),
        (lambda: ops.TADD(S8, S8, pad="One"), ValueError, "pad must be one of Zero, Max, Min, Null, not 'One'"),
        (lambda: ops.TADD(S8, S8, flags=True), TypeError, "TADD: flags must be an ops.Flags, not bool"),
        (lambda: ops.TADDS(S8, 0.5), ValueError, "TADDS: scalar must be a value of S8, not 0.5"),
        (lambda: ops.TADDS(FP16, 0.1), ValueError, "TADDS: scalar must be a value of FP16, not 0.1; "),
        (lambda: ops.TADDS(S8, "1"), TypeError, "TADDS: scalar must be an int, a float or a 1 x 1 Tile, not str"),
        (lambda: ops.TADDS(S8, OTHER), ValueError, "TADDS: scalar must be a 1 x 1 tile of S8, not (1, 1) of FP16"),
        (lambda: ops.TADDSC(S8, S8, 1), ValueError, "TADDSC takes S64, U64, FP64, "),
        (lambda: ops.TCMP(S8, S8, "XX"), ValueError, "mode must be one of EQ, NE, LT, GT, LE, GE, not 'XX'"),
        (lambda: ops.TCMP(S8, S8, 2), TypeError, "mode must be a name such as 'LT', not 2"),
        (lambda: ops.TSEL(S8, S8, S8), TypeError, "TSEL: mask must be a Mask, not Tile"),
        (lambda: ops.TSEL(Mask([[True]]), S8, S8), ValueError, "TSEL: mask must have the shape (2, 2) of the tile, not (1, 1)"),
        (lambda: ops.TCVT(FP16, "FP8"), ValueError, "data type 'FP8' is not one of"),
        (lambda: ops.TCVT(FP16, "S8", rounding="UP"), ValueError, "rounding must be one of NONE, "),
        (lambda: ops.TCVT(FP16, "S8", saturate=1), TypeError, "saturate must be True or False, not 1"),
        (lambda: ops.TCVT(OTHER, "S4"), ValueError, "TCVT: columns must be even for S4x2, two share a byte, not 1"),
        (lambda: ops.TROWSUM(FP16, order="right"), ValueError, "TROWSUM: order must be 'tree' or 'left_fold', not 'right'"),
        (lambda: ops.TROWEXPAND(FP16, 4), ValueError, "TROWEXPAND: vector must have one column, not shape (3, 4)"),
        (lambda: ops.TROWEXPAND(OTHER, 0), ValueError, "TROWEXPAND: columns must be at least 1, not 0"),
        (lambda: ops.TCOLEXPAND(OTHER, 1.0), TypeError, "TCOLEXPAND: rows must be an integer, not 1.0"),
        (lambda: ops.TROWEXPANDADD(FP16, OTHER), ValueError, "TROWEXPANDADD: vector must hold 2 elements, not 1"),
        (lambda: ops.TROWEXPANDADD(S8, OTHER), ValueError, "TROWEXPANDADD: vector must have the data_type S8 of first, not FP16"),
        (lambda: ops.TEXPANDS(1, "E3M2", (1, 1)), ValueError, "TEXPANDS takes S64, "),
        (lambda: ops.TEXPANDS(1, "S8", (0, 1)), ValueError, "shape must be at least (1, 1), not (0, 1)"),
        (lambda: ops.TEXPANDS(1, "S8", (2, 2), valid_shape=(3, 2)), ValueError, "TEXPANDS breaks the rule PARM_VALID_ROW: "),
        (lambda: ops.THISTOGRAM(S8, byte=0), ValueError, "THISTOGRAM takes U16, U32, not S8"),
        (lambda: ops.THISTOGRAM(Tile([[1]], "U16"), byte=2), ValueError, "THISTOGRAM: byte of U16 must be 0 to 1, not 2"),
        (lambda: ops.THISTOGRAM(Tile([[1]], "U16"), byte=0), ValueError, "THISTOGRAM: filters must be given below the topmost byte, not None"),
        (lambda: ops.THISTOGRAM(Tile([[1]], "U16"), byte=1, counter="S8"), ValueError, "THISTOGRAM: counter must be one of U8, U16, U32, U64, not S8"),
        (lambda: ops.TABS(Tile([[1]], "U8", (0, 1))), ValueError, "TABS: operand 0 must have a valid element, not the valid_shape (0, 1)"),
        (lambda: ops.TABS(ops.TMOV(FP16, "ND2DN")), ValueError, "TABS: operand 0 must be in order ND, not DN; TMOV changes it"),
        (lambda: explain("TADD", [], (0, 0)), ValueError, "TADD: inputs must be 2 operands, not 0"),
        (lambda: ops.TADDS(FP16, None), TypeError, "TADDS: scalar must be an int, a float or a 1 x 1 Tile, not NoneType"),
        (lambda: ops.TSUBSC(FP16, FP16, None), TypeError, "TSUBSC: scalar must be an int, a float or a 1 x 1 Tile, not NoneType"),
        (lambda: ops.TCMPS(FP16, None, "EQ"), TypeError, "TCMPS: scalar must be an int, a float or a 1 x 1 Tile, not NoneType"),
        (lambda: ops.TSELS(Mask([[True]]), OTHER, None), TypeError, "TSELS: scalar must be an int, a float or a 1 x 1 Tile, not NoneType"),
        (lambda: explain("TADD", 3), TypeError, "TADD: inputs must be a sequence of operands, not int"),
        (lambda: explain("TADD", [FP16, 1.0]), TypeError, "TADD: input 1 must be a Tile, not float"),
        (lambda: explain("TADDS", [FP16, FP16]), ValueError, "TADDS: scalar must be a 1 x 1 tile of FP16, not (3, 4) of FP16"),
        (lambda: explain("TCMP", [FP16, FP16], mode="zz"), ValueError, "mode must be one of EQ, NE, LT, GT, LE, GE, not 'zz'"),
        (lambda: explain("TCMP", [FP16, FP16], mode=9), TypeError, "mode must be a name such as 'LT', not 9"),
        (lambda: explain("TCVT", [FP16], to="E4M3", saturate="x"), TypeError, "saturate must be True or False, not 'x'"),
        (lambda: explain("TABS", [S8], (2, 0)), ValueError, "TABS: element must lie in the valid area (2, 2), not (2, 0)"),
        (lambda: explain("TABS", [S8], 0), TypeError, "TABS: element must be a tuple of row and column, not 0"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(sentence)
