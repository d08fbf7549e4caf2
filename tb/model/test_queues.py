"""Relative tile names: pushes shift them, releases leave holes, sixteen fit."""

import numpy as np
import pytest

from linxtile.isa.codes import Queue
from linxtile.queues import Absent, TileQueues, parse_name
from linxtile.stored_tile import StoredTile


def tile(number):
    """Return a tile that can be told apart by its base."""
    return StoredTile(np.zeros(256, np.uint8), 32, number * 256)


def test_the_newest_tile_is_number_one_and_older_ones_move_up():
    queues, tiles = TileQueues(), [tile(number) for number in range(3)]
    for one in tiles:
        assert queues.push(Queue.U, one) is None
    assert [queues.get(Queue.U, index) for index in (1, 2, 3)] == tiles[::-1]
    assert queues.get(Queue.U, 4) is Absent.NEVER_WRITTEN
    assert queues.get(Queue.T, 1) is Absent.NEVER_WRITTEN


def test_the_seventeenth_push_drops_the_oldest_tile():
    queues, tiles = TileQueues(), [tile(number) for number in range(17)]
    for one in tiles[:16]:
        assert queues.push(Queue.N, one) is None
    assert queues.get(Queue.N, 16) is tiles[0]
    assert queues.push(Queue.N, tiles[16]) is tiles[0]
    assert queues.get(Queue.N, 16) is tiles[1]


def test_a_released_name_keeps_its_place_and_drops_nothing_when_it_falls_out():
    queues, tiles = TileQueues(), [tile(number) for number in range(17)]
    for one in tiles[:3]:
        queues.push(Queue.T, one)
    queues.release(Queue.T, 2)
    assert [queues.get(Queue.T, index) for index in (1, 2, 3)] == [tiles[2], Absent.RELEASED, tiles[0]]
    for one in tiles[3:16]:
        queues.push(Queue.T, one)
    assert queues.state().released() == ["T#15"]
    assert queues.push(Queue.T, tiles[16]) is tiles[0]
    assert queues.push(Queue.T, tiles[0]) is None


def test_a_state_names_live_and_released_tiles_and_does_not_change_later():
    queues = TileQueues()
    queues.push(Queue.M, tile(1))
    queues.push(Queue.T, tile(2))
    queues.push(Queue.M, tile(3))
    queues.release(Queue.M, 2)
    state = queues.state()
    queues.clear()
    assert {name: entry.base for name, entry in state.live().items()} == {"T#1": 512, "M#1": 768}
    assert list(state.live()) == ["T#1", "M#1"]
    assert state.released() == ["M#2"]
    assert queues.state().live() == {}


@pytest.mark.parametrize(("text", "name"), [("T#1", (Queue.T, 1)), ("N#16", (Queue.N, 16)), ("M#9", (Queue.M, 9))])
def test_tile_names_are_parsed(text, name):
    assert parse_name(text) == name


@pytest.mark.parametrize("text", ["T", "T#0", "T#17", "X#1", "t#1", "T#1 ", "ACC", ""])
def test_other_names_are_refused(text):
    with pytest.raises(ValueError, match=r"a tile name is a queue \(T, U, M, N\), # and 1 to 16, not "):
        parse_name(text)
