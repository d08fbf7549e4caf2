"""The fault table against the list that was agreed, and codes of fault records."""

from linxtile.isa.faults import RULES, Rule

# Rule, trap, cause, stage and order, typed by hand: append only.
# fmt: off
AGREED = [
    ("FETCH", 0, 6, "WORD", 1), ("ILL_WORD", 0, 3, "WORD", 2), ("ILL_BLOCK_KIND", 0, 3, "WORD", 3),
    ("ILL_NO_BLOCK", 0, 3, "WORD", 4), ("ILL_OP", 0, 3, "WORD", 5), ("ILL_TYPE", 0, 3, "WORD", 6),
    ("ILL_LAYOUT", 0, 3, "WORD", 7), ("ILL_DST_QUEUE", 0, 3, "WORD", 8), ("ILL_LOOPNEST", 0, 3, "WORD", 9),
    ("ILL_GPR", 0, 3, "WORD", 10), ("ILL_DEP", 0, 3, "WORD", 11), ("PARM_REPEAT", 4, 2, "WORD", 12),
    ("DOUBLESET", 4, 3, "WORD", 13), ("PARM_LAST", 4, 2, "WORD", 14), ("SETUP_LIMIT", 4, 2, "WORD", 15),
    ("END_OF_STREAM", 0, 0, "WORD", 16), ("PARM_TILES", 4, 2, "CLOSE", 1), ("PARM_REGS", 4, 2, "CLOSE", 2),
    ("ILL_CMODE", 0, 3, "CLOSE", 3), ("ILL_BYTEID", 0, 3, "CLOSE", 4), ("UNSUPPORTED", 0, 3, "CLOSE", 5),
    ("PARM_ZERO", 4, 2, "CLOSE", 6), ("TILE_UNREADABLE", 4, 1, "BIND", 1), ("PARM_SIZE", 4, 2, "BIND", 2),
    ("PARM_SPLIT", 4, 2, "BIND", 3), ("PARM_VALID_COL", 4, 2, "BIND", 4), ("PARM_VALID_ROW", 4, 2, "BIND", 5),
    ("PARM_ALIGN", 4, 2, "BIND", 6), ("PARM_CAPACITY", 4, 2, "BIND", 7), ("CAPACITY", 4, 2, "BIND", 8),
    ("MEM_READ", 1, 7, "EXECUTE", 1), ("MEM_WRITE", 1, 7, "EXECUTE", 2), ("WATCHDOG", 1, 7, "EXECUTE", 3),
    ("PARM_OFFSET", 4, 2, "BIND", 9),
]
# fmt: on


def test_the_table_is_the_agreed_list():
    assert [(row.rule.name, row.trap, row.cause, row.stage.name, row.order) for row in RULES] == AGREED


def test_numbers_are_places_in_the_list():
    assert [rule.value for rule in Rule] == list(range(1, len(RULES) + 1))
    assert Rule.MEM_READ.row.rule is Rule.MEM_READ


def test_no_two_rules_share_an_order_in_a_stage():
    assert len({(row.stage, row.order) for row in RULES}) == len(RULES)
