from hypothesis import given
from hypothesis import strategies as st

from tests.support.tables import each_row
from tests.unit.views.making import hunk
from workbench.domain.values import SelectedHunk
from workbench.views.hunk_selection import WHOLE_ACTION, HunkSelection, SeenHunks

FRESH = HunkSelection(sizes=(3, 2, 4))


def test_of_hunks_counts_changed_lines():
    lines = ((" ", "a"), ("-", "b"), ("+", "c"), ("\\", ""))
    assert HunkSelection.of([hunk(1), hunk(2, lines=lines)]) == HunkSelection(sizes=(3, 2))


@each_row(
    ("state", "selection", "words", "title"),
    [
        (FRESH, None, "", "3 taken"),
        (FRESH.toggle_hunk(2), (SelectedHunk(hunk=1), SelectedHunk(hunk=3)), "2 of 3", "2 taken, 1 left"),
        (FRESH.toggle_hunk(2).toggle_hunk(2), None, "", "3 taken"),
        (FRESH.toggle_all(), (), "0 of 3", "0 taken, 3 left"),
        (FRESH.toggle_all().toggle_hunk(3), (SelectedHunk(hunk=3),), "1 of 3", "1 taken, 2 left"),
        (
            FRESH.toggle_hunk(2).toggle_line(3, 3).toggle_line(3, 4),
            (SelectedHunk(hunk=1), SelectedHunk(hunk=3, lines=(1, 2))), "5 of 9 lines", "2 taken, 1 left",
        ),
        (FRESH.toggle_line(2, 1).toggle_line(2, 2), (SelectedHunk(hunk=1), SelectedHunk(hunk=3)), "2 of 3", "2 taken, 1 left"),
        (FRESH.toggle_line(1, 1).toggle_hunk(1), None, "", "3 taken"),
        (FRESH.toggle_hunk(9).toggle_line(1, 0).toggle_line(1, 4).toggle_hunk(0), None, "", "3 taken"),
    ],
)  # fmt: skip
def test_choosing(state, selection, words, title):
    assert (state.to_selection(), state.words(), state.title_words()) == (selection, words, title)


@given(st.data())
def test_what_a_decision_took_is_shown_as_it_was_chosen(data):
    state = FRESH
    for number, line in data.draw(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), max_size=8)):
        state = state.toggle_line(number, line) if line else state.toggle_hunk(number)
    hunks = [HUNKS[size] for size in FRESH.sizes]
    selection = state.to_selection()
    if selection is not None:
        assert HunkSelection.decided(hunks, selection) == state


HUNKS = {size: hunk(1, lines=tuple(("+", str(n)) for n in range(size))) for size in FRESH.sizes}


def test_states_of_hunks_and_lines():
    state = FRESH.toggle_hunk(2).toggle_line(3, 3)
    assert [state.state_of(n) for n in (1, 2, 3)] == ["taken", "left", "partly"]
    assert [state.is_line_taken(3, n) for n in (1, 2, 3, 4)] == [True, True, False, True]
    assert state.line_counts(3) == (3, 4)
    assert (FRESH.is_all, state.is_all, FRESH.toggle_all().is_nothing, state.is_nothing) == (
        True,
        False,
        True,
        False,
    )
    assert not HunkSelection(sizes=()).is_nothing


moves = st.lists(
    st.one_of(
        st.tuples(st.just("toggle_hunk"), st.integers(0, 4)),
        st.tuples(st.just("toggle_line"), st.integers(0, 4), st.integers(0, 5)),
        st.tuples(st.just("toggle_all")),
    ),
    max_size=12,
)


@given(moves)
def test_a_selection_names_exactly_what_is_taken(steps):
    state = FRESH
    for name, *arguments in steps:
        state = getattr(state, name)(*arguments)
    taken = {
        (n, line)
        for n, size in enumerate(FRESH.sizes, 1)
        for line in range(1, size + 1)
        if state.is_line_taken(n, line)
    }
    selection = state.to_selection()
    if selection is None:
        assert len(taken) == 9
        return
    named = {
        (piece.hunk, line)
        for piece in selection
        for line in (piece.lines or range(1, FRESH.sizes[piece.hunk - 1] + 1))
    }
    assert named == taken
    assert all(
        piece.lines is None or 0 < len(piece.lines) < FRESH.sizes[piece.hunk - 1] for piece in selection
    )


def test_receipts():
    seen = SeenHunks().mark("a1", [1]).mark("a1", [3]).mark("a2", [2])
    assert seen.unseen("a1", FRESH) == (2,)
    assert seen.unseen("a1", FRESH.toggle_hunk(2)) == ()
    assert seen.unseen("a1", FRESH.toggle_hunk(2), every=True) == (2,)
    assert seen.unseen("a3", FRESH) == (1, 2, 3)
    assert seen.forget(["a1"]).unseen("a1", FRESH) == (1, 2, 3)
    assert seen.mark("a1", [1, 3]) is seen


def test_what_has_no_hunks_is_seen_as_a_whole():
    command = HunkSelection(sizes=())
    assert SeenHunks().unseen("a1", command) == (WHOLE_ACTION,)
    assert SeenHunks().mark("a1", [WHOLE_ACTION]).unseen("a1", command) == ()


def test_a_file_without_hunks_has_to_be_seen_beside_those_that_have_some():
    seen = SeenHunks().mark("a1", [1, 2, 3])
    assert seen.unseen("a1", FRESH, has_rest=True) == (WHOLE_ACTION,)
    assert seen.mark("a1", [WHOLE_ACTION]).unseen("a1", FRESH, has_rest=True) == ()
    assert seen.unmark("a1", [2]).unseen("a1", FRESH) == (2,)
    assert seen.unmark("a1", [9]) is seen
