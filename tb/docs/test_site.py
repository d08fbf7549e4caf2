"""The whole site builds without a warning; the notebooks, which have tests of their own, are taken as they are."""

import re
from pathlib import Path

import nbformat
import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from linxtile.isa.faults import Rule
from linxtile.isa.operations import OPERATIONS
from linxtile_docs import notebooks
from linxtile_docs.fault_list import general_rules, specific_rules
from linxtile_docs.notes import special_cases
from linxtile_docs.pages import fill, groups

ROOT = Path(__file__).parents[2]


def test_the_site_builds_without_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "execute", lambda path: nbformat.read(path, as_version=4))
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path)))
    pages = {path.stem for path in (tmp_path / "operations").glob("*.html")} - {"index"}
    assert pages == {row.name.lower().replace(".", "_") for row in OPERATIONS}


def test_each_operation_is_in_one_chapter():
    listed = [row for rows in groups().values() for row in rows]
    assert listed == list(OPERATIONS)


def test_special_cases_point_to_sections_that_exist():
    anchors = set(re.findall(r"\{ #(\S+) \}", (ROOT / "docs" / "numeric_rules.md").read_text(encoding="utf-8")))
    used = {anchor for row in OPERATIONS for _, anchor in special_cases(row)}
    assert used <= anchors


def test_each_fault_rule_belongs_to_every_program_or_to_some_operation():
    general = {entry.rule for entry in general_rules()}
    specific = {entry.rule for row in OPERATIONS for entry in specific_rules(row)}
    assert not general & specific
    assert general | specific == set(Rule)


def test_an_unknown_piece_is_refused():
    with pytest.raises(ValueError, match="no piece of documentation is called 'types.nothing'"):
        fill("text\n{{ types.nothing }}\n")
