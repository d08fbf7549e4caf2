"""Draw a timeline: ``python tools/timeline_picture.py TIMELINE.json PICTURE.svg``; made by hand for docs/timeline.md."""

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from linxtile_sim.timeline import UNITS

COLOURS = dict(zip(UNITS, ("#b8b8b8", "#e9e9e9", "#9ecae9", "#a5d6a7", "#ce93d8", "#ffcc80", "#8a8a8a"), strict=True))
"""Colour of the events of a unit."""

WIDTH = 11.0
LANE = 0.26
"""Inches."""

LETTER = 0.0068
"""Width of a letter as a part of the picture."""


def main() -> None:
    """Read a file that ``linxtile run --timeline`` wrote, and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("timeline", type=Path)
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    trace = json.loads(arguments.timeline.read_text(encoding="utf-8"))["traceEvents"]
    # Same bytes whenever it is drawn, and text that can be read and searched.
    matplotlib.rcParams.update({"svg.hashsalt": "linxtile", "svg.fonttype": "none", "font.family": "sans-serif"})
    titles = {event["tid"]: event["args"]["name"] for event in trace if event["name"] == "thread_name"}
    figure, axes = pyplot.subplots(figsize=(WIDTH, LANE * len(titles) + 0.7), layout="constrained")
    draw(axes, [event for event in trace if event["ph"] == "X"], titles)
    axes.set_title(trace[0]["args"]["name"], loc="left", fontsize=10)
    figure.savefig(arguments.picture, metadata={"Date": None})


def draw(axes: Axes, events: list[dict[str, Any]], titles: dict[int, str]) -> None:
    """Draw each event as a bar on its lane, with its operation where there is room."""
    rows = {thread: row for row, thread in enumerate(sorted(titles))}
    cycles = max(event["ts"] + event["dur"] for event in events)
    for event in events:
        row = rows[event["tid"]]
        # A white edge parts long events; of a short one it would leave nothing.
        edge = "white" if event["dur"] > cycles / 200 else COLOURS[event["cat"]]
        axes.barh(row, event["dur"], left=event["ts"], height=0.86, color=COLOURS[event["cat"]], edgecolor=edge, lw=0.6)
        name = event["name"].split()[0]
        if len(name) * LETTER * cycles < event["dur"]:
            axes.text(event["ts"] + event["dur"] / 2, row, name, ha="center", va="center", fontsize=7)
    # A lane that is not the first of its unit has the number of the lane at its end.
    axes.set_yticks(
        list(rows.values()), [title if not title[-1].isdigit() else "" for _, title in sorted(titles.items())]
    )
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, cycles)
    axes.set_xlabel("cycles since the start of the program", fontsize=8)
    axes.grid(axis="x", color="#dddddd", lw=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


if __name__ == "__main__":
    main()
