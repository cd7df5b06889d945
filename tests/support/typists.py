"""People who type sentences where keys decide: what they type, how unevenly, and what the pure rule makes of it.

The clock is simulated and moves by at most 20 ms; what is due is done at its time, between two letters too.
"""

import random
from dataclasses import dataclass, field

from workbench.tui.keyboard import keymap
from workbench.tui.keyboard.press_log import WORD_KEYS, KeyLog
from workbench.tui.keyboard.rule import (
    ARM_SECONDS,
    ARMED,
    NO_WORD,
    RUN_SECONDS,
    elapse,
    enter_counts,
    extend_word,
    follow,
    schedule,
)

STEP = 0.02
MOST_GAP = RUN_SECONDS - 0.2
"""Seconds: who pauses for longer in the middle of the first word has begun again."""
FIRST_WORDS = [
    "a",
    "an",
    "and",
    "add",
    "allow",
    "approve",
    "as",
    "at",
    "all",
    "Allow",
    "Approve",
    "And",
    "All",
    "A",
    "after",
    "Another",
    "apply",
    "are",
    "As",
    "already",
    "r",
    "run",
    "remove",
    "rename",
    "revert",
    "run.",
    "Run",
    "Remove",
    "Rename",
    "Revert",
    "Reject",
    "Rewrite",
    "Right",
    "really",
    "rather",
    "return",
    "x",
    "xml",
    "xargs",
    "X-ray",
    "XML",
    "Xcode",
    "p",
    "please",
    "put",
    "print",
    "pick",
    "P",
    "Please",
    "Put",
    "Pick",
    "Print",
    "Perhaps",
    "parse",
    "pass",
    "e",
    "explain",
    "edit",
    "extract",
    "even",
    "each",
    "Explain",
    "Edit",
    "Each",
    "Even",
    "Extract",
    "u",
    "undo",
    "use",
    "update",
    "until",
    "Use",
    "Undo",
    "Update",
    "keep",
    "need",
    "meet",
    "tomorrow",
    "worry",
    "opposite",
    "opportunity",
    "naar",
    "maar",
    "laat",
    "jaar",
    "happy",
    "hurry",
    "Keep",
    "Need",
    "Meet",
    "Tomorrow",
    "Knee",
    "Moor",
    "Jeep",
    "Opposite",
    "Naar",
    "Maak",
    "Gaat",
    "Too",
    "The",
    "That",
    "This",
    "Then",
    "There",
    "Two",
    "Go",
    "Get",
    "Good",
    "Give",
    "No",
    "Now",
    "Not",
    "Just",
    "Jump",
    "Make",
    "Move",
    "Mark",
    "Name",
    "Never",
    "Zero",
    "Zip",
    "Ok",
    "On",
    "Or",
    "One",
    "Only",
    "Once",
    "Do",
    "Did",
    "Does",
    "Delete",
    "Drop",
    "Bring",
    "But",
    "Bug",
    "Can",
    "Could",
    "Check",
    "Clear",
    "For",
    "From",
    "Find",
    "Fix",
    "Have",
    "Hello",
    "Help",
    "How",
    "I",
    "If",
    "In",
    "It",
    "Is",
    "Keys",
    "Let",
    "Look",
    "List",
    "Quick",
    "Quit",
    "Say",
    "See",
    "Show",
    "So",
    "Some",
    "Sure",
    "Test",
    "Thanks",
    "Very",
    "Was",
    "What",
    "When",
    "Why",
    "Will",
    "Write",
    "Yes",
    "You",
    "your",
    "you",
    "yes",
    "quick",
    "quit",
    "we",
    "was",
    "write",
    "who",
    "why",
    "what",
    "move",
    "make",
    "mark",
    "more",
    "much",
    "my",
    "me",
    "merge",
    "yet",
    "quiet",
]
OTHER_WORDS = [
    "a",
    "i",
    "the",
    "them",
    "this",
    "that",
    "it",
    "is",
    "are",
    "was",
    "to",
    "of",
    "in",
    "on",
    "and",
    "or",
    "but",
    "not",
    "now",
    "then",
    "again",
    "once",
    "all",
    "each",
    "every",
    "more",
    "less",
    "run",
    "runs",
    "ran",
    "test",
    "tests",
    "file",
    "files",
    "line",
    "lines",
    "word",
    "words",
    "row",
    "rows",
    "name",
    "names",
    "rule",
    "rules",
    "error",
    "errors",
    "apple",
    "approve",
    "reject",
    "undo",
    "edit",
    "extend",
    "rename",
    "remove",
    "revert",
    "allow",
    "deny",
    "please",
    "keep",
    "need",
    "seen",
    "feel",
    "meet",
    "weeks",
    "noon",
    "tomorrow",
    "sorry",
    "worry",
    "narrow",
    "happy",
    "apparently",
    "opposite",
    "supply",
    "upper",
    "letter",
    "better",
    "written",
    "commit",
    "accept",
    "aardvark",
    "book",
    "good",
    "too",
    "look",
    "cool",
    "moon",
    "queue",
    "vacuum",
    "continuum",
    "naar",
    "laat",
    "maken",
    "jaar",
    "maar",
    "gaat",
    "veel",
    "heel",
    "twee",
    "een",
    "haar",
    "quickly",
    "quite",
    "zero",
    "zip",
    "exit",
    "axes",
    "xerox",
    "you",
    "yours",
    "we",
    "will",
    "would",
    "with",
    "who",
    "which",
    "what",
    "why",
    "when",
    "where",
    "while",
]


