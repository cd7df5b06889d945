"""Codex's rules for patches, held against two ports of its program, which come through pip."""

import asyncio
import importlib
import random
import sys
from collections import Counter

import pytest

from tests.support.oracles import unpacked
from tests.unit.changes import drawn_patches as drawn
from workbench.changes.begin_patch import BEGIN, END, PatchRefused, PatchUnclear, read_patch
from workbench.changes.patched_files import patched_files

pytestmark = pytest.mark.campaign


def made(patch, files):
    """Return the tree after a patch; "unclear" or "refused" where there is none."""
    try:
        sections = read_patch(patch.encode())
        images = patched_files(sections, lambda name: files[name].encode() if name in files else None)
    except PatchUnclear:
        return "unclear", ()
    except PatchRefused:
        return "refused", ()
    after = {**files, **{each.path: each.after and each.after.decode() for each in images}}
    after |= {each.path: "" for each in images if each.after == b""}
    return {name: text for name, text in after.items() if text is not None}, sections


@pytest.fixture(scope="module")
def port_folder(tmp_path_factory):
    folder = unpacked(tmp_path_factory.mktemp("ports"), ("codex-apply-patch==0.4.0",))
    options = ("--python-version", "3.13")
    other = unpacked(
        tmp_path_factory.mktemp("ports"), ("apply-patch-py==0.4.1", "aiofiles==24.1.0"), *options
    )
    before = [*sys.path]
    sys.path[:0] = [str(folder), str(other)]
    yield
    sys.path[:] = before


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lay_out(place, files):
    for path in sorted(place.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, text in files.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(text.encode())


def found(place):
    return {
        str(path.relative_to(place)): path.read_bytes().decode()
        for path in place.rglob("*")
        if path.is_file()
    }


def made_by_port(port, place, patch, files):
    """Return the tree after a patch; the port says nothing where it gives up, and leaves what it had done."""
    lay_out(place, files)
    try:
        return found(place) if port.apply_patch(patch) else "refused"
    except RuntimeError:
        return "refused"


def is_newer(patch, sections):
    """Return whether a patch has what the program took only after the port was made: two anchors, padded markers."""
    first, *_, last = patch.strip().split("\n") if "\n" in patch.strip() else ("", "")
    is_padded = first.rstrip("\r") != BEGIN or last != END
    return is_padded or any(len(chunk.anchors) > 1 for section in sections for chunk in section.chunks)


def test_the_first_port_makes_the_same_files_or_refuses_too(port_folder, place):
    port = importlib.import_module("codex_apply_patch")
    counts = Counter()
    for run in range(drawn.RUNS):
        chance = random.Random(drawn.SEED + run)
        files = drawn.tree(chance)
        patch = drawn.patch(chance, files)
        ours, sections = made(patch, files)
        if ours == "unclear" or (sections and is_newer(patch, sections)):
            counts["left out"] += 1
            continue
        counts["refused" if ours == "refused" else "applied"] += 1
        assert ours == made_by_port(port, place, patch, files), (drawn.SEED + run, files, patch)
    print(dict(counts))
    assert counts["applied"] > drawn.RUNS // 10
    assert counts["refused"] > drawn.RUNS // 10


def is_read_otherwise(sections):
    """Return whether the second port is known to differ: added text like a marker, and lines that are only added."""
    rows = [chunk.lines for section in sections for chunk in section.chunks]
    added = [text for lines in rows for sign, text in lines if sign == "+"]
    added += [text for section in sections for text in section.text.split("\n")]
    is_like_marker = any(
        text.lstrip(" +").startswith(("+", "***", "@@")) or text[:1] == "+" for text in added
    )
    return is_like_marker or any(all(sign == "+" for sign, _ in lines) for lines in rows)


def test_the_second_port_makes_the_same_files_of_what_is_applied(port_folder, place):
    port = importlib.import_module("apply_patch_py.applier")
    applied = 0
    for run in range(drawn.RUNS // 10):
        chance = random.Random(drawn.SEED + run)
        files = {name: text.replace("\r", "") for name, text in drawn.tree(chance).items()}
        patch = drawn.patch(chance, files).replace("\r", "")
        ours, sections = made(patch, files)
        if ours in ("unclear", "refused") or is_read_otherwise(sections):
            continue
        lay_out(place, files)
        asyncio.run(port.PatchApplier().apply(patch, place))
        assert ours == found(place), (drawn.SEED + run, files, patch)
        applied += 1
    print(applied)
    assert applied > drawn.RUNS // 200
