"""The table of keys: it is whole, nothing in it clashes, and users' keymaps are refused by name."""

from collections import Counter
from contextlib import suppress

from tests.support.tables import each_row
from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.table import CHAINS, all_rows

KEYS = all_rows()


def test_ids_are_unique_and_every_row_says_what_it_does():
    assert len({key.id for key in KEYS}) == len(KEYS)
    assert [key.id for key in KEYS if not key.tooltip] == []


def test_every_key_of_a_scope_chain_means_one_thing():
    assert keymap.keymap_errors({}, CHAINS) == []


ANSWERS = {
    "approvals.approve", "approvals.approve-unseen", "approvals.reject", "approvals.extend", "approvals.undo",
    "batch.approve", "batch.reject", "trust.answer", "dialog.ok", "rules.add", "rules.revoke", "always.save",
    "pipeline.launch", "pipeline.cancel", "pipeline.run-from", "launch.start", "library.delete", "app.leave",
}  # fmt: skip


def test_every_key_that_answers_or_ends_something_waits_before_it_counts():
    assert {key.id for key in KEYS if key.id in ANSWERS and key.decides} == ANSWERS


def test_every_scope_is_in_a_chain():
    assert {key.scope for key in KEYS} == {key for chain in CHAINS for key in chain}


class CallLog:
    """Stands for the pane of a key: any attribute of it exists, and every call is noted."""

    def __init__(self, path="pane", calls=None):
        self._path, self.calls = path, [] if calls is None else calls

    def __getattr__(self, name):
        return CallLog(f"{self._path}.{name}", self.calls)

    def __call__(self, *values, **named):
        self.calls.append((self._path, repr(values), repr(named)))
        return CallLog(f"{self._path}()", self.calls)

    def __repr__(self):
        return self._path

    def __iter__(self):
        return iter(())

    def __contains__(self, value):
        return True


def calls_of(key):
    """Return what the action of a key calls on its pane."""
    log = CallLog()
    with suppress(TypeError):  # An action that counts with what it was given ends there.
        key.action(log)
    return tuple(log.calls)


def test_every_key_calls_something_and_no_other_key_of_its_scope_calls_the_same():
    made = {key.id: (key.scope, calls_of(key)) for key in KEYS}
    assert [name for name, (_, calls) in made.items() if not calls] == []
    seen = Counter(made.values())
    assert [name for name, call in made.items() if seen[call] > 1] == []


NEVER_SENT = {"ctrl+h", "ctrl+i", "ctrl+m", "ctrl+s", "ctrl+z", "alt+enter"}


def test_no_row_has_only_keys_that_terminals_do_not_send():
    rows = keymap.keys_by_id()
    # The terminal itself acts on ctrl+z; it is a command as well.
    assert {key.id for key in KEYS if not set(rows[key.id].keys) - NEVER_SENT} <= {"app.suspend"}


@each_row(
    "users, sentence",
    [
        ({"list.nothing": "j"}, 'keymap: there is no "list.nothing".'),
        ({"approvals.approve": "r"}, 'keymap: r means "approvals.approve" and "approvals.reject".'),
        (
            {"approvals.approve": "ctrl+h"},
            'keymap: "approvals.approve" has only ctrl+h, which terminals do not send.',
        ),
        ({"approvals.approve": ""}, 'keymap: "approvals.approve" has no key.'),
        ({"approvals.approve": "U"}, None),
    ],
)
def test_keymaps_of_users(users, sentence):
    assert keymap.keymap_errors(users, CHAINS)[:1] == ([sentence] if sentence else [])


def test_declared_overrides_are_no_clash_but_undeclared_ones_are():
    rows = keymap.keys_by_id().values()
    assert keymap.key_clashes(rows, ("diff", "approvals", "list", "app")) == []
    assert keymap.key_clashes(rows, ("tools", "approvals")) != []


@each_row(
    "key, normal",
    [
        ("?", "question_mark"),
        ("ctrl++", "ctrl+plus"),
        ("j", "j"),
        ("J", "J"),
        ("ctrl+p", "ctrl+p"),
        ("+", "plus"),
    ],
)
def test_keys_have_the_names_of_textual(key, normal):
    assert keymap.normalized_key(key) == normal


def test_users_keymaps_may_name_every_number_also_those_without_a_place():
    assert [number for number in range(10) if keymap.find_key(f"app.place-{number}") is None] == []
    users = {"app.place-8": "ctrl+b", "app.place-9": "ctrl+f"}
    assert keymap.keymap_errors(users, CHAINS) == []


def test_a_key_that_types_a_character_is_printed_as_it():
    seen = [chr(code) for code in range(33, 127)]
    assert [keymap.printed_key(keymap.key_name(character)) for character in seen] == seen
