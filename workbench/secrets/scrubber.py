"""Replace every recognized secret in a text or JSON value with ⟨secret: kind⟩.

Covers the table of rules, values of Kubernetes Secret manifests, tails of private keys whose head was cut
off, and provider keys registered by this process. Runs in linear time, changes nothing in a text that is
scrubbed already, and prefers to replace a harmless value over leaving a secret.
"""

# Keys of providers are known by value. They have no form of their own, so this module keeps those that this
# process was told of, and every scrubbing replaces them; it is the one list that a process keeps besides
# its wiring. What a server says back of a key is replaced before even the exact text is sealed. Shorter
# than 8 characters is a placeholder (`none`, `ollama`) and left alone.
#
# Keys of services are taken in one go. Their forms look at nothing around them, so all of their places in a
# text are found first, and replaced at once; where two overlap by a part, one kind goes after the other as
# before. Every expression is tried only where its fixed beginning stands; a test compares that with trying
# it everywhere.
#
# A secret is looked for where its words stand. A long text is cut into its different words once, and an
# expression that begins with a word is tried at that word only: two hundred forms cost what forty did.

import json
import re
from functools import cache
from typing import Final, cast
from urllib.parse import quote

from msgspec import Struct

from workbench.secrets import false_positives
from workbench.secrets.rules import SECRET_RULE_BLOCKS, SecretRule


class Scrubbed(Struct, frozen=True, kw_only=True):
    """A text without the secrets that were recognised in it."""

    text: str
    """The text with ⟨secret: kind⟩ where a secret stood."""
    found: tuple[str, ...]
    """The kinds that were replaced, each once, in the order of the table."""


_MAX_PASSES: Final = 4
"""A secret inside another one can leave a part of it that is recognised only when the first is gone."""


def scrub(text: str) -> Scrubbed:
    """Replace the secrets in a text.

    Lines of a key that were cut apart are not recognised one by one: scrub the whole, then split.
    """
    result = _scrub_once(text)
    kinds = result.found
    for _ in range(_MAX_PASSES - 1):
        if not result.found:
            break
        result = _scrub_once(result.text)
        kinds += result.found
    return Scrubbed(text=result.text, found=tuple(dict.fromkeys(kinds)))


def _scrub_once(text: str) -> Scrubbed:
    if not text or text.isspace():
        return Scrubbed(text=text, found=())  # a flood of empty lines is a hundred thousand of them
    kinds: list[str] = []
    for kind, replace_secrets in (
        (REGISTERED_KIND, replace_registered_secrets), (MANIFEST_KIND, replace_manifest_values),
        (KEY_TAIL_KIND, replace_key_tails),
    ):  # fmt: skip
        replaced = replace_secrets(text)
        if replaced != text:
            text = replaced
            kinds.append(kind)
    scrubber = TextScrubber(text)
    for block in scrubber.hinted(SECRET_RULE_BLOCKS):
        kinds += scrubber.take(block)
    return Scrubbed(text=scrubber.text, found=tuple(dict.fromkeys(kinds)))


def scrub_value(value: object) -> tuple[object, tuple[str, ...]]:
    """Replace the secrets in a JSON value, keys included.

    Strings, and strings in lists, under a key that is named token, key, secret, password or the like
    (`apiKey`, `access_token`, `X-Api-Key`) are replaced whatever they hold. Returns the value, and the kinds
    that were replaced, each once.
    """
    kinds: dict[str, None] = {}
    return _scrub_value(value, kinds), tuple(kinds)


