"""Tells a secret from what only looks like one: templates, placeholders, names, types, sentences.

Owns the checks that have the last word on a match of `text.patterns`. None may take more than time linear in
the match, and none may look further around it than a few hundred characters.
"""

import base64
import binascii
import re
from functools import cache

PLACEHOLDER = (
    r"\$\{?\w*\}?|\$\{[^{}]*\}|\$\(.*|!\w+|%\w*%?|\{.*|<.*|\*+|[xX]{2,}|\.+|…+|[\W_]+"
    r"|(?i:none|null|nil|undefined|true|false|(?:string|id|int)!?|str|text|object|bytes|required|optional|redacted"
    r"|\S*your[_-]\S*|\S*[_-]here|change[_-]?me\d*|placeholder|dummy\S{0,9}|insert[_-]\S*|replace[_-]\S*"
    r"|(?:use-credentials|include|omit|same-origin|yes|no|on|off|n/a)|\S{0,40}%(?:[sd]|\()\S*"
    r"|u?int\d*|float\d*|bytes\d+|pass(?:word|wd|phrase|code)?|pwd|secret|token|(?:api)?[_-]?key|credentials?)"
)


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Compile an expression, once."""
    return re.compile(source, re.ASCII)


def secret(found: re.Match[str]) -> str:
    """Return what would be replaced."""
    return found[found.lastgroup] if found.lastgroup else found.group()


def is_literal(found: re.Match[str]) -> bool:
    """Not a template, not a star row, no word for a password: something that stands for itself."""
    text = secret(found)
    return not compiled(PLACEHOLDER).fullmatch(text) and not is_label(text)


_LABELS = tuple(
    """
    passwor passord contrase contrasi senha palavra clave haslo hasło heslo lösen losen salasan adgangs wachtw
    parol парол 密码 密碼 パスワ 비밀 şifre sifre jelsz geheim secret segret jeton kennwort lozink geslo κωδικ
    סיסמ slapta parool
    """.split()  # noqa: SIM905 - forty words, one by one, are harder to read and to keep
)


def is_label(text: str) -> bool:
    """What a field for a password is called in the languages that programs are translated into."""
    word = text.rstrip(":*")
    return word.isalpha() and word.casefold().startswith(_LABELS)


def is_key(found: re.Match[str]) -> bool:
    """Not a row of one sign, nor words, behind the beginning that tells a key."""
    body = secret(found)[3:]
    return len(set(body.lower()) - set("x*.0_-")) > 1 and "your" not in body.lower()


def has_signs(found: re.Match[str]) -> bool:
    """A quoted text with blanks is a sentence unless digits and signs stand in it."""
    text = secret(found)
    return " " in text and bool(compiled("[0-9]").search(text)) and bool(compiled("[@#$%^&*=+]").search(text))


def is_login(found: re.Match[str]) -> bool:
    """A literal, and no number: `-u 1000:1000` names a user and a group."""
    return is_literal(found) and not secret(found).isdigit()


def is_tangled(found: re.Match[str]) -> bool:
    """Digits or capitals inside, as no word of a sentence has."""
    text = secret(found)
    return len(text) >= 8 and bool(compiled(r"[0-9=]|[a-z][A-Z]").search(text))


def is_mixed(found: re.Match[str]) -> bool:
    """Small letters, capitals and digits inside, in no form that names have."""
    text = secret(found)
    return all(compiled(kind).search(text) for kind in ("[0-9]", "[a-z]", "[A-Z]")) and not compiled(
        r".*[(){}\[\]<>:/=].*|[A-Z][a-z]+[0-9.]*"
    ).fullmatch(text)


def is_dense(found: re.Match[str]) -> bool:
    """A long run of letters and digits, as no name made of words has."""
    runs = compiled(r"[A-Za-z0-9]{16,}").findall(secret(found))
    return any(compiled("[0-9]").search(run) and compiled("[A-Za-z]").search(run) for run in runs)


def key_of(found: re.Match[str]) -> str:
    """Return what stands before the value in a match."""
    return found.string[found.start() : found.start(found.lastgroup or 0)]


def is_plain_value(text: str) -> bool:
    """No type, no variable and no word of an interface: what a password of one word may be."""
    return (
        bool(compiled(r"[a-z0-9].*").fullmatch(text))
        and text.rstrip(".!?") not in _STOP
        and not _is_dotted(text)
    )


def _is_dotted(text: str) -> bool:
    return bool(compiled(rf"[a-z_]\w*(?:\.\w+)+|{_PATH}|\w+=\S*").fullmatch(text))


def is_assigned_token(found: re.Match[str]) -> bool:
    """Tokens and keys are named as often as they are given: a quoted one has to look like one, too."""
    if found.lastgroup == "bare":
        return is_bare_secret(found, 8)
    text = secret(found)
    return len(text) >= 8 and is_closed(found) and not is_name(text) and is_literal(found)


def is_closed(found: re.Match[str]) -> bool:
    """The quote ends right behind the value; a value of several words is a sentence."""
    return found.string[found.end() : found.end() + 1] in ("\\", '"' if found.lastgroup == "double" else "'")


SHORTEST = 6
"""Characters of the shortest password that is taken without quotes; for keys it is 8."""


def is_bare_secret(found: re.Match[str], shortest: int) -> bool:
    """Without quotes: in an environment anything but a name, elsewhere what looks like a secret."""
    text = secret(found)
    if found.string[found.end() : found.end() + 1] in ("(", "[", "{", "⟨"):
        return False
    if is_environment(found):
        names = rf"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|{_PATH}|\d{{1,5}}"
        least = 2 if shortest <= SHORTEST else 4
        return len(text) >= least and not compiled(names).fullmatch(text) and is_literal(found)
    return len(text) >= shortest and not is_name(text) and is_literal(found)


def is_environment(found: re.Match[str]) -> bool:
    """`NAME=value` as in an environment file: what stands there is a value, whatever it looks like."""
    key = key_of(found).rstrip("\"'")
    return key.endswith("=") and key.isupper()


def is_behind(found: re.Match[str], *programs: str) -> bool:
    """One of the programs stands before it in the same command."""
    before = compiled(r"[\n|;&]").split(found.string[max(0, found.start() - 200) : found.start()])[-1]
    return any(program in f" {before.lower()}" for program in programs)


def is_store_password(found: re.Match[str]) -> bool:
    """Behind `vault login`, or `-a` of `redis-cli`."""
    return is_tangled(found) and (found[0][0] == "v" or is_behind(found, "redis-cli"))


def is_database_password(found: re.Match[str]) -> bool:
    """Behind a client of a database that takes its password so."""
    return is_behind(found, "mysql", "mariadb")


def is_login_password(found: re.Match[str]) -> bool:
    """Behind a command that logs in."""
    return is_login(found) and is_behind(found, " login ")


def is_flag_value(found: re.Match[str]) -> bool:
    """What stands before it ends the name of a long option."""
    before = found.string[max(0, found.start() - 24) : found.start()]
    is_password = found[0][0] == "p"
    if not compiled(rf"(?<![\w-])-{'{1,2}' if is_password else '-'}(?:(?!-)[a-z-]{{0,20}})?\Z").search(
        before
    ):
        return False
    if compiled(r"[a-z]+=[\w./-]+").fullmatch(secret(found)):
        return False
    if not is_password:
        return is_assigned_token(found)
    return is_bare_secret(found, SHORTEST) if found.lastgroup == "bare" else is_stated_pass(found)


_PATH = r"(?:~|\.\.?)?(?:/[\w.-]{1,24})+"


def is_name(text: str) -> bool:
    """Words, dotted names, paths, numbers and versions: things one writes instead of a secret."""
    if not compiled("[0-9]").search(text) and not compiled("[a-z][A-Z].*[a-z][A-Z]|[^\\w.:/-]").search(text):
        return True
    names = (
        r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|-?[\d.,:-]+|-?0x[0-9a-fA-F]{1,16}|/\^.*|_?(?:[A-Z]{1,8}[a-z]{2,}[0-9]?){2,}[A-Z]?"
        r"|[A-Z][A-Za-z]*\?|[A-Za-z_$][\w$]*(?:\.[\w$]+)*\?[\w$.]*(?::[\w$.]*)?"
        r"|(?:[a-z]+\d?|\d{1,2})(?:_(?:[a-z]+\d?|\d{1,2}))+|[a-z]+(?:[A-Z][a-z]+)+\d?"
    )
    return bool(compiled(rf"{names}|{_PATH}").fullmatch(text))


# --- what a place tells of a text ------------------------------------------------------------------------

_STOP = frozenset(
    """
    the and your you for with not must enter this that has have are was were will been can cannot
    may should from too password passwords passphrase passcode secret token key keys login user name
    username account email new old current confirm confirmed repeat again wrong invalid incorrect
    missing required optional reset forgot forgotten change changed short long weak strong least
    most characters letters digits numbers value field text string type input click here please set
    show hide visible hidden one two into when where what does did than same different match matches
    """.split()  # noqa: SIM905 - a list of a hundred quoted words is harder to read and to keep
)


def is_passphrase(text: str, fewest: int = 4) -> bool:
    """Some small words that make no sentence about passwords: `correct horse battery staple`.

    Args:
        text: What stands right of the name.
        fewest: Words. Three may well be a sentence: none of them may be one of an interface, or inflected.
    """
    words = compiled("[ -]").split(text)
    return (
        fewest <= len(words) <= 12
        and all(compiled("[a-z]{3,12}").fullmatch(word) and word not in _STOP for word in words)
        and (len(words) > 3 or not any(compiled(_IN_SENTENCES).fullmatch(word) for word in words))
    )


_IN_SENTENCES = (
    r"(?:pass|kenn|contras|wacht|senha|clave|parol|hasl|heslo|jelsz|losen|salas|sifre)\w*|\w+(?:ed|ing|tion|ly|ment|able|ible)"
    r"|word|words|phrase|hash|manager|policy|strength|minimum|maximum|server|database|admin|root|prompt|fails?|never|always"
    r"|only|also|but|its?|they|here|there|why|who|how|all|any|some|more|less|each|every|out|use|used|user|data|file|line"
    r"|check|checks|test|tests|rule|rules|form|page|view|screen|icon|button|box|link|error|success|status|state|eight|six|ten"
)


def is_quoted_secret(found: re.Match[str]) -> bool:
    """Between quotes, with blanks or escapes in it."""
    text = secret(found)
    if " " in text or "\t" in text:
        return has_signs(found) or is_passphrase(text, 3) or _is_spaced(found, text)
    return "\\" in text and is_literal(found) and bool(compiled("[0-9]").search(text))


def _is_spaced(found: re.Match[str], text: str) -> bool:
    """A variable's value of some words with a digit, and none of them of an interface."""
    is_value = compiled("[a-z]").search(text) and compiled(r".*(?:[0-9][a-z]|[a-z][0-9]).*").fullmatch(text)
    return (
        is_environment(found)
        and bool(is_value)
        and _STOP.isdisjoint(text.lower().split())
        and is_literal(found)
    )


