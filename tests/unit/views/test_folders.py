"""Folders beside rows: names that stay distinct, and rows whose folder is gone or is another one."""

from tests.support.tables import each_row
from tests.unit.views.making import NOW, action, session
from workbench.views import approvals, sessions
from workbench.views.approvals import Folder, FolderNames, short_folder_names, waiting_elsewhere_text


@each_row(
    ("paths", "names"),
    [
        ([], []),
        (["/src/shop"], ["shop"]),
        (["/src/shop", "/src/pipes"], ["shop", "pipes"]),
        (["/a/shop", "/b/shop", "/b/pipes"], ["a/shop", "b/shop", "pipes"]),
        (["/x/a/shop", "/y/a/shop", "/z/shop"], ["x/a/shop", "y/a/shop", "z/shop"]),
        (["/shop", "/src/shop"], ["shop", "src/shop"]),
        (["/"], ["/"]),
    ],
)
def test_short_names_stay_distinct(paths, names):
    found = short_folder_names(paths)
    assert len(set(found.values())) == len(paths)
    assert list(found.values()) == names


def test_a_hostile_name_is_one_safe_line():
    assert all(name.isprintable() for name in short_folder_names(["/src/a\x1b[31m\nb", "/src/b"]).values())


def test_a_name_grows_when_a_folder_that_ends_alike_becomes_known():
    names = FolderNames("/home/ana/src/shop", "/home/ana")
    assert names.of("/home/ana/src/shop") == Folder(name="shop", path="~/src/shop")
    assert names.of("/home/ana/old/shop") == Folder(name="old/shop", path="~/old/shop", is_other=True)
    assert names.of("/home/ana/src/shop").name == "src/shop"
    assert names.mark_gone(["/home/ana/old/shop"]) and not names.mark_gone(["/home/ana/old/shop"])
    assert names.of("/home/ana/old/shop").is_gone and not names.of("/home/ana/src/shop").is_gone
    assert names.of("") == Folder()


@each_row(
    ("count", "words"),
    [
        (0, ""),
        (1, "1 waits in another folder, w shows it"),
        (2, "2 wait in other folders, w shows them"),
    ],
)
def test_what_waits_elsewhere_in_words(count, words):
    assert waiting_elsewhere_text(count) == words


def rows(*actions, folders):
    return approvals.queue_rows(actions, {"s1": session()}, NOW, folders=folders)


def test_a_row_has_its_folder_and_says_when_that_is_gone():
    gone = Folder(name="pipes", path="~/pipes", is_other=True, is_gone=True)
    waits, stale, done = rows(
        action(), action("a2", stale_paths=("x",)), action("a3", state="approved", decided_at=NOW),
        folders=dict.fromkeys(("a1", "a2", "a3"), gone),
    )  # fmt: skip
    assert [row.folder for row in (waits, stale, done)] == ["pipes"] * 3
    assert [row.state_word for row in (waits, stale, done)] == [
        "folder is gone",
        "folder is gone",
        "approved",
    ]
    assert approvals.matches_filter(waits, "pipes edit")


def test_a_trust_question_names_a_folder_that_is_not_the_one_of_the_screen():
    question = action(
        kind="trust", session_id="system", verb="ask", target="/home/ana/pipes", expires_at=None
    )
    other = Folder(name="pipes", path="~/pipes", is_other=True)
    assert [row.target for row in rows(question, folders={"a1": other})] == ["~/pipes"]
    assert [row.target for row in rows(question, folders={"a1": Folder(name="shop")})] == ["this folder"]


def test_sessions_of_other_folders_are_named_in_lists_and_found_by_them():
    here, there = session(workspace="/src/shop"), session("s2", workspace="/src/pipes")
    names = FolderNames("/src/shop", "")
    listed = sessions.session_rows([here, there], [], folders=names)
    assert {row.id: row.folder for row in listed} == {"s1": "", "s2": "pipes"}
    assert [
        row.id for row in sessions.session_rows([here, there], [], folders=names, text_filter="pipes")
    ] == ["s2"]


def test_what_stands_for_a_step_in_lists_is_its_run():
    assert sessions.listed_id(None) is None
    assert sessions.listed_id(session("s1")) == "s1"
    assert sessions.listed_id(session("s1", kind="step", parent_id="run")) == "run"