def _scrub_value(value: object, kinds: dict[str, None]) -> object:
    if isinstance(value, str):
        scrubbed = scrub(value)
        kinds.update(dict.fromkeys(scrubbed.found))
        return scrubbed.text
    if isinstance(value, list | tuple):
        return [_scrub_value(item, kinds) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return _scrub_members(cast("dict[object, object]", value), kinds)
    return value


def _scrub_members(members: dict[object, object], kinds: dict[str, None]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in members.items():
        kind = secret_kind_of_name(str(key))
        name = str(_scrub_value(str(key), kinds))
        while name in result:
            name += "′"
        result[name] = (
            _scrub_value(value, kinds) if kind is None else _replace_all_strings(value, kind, kinds)
        )
    return result


def _replace_all_strings(value: object, kind: str, kinds: dict[str, None]) -> object:
    if isinstance(value, str):
        if not value or _mark_pattern().fullmatch(value):
            return value
        kinds[kind] = None
        return secret_mark(kind)
    if isinstance(value, list | tuple):
        return [_replace_all_strings(item, kind, kinds) for item in cast("list[object]", value)]
    return _scrub_value(value, kinds)


@cache
def secret_kind_of_name(key: str) -> str | None:
    """Return the kind that the last word of a key names; None for `monkey`, `keymap`, `token_count`."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", key)
    if not words or (len(words) > 1 and words[-2].lower() == "public"):
        return None
    match = re.fullmatch(
        r"(?P<token>.*token|jwt|authorization|bearer|otp)|(?P<cookie>cookie)|(?P<key>(?:api|access|secret|private)?key)|(?P<secret>.*secret|credential)"
        r"|(?P<password>.*passw(?:or)?d|passphrase|passcode|pwd)",
        words[-1].lower().removesuffix("s"),
    )
    return match.lastgroup if match else None


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile(r"⟨secret: [a-z-]+⟩")


_LONGEST_REREAD = 512
_LONG_TEXT = 4096
_MOST_PLACES_SHARE = 8
"""Of so many signs one may be a place; with more, each place costs more than a plain search does."""
_is_hint_word = re.compile(r"[a-z0-9_-]+\Z").match
_SEPARATORS = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789_-" else 32 for code in range(256)
)
_NO_LETTERS = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))
_Span = tuple[int, int]


def secret_mark(kind: str) -> str:
    """Return what stands where a secret of this kind stood."""
    return f"⟨secret: {kind}⟩"


class TextScrubber:
    """A text, and what is known of it while secrets are taken from it."""

    __slots__ = ("_folded", "_places", "_pool", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        """The text, with marks where secrets stood."""
        self._folded = text.lower()
        self._pool = _HintIndex(self._folded) if len(text) > _LONG_TEXT else None
        self._places: dict[tuple[tuple[str, ...], tuple[int, ...]], list[int] | None] = {}

    def hinted(self, blocks: tuple[tuple[SecretRule, ...], ...]) -> list[list[SecretRule]]:
        """Return of every block the patterns of which a hint is there, and no block without any."""
        # Loops and not any(): the generator costs more than all of the looking, on a hundred short texts.
        folded, pool = self._folded, self._pool
        hinted_blocks: list[list[SecretRule]] = []
        for block in blocks:
            mine: list[SecretRule] = []
            for pattern in block:
                for hint in pattern.hints:
                    if hint in folded if pool is None else pool.has(hint):
                        mine.append(pattern)
                        break
            if mine:
                hinted_blocks.append(mine)
        return hinted_blocks

    def take(self, block: list[SecretRule]) -> list[str]:
        """Put marks where the patterns of a block find secrets, all at once if they are apart.

        Returns their kinds, in the order of the block.
        """
        spans = [(pattern, span) for pattern in block for span in self._spans(pattern)]
        if not spans:
            return []
        if len(block) > 1 and not (spans := _separate_spans(spans)):
            return [kind for pattern in block for kind in self.take([pattern])]
        self._put([(span, secret_mark(pattern.kind)) for pattern, span in spans])
        kinds = {pattern.kind for pattern, _ in spans}
        return [pattern.kind for pattern in block if pattern.kind in kinds]

    def _spans(self, pattern: SecretRule) -> list[_Span]:
        """Return where a pattern finds a secret; where its check says no, look again behind the first letter.

        A long value that was no secret is passed over as a whole, or it would be read again for every
        keyword in it. Where places in lower case are those of the text, the expression is tried only where
        matches can begin; looking for those costs a tenth.
        """
        spans: list[_Span] = []
        position = 0
        places = self._starts(pattern) if pattern.anchors and len(self._folded) == len(self.text) else None
        if places is not None:
            match = pattern.regex().match
            for place in places:
                if place >= position and (candidate := match(self.text, place)):
                    position = _judge_match(candidate, pattern, spans)
        else:
            search = pattern.regex().search
            while candidate := search(self.text, position):
                position = _judge_match(candidate, pattern, spans)
        return spans

    def _starts(self, pattern: SecretRule) -> list[int] | None:
        key = (pattern.anchors, pattern.leads)
        if key not in self._places:
            self._places[key] = self._found(pattern)
        return self._places[key]

    def _found(self, pattern: SecretRule) -> list[int] | None:
        folded, pool = self._folded, self._pool
        most = max(_LONG_TEXT, len(folded) // _MOST_PLACES_SHARE)
        places: list[int] = []
        for anchor in pattern.anchors:
            if pool is not None and not pool.has(anchor):
                continue
            position = folded.find(anchor)
            while position >= 0:
                places.append(position)
                position = folded.find(anchor, position + 1)
                if len(places) > most:
                    return None
        return sorted(position - lead for position in places for lead in pattern.leads if position >= lead)

    def _put(self, marks: list[tuple[_Span, str]]) -> None:
        is_in_step = len(self._folded) == len(self.text)
        self.text = _with_marks(self.text, marks)
        # Folding anew costs more than all of the looking, on a text of which every kind takes a piece.
        self._folded = _with_marks(self._folded, marks) if is_in_step else self.text.lower()
        self._places = {}


def _judge_match(match: re.Match[str], pattern: SecretRule, spans: list[_Span]) -> int:
    start, end = match.span(match.lastgroup or 0)
    is_folder = pattern.kind == "password" and false_positives.is_working_folder(match)
    if not is_folder and (pattern.is_secret is None or pattern.is_secret(match)):
        spans.append((start, end))
    elif match.lastgroup and end - start <= _LONGEST_REREAD:
        return match.start() + 1
    return end


def _separate_spans(spans: list[tuple[SecretRule, _Span]]) -> list[tuple[SecretRule, _Span]]:
    spans = sorted(spans, key=lambda item: (item[1][0], -item[1][1]))
    apart: list[tuple[SecretRule, _Span]] = []
    last = 0
    for item in spans:
        start, end = item[1]
        if start >= last:
            apart.append(item)
            last = end
        elif end > last:
            return []
    return apart


def _with_marks(text: str, marks: list[tuple[_Span, str]]) -> str:
    pieces: list[str] = []
    position = 0
    for (start, end), replacement in marks:
        pieces += (text[position:start], replacement)
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


class _HintIndex:
    """What a long text is made of, each piece once: much less to look for two hundred hints in.

    A text that is scrubbed meanwhile only loses pieces, so this stays true of it.
    """

    __slots__ = ("_folded", "_known", "_letters", "_pieces", "_signs", "_words")

    def __init__(self, folded: str) -> None:
        self._folded = folded
        self._pieces = " ".join(dict.fromkeys(folded.split()))
        self._signs = {*self._pieces, " "}
        words = self._pieces.encode("utf-8", "surrogatepass").translate(_SEPARATORS)
        self._words = _unique_words(words)
        # Less still, where most of the words are keys.
        self._letters = _unique_words(self._words.encode().translate(_NO_LETTERS))
        self._known: dict[str, bool] = {}

    def has(self, part: str) -> bool:
        is_part = self._known.get(part)
        if is_part is None:
            is_part = self._known[part] = self._signs.issuperset(part) and self._holds(part)
        return is_part

    def _holds(self, part: str) -> bool:
        if _longest_letters(part) not in self._letters:
            return False
        if _is_hint_word(part):
            return part in self._words
        return part in (self._folded if " " in part else self._pieces)


def _unique_words(words: bytes) -> str:
    return b" ".join(dict.fromkeys(words.split())).decode("ascii")


@cache
def _longest_letters(hint: str) -> str:
    return max(re.findall("[a-z]*", hint), key=len)


MANIFEST_KIND: Final = "manifest-secret"
_MANIFEST_MARK: Final = f"⟨secret: {MANIFEST_KIND}⟩"
_SECRET_MANIFEST: Final = r"(?m)^[+-]?[ \t]*(?:- )?kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?$"
_EMPTY_VALUE: Final = rf"[|>][+-]?|{false_positives.PLACEHOLDER_PATTERN}"
_MOST_MEMBER_CHARACTERS: Final = 20_000
"""Characters of the members of one JSON object that are looked through."""


@cache
def _yaml_line() -> re.Pattern[str]:
    return re.compile(r"(?P<lead>[+-]?[ \t]*(?:- )?)(?P<name>[\w./-]{1,253}):[ \t]*(?P<value>.*)\Z")


@cache
def _json_data_object() -> re.Pattern[str]:
    return re.compile(
        rf'"(?:data|stringData)"[ \t]*:[ \t]*\{{(?P<members>[^{{}}]{{0,{_MOST_MEMBER_CHARACTERS}}})\}}'
    )


@cache
def _json_value() -> re.Pattern[str]:
    return re.compile(r'("[^"\n]{1,253}"\s{0,20}:\s{0,20})"(?:[^"\\⟨⟩]|\\.)+"')


def replace_manifest_values(text: str) -> str:
    """Return a text with marks in the place of the values of manifests that hold secrets."""
    if "Secret" not in text or "ata" not in text:
        return text
    if re.search(r'"kind"[ \t]*:[ \t]*"Secret"', text):
        text = _json_data_object().sub(_replace_json_members, text)
    if false_positives.compiled_pattern(_SECRET_MANIFEST).search(text):
        text = "\n---".join(map(_replace_in_document, text.split("\n---")))
    return text


def _replace_json_members(match: re.Match[str]) -> str:
    members = _json_value().sub(rf'\1"{_MANIFEST_MARK}"', match["members"])
    return match.group().replace(match["members"], members) if match["members"] else match.group()


def _replace_in_document(text: str) -> str:
    if not false_positives.compiled_pattern(_SECRET_MANIFEST).search(text):
        return text
    out: list[str] = []
    inside = -1
    """Columns before the `data:` whose members are being read; -1 outside of any."""
    for line in text.split("\n"):
        match = _yaml_line().match(line)
        column = len(line) - len(line.lstrip(" \t+-"))
        if inside >= 0 and line.strip() and column <= inside:
            inside = -1
        if inside >= 0:
            out.append(_replace_member(line, match))
            continue
        if match and match["name"] in ("data", "stringData") and not match["value"].strip():
            inside = len(match["lead"])
        out.append(line)
    return "\n".join(out)


def _replace_member(line: str, match: re.Match[str] | None) -> str:
    if not line.strip():
        return line
    if match is None:
        start = len(line) - len(line.lstrip())
        return line if _MANIFEST_MARK in line else f"{line[:start]}{_MANIFEST_MARK}"
    value = match["value"].strip()
    if (
        not value
        or _MANIFEST_MARK in value
        or false_positives.compiled_pattern(_EMPTY_VALUE).fullmatch(value.strip("\"'"))
    ):
        return line
    return line[: match.start("value")] + _MANIFEST_MARK


KEY_TAIL_KIND: Final = "pem"
_KEY_TAIL_MARK: Final = f"⟨secret: {KEY_TAIL_KIND}⟩"
_KEY_END: Final = r"-{4,5}END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_FEWEST_KEY_CHARACTERS: Final = 4
"""Different signs of a body; documents write it as a row of one."""


@cache
def _key_end_pattern() -> re.Pattern[str]:
    return re.compile(_KEY_END)


@cache
def _reversed_key_body() -> re.Pattern[str]:
    """Lines of base64 read backwards, the last of them of any length; a letter of an escape goes too."""
    gap = r"""(?>(?:[\s"',\\|>]|[nrt](?=\\)|[+-](?=\s))*)"""
    return re.compile(rf"{gap}[A-Za-z0-9+/=]{{1,200}}+(?>(?:{gap}[A-Za-z0-9+/=]{{16,}}+)*)")


def replace_key_tails(text: str) -> str:
    """Return a text with marks in the place of tails of keys; a whole key is left to the table of secrets."""
    if "END" not in text or "PRIVATE KEY" not in text:
        return text
    pieces: list[str] = []
    position = 0
    for end in _key_end_pattern().finditer(text):
        before = text[position : end.start()]
        pieces.append(
            text[position : end.end()] if "-----BEGIN" in before else _without_key_body(before, end[0])
        )
        position = end.end()
    return "".join((*pieces, text[position:])) if pieces else text


def _without_key_body(before: str, end: str) -> str:
    match = _reversed_key_body().match(before[::-1])
    body = match[0][::-1] if match else ""
    if len(set(body) & _KEY_CHARACTERS) < _FEWEST_KEY_CHARACTERS or not re.search("[A-Za-z0-9+/]{16}", body):
        return before + end
    rest = before[: len(before) - len(body)]
    return f"{rest}{_KEY_TAIL_MARK}"


_KEY_CHARACTERS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
REGISTERED_KIND: Final = "provider-key"
REGISTERED_MARK: Final = f"⟨secret: {REGISTERED_KIND}⟩"
SHORTEST_REGISTERED: Final = 8
"""Characters. What is shorter ("none", "ollama") is a placeholder, and would be found in ordinary words."""
_registered_forms: list[str] = []
"""Longest first, so that a key that is the beginning of another leaves nothing of it."""


def register_secret(secret: str) -> None:
    """Have a secret replaced from now on wherever texts are scrubbed, also escaped in JSON or an address."""
    if len(secret) < SHORTEST_REGISTERED or secret in REGISTERED_MARK:
        return
    escaped = json.dumps(secret)[1:-1]
    for form in (secret, escaped, escaped.replace("/", "\\/"), quote(secret, safe=""), quote(secret)):
        if form not in _registered_forms:
            _registered_forms.append(form)
    _registered_forms.sort(key=len, reverse=True)


def replace_registered_secrets(text: str) -> str:
    for form in _registered_forms:
        if form in text:
            text = text.replace(form, REGISTERED_MARK)
    return text
