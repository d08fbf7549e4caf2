"""The notebooks run from top to bottom, and are checked in without outputs."""

import nbformat
import pytest

from linxtile_docs.notebooks import execute, notebook_paths, to_markdown

PATHS = notebook_paths()


def test_there_are_two_notebooks():
    assert [path.stem for path in PATHS] == ["formats", "softmax"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_is_checked_in_without_outputs(path):
    cells = nbformat.read(path, as_version=4).cells
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_figures(path):
    text, figures = to_markdown(execute(path), path.stem)
    assert figures and all(image.startswith(b"\x89PNG") for image in figures.values())
    assert all(f"]({name})" in text for name in figures)