def is_key_block(found: re.Match[str]) -> bool:
    """A block of a key with a body, not `...` or `XXXX` as documents have."""
    text = found.group()
    body = text[text.find("KEY") :].split("-----END")[0].replace("\\n", "").replace("\\[rs]n", "")
    return len(set(body[3:].removeprefix(" BLOCK")) & _BODY) >= 4


_BODY = frozenset("ABCDEFGHIJKLMNOPQRSTUVWYZabcdefghijklmnopqrstuvwyz0123456789")


def is_signature(found: re.Match[str]) -> bool:
    """Long, with digits and letters: what a request was signed with."""
    text = secret(found)
    return bool(compiled("[0-9]").search(text)) and bool(compiled("[A-Za-z]").search(text))


def is_random(found: re.Match[str]) -> bool:
    """A long run, or 32 signs of all three sorts without a joint that names have."""
    text = secret(found)
    return is_dense(found) or (len(text) >= 32 and not compiled("[-_.]").search(text) and is_mixed_run(text))


def is_mixed_run(text: str) -> bool:
    """Small letters, capitals and digits."""
    return all(compiled(kind).search(text) for kind in ("[0-9]", "[a-z]", "[A-Z]"))


def is_login_pair(found: re.Match[str]) -> bool:
    """`user:password` in base64."""
    try:
        text = base64.b64decode(secret(found), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    name, colon, password = text.partition(":")
    return bool(name and colon and password) and text.isprintable()


def is_encoded(found: re.Match[str]) -> bool:
    """A printable text in base64, as members of settings hold a password."""
    try:
        return base64.b64decode(secret(found), validate=True).decode().strip().isprintable()
    except (binascii.Error, UnicodeDecodeError):
        return False


def is_echoed(found: re.Match[str]) -> bool:
    """What was typed behind a prompt: a literal, no word of a sentence or an interface."""
    text = secret(found)
    return (
        is_literal(found)
        and text.lower().rstrip(".!?:") not in _STOP
        and not compiled("[(<{\\[].*").fullmatch(text)
    )


def is_login_of_client(found: re.Match[str]) -> bool:
    """`-u name:password` of a client; of a container it would be a user and its group."""
    return is_login(found) and not is_behind(
        found, "docker", "podman", "nerdctl", "kubectl", "chown", "install "
    )


def is_setting(found: re.Match[str]) -> bool:
    """A variable that is set by a command; for a password any word will do, if it ends the line."""
    ends = found.string[found.end() : found.end() + 1] in ("", "\n", "\r")
    name = compiled(r"[A-Z0-9_]*PASS(?:W(?:OR)?D)?").fullmatch(key_of(found).split()[-1])
    return is_stated(found) or bool(name and ends and is_literal(found))


def is_spoken(found: re.Match[str]) -> bool:
    """Small words up to the end of the line; three are enough where a passphrase was announced."""
    return is_passphrase(secret(found), 3 if "phrase" in key_of(found).lower() else 4)


def is_store_rule(found: re.Match[str]) -> bool:
    """A password of `ACL SETUSER`, or one that more rules follow: `user` alone is a common word."""
    return is_literal(found) and (found[0][0] in "sS" or found.string[found.end() : found.end() + 1] == " ")


def is_stated_pass(found: re.Match[str]) -> bool:
    """Announced, with letters and digits in it."""
    text = secret(found)
    return (
        is_stated(found) and bool(compiled("[0-9]").search(text)) and bool(compiled("[A-Za-z]").search(text))
    )


def is_store_login(found: re.Match[str]) -> bool:
    """`AUTH` where a command can begin, or behind `redis-cli`; other protocols name methods behind it."""
    before = found.string[max(0, found.start() - 2) : found.start()]
    is_command = (
        not before.strip("\r\n")
        or before.endswith(("\n", "> ", "\\n", '"', "'"))
        or is_behind(found, "redis-cli")
    )
    return (
        is_command
        and is_stated_pass(found)
        and not compiled(r"[A-Z0-9]+(?:-[A-Z0-9]+)*").fullmatch(secret(found))
    )


def is_community(found: re.Match[str]) -> bool:
    """A word that opens a device; `public` and `private` are what every one of them was delivered with."""
    return is_literal(found) and secret(found) not in ("public", "private", "string", "strings", "is", "name")


def is_seed(found: re.Match[str]) -> bool:
    """Twelve and more words of which none makes a sentence."""
    words = secret(found).split(" ")
    return len(words) % 3 == 0 and not any(word in _STOP for word in words)


def is_call_value(found: re.Match[str]) -> bool:
    """The second value of a call whose first one names a password, or a key."""
    key = found.string[found.start() : found.start(found.lastgroup or 0)].upper()
    if "PASS" in key or "PWD" in key:
        return is_closed(found) and is_literal(found)
    text = secret(found)
    if " " in text:
        return is_closed(found) and has_signs(found)
    return is_assigned_token(found)


def is_stated(found: re.Match[str]) -> bool:
    """A value that a name or an option announces, with nothing between them but blanks."""
    return is_literal(found) and not is_name(secret(found))


def is_defined(found: re.Match[str]) -> bool:
    """The text of a macro: names of properties are written so, too, but hold no digit."""
    return is_literal(found) and bool(compiled("[0-9]").search(secret(found)))
