"""The ACC: what a matrix product leaves and ACCCVT takes away."""

from dataclasses import dataclass

from linxtile.arrays import Codes


@dataclass(frozen=True, slots=True, eq=False)
class Accumulator:
    """Contents of the ACC. The order of its elements inside the ACC cannot be observed, so there is none here.

    Attributes
    ----------
    codes : ndarray of uint32, shape (m, n)
        Container codes of the elements, FP32, S32 or U32; nobody changes them.
    """

    codes: Codes

    @property
    def shape(self) -> tuple[int, int]:
        """Rows M and columns N."""
        rows, columns = self.codes.shape
        return rows, columns
