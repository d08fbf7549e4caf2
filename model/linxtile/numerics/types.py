"""Names for the arrays that array arithmetic works on."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.isa.types import DataType

Floats = npt.NDArray[np.float64]
"""Values in binary64."""

HostFloats = npt.NDArray[np.floating[Any]]
"""Values in the host's type that an operation is computed in."""

Integers = npt.NDArray[np.integer[Any]]
"""Values in a signed or unsigned type of numpy."""

Truths = npt.NDArray[np.bool_]
"""One truth an element."""

ElementFlags = npt.NDArray[np.uint8]
"""Flags of each element."""

Block = tuple[Codes, ElementFlags | None]
"""Results of a block of elements, and the flags of each, None where none is raised or wanted."""


def code_type(data_type: DataType) -> np.dtype[Any]:
    """Return the unsigned integer type that holds one code; codes of four bits take a byte each."""
    return np.dtype(f"u{max(data_type.storage_bits // 8, 1)}")
