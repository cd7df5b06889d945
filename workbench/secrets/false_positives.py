"""Checks with the last word on a match: templates, placeholders, names, types and sentences are no secrets.

Each check runs in time linear in the match and looks at most a few hundred characters around it. The checks
of `password = value` also read the lines around it.
"""

import base64
import binascii
import re
from functools import cache
from typing import Final

PLACEHOLDER_PATTERN = (
    r"\$\{?\w*\}?|\$\{[^{}]*\}|\$\(.*|!\w+|%\w*%?|\{.*|<.*|\*+|[xX]{2,}|\.+|…+|[\W_]+"
    r"|(?i:none|null|nil|undefined|true|false|(?:string|id|int)!?|str|text|object|bytes|required|optional|redacted"
    r"|\S*your[_-]\S*|\S*[_-]here|change[_-]?me\d*|placeholder|dummy\S{0,9}|insert[_-]\S*|replace[_-]\S*"
    r"|(?:use-credentials|include|omit|same-origin|yes|no|on|off|n/a)|\S{0,40}%(?:[sd]|\()\S*"
    r"|u?int\d*|float\d*|bytes\d+|pass(?:word|wd|phrase|code)?|pwd|secret|token|(?:api)?[_-]?key|credentials?)"
)


@cache
def compiled_pattern(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)


def secret_text(match: re.Match[str]) -> str:
    return match[match.lastgroup] if match.lastgroup else match.group()


def is_literal(match: re.Match[str]) -> bool:
    """Not a template, not a star row, no word for a password: something that stands for itself."""
    text = secret_text(match)
    return not _is(PLACEHOLDER_PATTERN, text) and not is_password_label(text)


_PASSWORD_LABELS = tuple(
    """
    passwor passord contrase contrasi senha palavra clave haslo hasło heslo lösen losen salasan adgangs wachtw
    parol парол 密码 密碼 パスワ 비밀 şifre sifre jelsz geheim secret segret jeton kennwort lozink geslo κωδικ
    סיסמ slapta parool
    """.split()  # noqa: SIM905 - forty words, one by one, are harder to read and to keep
)


def is_password_label(text: str) -> bool:
    """What a field for a password is called in the languages that programs are translated into."""
    word = text.rstrip(":*")
    return word.isalpha() and word.casefold().startswith(_PASSWORD_LABELS)


def is_key_body(match: re.Match[str]) -> bool:
    """Not a row of one sign, nor words, behind the beginning that tells a key."""
    body = secret_text(match)[3:]
    return len(set(body.lower()) - set("x*.0_-")) > 1 and "your" not in body.lower()


def _has(pattern: str, text: str) -> bool:
    return compiled_pattern(pattern).search(text) is not None


def _is(pattern: str, text: str) -> bool:
    return compiled_pattern(pattern).fullmatch(text) is not None


def _has_digit_and_letter(text: str) -> bool:
    return _has("[0-9]", text) and _has("[A-Za-z]", text)


def is_phrase_with_signs(match: re.Match[str]) -> bool:
    """A quoted text with blanks is a sentence unless digits and signs stand in it."""
    text = secret_text(match)
    return " " in text and _has("[0-9]", text) and _has("[@#$%^&*=+]", text)


def is_login(match: re.Match[str]) -> bool:
    """A literal, and no number: `-u 1000:1000` names a user and a group."""
    return is_literal(match) and not secret_text(match).isdigit()


def has_digit_or_inner_capital(match: re.Match[str]) -> bool:
    """Digits or capitals inside, as no word of a sentence has."""
    text = secret_text(match)
    return len(text) >= 8 and _has(r"[0-9=]|[a-z][A-Z]", text)


def has_mixed_characters(match: re.Match[str]) -> bool:
    """Small letters, capitals and digits inside, in no form that names have."""
    text = secret_text(match)
    return has_all_character_kinds(text) and not _is(r".*[(){}\[\]<>:/=].*|[A-Z][a-z]+[0-9.]*", text)


