"""``python -m linxtile_sim.example``: run the first example on the simulated core and hold it against model and numpy."""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from linxtile.asm import assemble
from linxtile.backend import BackendError, Finished, Job, find_backend
from linxtile.config import CoreConfig

__all__ = ["CASES", "COLUMNS", "IMAGE_ADDRESS", "RESULT_ADDRESS", "Case", "image", "main", "row_normalised"]

Image = npt.NDArray[np.float32]

EXAMPLES = Path("examples")
WAVES = Path("build/waves")
IMAGE_ADDRESS = 0x10000
RESULT_ADDRESS = 0x20000
COLUMNS = 64


@dataclass(frozen=True)
class Case:
    """A program, the rows of the image it works on, and where it runs."""

    program: str
    rows: int
    simulator: str
    config: str

    def job(self, waves: Path | None = None) -> Job:
        """Return what the simulator is to run, checked against the model block by block."""
        file = EXAMPLES / f"{self.program}.s"
        source = file.read_text(encoding="utf-8")
        return Job(
            name=self.program,
            image=assemble(source, file=str(file), address=0).image,
            address=0,
            config=CoreConfig.named(self.config),
            memory=[(IMAGE_ADDRESS, image(self.rows).tobytes())],
            regions=[(RESULT_ADDRESS, image(self.rows).nbytes)],
            check=True,
            waves=waves,
        )


CASES = (
    Case("row_normalise_8_rows", 8, "icarus", "small"),
    Case("row_normalise", 64, "verilator", "default"),
)


def image(rows: int) -> Image:
    """Return the first rows of a picture of ``rows`` x 64 pixels: 64 scanned digits of scikit-learn, eight by eight."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    digits = load_digits().images[: COLUMNS // 8 * 8].reshape(8, 8, 8, 8)
    picture = digits.transpose(0, 2, 1, 3).reshape(COLUMNS, COLUMNS)
    return np.ascontiguousarray(picture[:rows], dtype=np.float32)


def row_normalised(picture: Image) -> Image:
    """Return what the example computes, by numpy."""
    return picture - picture.max(axis=1, keepdims=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases whose simulator is there; 1 when one differs or none could run."""
    parser = argparse.ArgumentParser(prog="python -m linxtile_sim.example", description=main.__doc__)
    parser.add_argument("--waves", action="store_true", help=f"run the small case only and leave its waves in {WAVES}/")
    parser.add_argument("--image", metavar="FILE", help="write the 64 x 64 image as .npy and do nothing else")
    arguments = parser.parse_args(argv)
    if arguments.image is not None:
        Path(arguments.image).parent.mkdir(parents=True, exist_ok=True)
        np.save(arguments.image, image(COLUMNS))
        return 0
    ran, failed = 0, 0
    for case in CASES[:1] if arguments.waves else CASES:
        waves = WAVES / f"{case.program}.fst" if arguments.waves else None
        started = time.monotonic()
        try:
            finished = find_backend(case.simulator).run(case.job(waves))
        except BackendError as error:
            print(f"{case.program} on {case.simulator}: not run: {error}", file=sys.stderr)
            continue
        complaint = _complaint(case, finished)
        ran += 1
        failed += complaint is not None
        print(_line(case, finished, complaint, time.monotonic() - started))
        if waves is not None:
            print(f"waves: gtkwave {waves.with_suffix('.gtkw')}")
    return 0 if ran and not failed else 1


def _complaint(case: Case, finished: Finished) -> str | None:
    """Return what is wrong with a run, None if nothing is."""
    if finished.difference is not None:
        return f"differs from the model: {finished.difference}"
    if finished.fault is not None:
        return f"faulted: {finished.fault}"
    result = np.frombuffer(finished.regions[0], np.float32).reshape(case.rows, COLUMNS)
    differing = np.argwhere(result.view(np.uint32) != row_normalised(image(case.rows)).view(np.uint32))
    if len(differing):
        row, column = differing[0]
        return f"differs from numpy in {len(differing)} elements, first in ({row}, {column})"
    return None


def _line(case: Case, finished: Finished, complaint: str | None, seconds: float) -> str:
    counts = finished.statistics
    what = f"{case.program}: {case.rows} x {COLUMNS} FP32 on {case.simulator}, preset {case.config}: {counts['cycles']} cycles"
    if complaint is not None:
        return f"{what}: {complaint}"
    return (
        f"{what}; {counts['blocks']} blocks agree with the model in {counts['checks']} checks, "
        f"{case.rows * COLUMNS} elements with numpy ({seconds:.0f} s)"
    )


if __name__ == "__main__":
    sys.exit(main())
