"""The operation table against the printed selectors and lists."""

import pytest

from linxtile.isa.codes import Engine, Layout
from linxtile.isa.operations import OPERATIONS, Shape, Uses, find_operation, operation
from linxtile.isa.support import MODEL_LAYOUTS, MODEL_OPERATIONS, RTL_OPERATIONS

# The printed selector tables: function of the first name of each run, then the names in order.
# fmt: off
PRINTED = {
    (Engine.TEPL, 0): {0: "TADD TSUB TMUL TDIV TREM TFMOD TAND TOR TXOR TSHL TSHR TMAX TMIN TCMP TPRELU TABS TNOT TNEG "
                          "TEXP TLOG TRECIP TSQRT TRSQRT TRELU TADDC TSUBC TSEL TCVT"},
    (Engine.TEPL, 1): {0: "TADDS TSUBS TMULS TDIVS TREMS TFMODS TANDS TORS TXORS TSHLS TSHRS TMAXS TMINS TCMPS TLRELU",
                       24: "TADDSC TSUBSC TSELS TEXPANDS"},
    (Engine.TEPL, 2): {0: "TROWSUM TROWMAX TROWMIN TROWPROD TROWEXPAND TROWEXPANDADD TROWEXPANDSUB TROWEXPANDMUL "
                          "TROWEXPANDDIV TROWEXPANDMAX TROWEXPANDMIN TROWEXPANDEXPDIF",
                       16: "TCOLSUM TCOLMAX TCOLMIN TCOLPROD TCOLEXPAND TCOLEXPANDADD TCOLEXPANDSUB TCOLEXPANDMUL "
                           "TCOLEXPANDDIV TCOLEXPANDMAX TCOLEXPANDMIN TCOLEXPANDEXPDIF"},
    (Engine.TEPL, 3): {8: "THISTOGRAM", 30: "ESAVE ERCOV"},
    (Engine.TMA, 0): {0: "TLOAD TSTORE TMOV", 4: "MGATHER MSCATTER MGATHER.MASK MSCATTER.MASK"},
    (Engine.CUBE, 0): {0: "TMATMUL TMATMUL.BIAS TMATMUL.ACC", 4: "TMATMULMX TMATMULMX.BIAS TMATMULMX.ACC", 8: "ACCCVT",
                       16: "TGEMV TGEMV.BIAS TGEMV.ACC", 20: "TGEMVMX TGEMVMX.BIAS TGEMVMX.ACC"},
}
# Sources, destinations (fewest to most) and registers (fewest to most) of the operations that are not simply 1 or 2 to 1.
OPERANDS = {
    "TNOT": (1, 1, 1, 1, 0, 0), "TADD": (2, 2, 1, 1, 0, 0), "TADDC": (3, 3, 1, 1, 0, 0), "TSEL": (3, 3, 1, 1, 0, 0),
    "TADDS": (1, 1, 1, 1, 1, 1), "TADDSC": (2, 2, 1, 1, 1, 1), "TSELS": (2, 2, 1, 1, 1, 1),
    "TEXPANDS": (0, 0, 1, 1, 1, 1), "TROWSUM": (1, 1, 1, 1, 0, 0), "TROWEXPAND": (1, 1, 1, 1, 0, 0),
    "TCOLEXPANDMAX": (2, 2, 1, 1, 0, 0), "THISTOGRAM": (2, 2, 1, 1, 0, 0), "ESAVE": (0, 0, 1, 5, 0, 0),
    "ERCOV": (1, 5, 0, 0, 0, 0), "TLOAD": (0, 0, 1, 8, 1, 2), "TSTORE": (1, 8, 0, 0, 1, 2), "TMOV": (1, 1, 1, 1, 0, 0),
    "MGATHER": (1, 1, 1, 1, 1, 1), "MSCATTER": (2, 2, 0, 0, 1, 1), "MGATHER.MASK": (2, 2, 1, 1, 1, 1),
    "MSCATTER.MASK": (3, 3, 0, 0, 1, 1), "TMATMUL": (2, 2, 1, 1, 0, 0), "TMATMUL.BIAS": (3, 3, 1, 1, 0, 0),
    "TMATMULMX": (2, 4, 1, 1, 0, 0), "TMATMULMX.BIAS": (3, 5, 1, 1, 0, 0), "TGEMVMX.ACC": (3, 4, 1, 1, 0, 0),
    "ACCCVT": (0, 0, 1, 2, 0, 1),
}
INTEGERS = "S64 U64 S32 U32 S16 U16 S8 U8"
ARITHMETIC = f"{INTEGERS} FP64 FP32 TF32 HF32 FP16 BF16 E4M3 E5M2"
ALL = f"{ARITHMETIC} HiF8 E3M2 E2M3 E2M1x2 E1M2x2 E8M0 HiF4x2 S4x2 U4x2"
TYPES = {
    "TADD": ARITHMETIC, "TEXP": ARITHMETIC, "TCOLPROD": ARITHMETIC, "TSEL": ARITHMETIC, "TAND": INTEGERS, "TSHRS": INTEGERS,
    "TNOT": INTEGERS, "TADDSC": "S64 U64 S32 U32 S16 U16 FP64 FP32 TF32 HF32 FP16 BF16", "TCVT": ALL, "TMOV": ALL,
    "THISTOGRAM": "U16 U32", "TLOAD": ALL.replace(" E3M2 E2M3", ""), "TSTORE": ALL.replace(" E3M2 E2M3", ""),
    "MGATHER": f"{ARITHMETIC} HiF8 E3M2 E2M3 E8M0", "TMATMUL": f"{ARITHMETIC} E3M2 E2M3 E2M1x2 E1M2x2 S4x2 U4x2",
    "TGEMV": f"{ARITHMETIC} HiF8 E2M1x2 E1M2x2 HiF4x2 S4x2 U4x2", "ACCCVT": "FP32 S32 U32",
    "TMATMULMX": "E2M1x2 E1M2x2 HiF4x2 S4x2 U4x2 E4M3 E5M2 FP16 BF16", "TGEMVMX": "E2M1x2 E1M2x2 E4M3 E5M2 FP16 BF16",
}
# fmt: on


