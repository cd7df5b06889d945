r"""What a secret looks like: one table of kinds and regular expressions, as data.

Owns the table; the checks are in `text.lookalikes`. A pattern must never be able to
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
from typing import NamedTuple

from workbench.text.assigned import is_assigned, is_assigned_pass
from workbench.text.beside import BESIDE
from workbench.text.clients import CLIENTS
from workbench.text.dialects import DIALECTS
from workbench.text.given import EARLY, GIVEN, SAID
from workbench.text.lookalikes import (
    compiled,
    is_assigned_token,
    is_call_value,
    is_database_password,
    is_dense,
    is_encoded,
    is_flag_value,
    is_key,
    is_key_block,
    is_literal,
    is_login_of_client,
    is_login_password,
    is_mixed,
    is_quoted_secret,
    is_store_password,
    is_tangled,
)
from workbench.text.vendors import SERVICES, starts

_BLANK = r"[ \t]"
_ANY_BLANK = "[ \\t\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]"
"""No-break, thin, wide and such of no width: between a name and its secret they are blanks like any other."""

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
_ANNOTATION = r"(?>(?::[ \t]{0,4}&?[A-Za-z'][A-Za-z0-9_.| \[\]<>]{0,40}(?==))?)"
_VALUE = (
    r"""(?:"(?P<double>[^"\s\\⟨⟩]{3,}+)|'(?P<single>[^'\s\\⟨⟩]{3,}+)"""
    r"""|(?P<bare>[^\s"'`,;&|<>(){}\[\]\\⟨⟩=][^\s"'`,;&|<>(){}\[\]\\⟨⟩]{1,}+))"""
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
    leads: tuple[int, ...] = (0,)
    """How many characters of a match may stand before the anchor."""

    def regex(self) -> re.Pattern[str]:
        """Compile the expression, once; a blank is one of any alphabet."""
        return compiled(self.source.replace(_BLANK, _ANY_BLANK))


def _assignment(keyword: str) -> str:
    """`password = "…"`, `PASSWORD=…`, `"password": "…"`, `password: str = "…"`, `x["password"] = "…"`."""
    return (
        rf"(?<!⟨)(?i:{keyword})(?i:{_SUFFIX})"
        rf"""(?:\\?["'])?\]?[ \t]{{0,8}}{_ANNOTATION}(?:=>|:=|[=:])[ \t]{{0,8}}\\?{_VALUE}"""
    )


_CALL = (
    r"""\([ \t]{0,4}["'](?:[A-Z][A-Z0-9_]{0,60}?_)?(?:PASSWORD|PASSWD|PASS|PWD|SECRET|TOKEN|KEY|SALT)["']"""
    r"""[ \t]{0,4},[ \t]{0,16}"""
    r"""(?:"(?P<double>[^"\n\\⟨⟩]{1,200}+)(?=")|'(?P<single>[^'\n\\⟨⟩]{1,200}+)(?='))"""
)
"""`define('DB_PASSWORD', '…')`, `os.Setenv("API_TOKEN", "…")`."""

_PASSWORD_WORDS = "pass(?:word|wd|phrase|code)|pwd"
_SECRET_WORDS = "secret|credentials?|creds"
_KEYS = (
    "api", "access", "account", "subscription", "private", "signing", "encryption", "master", "auth",
    "service", "shared", "application", "unseal", "secret", "fernet",
)  # fmt: skip
_KEY_WORDS = f"(?:{'|'.join(_KEYS)})[_.-]?key"
_KEY_HINTS = tuple(f"{word}{joint}key" for word in _KEYS for joint in ("", "_", "-", "."))
_NAMES = f"{_PASSWORD_WORDS}|{_SECRET_WORDS}|{_KEY_WORDS}|token"

_FIRST: tuple[Pattern, ...] = (
    Pattern("pem", _PEM, ("-----begin",), is_key_block),
    *(Pattern(*row) for row in EARLY),
)

_OF_SERVICES: tuple[Pattern, ...] = (
    Pattern("github-token", rf"gh[opsur]_{_WORD}{{20,}}+", ("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), is_key),
    Pattern("github-token", rf"github_pat_{_WORD}{{20,}}+", ("github_pat_",), is_key),
    Pattern("gitlab-token", rf"gl(?:pat|rtr?|dt|ptt|cbt|soat|ft|imt|wt|agent)-{_WORD}{{16,}}+", ("gl",)),
    Pattern("slack-token", r"xox[a-eoprs]-[A-Za-z0-9%_-]{10,}+", ("xox",), is_key),
    Pattern("slack-token", rf"xapp-[0-9]-{_WORD}{{10,}}+", ("xapp-",)),
    Pattern("slack-webhook", r"hooks\.slack\.com/services/(?P<s>[A-Za-z0-9/_-]{20,}+)", ("hooks.slack.com",)),
    Pattern("google-key", rf"AIza{_WORD}{{30,}}+", ("aiza",)),
    Pattern("stripe-key", rf"[rs]k_(?:live|test)_{_WORD}{{16,}}+", ("k_live_", "k_test_")),
    Pattern("stripe-key", rf"whsec_{_WORD}{{16,}}+", ("whsec_",)),
    Pattern("npm-token", r"npm_[A-Za-z0-9]{30,}+", ("npm_",)),
    Pattern("pypi-token", rf"pypi-{_WORD}{{40,}}+", ("pypi-",), is_dense),
    Pattern("huggingface-token", r"hf_[A-Za-z0-9]{30,}+", ("hf_",)),
    Pattern("sendgrid-key", rf"SG\.{_WORD}{{16,}}+\.{_WORD}{{16,}}+", ("sg.",)),
    Pattern("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+", ("age-secret-key-",)),
    Pattern("anthropic-key", rf"sk-ant-{_WORD}{{16,}}+", ("sk-ant-",)),
    Pattern(
        "aws-key",
        r"A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA|3T[A-Z0-9])[A-Z0-9]{16,}+",
        ("akia", "asia", "abia", "acca", "agpa", "aida", "aroa", "aipa", "anpa", "anva", "a3t"),
    ),
    Pattern("openai-key", rf"sk-{_START.format('sk-')}{_WORD}{{20,}}+", ("sk-",), is_dense),
    Pattern(
        "jwt",
        rf"eyJ{_START.format('eyJ')}{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?>(?:\.{_WORD}*+){{0,3}})",
        ("eyj",),
    ),
    *(Pattern(kind, source, hints, is_key) for kind, source, hints in SERVICES),
)

_IN_CONTEXT: tuple[Pattern, ...] = (
    Pattern("url-token", r"""://(?P<s>[A-Za-z0-9_-]{20,}+)(?=@|:[\w-]{0,40}@)""", ("://",), is_dense),
    Pattern(
        "url-password",
        r"""://[^\s/:@"'`<>\[⟨⟩]*+:(?P<s>[^\s/?#"'`<>⟨⟩]{1,200}|(?![0-9]{1,5}[/?#])[^\s@"'`<>⟨⟩]{1,200}+)(?=@)""",
        ("://",),
        is_literal,
    ),
    Pattern(
        "bearer",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
        r"(?i:bearer|token|apikey|negotiate)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=:-]{4,}+)",
        ("authorization",),
        is_tangled,
        ("authorization",),
    ),
    Pattern(
        "basic-auth",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
        r"(?i:basic)[ \t]{1,4}(?P<s>[A-Za-z0-9+/=_-]{4,}+)",
        ("authorization",),
        is_tangled,
        ("authorization",),
    ),
    Pattern(
        "bearer",
        r"(?i:bearer)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=-]{16,}+)",
        ("bearer",),
        is_tangled,
        ("bearer",),
    ),
    Pattern(
        "basic-auth",
        r"""(?<=\s)(?:-[uU][ =]?|--(?:proxy-)?user[ =]|-a |--auth[ =])["']?"""
        r"""[^\s:"'⟨⟩/]{1,64}:(?P<s>[^\s"'⟨⟩]++)""",
        ("curl", "wget", "http"),
        is_login_of_client,
        ("-u", "--", "-a"),
    ),
    Pattern(
        "authorization",
        r"""(?i:(?<![A-Za-z])authorization)["'\\]{0,3}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,3}"""
        r"(?P<s>[A-Za-z0-9._~+/=:-]{16,}+)",
        ("authorization",),
        is_dense,
        ("authorization",),
    ),
    *(Pattern(*row) for row in GIVEN),
    *(Pattern(*row) for row in CLIENTS),
    *(Pattern(*row) for row in DIALECTS),
    *(Pattern(*row) for row in BESIDE),
    Pattern(
        "url-token",
        r"[?&#](?i:key|auth|sig|signature|x-amz-signature|x-goog-signature|code|session|sessionid|sid|jwt)="
        r"(?P<s>[A-Za-z0-9%._~+/-]{16,}+)",
        (
            *("key=", "auth=", "sig=", "signature=", "x-amz-signature=", "x-goog-signature=", "code="),
            *("session=", "sessionid=", "sid=", "jwt="),
        ),
        is_dense,
    ),
    Pattern(
        "named-value",
        rf"""(?i:(?<![A-Za-z])(?:name|key))["']?[ \t]{{0,4}}:[ \t]{{0,4}}["']?[\w.-]{{0,60}}?"""
        rf"""(?i:{_NAMES}|_pass)"""
        r"""["']?(?:,|\s)\s{0,40}"""
        rf"""["']?(?i:value)["']?[ \t]{{0,4}}:[ \t]{{0,4}}{_VALUE}""",
        ("value:", '"value"', "'value'"),
        is_assigned,
        ("name", "key"),
    ),
    Pattern(
        "named-value",
        rf"""(?i:(?:name|key)="[\w.:-]{{0,60}}?(?:{_NAMES})"\s{{1,8}}value)="(?P<s>[^"\s⟨⟩]{{4,}}+)(?=")""",
        ("value=",),
        is_literal,
        ("name=", "key="),
    ),
    Pattern(
        "key-data",
        r"""(?:client-key-data|(?<![A-Za-z0-9])_auth|"auth"|"identitytoken")[ \t]{0,4}[:=][ \t]{0,4}["']?"""
        r"(?P<s>[A-Za-z0-9+/=_-]{16,}+)",
        ("client-key-data", "_auth", '"auth"', "identitytoken"),
        is_dense,
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
        is_store_password,
        ("-a", "vault"),
    ),
    Pattern(
        "password",
        rf"""(?i:{_PASSWORD_WORDS})(?:[ \t]{{1,4}}(?i:is|to|as))?[ \t]{{1,4}}["'`]?"""
        r"""(?P<s>[^\s"'`⟨⟩]{8,}+)""",
        ("pass", "pwd"),
        is_mixed,
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
        is_tangled,
        ("set-cookie",),
    ),
    Pattern(
        "cookie",
        r"""(?i:(?<![A-Za-z-])cookie)["'\\]{0,2}[ \t]{0,4}:[ \t]{0,4}["'\\]{0,2}"""
        r"""(?P<s>[\w.-]{1,64}=[^\r\n"'\\⟨⟩]{8,}+)""",
        ("cookie",),
        is_tangled,
        ("cookie",),
    ),
    Pattern(
        "password",
        r"(?i:machine\s{1,9}\S{1,99}|default)\s{1,9}(?i:login)\s{1,9}\S{1,99}\s{1,9}"
        r"(?i:account\s{1,9}\S{1,99}\s{1,9})?(?i:password)"
        r"(?:[ \t]{1,9}|\r?\n[ \t]{1,9})(?P<s>[^\s⟨⟩]++)",
        ("machine", "default"),
        is_literal,
        ("machine", "default"),
    ),
    Pattern(
        "password",
        r":(?:5432|3306|27017):[\w*-]{1,64}:[\w*-]{1,64}:(?P<s>[^\s:⟨⟩]{4,}+)",
        (":5432:", ":3306:"),
    ),
    Pattern(
        "password",
        r"""(?<=\s)-p["']?(?P<s>[^\s"'=⟨⟩-][^\s"'⟨⟩]{3,}+)""",
        ("mysql", "mariadb"),
        is_database_password,
        ("-p",),
    ),
    Pattern("password", r"""sshpass[ \t]{1,4}-p[ \t]{0,4}["']?(?P<s>[^\s"'⟨⟩]++)""", ("sshpass",)),
    Pattern(
        "password",
        r"""(?<=\s)-p[ \t]{1,4}["']?(?P<s>[^\s"'⟨⟩]{4,}+)""",
        ("login",),
        is_login_password,
        ("-p",),
    ),
    Pattern(
        "password",
        r"(?i:<[\w:.-]{0,40}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)>)(?P<s>[^<\s⟨⟩]{4,}+)(?=</)",
        ("</",),
        is_literal,
    ),
    Pattern(
        "password",
        rf"""(?i:{_PASSWORD_WORDS})(?:\\?["'])?[ \t]{{0,8}}(?:=>|:=|[=:])[ \t]{{0,8}}"""
        r"""(?:"(?=[^"\s\\⟨⟩]{0,127}+[ \t\\])(?P<double>(?:[^"\n\\⟨⟩]|\\[^\n⟨⟩]){6,128})(?=")"""
        r"""|'(?=[^'\s\\⟨⟩]{0,127}+[ \t\\])(?P<single>(?:[^'\n\\⟨⟩]|\\[^\n⟨⟩]){6,128})(?='))""",
        ("pass", "pwd"),
        is_quoted_secret,
        ("pass", "pwd"),
    ),
    Pattern(
        "password",
        rf"(?i:{_PASSWORD_WORDS}|{_SECRET_WORDS}|token)[\"']?[ \t]{{0,8}}[=:][ \t]{{0,8}}[\"']?"
        r"(?P<s>[A-Za-z0-9+/]{6,400}={1,2})(?![A-Za-z0-9+/=(])",
        ("pass", "pwd", "secret", "cred", "token"),
        is_encoded,
        ("pass", "pwd", "secret", "cred", "token"),
    ),
    Pattern("password", _assignment(_PASSWORD_WORDS), ("pass", "pwd"), is_assigned, ("pass", "pwd")),
    Pattern(
        "password",
        _assignment(r"(?:(?<![A-Za-z])|(?<=ssh))pass(?![A-Za-z])"),
        ("pass",),
        is_assigned_pass,
        ("pass",),
    ),
    Pattern(
        "secret",
        _assignment(_SECRET_WORDS),
        ("secret", "credential", "creds"),
        is_assigned,
        ("secret", "cred"),
    ),
    Pattern("api-key", _assignment(_KEY_WORDS), _KEY_HINTS, is_assigned_token, _KEYS),
    Pattern("token", _assignment("token"), ("token",), is_assigned_token, ("token",)),
    Pattern(
        "secret",
        _CALL,
        tuple(
            f"{word}{quote}"
            for word in ("pass", "word", "pwd", "secret", "token", "key", "salt")
            for quote in "'\""
        ),
        is_call_value,
        ("(",),
    ),
    Pattern(
        "password",
        rf"(?:{_PASSWORD_WORDS}|(?<=-)pass|{_SECRET_WORDS}|(?:api|account|access)-key|token)"
        rf"[ \t]{{1,4}}{_VALUE}",
        ("-",),
        is_flag_value,
        ("pass", "pwd", "secret", "cred", "api-key", "account-key", "access-key", "token"),
    ),
    *(Pattern(*row) for row in SAID),
)


def _anchored(pattern: Pattern) -> Pattern:
    """Give a row that names no anchors those that its expression begins with."""
    if pattern.anchors:
        return pattern
    anchors, leads = starts(pattern.source, pattern.hints)
    return pattern._replace(anchors=anchors, leads=leads)


_KEYS_OF_SERVICES = tuple(map(_anchored, _OF_SERVICES))

BLOCKS: tuple[tuple[Pattern, ...], ...] = (
    *((_anchored(pattern),) for pattern in _FIRST),
    _KEYS_OF_SERVICES,
    *((_anchored(pattern),) for pattern in _IN_CONTEXT),
)
"""Every kind that is recognised, in the order in which they are tried; what is in one block is tried at once.

Nothing in a block of several looks at what stands around a key: one that another has replaced by a mark makes
no difference to it.
"""

PATTERNS: tuple[Pattern, ...] = tuple(pattern for block in BLOCKS for pattern in block)
"""All of them."""
