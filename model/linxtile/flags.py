"""Sticky status flags."""

import enum


class Flag(enum.IntFlag):
    """Sticky status flags; the bit numbers are those of CSTATE."""

    NV = 1 << 0
    DZ = 1 << 1
    OF = 1 << 2


NO_FLAG = Flag(0)
