"""A tile for people: element codes with their type and valid shape.

Codes are the truth; values are a view of them. The machine keeps tiles as bytes (`linxtile.stored_tile`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile import conversion, formats
from linxtile.arrays import Bytes, Codes
from linxtile.isa.codes import PadValue, RoundingMode
from linxtile.isa.types import DataType
from linxtile.operations.image import code_type, elements, packed_bytes, pad_code
from linxtile.operations.layout import is_fractal, tile_layout
from linxtile.tile_arguments import Shape, checked_codes, checked_shape, numbers, pad_value, raw_bytes

__all__ = ["ORDERS", "Tile"]

ORDERS = ("ND", "DN", "NZ", "ZN")
"""How elements lie in the bytes of a tile: row-major, column-major, and the two fractal orders."""

_ML_DTYPES = {
    "bfloat16": "BF16", "float8_e4m3fn": "E4M3", "float8_e5m2": "E5M2", "float6_e3m2fn": "E3M2", "float6_e2m3fn": "E2M3",
    "float4_e2m1fn": "E2M1x2", "float8_e8m0fnu": "E8M0", "int4": "S4x2", "uint4": "U4x2",
}  # fmt: skip
_NUMPY = {
    "float64": "FP64", "float32": "FP32", "float16": "FP16", "int64": "S64", "int32": "S32", "int16": "S16", "int8": "S8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
}  # fmt: skip
_ARRAY_NAMES = {name: array for array, name in (_NUMPY | _ML_DTYPES).items()}


@dataclass(frozen=True, eq=False, repr=False)
class Tile:
    """A tile of element codes; nobody changes it.

    Parameters
    ----------
    codes : array_like of int, shape (rows, columns)
        Container codes of the whole image, padding included; copied. Types of four bits have one code an element.
    data_type : str or DataType
        Element type; kept as its row of the type table.
    valid_shape : (int, int), optional
        Rows and columns that carry data, perhaps none; all of them when absent.
    order : str
        How the elements lie in the tile's bytes: ND, DN, NZ or ZN. ``codes`` are always in rows and columns.
    """

    codes: Codes
    data_type: DataType
    valid_shape: Shape
    order: str

    def __init__(
        self, codes: npt.ArrayLike, data_type: str | DataType, valid_shape: Shape | None = None, order: str = "ND"
    ):
        row = formats.get(data_type)
        array = checked_codes(codes, row)
        valid = array.shape if valid_shape is None else checked_shape("valid_shape", valid_shape, 0)
        if valid[0] > array.shape[0] or valid[1] > array.shape[1]:
            raise ValueError(f"valid_shape must lie inside the {_times(array.shape)} codes, not {_times(valid)}")
        if row.is_packed and array.shape[1] % 2:
            raise ValueError(f"columns of {row.name} must be even, two share a byte, not {array.shape[1]}")
        _check_order(order, (array.shape[0], array.shape[1]), row)
        self._set(array, row, (valid[0], valid[1]), order)

    def _set(self, codes: Codes, row: DataType, valid_shape: Shape, order: str) -> None:
        codes.flags.writeable = False
        # The class is frozen, and a result is made for every call: one step instead of four.
        self.__dict__.update(codes=codes, data_type=row, valid_shape=valid_shape, order=order)

    @classmethod
    def adopt(cls, codes: Codes, row: DataType, valid_shape: Shape, order: str = "ND") -> "Tile":
        """Make a tile of a fresh array that nobody else holds, without checks: for results of operations."""
        tile = object.__new__(cls)
        tile._set(codes, row, valid_shape, order)
        return tile

    @classmethod
    def adopt_bytes(cls, data: Bytes, row: DataType, shape: Shape, valid_shape: Shape, order: str) -> "Tile":
        """Make a tile of the bytes of a whole image, as `adopt`; rows and columns are made of them when they are asked for."""
        tile = object.__new__(cls)
        tile.__dict__.update(data_type=row, valid_shape=valid_shape, order=order, _image=(data, shape))
        return tile

    def __getattr__(self, name: str) -> Any:
        # Called for what is missing only: the codes of a tile that is still bytes.
        if name != "codes" or "_image" not in self.__dict__:
            raise AttributeError(f"Tile has no attribute {name!r}")
        data, (rows, columns) = self.__dict__.pop("_image")
        layout = tile_layout(self.order, rows, columns, self.data_type)
        codes = layout.read(elements(data, self.data_type), rows, columns)
        self._set(codes, self.data_type, self.valid_shape, self.order)
        return self.codes

    @classmethod
    def from_values(
        cls,
        values: npt.ArrayLike,
        data_type: str | DataType,
        *,
        shape: Shape | None = None,
        pad: str | PadValue = "Zero",
        rounding: str | RoundingMode = "RNE",
        saturate: bool = False,
    ) -> "Tile":
        """Round numbers to a type, each once, as TCVT does; without ``saturate`` integers too large for it wrap.

        Parameters
        ----------
        values : array_like of int or float, shape (valid_rows, valid_columns)
            The valid area; integers of up to 64 bits are taken exactly.
        shape : (int, int), optional
            Rows and columns of the whole image; what lies outside the values is padding.
        pad, rounding, saturate
            Padding, rounding mode and clamping, as in a conversion.
        """
        row, array = formats.get(data_type), numbers("values", values)
        if array.ndim != 2 or not array.size:
            raise ValueError(f"values must have two dimensions and at least one element, not shape {array.shape}")
        if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise TypeError(f"values must be integers or floats of up to 64 bits, not {array.dtype}")
        valid = (array.shape[0], array.shape[1])
        clamp = formats.truth("saturate", saturate)
        codes, _ = conversion.from_values(array, row, formats.rounding_mode(rounding), clamp)
        whole = valid if shape is None else checked_shape("shape", shape)
        return cls(_padded(codes, row, whole, pad_value(pad)), row, valid)

    @classmethod
    def from_array(cls, array: npt.NDArray[Any]) -> "Tile":
        """Take the bits of an array whose dtype is one of the types: numpy's own, or one of ``ml_dtypes``."""
        names = _NUMPY | _ML_DTYPES
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray) or array.dtype.name not in names:
            raise TypeError(f"array must be a numpy array of {', '.join(names)}, not {_dtype_text(array)}")
        row = formats.get(names[array.dtype.name])
        codes = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).view(code_type(row))
        return cls(codes & row.storage_mask if row.is_packed else codes, row)

    @classmethod
    def from_bytes(
        cls,
        data: bytes | bytearray | memoryview | Bytes,
        data_type: str | DataType,
        columns: int,
        valid_shape: Shape | None = None,
        order: str = "ND",
    ) -> "Tile":
        """Read a tile's bytes: whole rows of ``columns`` elements in the given order, no tail."""
        row, raw = formats.get(data_type), raw_bytes("data", data)
        bits = checked_shape("(1, columns)", (1, columns))[1] * row.storage_bits
        if not len(raw) or len(raw) * 8 % bits:
            raise ValueError(f"data must be whole rows of {columns} {row.name} elements, not {len(raw)} bytes")
        rows = len(raw) * 8 // bits
        _check_order(order, (rows, columns), row)
        return cls(
            tile_layout(order, rows, columns, row).read(elements(raw, row), rows, columns), row, valid_shape, order
        )

    @property
    def shape(self) -> Shape:
        """Rows and columns of the whole image."""
        return self.codes.shape[0], self.codes.shape[1]

    @property
    def valid(self) -> Codes:
        """Codes of the valid area, a read-only view."""
        return self.codes[: self.valid_shape[0], : self.valid_shape[1]]

    def values(self) -> npt.NDArray[Any]:
        """Return the exact values of the valid area: float64 for floats and E8M0, the integer dtype for integers."""
        return conversion.to_values(self.valid, self.data_type)

    def array(self) -> npt.NDArray[Any]:
        """Return the valid area in the numpy or ``ml_dtypes`` type with the same bits.

        Raises
        ------
        ValueError
            No such dtype exists, or it needs ``ml_dtypes``, which is not installed.
        """
        name = _ARRAY_NAMES.get(self.data_type.name)
        if name is None:
            raise ValueError(f"{self.data_type.name} has no numpy or ml_dtypes type; use values()")
        return np.ascontiguousarray(self.valid).view(_dtype(name))

    def to_bytes(self) -> bytes:
        """Return the bytes of the whole image in the tile's order."""
        rows, columns = self.shape
        by_place = np.empty(rows * columns, self.codes.dtype)
        tile_layout(self.order, rows, columns, self.data_type).write(by_place, self.codes)
        return packed_bytes(by_place, self.data_type).tobytes()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tile):
            return NotImplemented
        same = (self.data_type, self.valid_shape, self.order) == (other.data_type, other.valid_shape, other.order)
        return same and bool(np.array_equal(self.codes, other.codes))

    __hash__ = None  # type: ignore[assignment]  # Equal by content, like an array.

    def __repr__(self) -> str:
        inside = "" if self.valid_shape == self.shape else f" in {_times(self.shape)}"
        order = "" if self.order == "ND" else f", {self.order}"
        return f"Tile {self.data_type.name} {_times(self.valid_shape)}{inside}{order}\n{self.values()}"


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))


def _check_order(order: str, shape: Shape, row: DataType) -> None:
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, not {order!r}")
    if is_fractal(order) and not tile_layout(order, *shape, row).is_aligned:
        raise ValueError(
            f"shape of {row.name} in order {order} must be whole fractals of 512 bytes, not {_times(shape)}"
        )


def _dtype_text(array: object) -> str:
    return str(array.dtype) if isinstance(array, np.ndarray) else repr(array)


def _dtype(name: str) -> np.dtype[Any]:
    if name in _NUMPY:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise ValueError(
            f"an array of {_ML_DTYPES[name]} needs the package ml_dtypes, which is not installed"
        ) from None
    dtype: type[Any] = getattr(ml_dtypes, name)
    return np.dtype(dtype)


def _padded(codes: Codes, row: DataType, shape: Shape, pad: PadValue) -> Codes:
    if shape[0] < codes.shape[0] or shape[1] < codes.shape[1]:
        raise ValueError(f"shape must hold the {_times(codes.shape)} values, not {_times(shape)}")
    if shape == codes.shape:
        return codes
    image = np.full(shape, pad_code(row, pad), code_type(row))
    image[: codes.shape[0], : codes.shape[1]] = codes
    return image
