"""An array of bytes in the place of the machine's memory."""

import numpy as np

from linxtile.arrays import Bytes
from linxtile.memory import ADDRESS_SPACE, Memory


class ArrayMemory(Memory):
    """Memory whose addresses are the indices of one array; everything beyond it fails."""

    def __init__(self, content: Bytes):
        super().__init__()
        self.limit = len(content)
        self._content = content

    def read(self, address: int, count: int) -> bytes:
        """Return ``count`` bytes from ``address`` on."""
        return self._content[address : address + count].tobytes()

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Put ``data`` at ``address``."""
        self._content[address : address + len(data)] = np.frombuffer(data, np.uint8)

    def read_lines(self, base: int, stride: int, lines: int, line_bytes: int) -> Bytes:
        """Return ``lines`` runs of ``line_bytes`` bytes, ``stride`` apart, as a view."""
        return self._lines(base, stride, lines, line_bytes)

    def write_lines(self, base: int, stride: int, data: Bytes) -> None:
        """Put the rows of ``data`` at ``base``, first row first."""
        target = self._lines(base, stride, *data.shape)
        if len(data) == 1 or abs(target.strides[0]) >= data.shape[1]:
            target[:] = data
            return
        for line, row in zip(target, data, strict=True):
            line[:] = row

    def _lines(self, base: int, stride: int, lines: int, line_bytes: int) -> Bytes:
        step = stride - ADDRESS_SPACE if stride >= ADDRESS_SPACE >> 1 else stride
        return np.ndarray((lines, line_bytes), np.uint8, self._content, base, (step if lines > 1 else line_bytes, 1))
