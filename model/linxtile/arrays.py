"""Names for the arrays that the model works on."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.flags import Flag

Bytes = npt.NDArray[np.uint8]
"""Tile or memory bytes."""

Codes = npt.NDArray[np.unsignedinteger[Any]]
"""Container codes of elements, in the unsigned integer of their width."""

Result = tuple[Codes, Flag]
"""What an operation on arrays gives: codes, and the sticky flags raised by any element."""
