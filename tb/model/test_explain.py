"""Explanations of single elements: the numbers are worked out by hand here."""

import pytest

from linxtile import Tile, explain, ops
from linxtile.cli import main
from linxtile.explanation import explain_codes
from linxtile.explanation_tree import explain_reduction
from linxtile.flags import NO_FLAG, Flag


def test_a_sum_says_between_which_values_it_lies():
    told = explain_codes("TADD", [0x3C00, 0x1200], "FP16")
    assert str(told) == (
        "TADD FP16\n"
        "  operand   0x3c00 = 1\n"
        "  operand   0x1200 = 0.000732421875\n"
        "  exact     1.000732421875\n"
        "  rounding  0.75 of the way from 0x3c00 = 1 to 0x3c01 = 1.0009765625; RNE takes the upper\n"
        "  flags     none\n"
        "  result    0x3c01 = 1.0009765625"
    )


def test_a_tie_goes_to_the_even_code():
    told = explain_codes("TADD", [0x3C00, 0x1000], "FP16")
    assert told.rounding == "half way from 0x3c00 = 1 to 0x3c01 = 1.0009765625; RNE takes the lower"
    assert told.code == 0x3C00


def test_a_quotient_is_told_as_a_fraction():
    told = explain_codes("TDIV", [0x3F800000, 0x40400000], "FP32")
    assert told.exact == "1/3 (about 3.3333333333333333e-1)"
    assert told.code == 0x3EAAAAAB and told.flags == NO_FLAG


def test_an_overflow_is_named():
    told = explain_codes("TADD", [0x7BFF, 0x7BFF], "FP16")
    assert told.rounding == "beyond the largest finite value 65504"
    assert told.flags == Flag.OF and told.code == 0x7C00


@pytest.mark.parametrize(
    ("value", "way", "taken", "code"),
    [(0x43E80000, "half way", "takes the former", 0x7E), (0x43E88000, "0.53125 of the way", "overflows", 0x7F)],
)
def test_a_value_just_above_the_largest_rounds_by_the_step_that_would_follow(value, way, taken, code):
    assert (
        "0.25 of the way from 0x6e = 32768 to 49152, "
        in explain_codes("TCVT", [0x47100000], "FP32", to="HiF8").rounding
    )
    told = explain_codes("TCVT", [value], "FP32", to="E4M3", rounding="RNE")
    assert told.rounding == f"{way} from 0x7e = 448 to 480, which the type lacks; RNE {taken}"
    assert told.code == code


def test_special_operands_have_nothing_to_round():
    told = explain_codes("TSUB", [0x7C00, 0x7C00], "FP16")
    assert told.exact == "no number to round: a special operand, or a pole"
    assert explain_codes("TAND", [6, 3], "U8").exact == "nothing to round"
    assert told.rounding == "" and told.flags == Flag.NV and told.code == 0x7E00
    assert explain_codes("TDIV", [0x3C00, 0], "FP16").flags == Flag.DZ


def test_integers_wrap():
    told = explain_codes("TADD", [0x7F, 1], "S8")
    assert (told.exact, told.code, told.rounding) == ("128", 0x80, "modulo 2^8")
    assert explain_codes("TADD", [1, 2], "S8").rounding == "exact"


@pytest.mark.parametrize(
    ("name", "code", "exact", "rounding", "result"),
    [
        ("TSQRT", 2, "about 1.41421356237309504880168872421e+0", "cut toward zero", 1),
        ("TLOG", 20, "about 2.99573227355399099343522357614e+0", "cut toward zero", 2),
        ("TEXP", 100, "about 2.68811714181613544841262555158e+43", "cut toward zero and clamped to the range", 127),
        ("TRECIP", 3, "1/3 (about 3.3333333333333333e-1)", "cut toward zero", 0),
    ],
)
def test_functions_of_integers_are_cut(name, code, exact, rounding, result):
    told = explain_codes(name, [code], "S8")
    assert (told.exact, told.rounding, told.code) == (exact, rounding, result)


def test_clamping_scales_and_small_differences_are_told():
    clamped = explain_codes("TCVT", [0x43E88000], "FP32", to="E4M3", rounding="RNE", saturate=True)
    assert clamped.rounding.endswith("which the type lacks; RNE overflows and is clamped")
    assert explain_codes("TCVT", [0x40F40000], "FP32", to="E2M3").rounding == (
        "0.25 of the way from 0x1f = 7.5 to 8, which the type lacks; RNE takes the former"
    )
    scale = explain_codes("TCVT", [0x4A00], "FP16", to="E8M0")
    assert scale.rounding == "between 0x82 = 8 and 0x83 = 16, compared by their logarithms; RNE takes the upper"
    below = explain_codes("TADD", [0x3F800000, 0x80000001], "FP32")
    assert below.rounding.startswith("nearly all of the way from 0x3f7fffff = ")
    assert "the integer algorithm takes the" in explain_codes("TEXP", [0x3FEFFCC89510F6FD], "FP64").rounding