def test_every_selector_has_the_printed_name_and_the_others_are_reserved():
    names = {}
    for (engine, mode), runs in PRINTED.items():
        for first, text in runs.items():
            names |= {(engine, mode, first + place): name for place, name in enumerate(text.split())}
    for engine in (Engine.TEPL, Engine.TMA, Engine.CUBE):
        for mode in range(4):
            for function in range(32):
                found = find_operation(engine, mode, function)
                assert (None if found is None else found.name) == names.get((engine, mode, function))
    assert len(names) == len(OPERATIONS) == 74 + 7 + 13


def test_numbers_are_the_places_in_the_table():
    assert [row.number for row in OPERATIONS] == list(range(len(OPERATIONS)))


@pytest.mark.parametrize("name", OPERANDS)
def test_operand_counts(name):
    row = operation(name)
    counts = (
        row.min_sources,
        row.max_sources,
        row.min_destinations,
        row.max_destinations,
        row.min_scalars,
        row.max_scalars,
    )
    assert counts == OPERANDS[name]


@pytest.mark.parametrize("name", TYPES)
def test_type_lists(name):
    assert set(operation(name).source_types) == set(TYPES[name].split())


def test_layout_lists():
    layouts = {name: {layout.value for layout in operation(name).layouts} for name in ("TLOAD", "TSTORE", "ACCCVT")}
    assert layouts == {"TLOAD": {0, 3, 4, 8, 9}, "TSTORE": {0, 17, 18, 27, 28}, "ACCCVT": {0, 27, 28}}
    moves = "NORM ND2NZ ND2ZN DN2NZ DN2ZN NZ2ND ZN2ND NZ2DN ZN2DN NZ2ZN ZN2NZ ND2DN DN2ND"
    assert {layout.name for layout in operation("TMOV").layouts} == set(moves.split())
    assert [row.name for row in OPERATIONS if row.layouts is not None] == ["TLOAD", "TSTORE", "TMOV", "ACCCVT"]
    assert operation("TADD").takes_layout(Layout.NN2ZZ)


