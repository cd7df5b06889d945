"""A text from which secrets are being taken, kind after kind.

Owns the looking for hints, the places where an expression is worth trying and the putting of marks. What a
secret looks like is in `text.patterns`. It must never take more than linear time.
"""

import re
from functools import cache

from workbench.text.patterns import Pattern

_REREAD = 512
_LONG = 4096
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

    __slots__ = ("_folded", "_letters", "_places", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        """The text, with marks where secrets stood."""
        self._folded = text.lower()
        self._words = _words(self._folded) if len(text) > _LONG else None
        self._letters = _letters(self._words) if self._words is not None else None
        self._places: dict[tuple[tuple[str, ...], tuple[int, ...]], list[int]] = {}

    def hinted(self, blocks: tuple[tuple[Pattern, ...], ...]) -> list[list[Pattern]]:
        """Return of every block the patterns of which a hint is there, and no block without any."""
        # Loops and not any(): the generator costs more than all of the looking, on a hundred short texts.
        folded, words, letters = self._folded, self._words, self._letters
        found: list[list[Pattern]] = []
        for block in blocks:
            mine: list[Pattern] = []
            for pattern in block:
                for hint in pattern.hints:
                    if words is None or letters is None:
                        if hint in folded:
                            mine.append(pattern)
                            break
                    elif _longest_letters(hint) in letters and hint in (words if _IS_WORD(hint) else folded):
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
        if pattern.anchors and len(self._folded) == len(self.text):
            match = pattern.regex().match
            for place in self._starts(pattern):
                if place >= at and (found := match(self.text, place)):
                    at = _judged(found, pattern, spans)
        else:
            search = pattern.regex().search
            while found := search(self.text, at):
                at = _judged(found, pattern, spans)
        return spans

    def _starts(self, pattern: Pattern) -> list[int]:
        """Return where matches of a pattern can begin, in order."""
        key = (pattern.anchors, pattern.leads)
        found = self._places.get(key)
        if found is None:
            folded = self._folded
            places: list[int] = []
            for anchor in pattern.anchors:
                at = folded.find(anchor)
                while at >= 0:
                    places.append(at)
                    at = folded.find(anchor, at + 1)
            found = sorted(at - lead for at in places for lead in pattern.leads if at >= lead)
            self._places[key] = found
        return found

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


def _words(folded: str) -> str:
    """Return every different word of a long text once: much less to look for two hundred hints in.

    A text that is scrubbed meanwhile only loses words, so this stays true of it.
    """
    data = folded.encode("utf-8", "surrogatepass").translate(_SEPARATORS)
    return b" ".join(dict.fromkeys(data.split())).decode("ascii")


def _letters(words: str) -> str:
    """Return every different run of letters of some words: less still, where most of them are keys."""
    return b" ".join(dict.fromkeys(words.encode().translate(_NO_LETTERS).split())).decode("ascii")


@cache
def _longest_letters(hint: str) -> str:
    """Return the longest run of letters in a hint; without it the hint is not there either."""
    return max(re.findall("[a-z]*", hint), key=len)