def test_a_conversion_names_its_mode():
    told = explain_codes("TCVT", [0x40200000], "FP32", to="S8", rounding="RUP")
    assert told.rounding == "half way from 0x02 = 2 to 0x03 = 3; RUP takes the upper"
    assert (told.code, told.exact) == (3, "2.5")
    assert explain_codes("TCVT", [0x43E80000], "FP32", to="E4M3", saturate=True).code == 0x7E


def test_a_difference_is_rounded_before_its_exponential():
    told = explain_codes("TROWEXPANDEXPDIF", [0x3C00, 0x0C00], "FP16")
    assert told.inputs[-1] == "difference, rounded: 0x3c00 = 1"
    assert told.exact == "about 2.71828182845904523536028747135e+0"
    assert told.code == 0x4170


@pytest.mark.parametrize(
    ("code", "where", "result"),
    [(0x4E6E6B28, "above", 0x7F800000), (0xCE6E6B28, "below", 0), (0x461C4000, "above", 0x7F800000)],
)
def test_an_exponential_beyond_every_type_is_not_written_out(code, where, result):
    told = explain_codes("TEXP", [code], "FP32")
    assert (told.exact, told.code) == (f"beyond every type {where}", result)
    assert str(told)


def test_the_scalar_is_the_second_term():
    told = explain_codes("TSUBSC", [0x4000, 0x3C00, 0x4200], "FP16")
    assert told.exact == "0" and told.code == 0


def test_a_comparison_gives_a_truth_value():
    told = explain_codes("TCMP", [0x3C00, 0x4000], "FP16", mode="LT")
    assert str(told).splitlines()[0] == "TCMP" and str(told).splitlines()[-1] == "  result    true"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("TROWEXPAND", [0], "FP16"), "operation must be one that computes on single elements, not TROWEXPAND"),
        (("TADD", [0], "FP16"), "TADD takes 2 operands, not 1"),
        (("TABS", [0, 0], "FP16"), "TABS takes 1 operand, not 2"),
        (("TAND", [0, 0], "FP16"), "TAND takes S64, U64, S32, U32, S16, U16, S8, U8, not FP16"),
        (("TADD", [0x10000, 0], "FP16"), "code of FP16 must be 0 to 0xffff, not 0x10000"),
    ],
)
def test_what_cannot_be_explained_is_refused(arguments, sentence):
    with pytest.raises(ValueError) as caught:
        explain_codes(*arguments)
    assert str(caught.value) == sentence


def test_the_command_prints_the_explanation(capsys):
    assert main(["explain", "TADD", "FP16", "0x3c00", "0x1400"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "  result    0x3c01 = 1.0009765625"
    assert main(["explain", "TCVT", "fp32", "0x3fc00000", "--to", "E8M0"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "  result    0x80 = 2"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["TADD", "FP8", "0", "0"], "linxtile: data type 'FP8' is not one of"),
        (["TADD", "FP16", "x", "0"], "linxtile: code must be"),
        (["TBAD", "FP16", "0"], "linxtile: "),
        (
            ["TCMP", "FP16", "0", "0", "--mode", "XX"],
            "linxtile: mode must be one of EQ, NE, LT, GT, LE, GE, not 'XX'",
        ),
        (["TCVT", "FP16", "0", "--rounding", "XX"], "linxtile: rounding must be one of"),
    ],
)
def test_the_command_refuses_what_it_cannot_use(arguments, complaint, capsys):
    assert main(["explain", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(complaint) and captured.err.count("\n") == 1 and not captured.out


def test_the_command_decodes_elements(capsys):
    assert main(["decode", "e4m3", "0x7e"]) == 0
    assert capsys.readouterr().out.startswith("E4M3 0x7e = 448\n")
    assert main(["decode", "FP16", "0x3c00", "0x10000"]) == 2
    assert capsys.readouterr().err == "linxtile: code of FP16 must be 0x0 to 0xffff, not 0x10000\n"


def test_a_row_sum_is_told_node_by_node():
    tile = Tile.from_values([[2048.0, 1.0, 1.0, 1.0, 0.5]], "FP16", shape=(1, 8), pad="Max")
    told = explain("TROWSUM", [tile], (0, 0))
    assert told.nodes == (
        "e0..e1: 2048 + 1 = 2048",
        "e2..e3: 1 + 1 = 2",
        "e0..e3: 2048 + 2 = 2050",
        "e0..e4: 2050 + 0.5 = 2050",
    )
    assert (told.exact, told.code) == ("2051.5", 0x6801)
    assert told.rounding == "4 nodes, each rounded to FP16; rounded once it would be 2052"
    assert told.code == ops.TROWSUM(tile).codes[0, 0]
    assert "node      e2..e3: 1 + 1 = 2" in str(told)


def test_other_reductions_are_told_too(capsys):
    assert explain_reduction("TCOLMAX", [0x7E00, 0x3C00, 0xBC00], "FP16").code == 0x3C00
    assert explain_reduction("TROWPROD", [0x7F, 2], "S8").rounding == "modulo 2^8"
    alone = explain_reduction("TROWSUM", [0x7D00], "FP16")
    assert (alone.code, alone.flags, alone.nodes) == (0x7E00, Flag.NV, ())
    assert main(["explain", "TCOLSUM", "FP16", "0x3c00", "0x1000"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "  result    0x3c00 = 1"