def test_second_types():
    with_second = {row.name for row in OPERATIONS if Uses.SECOND_TYPE in row.uses}
    assert with_second == {"TCVT", "THISTOGRAM"} | {row.name for row in OPERATIONS if row.engine is Engine.CUBE}
    assert set(operation("ACCCVT").second_types) == set(ALL.split()) - {"HiF8", "S4x2", "U4x2"}
    assert set(operation("THISTOGRAM").second_types) == {"U8", "U16", "U32", "U64"}
    assert not operation("THISTOGRAM").second_default


@pytest.mark.parametrize(
    ("name", "first", "second", "legal"),
    [
        ("TMATMUL", "FP16", "E4M3", True),
        ("TMATMUL", "FP16", "S8", False),
        ("TMATMUL", "U8", "S8", False),
        ("TMATMULMX", "E4M3", "E2M1x2", True),
        ("TGEMVMX", "FP16", "E2M1x2", True),
        ("TGEMVMX", "FP16", "FP16", False),
        ("TGEMVMX", "E2M1x2", "E4M3", False),
        ("TGEMVMX", "E4M3", "E1M2x2", True),
        ("TCVT", "FP64", "HiF4x2", True),
        ("ACCCVT", "FP32", "HiF8", False),
    ],
)
def test_type_pairs(name, first, second, legal):
    assert operation(name).takes_pair(first, second) is legal


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("SELS", "TSELS"),
        ("tadd", "TADD"),
        ("TCOPYIN", "TLOAD"),
        ("MAMULB.ACC", "TMATMUL.ACC"),
        ("MAMULBAC", "TMATMUL.BIAS"),
    ],
)
def test_aliases(alias, name):
    assert operation(alias).name == name


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="operation 'TFOO' is not in the operation table"):
        operation("TFOO")


def test_acc_users():
    assert {row.name for row in OPERATIONS if row.writes_acc} == {
        row.name for row in OPERATIONS if row.shape in (Shape.MATMUL, Shape.GEMV)
    }
    assert {row.name for row in OPERATIONS if row.reads_acc} == {
        "TMATMUL.ACC", "TMATMULMX.ACC", "TGEMV.ACC", "TGEMVMX.ACC", "ACCCVT",
    }  # fmt: skip


def test_dimension_roles():
    assert operation("ACCCVT").dimensions == ("rows", "columns")
    assert operation("MGATHER.MASK").dimensions == ("columns", "rows")
    assert operation("TMATMUL").dimensions == ("m", "n", "k")
    assert operation("ESAVE").dimensions == ()


def test_the_rtl_runs_thirty_one_operations():
    assert len(RTL_OPERATIONS) == 31
    assert RTL_OPERATIONS["TADD"] == set(INTEGERS.split()) | {"FP32", "FP16"}
    assert RTL_OPERATIONS["TEXPANDS"] == set(ARITHMETIC.split())
    assert len(RTL_OPERATIONS["TLOAD"]) == len(RTL_OPERATIONS["TSTORE"]) == 23
    assert len(RTL_OPERATIONS["TMOV"]) == 25


def test_the_model_executes_all_but_saved_state_scaled_products_gather_and_scatter():
    left_out = {"ESAVE", "ERCOV", "MGATHER", "MSCATTER", "MGATHER.MASK", "MSCATTER.MASK"}
    left_out |= {f"{product}MX{form}" for product in ("TMATMUL", "TGEMV") for form in ("", ".BIAS", ".ACC")}
    assert set(MODEL_OPERATIONS) == {row.name for row in OPERATIONS} - left_out
    assert all(MODEL_OPERATIONS[name] == set(operation(name).source_types) for name in MODEL_OPERATIONS)
    assert all(RTL_OPERATIONS[name] <= MODEL_OPERATIONS[name] for name in RTL_OPERATIONS)
    assert {layout.value for layout in MODEL_LAYOUTS} == {0, 3, 4, 8, 9, 17, 18, 27, 28}