def has_dense_run(match: re.Match[str]) -> bool:
    """A long run of letters and digits, as no name made of words has."""
    runs = compiled_pattern(r"[A-Za-z0-9]{16,}").findall(secret_text(match))
    return any(map(_has_digit_and_letter, runs))


def name_before_secret(match: re.Match[str]) -> str:
    """Return what stands before the value in a match."""
    return match.string[match.start() : match.start(match.lastgroup or 0)]


def is_plain_value(text: str) -> bool:
    """No type, no variable and no word of an interface: what a password of one word may be."""
    return (
        _is(r"[a-z0-9].*", text) and text.rstrip(".!?") not in _INTERFACE_WORDS and not _is_dotted_name(text)
    )


def _is_dotted_name(text: str) -> bool:
    return _is(rf"[a-z_]\w*(?:\.\w+)+|{_PATH_PATTERN}|\w+=\S*", text)


def is_assigned_token(match: re.Match[str]) -> bool:
    """Tokens and keys are named as often as they are given: a quoted one has to look like one, too."""
    if match.lastgroup == "bare":
        return is_unquoted_secret(match, 8)
    text = secret_text(match)
    return len(text) >= 8 and is_quote_closed(match) and not looks_like_name(text) and is_literal(match)


def is_quote_closed(match: re.Match[str]) -> bool:
    """The quote ends right behind the value; a value of several words is a sentence."""
    return match.string[match.end() : match.end() + 1] in ("\\", '"' if match.lastgroup == "double" else "'")


SHORTEST_PASSWORD = 6
"""Characters of the shortest password that is taken without quotes; for keys it is 8."""


def is_unquoted_secret(match: re.Match[str], shortest: int) -> bool:
    """Without quotes: in an environment anything but a name, elsewhere what looks like a secret."""
    text = secret_text(match)
    if match.string[match.end() : match.end() + 1] in ("(", "[", "{", "⟨"):
        return False
    if is_environment_assignment(match):
        names = rf"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|{_PATH_PATTERN}|\d{{1,5}}"
        least = 2 if shortest <= SHORTEST_PASSWORD else 4
        return len(text) >= least and not _is(names, text) and is_literal(match)
    return len(text) >= shortest and not looks_like_name(text) and is_literal(match)


def is_environment_assignment(match: re.Match[str]) -> bool:
    """`NAME=value` as in an environment file: what stands there is a value, whatever it looks like."""
    key = name_before_secret(match).rstrip("\"'")
    return key.endswith("=") and key.isupper()


def follows_program(match: re.Match[str], *programs: str) -> bool:
    """One of the programs stands before it in the same command."""
    before = compiled_pattern(r"[\n|;&]").split(match.string[max(0, match.start() - 200) : match.start()])[-1]
    return any(program in f" {before.lower()}" for program in programs)


def is_store_password(match: re.Match[str]) -> bool:
    """Behind `vault login`, or `-a` of `redis-cli`."""
    return has_digit_or_inner_capital(match) and (match[0][0] == "v" or follows_program(match, "redis-cli"))


def is_database_password(match: re.Match[str]) -> bool:
    return follows_program(match, "mysql", "mariadb")


def is_login_password(match: re.Match[str]) -> bool:
    return is_login(match) and follows_program(match, " login ")


def is_flag_value(match: re.Match[str]) -> bool:
    """What stands before it ends the name of a long option."""
    before = match.string[max(0, match.start() - 24) : match.start()]
    is_password = match[0][0] == "p"
    if not compiled_pattern(
        rf"(?<![\w-])-{'{1,2}' if is_password else '-'}(?:(?!-)[a-z-]{{0,20}})?\Z"
    ).search(before):
        return False
    if _is(r"[a-z]+=[\w./-]+", secret_text(match)):
        return False
    if not is_password:
        return is_assigned_token(match)
    return (
        is_unquoted_secret(match, SHORTEST_PASSWORD)
        if match.lastgroup == "bare"
        else is_announced_password(match)
    )


