r"""What a secret looks like: one table of kinds and regular expressions, as data.

Owns the table and the checks that tell a secret from ordinary text. A pattern must never be able to
take more than linear time: it begins with a fixed text or a keyword, repetitions are possessive or
bounded, and nothing that can fail stands behind an unbounded one, unless the next try starts beyond it.

A group is made possessive by `(?>…)`, never by a `+` behind its quantifier: Python before 3.11.4 forgets
to try such a group with nothing in it. A `+` behind a class is sound everywhere.

It must also never match because of what another pattern put in place of a neighbour. That is why there
are hardly any looks to the left, `⟨` and `⟩` are in no class, and `jwt` and `sk-` stand after the one
pattern of fixed length.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from workbench.text.vendors import SERVICES

_WORD = "[A-Za-z0-9_-]"
_START = r"(?:(?<![A-Za-z0-9_-]{0})|(?<=\\[nrt]{0}))"
"""Not in the middle of a word; the n of an escaped line end is no word."""

_PEM_GAP = r"""(?>(?:[\s"',]|\\[nrt]|(?<=\n)[+\->|])*)"""
_PEM_BEGIN = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_END = r"-{4,5}END [A-Z0-9 ]{0,40}-----"
_PEM_HEADER = r"[A-Za-z][A-Za-z-]{0,30}: [^\n\\]{0,200}+"
_PEM = (
    rf"{_PEM_BEGIN}(?>(?:{_PEM_GAP}{_PEM_HEADER}){{0,8}})"
    rf"(?:(?>(?:{_PEM_GAP}[A-Za-z0-9+/=]{{16,}}+)+)(?>(?:{_PEM_GAP}[A-Za-z0-9+/=]{{1,15}}+)?)"
    rf"(?>(?:{_PEM_GAP}{_PEM_END})?)"
    rf"|[^⟨⟩]{{0,200}}?{_PEM_END})"
)

_SUFFIX = r"(?:[_-]?(?:access[_-]?key|key(?:[_-]?base)?|value|string|hash|base64|[0-9]{1,2}))?"
_ANNOTATION = r"(?>(?::[ \t]{0,4}[A-Za-z][A-Za-z0-9_.| \[\]]{0,40}(?==))?)"
_VALUE = (
    r"""(?:"(?P<double>[^"\s\\⟨⟩]{3,}+)|'(?P<single>[^'\s\\⟨⟩]{3,}+)"""
    r"""|(?P<bare>[^\s"'`,;&|<>(){}\[\]\\⟨⟩=][^\s"'`,;&|<>(){}\[\]\\⟨⟩]{3,}+))"""
)
_PLACEHOLDER = (
    r"\$\{?\w*\}?|\$\(.*|!\w+|%\w*%?|\{.*|<.*|\*+|[xX]+|\.+|…+|[\W_]+"
    r"|(?i:none|null|nil|undefined|true|false|string|str|text|object|bytes|required|optional|redacted"
    r"|\S*your[_-]\S*|\S*[_-]here|change[_-]?me\d*|placeholder|dummy\S{0,9}|insert[_-]\S*|replace[_-]\S*"
    r"|u?int\d*|float\d*|bytes\d+|pass(?:word|wd|phrase|code)?|pwd|secret|token|(?:api)?[_-]?key|credentials?)"
)


class Pattern(NamedTuple):
    """One kind of secret."""

    kind: str
    """What the mark names."""
    source: str
    """Regular expression (ASCII); the last named group is the secret, without one all of the match."""
    hints: tuple[str, ...]
    """Lower-case texts; where none of them is in the text the expression is not tried."""
    is_secret: Callable[[re.Match[str]], bool] | None = None
    """Has the last word on a match."""
    anchors: tuple[str, ...] = ()
    """Lower-case texts of which one stands where every match begins; the expression is tried there only."""

    def regex(self) -> re.Pattern[str]:
        """Compile the expression, once."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)


def _secret(found: re.Match[str]) -> str:
    return found[found.lastgroup] if found.lastgroup else found.group()


def _is_literal(found: re.Match[str]) -> bool:
    """Not a template, not a star row: something that stands for itself."""
    return not _compiled(_PLACEHOLDER).fullmatch(_secret(found))


def _is_key(found: re.Match[str]) -> bool:
    """Not a row of one sign, nor words, behind the beginning that tells a key."""
    body = _secret(found)[3:]
    return len(set(body.lower()) - set("x*.0_-")) > 1 and "your" not in body.lower()


def _has_signs(found: re.Match[str]) -> bool:
    """A quoted text with blanks is a sentence unless digits and signs stand in it."""
    text = _secret(found)
    return (
        " " in text and bool(_compiled("[0-9]").search(text)) and bool(_compiled("[@#$%^&*=+]").search(text))
    )


def _is_login(found: re.Match[str]) -> bool:
    return _is_literal(found) and not _secret(found).isdigit()


def _is_tangled(found: re.Match[str]) -> bool:
    """Digits or capitals inside, as no word of a sentence has."""
    text = _secret(found)
    return len(text) >= 8 and bool(_compiled(r"[0-9=]|[a-z][A-Z]").search(text))


def _is_mixed(found: re.Match[str]) -> bool:
    """Small letters, capitals and digits inside, in no form that names have."""
    text = _secret(found)
    return all(_compiled(kind).search(text) for kind in ("[0-9]", "[a-z]", "[A-Z]")) and not _compiled(
        r".*[(){}\[\]<>:/=].*|[A-Z][a-z]+[0-9.]*"
    ).fullmatch(text)


def _is_dense(found: re.Match[str]) -> bool:
    """A long run of letters and digits, as no name made of words has."""
    runs = _compiled(r"[A-Za-z0-9]{16,}").findall(_secret(found))
    return any(_compiled("[0-9]").search(run) and _compiled("[A-Za-z]").search(run) for run in runs)


def _is_assigned(found: re.Match[str]) -> bool:
    """What stands right of a password is taken unless it is a name, a template or a type."""
    if found.lastgroup != "bare":
        return _is_closed(found) and _is_literal(found)
    return _is_bare_secret(found, 6)


def _is_assigned_token(found: re.Match[str]) -> bool:
    """Tokens and keys are named as often as they are given: a quoted one has to look like one, too."""
    if found.lastgroup == "bare":
        return _is_bare_secret(found, 8)
    text = _secret(found)
    return len(text) >= 8 and _is_closed(found) and not _is_name(text) and _is_literal(found)


def _is_closed(found: re.Match[str]) -> bool:
    """The quote ends right behind the value; a value of several words is a sentence."""
    return found.string[found.end() : found.end() + 1] in ("\\", '"' if found.lastgroup == "double" else "'")


def _is_bare_secret(found: re.Match[str], shortest: int) -> bool:
    text = _secret(found)
    if found.string[found.end() : found.end() + 1] in ("(", "[", "{", "⟨"):
        return False
    if _is_environment(found):
        names = rf"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|{_PATH}|\d{{1,5}}"
        return not _compiled(names).fullmatch(text) and _is_literal(found)
    return len(text) >= shortest and not _is_name(text) and _is_literal(found)


def _is_environment(found: re.Match[str]) -> bool:
    """`NAME=value` as in an environment file: what stands there is a value, whatever it looks like."""
    key = found.string[found.start() : found.start(found.lastgroup or 0)]
    return key.endswith("=") and key.isupper()


def _is_behind(found: re.Match[str], *programs: str) -> bool:
    """One of the programs stands before it in the same command."""
    before = _compiled(r"[\n|;&]").split(found.string[max(0, found.start() - 200) : found.start()])[-1]
    return any(program in f" {before.lower()}" for program in programs)


def _is_store_password(found: re.Match[str]) -> bool:
    """Behind `vault login`, or `-a` of `redis-cli`."""
    return _is_tangled(found) and (found[0][0] == "v" or _is_behind(found, "redis-cli"))


def _is_database_password(found: re.Match[str]) -> bool:
    return _is_behind(found, "mysql", "mariadb")


def _is_login_password(found: re.Match[str]) -> bool:
    return _is_login(found) and _is_behind(found, " login ")


def _is_flag_value(found: re.Match[str]) -> bool:
    """What stands before it ends the name of a long option."""
    before = found.string[max(0, found.start() - 24) : found.start()]
    is_flag = _compiled(r"(?<!-)--(?:(?!-)[a-z-]{0,20})?\Z").search(before)
    return bool(is_flag) and _is_assigned_token(found)


_PATH = r"(?:~|\.\.?)?(?:/[\w.-]{1,24})+"


def _is_name(text: str) -> bool:
    """Words, dotted names, paths, numbers and versions: things one writes instead of a secret."""
    if not _compiled("[0-9]").search(text) and not _compiled("[a-z][A-Z].*[a-z][A-Z]|[^\\w.:/-]").search(
        text
    ):
        return True
    names = (
        r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[\d.,:]+"
        r"|(?:[a-z]+\d?|\d{1,2})(?:_(?:[a-z]+\d?|\d{1,2}))+|[a-z]+(?:[A-Z][a-z]+)+\d?"
    )
    return bool(_compiled(rf"{names}|{_PATH}").fullmatch(text))


def _assignment(keyword: str) -> str:
    """`password = "…"`, `PASSWORD=…`, `"password": "…"`, `password: str = "…"`, `x["password"] = "…"`."""
    return (
        rf"(?<!⟨)(?i:{keyword})(?i:{_SUFFIX})"
        rf"""(?:\\?["'])?\]?[ \t]{{0,8}}{_ANNOTATION}(?:=>|:=|[=:])[ \t]{{0,8}}\\?{_VALUE}"""
    )


_CALL = (
    r"""\([ \t]{0,4}["'][A-Z][A-Z0-9_]{0,60}?_(?:PASSWORD|PASS|SECRET|TOKEN|KEY)["'][ \t]{0,4},[ \t]{0,4}"""
    r"""(?:"(?P<double>[^"\s\\⟨⟩]{8,}+)|'(?P<single>[^'\s\\⟨⟩]{8,}+))"""
)
"""`define('DB_PASSWORD', '…')`, `os.Setenv("API_TOKEN", "…")`."""

_PASSWORD_WORDS = "pass(?:word|wd|phrase|code)|pwd"
_SECRET_WORDS = "secret|credentials?|creds"
_KEYS = (
    "api", "access", "account", "subscription", "private", "signing", "encryption", "master", "auth",
    "service", "shared",
)  # fmt: skip
_KEY_WORDS = f"(?:{'|'.join(_KEYS)})[_.-]?key"
_KEY_HINTS = tuple(f"{word}{joint}key" for word in _KEYS for joint in ("", "_", "-", "."))
_NAMES = f"{_PASSWORD_WORDS}|{_SECRET_WORDS}|{_KEY_WORDS}|token"

PATTERNS: tuple[Pattern, ...] = (
    Pattern("pem", _PEM, ("-----begin",)),
    Pattern("github-token", rf"gh[opsur]_{_WORD}{{20,}}+", ("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), _is_key),
    Pattern("github-token", rf"github_pat_{_WORD}{{20,}}+", ("github_pat_",), _is_key),
    Pattern("gitlab-token", rf"gl(?:pat|rt|dt|ptt|cbt|soat|ft|imt|agent)-{_WORD}{{16,}}+", ("gl",)),
    Pattern("slack-token", rf"xox[abeoprs]-{_WORD}{{10,}}+", ("xox",), _is_key),
    Pattern("slack-token", rf"xapp-[0-9]-{_WORD}{{10,}}+", ("xapp-",)),
    Pattern("slack-webhook", r"hooks\.slack\.com/services/(?P<s>[A-Za-z0-9/_-]{20,}+)", ("hooks.slack.com",)),
    Pattern("google-key", rf"AIza{_WORD}{{30,}}+", ("aiza",)),
    Pattern("stripe-key", rf"[rs]k_(?:live|test)_{_WORD}{{16,}}+", ("k_live_", "k_test_")),
    Pattern("stripe-key", rf"whsec_{_WORD}{{16,}}+", ("whsec_",)),
    Pattern("npm-token", r"npm_[A-Za-z0-9]{30,}+", ("npm_",)),
    Pattern("pypi-token", rf"pypi-{_WORD}{{40,}}+", ("pypi-",), _is_dense),
    Pattern("huggingface-token", r"hf_[A-Za-z0-9]{30,}+", ("hf_",)),
    Pattern("sendgrid-key", rf"SG\.{_WORD}{{16,}}+\.{_WORD}{{16,}}+", ("sg.",)),
    Pattern("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+", ("age-secret-key-",)),
    Pattern("anthropic-key", rf"sk-ant-{_WORD}{{16,}}+", ("sk-ant-",)),
    Pattern("aws-key", r"A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA|3T[A-Z0-9])[A-Z0-9]{16}", ("a",)),
    Pattern("openai-key", rf"sk-{_START.format('sk-')}{_WORD}{{20,}}+", ("sk-",), _is_dense),
    Pattern(
        "jwt",
        rf"eyJ{_START.format('eyJ')}{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?>(?:\.{_WORD}*+){{0,3}})",
        ("eyj",),
    ),
    *(Pattern(kind, source, hints, _is_key) for kind, source, hints in SERVICES),
    Pattern("url-token", r"""://(?P<s>[A-Za-z0-9_-]{20,}+)(?=@)""", ("://",), _is_dense),
    Pattern(
        "url-password",
        r"""://[^\s/:@"'`<>⟨⟩]*+:(?P<s>[^\s/@"'`<>⟨⟩]++)(?=@)""",
        ("://",),
        _is_literal,
    ),
    Pattern(
        "bearer",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
        r"(?i:bearer|token|apikey|digest|negotiate)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=:-]{4,}+)",
        ("authorization",),
        _is_tangled,
        ("authorization",),
    ),
    Pattern(
        "basic-auth",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
        r"(?i:basic)[ \t]{1,4}(?P<s>[A-Za-z0-9+/=_-]{4,}+)",
        ("authorization",),
        _is_tangled,
        ("authorization",),
    ),
    Pattern(
        "bearer",
        r"(?i:bearer)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=-]{16,}+)",
        ("bearer",),
        _is_tangled,
        ("bearer",),
    ),
    Pattern(
        "basic-auth",
        r"""(?<=\s)(?:-u|--user)[ =]["']?[^\s:"'⟨⟩]{1,64}:(?P<s>[^\s"'⟨⟩]++)""",
        ("curl", "wget", "http"),
        _is_login,
    ),
    Pattern(
        "authorization",
        r"""(?i:(?<![A-Za-z])authorization)["'\\]{0,3}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,3}"""
        r"(?P<s>[A-Za-z0-9._~+/=:-]{16,}+)",
        ("authorization",),
        _is_dense,
        ("authorization",),
    ),
    Pattern(
        "url-token",
        r"[?&#](?i:key|auth|sig|signature|x-amz-signature|x-goog-signature|code|session|sessionid|sid|jwt)="
        r"(?P<s>[A-Za-z0-9%._~+/-]{16,}+)",
        ("key=", "auth=", "sig=", "signature=", "code=", "session=", "sessionid=", "sid=", "jwt="),
        _is_dense,
    ),
    Pattern(
        "named-value",
        rf"""(?i:(?<![A-Za-z])name)["']?[ \t]{{0,4}}:[ \t]{{0,4}}["']?[\w.-]{{0,60}}?(?i:{_NAMES})"""
        r"""["']?,?\s{1,40}"""
        rf"""["']?(?i:value)["']?[ \t]{{0,4}}:[ \t]{{0,4}}{_VALUE}""",
        ("value:", '"value"', "'value'"),
        _is_assigned,
        ("name",),
    ),
    Pattern(
        "named-value",
        rf"""(?i:(?:name|key)="[\w.:-]{{0,60}}?(?:{_NAMES})"\s{{1,8}}value)="(?P<s>[^"\s⟨⟩]{{4,}}+)(?=")""",
        ("value=",),
        _is_literal,
        ("name=", "key="),
    ),
    Pattern(
        "key-data",
        r"""(?:client-key-data|(?<![A-Za-z0-9])_auth|"auth"|"identitytoken")[ \t]{0,4}[:=][ \t]{0,4}["']?"""
        r"(?P<s>[A-Za-z0-9+/=_-]{16,}+)",
        ("client-key-data", "_auth", '"auth"', "identitytoken"),
        _is_dense,
        ("client-key-data", "_auth", '"auth"', '"identitytoken"'),
    ),
    Pattern(
        "app-key",
        r"(?i:key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?base64:(?P<s>[A-Za-z0-9+/=]{16,}+)",
        ("base64:",),
        None,
        ("key",),
    ),
    Pattern(
        "password",
        r"(?:(?<=\s)-a|vault[ \t]{1,4}login)[ \t]{1,4}(?P<s>[^\s\"'⟨⟩-][^\s\"'⟨⟩]{7,}+)",
        ("redis-cli", "vault login"),
        _is_store_password,
        ("-a", "vault"),
    ),
    Pattern(
        "password",
        rf"""(?i:{_PASSWORD_WORDS})(?:[ \t]{{1,4}}(?i:is|to|as))?[ \t]{{1,4}}["'`]?"""
        r"""(?P<s>[^\s"'`⟨⟩]{8,}+)""",
        ("pass", "pwd"),
        _is_mixed,
        ("pass", "pwd"),
    ),
    Pattern(
        "aws-secret",
        r"""(?i:secret_?access_?key)["'\\]{0,2}[ \t]{0,4}[:=][ \t"'\\]{0,6}(?P<s>[A-Za-z0-9/+]{40,}+)""",
        ("secretaccesskey", "secret_access_key"),
        None,
        ("secret",),
    ),
    Pattern(
        "cookie",
        r"""(?i:(?<![A-Za-z])set-cookie)["'\\]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,2}[\w.-]{1,64}="""
        r"""(?P<s>[^;\s"'⟨⟩]{8,}+)""",
        ("set-cookie",),
        _is_tangled,
        ("set-cookie",),
    ),
    Pattern(
        "cookie",
        r"""(?i:(?<![A-Za-z-])cookie)["'\\]{0,2}[ \t]{0,4}:[ \t]{0,4}["'\\]{0,2}"""
        r"""(?P<s>[\w.-]{1,64}=[^\r\n"'\\⟨⟩]{8,}+)""",
        ("cookie",),
        _is_tangled,
        ("cookie",),
    ),
    Pattern(
        "password",
        r"(?i:machine)\s{1,9}\S{1,99}\s{1,9}(?i:login)\s{1,9}\S{1,99}\s{1,9}(?i:password)"
        r"\s{1,9}(?P<s>[^\s⟨⟩]++)",
        ("machine",),
        None,
        ("machine",),
    ),
    Pattern(
        "password",
        r":(?:5432|3306|27017):[\w*-]{1,64}:[\w*-]{1,64}:(?P<s>[^\s:⟨⟩]{4,}+)",
        (":5432:", ":3306:"),
    ),
    Pattern(
        "password",
        r"""(?<=\s)-p(?P<s>[^\s"'=⟨⟩-][^\s"'⟨⟩]{3,}+)""",
        ("mysql", "mariadb"),
        _is_database_password,
        ("-p",),
    ),
    Pattern("password", r"""sshpass[ \t]{1,4}-p[ \t]{0,4}["']?(?P<s>[^\s"'⟨⟩]++)""", ("sshpass",)),
    Pattern(
        "password",
        r"""(?<=\s)-p[ \t]{1,4}["']?(?P<s>[^\s"'⟨⟩]{4,}+)""",
        ("login",),
        _is_login_password,
        ("-p",),
    ),
    Pattern(
        "password",
        r"(?i:<[\w:.-]{0,40}(?:password|passwd|secret|token|api[_-]?key)>)(?P<s>[^<\s⟨⟩]{4,}+)(?=</)",
        ("</",),
        _is_literal,
    ),
    Pattern(
        "password",
        rf"""(?i:{_PASSWORD_WORDS})(?:\\?["'])?[ \t]{{0,8}}(?:=>|:=|[=:])[ \t]{{0,8}}"""
        r"""(?:"(?P<double>[^"\n\\⟨⟩]{6,64}+)(?=")|'(?P<single>[^'\n\\⟨⟩]{6,64}+)(?='))""",
        ("pass", "pwd"),
        _has_signs,
        ("pass", "pwd"),
    ),
    Pattern("password", _assignment(_PASSWORD_WORDS), ("pass", "pwd"), _is_assigned, ("pass", "pwd")),
    Pattern(
        "password", _assignment(r"(?<![A-Za-z])pass(?![A-Za-z])"), ("pass",), _is_assigned_token, ("pass",)
    ),
    Pattern(
        "secret",
        _assignment(_SECRET_WORDS),
        ("secret", "credential", "creds"),
        _is_assigned,
        ("secret", "cred"),
    ),
    Pattern("api-key", _assignment(_KEY_WORDS), _KEY_HINTS, _is_assigned_token, _KEYS),
    Pattern("token", _assignment("token"), ("token",), _is_assigned_token, ("token",)),
    Pattern(
        "secret",
        _CALL,
        ('_password"', "_password'", '_secret"', "_secret'", '_token"', "_token'", 'key"', "key'"),
        _is_assigned_token,
    ),
    Pattern(
        "password",
        rf"(?:{_PASSWORD_WORDS}|{_SECRET_WORDS}|api-key|token)[ \t]{{1,4}}{_VALUE}",
        ("--",),
        _is_flag_value,
        ("pass", "pwd", "secret", "cred", "api-key", "token"),
    ),
)
"""Every kind that is recognised, tried in this order."""
