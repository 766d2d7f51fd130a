"""Examples are run: docstrings, the guide, the README, and examples/python."""

from __future__ import annotations

import doctest
import importlib
import pathlib
import pkgutil
import re
import runpy
import shutil
import types

import pytest

import intervalid
from conftest import ROOT

MODULES = [name for _, name, _ in pkgutil.iter_modules(intervalid.__path__, "intervalid.") if not name.endswith("._intervalid")]
#: What needs a cluster is run in test_study_clusters.py.
CLUSTERS = ("cluster", "cluster_overhead")
EXAMPLES = [path for path in sorted((ROOT / "examples/python").glob("*.py")) if path.stem not in CLUSTERS]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if path.stem not in CLUSTERS]


@pytest.mark.parametrize("name", ["intervalid", *MODULES])
def test_docstrings(name: str) -> None:
    module: types.ModuleType = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    found = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert found > 20


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 6


def blocks(page: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_pages(page: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python blocks of a page, one after the other, with the record that the guide speaks of."""
    monkeypatch.chdir(tmp_path)
    dryer = intervalid.load_data("hair-dryer")
    frame = dryer.to_pandas().rename(columns={"u": "valve", "y": "level"})
    frame.to_csv("my.csv", index=False)
    for example in (ROOT / "examples").glob("*.csv"):
        shutil.copy(example, example.name)
    names: dict[str, object] = {}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), names)  # noqa: S102
