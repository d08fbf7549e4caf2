"""Dependency tokens: the blocks that B.IOD names."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import DEPENDENCY_NAMES

from .layouts import awaits_layout, tag_bits

__all__ = ["Tokens"]


class Tokens(wiring.Component):
    """Queue D: the last eight tokens in program order, each with its producer while that is in flight (15).

    Parameters
    ----------
    config : CoreConfig
        ``blocks_in_flight`` tags.

    Members
    -------
    awaits : In(awaits_layout())
        Tokens that a block names, 1 for the newest, 0 for none.
    producers : Out
        Their producers, a bit a tag, in the same cycle; a token that was never produced has none.
    produce, tag : In
        Block ``tag`` produces a token.
    commit, commit_tag : In
        A block commits: nobody needs to wait for it any more.
    clear : In(1)
        Nothing is in flight.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "awaits": In(awaits_layout()),
            "producers": Out(config.blocks_in_flight),
            "produce": In(1),
            "tag": In(tag_bits(config)),
            "commit": In(1),
            "commit_tag": In(tag_bits(config)),
            "clear": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Shift at each new token; a token keeps its place when its producer has committed."""
        m = Module()
        token_layout = data.StructLayout({"pending": 1, "tag": tag_bits(self._config)})
        tokens = [Signal(token_layout, name=f"token_{number}") for number in range(1, DEPENDENCY_NAMES + 1)]
        for number, token in enumerate(tokens, 1):
            for awaited in self.awaits:
                with m.If(token.pending & (awaited == number)):
                    m.d.comb += self.producers.bit_select(token.tag, 1).eq(1)
        new = Signal(token_layout)
        m.d.comb += [new.pending.eq(1), new.tag.eq(self.tag)]
        for number, (token, newer) in enumerate(zip(tokens, [new, *tokens[:-1]], strict=True), 1):
            source = Signal(token_layout, name=f"source_{number}")
            m.d.comb += source.eq(token)
            with m.If(self.produce):
                m.d.comb += source.eq(newer)
            over = self.clear | (self.commit & (source.tag == self.commit_tag))
            m.d.sync += [token.tag.eq(source.tag), token.pending.eq(source.pending & ~over)]
        return m