_PATH_PATTERN = r"(?:~|\.\.?)?(?:/[\w.-]{1,24})+"


def looks_like_name(text: str) -> bool:
    """Words, dotted names, paths, numbers and versions: things one writes instead of a secret."""
    if not _has("[0-9]", text) and not _has("[a-z][A-Z].*[a-z][A-Z]|[^\\w.:/-]", text):
        return True
    names = (
        r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|-?[\d.,:-]+|-?0x[0-9a-fA-F]{1,16}|/\^.*|_?(?:[A-Z]{1,8}[a-z]{2,}[0-9]?){2,}[A-Z]?"
        r"|[A-Z][A-Za-z]*\?|[A-Za-z_$][\w$]*(?:\.[\w$]+)*\?[\w$.]*(?::[\w$.]*)?"
        r"|(?:[a-z]+\d?|\d{1,2})(?:_(?:[a-z]+\d?|\d{1,2}))+|[a-z]+(?:[A-Z][a-z]+)+\d?"
    )
    return _is(rf"{names}|{_PATH_PATTERN}", text)


# --- what a place tells of a text ------------------------------------------------------------------------

_INTERFACE_WORDS = frozenset(
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

    `fewest`: words. Three may well be a sentence: none of them may be one of an interface, or inflected.
    """
    words = compiled_pattern("[ -]").split(text)
    return (
        fewest <= len(words) <= 12
        and all(
            compiled_pattern("[a-z]{3,12}").fullmatch(word) and word not in _INTERFACE_WORDS for word in words
        )
        and (len(words) > 3 or not any(compiled_pattern(_SENTENCE_WORDS).fullmatch(word) for word in words))
    )


_SENTENCE_WORDS = (
    r"(?:pass|kenn|contras|wacht|senha|clave|parol|hasl|heslo|jelsz|losen|salas|sifre)\w*|\w+(?:ed|ing|tion|ly|ment|able|ible)"
    r"|word|words|phrase|hash|manager|policy|strength|minimum|maximum|server|database|admin|root|prompt|fails?|never|always"
    r"|only|also|but|its?|they|here|there|why|who|how|all|any|some|more|less|each|every|out|use|used|user|data|file|line"
    r"|check|checks|test|tests|rule|rules|form|page|view|screen|icon|button|box|link|error|success|status|state|eight|six|ten"
)


def is_quoted_secret(match: re.Match[str]) -> bool:
    """Between quotes, with blanks or escapes in it."""
    text = secret_text(match)
    if " " in text or "\t" in text:
        return is_phrase_with_signs(match) or is_passphrase(text, 3) or _is_variable_with_blanks(match, text)
    return "\\" in text and is_literal(match) and _has("[0-9]", text)


def _is_variable_with_blanks(match: re.Match[str], text: str) -> bool:
    """A variable's value of some words with a digit, and none of them of an interface."""
    is_value = compiled_pattern("[a-z]").search(text) and _is(r".*(?:[0-9][a-z]|[a-z][0-9]).*", text)
    return (
        is_environment_assignment(match)
        and bool(is_value)
        and _INTERFACE_WORDS.isdisjoint(text.lower().split())
        and is_literal(match)
    )


def is_key_block(match: re.Match[str]) -> bool:
    """A block of a key with a body, not `...` or `XXXX` as documents have."""
    text = match.group()
    body = text[text.find("KEY") :].split("-----END")[0].replace("\\n", "").replace("\\[rs]n", "")
    return len(set(body[3:].removeprefix(" BLOCK")) & _KEY_BODY_CHARACTERS) >= 4


_KEY_BODY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWYZabcdefghijklmnopqrstuvwyz0123456789")


def is_signature(match: re.Match[str]) -> bool:
    """Long, with digits and letters: what a request was signed with."""
    return _has_digit_and_letter(secret_text(match))


def is_random_run(match: re.Match[str]) -> bool:
    """A long run, or 32 signs of all three sorts without a joint that names have."""
    text = secret_text(match)
    return has_dense_run(match) or (
        len(text) >= 32 and not _has("[-_.]", text) and has_all_character_kinds(text)
    )


def has_all_character_kinds(text: str) -> bool:
    return all(_has(kind, text) for kind in ("[0-9]", "[a-z]", "[A-Z]"))


def is_login_pair(match: re.Match[str]) -> bool:
    """`user:password` in base64."""
    try:
        text = base64.b64decode(secret_text(match), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    name, colon, password = text.partition(":")
    return bool(name and colon and password) and text.isprintable()


def is_base64_text(match: re.Match[str]) -> bool:
    """A printable text in base64, as members of settings hold a password."""
    try:
        return base64.b64decode(secret_text(match), validate=True).decode().strip().isprintable()
    except (binascii.Error, UnicodeDecodeError):
        return False


def is_typed_at_prompt(match: re.Match[str]) -> bool:
    """What was typed behind a prompt: a literal, no word of a sentence or an interface."""
    text = secret_text(match)
    return (
        is_literal(match)
        and text.lower().rstrip(".!?:") not in _INTERFACE_WORDS
        and not compiled_pattern("[(<{\\[].*").fullmatch(text)
    )


def is_client_login(match: re.Match[str]) -> bool:
    """`-u name:password` of a client; of a container it would be a user and its group."""
    return is_login(match) and not follows_program(
        match, "docker", "podman", "nerdctl", "kubectl", "chown", "install "
    )


def is_set_variable(match: re.Match[str]) -> bool:
    """A variable that is set by a command; for a password any word will do, if it ends the line."""
    ends = match.string[match.end() : match.end() + 1] in ("", "\n", "\r")
    name = compiled_pattern(r"[A-Z0-9_]*PASS(?:W(?:OR)?D)?").fullmatch(name_before_secret(match).split()[-1])
    return is_announced_value(match) or bool(name and ends and is_literal(match))


def is_announced_passphrase(match: re.Match[str]) -> bool:
    """Small words up to the end of the line; three are enough where a passphrase was announced."""
    return is_passphrase(secret_text(match), 3 if "phrase" in name_before_secret(match).lower() else 4)


def is_store_rule(match: re.Match[str]) -> bool:
    """A password of `ACL SETUSER`, or one that more rules follow: `user` alone is a common word."""
    return is_literal(match) and (match[0][0] in "sS" or match.string[match.end() : match.end() + 1] == " ")


def is_announced_password(match: re.Match[str]) -> bool:
    return is_announced_value(match) and _has_digit_and_letter(secret_text(match))


def is_store_login(match: re.Match[str]) -> bool:
    """`AUTH` where a command can begin, or behind `redis-cli`; other protocols name methods behind it."""
    before = match.string[max(0, match.start() - 2) : match.start()]
    is_command = (
        not before.strip("\r\n")
        or before.endswith(("\n", "> ", "\\n", '"', "'"))
        or follows_program(match, "redis-cli")
    )
    return (
        is_command
        and is_announced_password(match)
        and not _is(r"[A-Z0-9]+(?:-[A-Z0-9]+)*", secret_text(match))
    )


def is_snmp_community(match: re.Match[str]) -> bool:
    """A word that opens a device; `public` and `private` are what every one of them was delivered with."""
    return is_literal(match) and secret_text(match) not in (
        "public",
        "private",
        "string",
        "strings",
        "is",
        "name",
    )


def is_seed_phrase(match: re.Match[str]) -> bool:
    """Twelve and more words of which none makes a sentence."""
    words = secret_text(match).split(" ")
    return len(words) % 3 == 0 and not any(word in _INTERFACE_WORDS for word in words)


def is_call_value(match: re.Match[str]) -> bool:
    """The second value of a call whose first one names a password, or a key."""
    key = match.string[match.start() : match.start(match.lastgroup or 0)].upper()
    if "PASS" in key or "PWD" in key:
        return is_quote_closed(match) and is_literal(match)
    text = secret_text(match)
    if " " in text:
        return is_quote_closed(match) and is_phrase_with_signs(match)
    return is_assigned_token(match)


def is_announced_value(match: re.Match[str]) -> bool:
    """A value that a name or an option announces, with nothing between them but blanks."""
    return is_literal(match) and not looks_like_name(secret_text(match))


def is_macro_value(match: re.Match[str]) -> bool:
    """The text of a macro: names of properties are written so, too, but hold no digit."""
    return is_literal(match) and _has("[0-9]", secret_text(match))


_FOLDER_NAME_BEFORE: Final = r"(?:\A|\n)[ \t]{0,8}(?:(?:export|declare -x|env)[ \t])?(?:OLD)?PWD=[\"']?\Z"
_FOLDER_VALUE: Final = (
    r"(?:/[A-Za-z_.-]{1,64}|/[\w.@~-]{1,255}(?:/[\w.@~-]{1,255}){1,64})/?(?=[\"']?[ \t]{0,8}\r?(?:\n|\Z))"
)
_LONGEST_FOLDER_HEAD: Final = 40


def is_working_folder(match: re.Match[str]) -> bool:
    """Return whether a line of an environment says where a shell is: `PWD=/home/ana/shop`.

    Only exactly `PWD` and `OLDPWD`, as the first word of a line, with an absolute path as its last.
    """
    start = match.start(match.lastgroup or 0)
    before = match.string[max(0, start - _LONGEST_FOLDER_HEAD) : start]
    is_named = _has(_FOLDER_NAME_BEFORE, before if start > _LONGEST_FOLDER_HEAD else f"\n{before}")
    return is_named and compiled_pattern(_FOLDER_VALUE).match(match.string, start) is not None


_CONTEXT_CHARACTERS: Final = 200
"""Characters of the lines around a match that are looked at."""


def is_assigned_password(match: re.Match[str]) -> bool:
    """What stands right of a password is taken unless it is a name, a template or a type."""
    if (
        is_environment_assignment(match)
        and secret_text(match) == "secret"
        and "PASS" in name_before_secret(match)
    ):
        return True
    if match.lastgroup != "bare":
        return is_quote_closed(match) and is_literal(match)
    if _is_secret_reference(match):
        return False
    if is_unquoted_secret(match, SHORTEST_PASSWORD) or _is_plain_word_password(match):
        return True
    return is_announced_passphrase(match)


def is_assigned_to_pass(match: re.Match[str]) -> bool:
    """`pass` is a word of tests, too: `PASS: test_x1` names one, `DB_PASS: x1y2z3` is none."""
    before = match.string[max(0, match.start() - 1) : match.start()]
    if before in ("_", "-", ".") or is_environment_assignment(match):
        return is_assigned_password(match)
    return not name_before_secret(match).startswith("PASS") and is_assigned_token(match)


def _is_secret_reference(match: re.Match[str]) -> bool:
    """A secret is named, not given: `existingSecret: db-auth`, the end of an ARN, a shell's complaint."""
    before = match.string[max(0, match.start() - 14) : match.start()]
    return (
        before.endswith("existing")
        or _has(r":\d{12}:\Z", before)
        or (secret_text(match)[0] == "?" and match.string[match.end() : match.end() + 1] == "}")
    )


def _is_plain_word_password(match: re.Match[str]) -> bool:
    """A plain word, which is a value where lines around it say that this is no code."""
    if not is_literal(match):
        return False
    above, line, below = _lines_around(match)
    if _is_whole_line(match, line):
        return True
    if _is_below_environment(match, above, line):
        return True
    if not is_plain_value(secret_text(match)):
        return False
    return _is_variable_line(line) or _is_beside_login(match, above, line, below) or _is_named_value(match)


def _lines_around(match: re.Match[str]) -> tuple[str, str, str]:
    text, start, end = match.string, match.start(), match.end()
    begin = text.rfind("\n", max(0, start - _CONTEXT_CHARACTERS), start) + 1 or max(
        0, start - _CONTEXT_CHARACTERS
    )
    close = text.find("\n", end, end + _CONTEXT_CHARACTERS)
    close = close if close >= 0 else min(len(text), end + _CONTEXT_CHARACTERS)
    above = text[max(0, begin - 2 * _CONTEXT_CHARACTERS) : max(0, begin - 1)]
    return above, text[begin:close].rstrip("\r"), text[close + 1 : close + _CONTEXT_CHARACTERS]


def _is_whole_line(match: re.Match[str], line: str) -> bool:
    """`password=letmein` as a whole line, as in a file of properties: no program is written like that."""
    name, _, value = line.partition("=")
    is_name = compiled_pattern(
        r"(?:[+-]|[\w./-]{0,80}:?\d{1,6}[:-][ \t]?)?(?:export )?[\w.-]{0,80}"
    ).fullmatch(name)
    is_name_of_code = compiled_pattern(r"[A-Za-z_]\w*(?:\.\w+)+|[a-z]+(?:_[a-z]+)+").fullmatch(value)
    return bool(is_name) and len(value) > 3 and value == secret_text(match) and not is_name_of_code


_VARIABLE_LINE: Final = r"[+-]?\s*([A-Z][A-Z0-9_]*): \S+"
_MESSAGE_WORDS: Final = (
    "INVALID|WRONG|MISSING|BAD|WEAK|INCORRECT|EMPTY|RESET|FORGOT|CHANGE|UPDATE"
    "|CONFIRM|ENTER|SHOW|HIDE|MIN|MAX"
)


def _is_below_environment(match: re.Match[str], above: str, line: str) -> bool:
    whole = compiled_pattern(_VARIABLE_LINE).fullmatch(line)
    return bool(whole) and line.endswith(secret_text(match)) and "environment:" in above


def _is_variable_line(line: str) -> bool:
    """`DB_PASSWORD: word` as a whole line; a name of one word, or of a message, says too little."""
    whole = compiled_pattern(_VARIABLE_LINE).fullmatch(line)
    return bool(whole and "_" in whole[1] and not _is(rf"(?:.*_)?(?:{_MESSAGE_WORDS})_.*", whole[1]))


_SETTING_LINE: Final = r"[+-]?[ \t]*[\w.-]{1,40}[ \t]{0,4}([:=])[ \t]{0,4}[^\s,;({]+"
_LOGIN_LINE: Final = (
    r"[+-]?[ \t]*[\w.-]{0,20}(?:user|user[_-]?name|login|email|host)"
    r"[ \t]{0,4}([:=])[ \t]{0,4}([^\s,;({]{1,80})[ \t]*"
)


def _is_beside_login(match: re.Match[str], above: str, line: str, below: str) -> bool:
    """`password: word` as a whole line beside the name that it belongs to: settings, and not code."""
    whole = compiled_pattern(_SETTING_LINE).fullmatch(line)
    if not whole or not line.endswith(secret_text(match)):
        return False
    if whole[1] == "=" and not _has(r"(?m)^\[[\w .:\"-]{1,60}\]\r?$", above):
        return False
    beside = (above.rsplit("\n", 1)[-1], below.split("\n", 1)[0])
    logins = [
        login
        for login in map(compiled_pattern(_LOGIN_LINE).fullmatch, beside)
        if login and login[1] == whole[1]
    ]
    return any(not _is_type_or_label(login[2]) for login in logins)


def _is_type_or_label(value: str) -> bool:
    return _is(rf"{PLACEHOLDER_PATTERN}|[A-Z].*", value)


def _is_named_value(match: re.Match[str]) -> bool:
    key = r"(?i:name|key)[^\w]{1,6}[A-Z][A-Z0-9_]*_PASS(?:W(?:OR)?D)?[^\w]"
    return bool(compiled_pattern(key).match(name_before_secret(match)))
