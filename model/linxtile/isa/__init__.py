"""The instruction set as tables: types, codes, operations, header words, fault rules. No arithmetic of elements."""

from linxtile.isa.codes import (
    CompareMode,
    Destination,
    Engine,
    Layout,
    PadValue,
    Queue,
    RoundingMode,
)
from linxtile.isa.faults import RULES, Rule, Stage, Trap
from linxtile.isa.operations import OPERATIONS, Operation, Shape, Uses, operation
from linxtile.isa.types import DATA_TYPES, NO_TYPE, DataType, Kind, data_type
from linxtile.isa.words import WORDS, Field, WordFormat, decode_word, encode_word

__all__ = [
    "DATA_TYPES",
    "NO_TYPE",
    "OPERATIONS",
    "RULES",
    "WORDS",
    "CompareMode",
    "DataType",
    "Destination",
    "Engine",
    "Field",
    "Kind",
    "Layout",
    "Operation",
    "PadValue",
    "Queue",
    "RoundingMode",
    "Rule",
    "Shape",
    "Stage",
    "Trap",
    "Uses",
    "WordFormat",
    "data_type",
    "decode_word",
    "encode_word",
    "operation",
]