def draw_sentence(chance, first=None):
    """Return a sentence that does not begin with a doubled letter, which is left over."""
    first = chance.choice(FIRST_WORDS) if first is None else first
    return " ".join([first, *chance.choices(OTHER_WORDS, k=chance.randrange(2, 7))])


def draw_gaps(chance, count, words_a_minute=None):
    """Return the seconds before each of `count` keys: log-normal at a speed of 20 to 90 words, with hesitations."""
    speed = words_a_minute or chance.uniform(20, 90)
    middle, spread = 60 / (5 * speed), chance.uniform(0.2, 0.7)
    return [
        min(
            MOST_GAP,
            middle * chance.lognormvariate(0, spread)
            + (chance.uniform(0.3, 4.0) if chance.random() < 0.06 else 0.0),
        )
        for _ in range(count)
    ]


@dataclass
class Place:
    """What letters mean in one state of the screen."""

    name: str
    roles: dict[str, str]
    """Letter to role; a letter that is not here means nothing."""
    closes_by_letter: bool = False
    """Whether it is a dialog that decides."""
    has_enter: bool = False
    """Whether enter decides in it."""
    opens_field: frozenset[str] = frozenset()
    has_composer: bool = True
    rows: int = 5
    unseen: int = 0


def place_of(name, scopes, *, off=(), **more):
    """Return a place as the table of keys has it, with some keys off."""
    roles, opens = {}, set()
    for row in keymap.keys_of_scopes(scopes):
        for key in row.keys:
            text = {"space": " "}.get(key, key)
            if len(text) == 1 and text not in roles:
                roles[text] = ("early" if row.id in off else "decides") if row.decides else "acts"
                opens |= {text} if row.opens_field else set()
    return Place(name, roles, opens_field=frozenset(opens), **more)


def places():
    """Return every state of the screen that has a question, as the table of keys has it."""
    undo, expired = "approvals.undo", ("approvals.propose-again", "approvals.propose-all-again")
    asks = dict.fromkeys("arq", "decides") | {"[": "acts", "]": "acts"}
    return (
        place_of("edit", ("approvals", "list", "app"), off=(undo, *expired)),
        place_of("command", ("approvals", "list", "app"), off=(undo, *expired), unseen=2),
        place_of("expired", ("approvals", "list", "app"), off=("approvals.approve", "approvals.reject")),
        place_of("diff", ("diff", "approvals", "list", "app"), off=(undo, *expired)),
        place_of("lines", ("lines", "approvals", "list", "app"), off=(undo, *expired)),
        place_of("answer", ("answer", "approvals", "list", "app"), off=(undo, *expired)),
        place_of("gate", ("gate", "list", "app"), unseen=1),
        place_of("batch", ("batch",), closes_by_letter=True),
        place_of("undo", ("undo",), closes_by_letter=True),
        place_of("always", ("always",), closes_by_letter=True, has_enter=True),
        place_of("incidents", ("incident-start",), closes_by_letter=True, has_enter=True),
        place_of("conversation", ("conversation", "list", "app")),
        Place("ask", asks, has_composer=False),
    )


