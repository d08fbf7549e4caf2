"""Collecting status flags of calls that are asked for them."""

from linxtile.flags import NO_FLAG, Flag

__all__ = ["Flags"]


class Flags:
    """Sticky status flags: give it to operations as ``flags=`` and read what they raised.

    Attributes
    ----------
    raised : Flag
        All flags raised since the last `clear`.
    """

    def __init__(self) -> None:
        self.raised = NO_FLAG

    def clear(self) -> None:
        """Lower all flags."""
        self.raised = NO_FLAG

    def __contains__(self, flag: Flag) -> bool:
        return flag in self.raised

    def __repr__(self) -> str:
        return f"Flags({', '.join(str(flag.name) for flag in self.raised) or 'none'})"
