"""Notebooks: executed in a kernel of their own, then written as Markdown with their figures."""

import base64
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from linxtile_docs.markdown import code

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
_SECONDS_A_CELL = 120
# Sockets of the file system: no other user of the machine can talk to the kernel.
_CONFIG = Config({"KernelManager": {"transport": "ipc"}})


def notebook_paths() -> list[Path]:
    """Return the notebooks of the documentation, by name."""
    return sorted(FOLDER.glob("*.ipynb"))


def execute(path: Path) -> NotebookNode:
    """Return a notebook with its outputs; the file does not change.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        A cell raises an exception.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook, timeout=_SECONDS_A_CELL, kernel_name="python3", coalesce_streams=True, config=_CONFIG
    )
    return client.execute()


def to_markdown(notebook: NotebookNode, name: str) -> tuple[str, dict[str, bytes]]:
    """Return an executed notebook as Markdown, and its figures by file name.

    Parameters
    ----------
    name : str
        File name of the page without suffix; figures are ``NAME_0.png`` and so on.
    """
    parts: list[str] = []
    figures: dict[str, bytes] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source + "\n")
            continue
        parts.append(code(cell.source, "python"))
        for output in cell.outputs:
            parts.append(_output(output, name, figures))
    return "\n".join(parts), figures


def _output(output: NotebookNode, name: str, figures: dict[str, bytes]) -> str:
    if output.output_type == "stream":
        return code(output.text)
    if "image/png" in output.data:
        file_name = f"{name}_{len(figures)}.png"
        figures[file_name] = base64.b64decode(output.data["image/png"])
        return f"![figure {len(figures)}]({file_name})\n"
    return code(output.data["text/plain"])