@dataclass
class Typist:
    """One sentence at one place, key by key; what was decided, and what came into the composer."""

    place: Place
    armed_at: float = 0.0
    """Since when the row under the cursor is drawn."""
    now: float = 100.0
    composer: str = ""
    is_text: bool = False
    decided: list = field(default_factory=list)
    is_open: bool = True
    sentence: str = ""

    def __post_init__(self):
        self.state, self.word, self.log, self.left = ARMED, NO_WORD, KeyLog(), self.place.unseen

    def pass_time(self, until):
        """Move the clock in small steps, and do what is due at its time."""
        while self.now < until:
            self.now = min(until, self.now + STEP)
            self.state, outcome = elapse(self.state, self.now)
            if outcome == "decide":
                self.decided.append(self.now)
                self.armed_at = self.now + STEP
                self.word = NO_WORD

    def type(self, text, gaps, *, ends_line=True):
        """Type a sentence, and the line's end."""
        self.sentence = text
        for letter, gap in zip([*text, *(["enter"] if ends_line else [])], gaps, strict=False):
            self.pass_time(self.now + gap)
            self.press(letter)
        self.pass_time(self.now + 2 * RUN_SECONDS)

    @property
    def is_kept(self):
        """Return whether what was typed is in the composer, where its first letter is one that is kept."""
        return self.composer == self.sentence or not self.begins_as_text

    @property
    def begins_as_text(self):
        """Return whether the sentence begins with a capital or with a letter that decides here.

        A sentence whose keys all only move something cannot be recognized as text.
        """
        first, roles = self.sentence[0], self.place.roles
        only_moves = all(roles.get(letter) == "acts" or letter == "a" for letter in self.sentence)
        return (first.isupper() or roles.get(first) == "decides") and not only_moves

    def press(self, letter):
        key, text = {" ": ("space", " "), "enter": ("enter", "")}.get(letter, (letter, letter))
        if self.is_text:
            self.composer += text
            return
        press = self.log.record(key, text, self.now)
        self.state, _ = elapse(self.state, self.now)
        self.word = extend_word(self.word, key, text, self.now)
        self.state, outcome = follow(self.state, key, text, self.now)
        if outcome == "text":
            self._take(press)
        elif outcome == "pass":
            self._own_work(press)
        elif outcome == "draft":
            self.composer, self.is_text = self.log.text_before(press), self.place.has_composer

    def _take(self, press):
        self.composer, self.is_text, self.is_open = self.log.text_until(press), True, False
        self.state = ARMED

    def _own_work(self, press):
        if not press.text:
            self._enter(press)
            return
        role = self._role(press)
        if role == "nothing" and self.place.closes_by_letter and press.text not in self.place.roles:
            self._take(press)
            return
        if press.text in self.place.opens_field:
            if self.log.count_in_word(press) >= WORD_KEYS:
                self._take(press)
            elif press.text == "i":
                self.is_text = True
            return
        was_shown = role == "shows"
        press.is_letter = role != "acts"
        self.state, _ = schedule(self.state, press.key, press.at, role, is_in_word=self.word.is_mixed)
        if was_shown:
            self.left, self.armed_at = self.left - 1, self.now + STEP
        elif role == "acts" and press.text in "jkngGN":
            self.armed_at = self.now + STEP

    def _role(self, press):
        role = self.place.roles.get(press.text, "nothing")
        if role != "decides":
            return role
        if press.at - self.armed_at < ARM_SECONDS:
            return "early"
        return "shows" if press.text == "a" and self.left else "decides"

    def _enter(self, press):
        is_armed = press.at - self.armed_at >= ARM_SECONDS
        if self.place.has_enter and is_armed and enter_counts(self.log.last_letter(press), press.at):
            self.decided.append(self.now)


def draw_typist(chance, every):
    """Return someone at a place whose row waits, has just come, or comes while they type."""
    place = chance.choice(every)
    moment = chance.choice(("waits", "just came", "comes"))
    armed_at = {"waits": 0.0, "just came": 100.0, "comes": 100.0 + chance.uniform(0.0, 4.0)}[moment]
    return Typist(place, armed_at=armed_at)


def played(seed, count):
    """Yield for each of `count` drawn sentences the typist after it, and the sentence."""
    chance, every = random.Random(seed), places()
    for _ in range(count):
        typist, sentence = draw_typist(chance, every), draw_sentence(chance)
        typist.type(sentence, draw_gaps(chance, len(sentence) + 1))
        yield typist, sentence
