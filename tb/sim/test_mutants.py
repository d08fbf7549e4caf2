"""The planted bugs: each place is in the source, each test exists, and nothing counts as caught but a test that failed."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _load():
    specification = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules["mutants"] = module
    specification.loader.exec_module(module)
    return module


mutants = _load()
TABLE = mutants.read_mutants()


@pytest.mark.parametrize("mutant", TABLE, ids=lambda mutant: mutant.name)
def test_the_place_of_each_bug_is_in_the_source_once(mutant):
    before = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert mutants.mutated_text(mutant) == before.replace(mutant.old, mutant.new) != before


@pytest.mark.parametrize("mutant", TABLE, ids=lambda mutant: mutant.name)
def test_the_test_of_each_bug_exists(mutant):
    file, _, name = mutant.test.partition("::")
    assert f"\ndef {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")


def _mutant(old, new="x", test="tb/test_a.py::test_a"):
    return mutants.Mutant("stale", "rtl/a.py", old, new, test)


@pytest.mark.parametrize(("old", "times"), [("gone", 0), ("twice", 2)])
def test_a_place_that_does_not_stand_there_once_is_refused(tmp_path, old, times):
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "a.py").write_text("twice\ntwice\nonce\n")
    with pytest.raises(
        mutants.MutantError, match=f"^mutant stale: rtl/a.py must hold '{old}' once, not {times} times$"
    ):
        mutants.mutated_text(_mutant(old), tmp_path)


def test_a_file_that_is_gone_is_refused(tmp_path):
    with pytest.raises(mutants.MutantError, match=r"^mutant stale: rtl/a.py must hold 'once' once, not 0 times$"):
        mutants.mutated_text(_mutant("once"), tmp_path)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A project with one file under test, which the runner takes for the copy of the tree."""
    for folder in ("rtl", "model", "sim", "tb"):
        (tmp_path / "tree_0" / folder).mkdir(parents=True)
    (tmp_path / "tree_0" / "rtl" / "answer.py").write_text("ANSWER = 42\n")
    (tmp_path / "tree_0" / "tb" / "test_a.py").write_text(
        "import answer\ndef test_a():\n    assert answer.ANSWER == 42\n"
    )
    monkeypatch.setattr(mutants, "FOLDER", tmp_path)
    monkeypatch.setattr(mutants, "copy_tree", lambda folder: None)
    return tmp_path / "tree_0"


def _plant(new):
    return mutants.Mutant("wrong_answer", "rtl/answer.py", "42", new, "tb/test_a.py::test_a")


def test_a_bug_that_a_test_notices_is_caught_and_taken_out_again(tree, capsys):
    assert mutants.run_mutants([_plant("41")]) == 0
    assert "caught by tb/test_a.py::test_a" in capsys.readouterr().out
    assert (tree / "rtl" / "answer.py").read_text() == "ANSWER = 42\n"


def test_a_bug_that_no_test_notices_survives(tree, capsys):
    assert mutants.run_mutants([_plant("40 + 2")]) == 1
    assert "SURVIVED tb/test_a.py::test_a" in capsys.readouterr().out


def test_bugs_planted_at_the_same_time_do_not_meet(tree, capsys):
    shutil.copytree(tree, tree.with_name("tree_1"))
    assert mutants.run_mutants([_plant("41"), _plant("40 + 2"), _plant("43"), _plant("41 + 1")], jobs=2) == 2
    assert capsys.readouterr().out.count("SURVIVED") == 2


def test_a_bug_that_only_breaks_the_build_is_refused(tree):
    with pytest.raises(mutants.MutantError, match=r"^mutant wrong_answer: tb/test_a.py::test_a did not run"):
        mutants.run_mutants([_plant("no_such_name")])


def test_a_test_that_fails_without_the_bug_is_refused(tree):
    (tree / "rtl" / "answer.py").write_text("ANSWER = 43 - 2 * (42 > 0)\n")
    with pytest.raises(mutants.MutantError, match=r"^mutant wrong_answer: tb/test_a.py::test_a fails without it$"):
        mutants.run_mutants([_plant("42.0")])
