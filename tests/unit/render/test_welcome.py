"""The first page says in every size what this is and which key to press."""

import pytest

from tests.unit.views.making import action
from workbench.render.glyphs import ASCII_GLYPHS, UNICODE_GLYPHS
from workbench.render.theme import own_theme_ink
from workbench.render.welcome import welcome_rows
from workbench.text.width import cell_width
from workbench.views.providers import FoundModel
from workbench.views.welcome import ModelSearch, WelcomeFacts, welcome_facts

INK = own_theme_ink("workbench-dark")
TRUST = action(kind="trust", subject={"files": [".workbench.json", "workbench.yaml"]})


def facts(**more):
    known = {
        "keys_of_found": "mstvw",
        "has_model": False,
        "elsewhere": 0,
        "branch": "main",
        "pipelines": 2,
        "trust": TRUST,
    }
    return welcome_facts("0.1.0", **{**known, **more})


def lines(page, width, height, glyphs=UNICODE_GLYPHS):
    rows = welcome_rows(page, width, height, INK, glyphs)
    assert len(rows) <= height
    assert {row.cell_length for row in rows} == {width} == {cell_width(row.text) for row in rows}
    return "\n".join(row.text for row in rows)


@pytest.mark.parametrize("glyphs", [UNICODE_GLYPHS, ASCII_GLYPHS], ids=["unicode", "ascii"])
@pytest.mark.parametrize("size", [(200, 56), (120, 31), (80, 21), (60, 14), (46, 7), (40, 5)])
def test_name_what_it_is_and_the_keys_are_there_in_every_size(size, glyphs):
    shown = lines(facts(), *size, glyphs)
    assert "0.1.0" in shown and "You decide." in shown
    assert [words in shown for words in ("d   try the demo", "p   set up a model", "5   bring sessions in")] == [
        True, True, True,
    ]  # fmt: skip
    assert glyphs is UNICODE_GLYPHS or shown.isascii()
    if size[0] >= 80:
        assert "src/shop/router.py" in shown and "dispatch" in shown and "a approve" in shown
        assert (
            ".workbench.json and 1 more not trusted yet; 2 shows the question" in shown
            and "2 pipelines" in shown
        )


def test_only_what_is_known_is_said_and_names_of_the_folder_are_scrubbed():
    assert "here" not in lines(facts(branch="", pipelines=None, trust=None), 80, 21)
    assert "here" not in lines(facts(branch="", pipelines=0, trust=None), 80, 21)
    hostile = action(kind="trust", subject={"files": ["a\x1b[2J\nb", 7, "c" * 900]})
    shown = lines(facts(branch="m\x1b]0;x\x07\u202e", trust=hostile, elsewhere=41), 120, 31)
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "41 of other folders" in shown


def test_a_folder_without_git_says_why_no_worktree_is_offered_once_it_is_known():
    offers = ("a git worktree of its own", "no git repository here, so no worktree")
    for branch, offered in (("main", [True, False]), ("", [False, True]), (None, [False, False])):
        shown = " ".join(lines(facts(branch=branch, has_model=True), 160, 31).split())
        assert [words in shown for words in offers] == offered, branch


def test_with_a_model_what_is_typed_comes_first_and_a_page_of_its_own_has_no_keys():
    shown = lines(facts(has_model=True), 80, 21)
    assert "Write below what you want done" in shown and "set up a model" not in shown
    own = lines(WelcomeFacts(version="1", lines=("A recorded agent begins.",)), 58, 20)
    assert "A recorded agent begins." in own and "try the demo" not in own


def test_where_nothing_else_has_room_no_key_leads_nowhere():
    shown = lines(facts(is_tiny=True), 46, 7)
    assert "60×10 or more" in shown and "5   bring" not in shown and "2 asks" not in shown


FOUND = FoundModel(
    provider="llama-cpp", kind="openai-compatible", base_url="http://127.0.0.1:8080/v1", model="qwen3-8b",
    source="llama.cpp at 127.0.0.1:8080, 1 model",
)  # fmt: skip


def test_the_page_without_a_model_says_that_it_looks_what_was_found_and_what_to_do_where_nothing_was():
    def shown(search, **more):
        return " ".join(lines(facts(trust=None, search=search, **more), 100, 36).split())

    assert "looking for models" in shown(ModelSearch())
    found = shown(ModelSearch(is_over=True, found=(FOUND,)))
    assert "m llama.cpp at 127.0.0.1:8080, 1 model, qwen3-8b use it" in found and "looking" not in found
    nothing = shown(ModelSearch(is_over=True))
    assert "No model answers here" in nothing and "r looks again" in nothing
    assert "config.json:3 is not JSON." in shown(
        ModelSearch(is_over=True, why_not="config.json:3 is not JSON.")
    )
    assert "/provider undo" in shown(None, added="local added, /provider undo removes it again.")
