"""A text from which secrets are being taken, kind after kind.

Owns the looking for hints, the places where an expression is worth trying and the putting of marks. What a
secret looks like is in `text.patterns`. It must never take more than linear time.
"""

import re
from functools import cache

from workbench.text.patterns import Pattern

_REREAD = 512
_LONG = 4096
_DENSE = 8
"""Of so many signs one may be a place; with more, each place costs more than a plain search does."""
_IS_WORD = re.compile(r"[a-z0-9_-]+\Z").match
_SEPARATORS = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789_-" else 32 for code in range(256)
)
_NO_LETTERS = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))

_Span = tuple[int, int]


def mark(kind: str) -> str:
    """Return what stands where a secret of this kind stood."""
    return f"⟨secret: {kind}⟩"


class Sheet:
    """A text, and what is known of it while secrets are taken from it."""

    __slots__ = ("_folded", "_places", "_pool", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        """The text, with marks where secrets stood."""
        self._folded = text.lower()
        self._pool = _Pool(self._folded) if len(text) > _LONG else None
        self._places: dict[tuple[tuple[str, ...], tuple[int, ...]], list[int] | None] = {}

    def hinted(self, blocks: tuple[tuple[Pattern, ...], ...]) -> list[list[Pattern]]:
        """Return of every block the patterns of which a hint is there, and no block without any."""
        # Loops and not any(): the generator costs more than all of the looking, on a hundred short texts.
        folded, pool = self._folded, self._pool
        found: list[list[Pattern]] = []
        for block in blocks:
            mine: list[Pattern] = []
            for pattern in block:
                for hint in pattern.hints:
                    if hint in folded if pool is None else pool.has(hint):
                        mine.append(pattern)
                        break
            if mine:
                found.append(mine)
        return found

    def take(self, block: list[Pattern]) -> list[str]:
        """Put marks where the patterns of a block find secrets, all at once if they are apart.

        Returns:
            Their kinds, in the order of the block.
        """
        spans = [(pattern, span) for pattern in block for span in self._spans(pattern)]
        if not spans:
            return []
        if len(block) > 1 and not (spans := _apart(spans)):
            return [kind for pattern in block for kind in self.take([pattern])]
        self._put([(span, mark(pattern.kind)) for pattern, span in spans])
        kinds = {pattern.kind for pattern, _ in spans}
        return [pattern.kind for pattern in block if pattern.kind in kinds]

    def _spans(self, pattern: Pattern) -> list[_Span]:
        """Return where a pattern finds a secret; where its check says no, look again behind the first letter.

        A long value that was no secret is passed over as a whole, or it would be read again for every
        keyword in it. Where places in lower case are those of the text, the expression is tried only where
        matches can begin; looking for those costs a tenth.
        """
        spans: list[_Span] = []
        at = 0
        places = self._starts(pattern) if pattern.anchors and len(self._folded) == len(self.text) else None
        if places is not None:
            match = pattern.regex().match
            for place in places:
                if place >= at and (found := match(self.text, place)):
                    at = _judged(found, pattern, spans)
        else:
            search = pattern.regex().search
            while found := search(self.text, at):
                at = _judged(found, pattern, spans)
        return spans

    def _starts(self, pattern: Pattern) -> list[int] | None:
        """Return where matches of a pattern can begin, in order; None where that is nearly everywhere."""
        key = (pattern.anchors, pattern.leads)
        if key not in self._places:
            self._places[key] = self._found(pattern)
        return self._places[key]

    def _found(self, pattern: Pattern) -> list[int] | None:
        folded, pool = self._folded, self._pool
        most = max(_LONG, len(folded) // _DENSE)
        places: list[int] = []
        for anchor in pattern.anchors:
            if pool is not None and not pool.has(anchor):
                continue
            at = folded.find(anchor)
            while at >= 0:
                places.append(at)
                at = folded.find(anchor, at + 1)
                if len(places) > most:
                    return None
        return sorted(at - lead for at in places for lead in pattern.leads if at >= lead)

    def _put(self, marks: list[tuple[_Span, str]]) -> None:
        is_in_step = len(self._folded) == len(self.text)
        self.text = _without(self.text, marks)
        # Folding anew costs more than all of the looking, on a text of which every kind takes a piece.
        self._folded = _without(self._folded, marks) if is_in_step else self.text.lower()
        self._places = {}


def _judged(found: re.Match[str], pattern: Pattern, spans: list[_Span]) -> int:
    """Add what is to be replaced; return where to look on."""
    start, end = found.span(found.lastgroup or 0)
    if pattern.is_secret is None or pattern.is_secret(found):
        spans.append((start, end))
    elif found.lastgroup and end - start <= _REREAD:
        return found.start() + 1
    return end


def _apart(spans: list[tuple[Pattern, _Span]]) -> list[tuple[Pattern, _Span]]:
    """Return the spans in order, without those that lie within others; none if any two overlap by a part."""
    spans = sorted(spans, key=lambda item: (item[1][0], -item[1][1]))
    apart: list[tuple[Pattern, _Span]] = []
    last = 0
    for item in spans:
        start, end = item[1]
        if start >= last:
            apart.append(item)
            last = end
        elif end > last:
            return []
    return apart


def _without(text: str, marks: list[tuple[_Span, str]]) -> str:
    pieces: list[str] = []
    taken = 0
    for (start, end), replacement in marks:
        pieces += (text[taken:start], replacement)
        taken = end
    pieces.append(text[taken:])
    return "".join(pieces)


class _Pool:
    """What a long text is made of, each piece once: much less to look for two hundred hints in.

    A text that is scrubbed meanwhile only loses pieces, so this stays true of it.
    """

    __slots__ = ("_folded", "_known", "_letters", "_pieces", "_signs", "_words")

    def __init__(self, folded: str) -> None:
        self._folded = folded
        self._pieces = " ".join(dict.fromkeys(folded.split()))
        self._signs = {*self._pieces, " "}
        words = self._pieces.encode("utf-8", "surrogatepass").translate(_SEPARATORS)
        self._words = _each_once(words)
        # Less still, where most of the words are keys.
        self._letters = _each_once(self._words.encode().translate(_NO_LETTERS))
        self._known: dict[str, bool] = {}

    def has(self, part: str) -> bool:
        """Whether the text held this when it was new."""
        known = self._known.get(part)
        if known is None:
            known = self._known[part] = self._signs.issuperset(part) and self._holds(part)
        return known

    def _holds(self, part: str) -> bool:
        if _longest_letters(part) not in self._letters:
            return False
        if _IS_WORD(part):
            return part in self._words
        return part in (self._folded if " " in part else self._pieces)


def _each_once(words: bytes) -> str:
    return b" ".join(dict.fromkeys(words.split())).decode("ascii")


@cache
def _longest_letters(hint: str) -> str:
    """Return the longest run of letters in a text; without it the text is not there either."""
    return max(re.findall("[a-z]*", hint), key=len)
