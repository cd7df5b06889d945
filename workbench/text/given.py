r"""Ways in which programs are handed a secret: options, calls, SQL, headers of signed requests, as data.

Owns rows of the same form as `text.patterns`, whose rules on running time hold here, too: a row begins with a
fixed text, and nothing that can fail stands behind an unbounded run.
"""

import re
from collections.abc import Callable
from typing import Final

from workbench.text import lookalikes as like

Row = tuple[str, str, tuple[str, ...], Callable[[re.Match[str]], bool] | None, tuple[str, ...]]
"""Kind, expression, hints, check, anchors."""

_GAP: Final = r"[ \t]{1,8}"
_SIGN: Final = r"""["'\\]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
_WORD_VALUE: Final = r"""["']?(?P<s>[^\s"'⟨⟩]{3,}+)"""
_SECRET_NAME: Final = (
    r"(?:password|passwd|passphrase|pass|pwd|secret|token|(?:api|access|auth|private|secret)_?key)"
)


def _behind(*programs: str) -> Callable[[re.Match[str]], bool]:
    """Return a check: one of the programs stands before it in the same command, and it is a value."""
    return lambda found: like.is_literal(found) and like.is_behind(found, *programs)


EARLY: Final[tuple[Row, ...]] = (
    (
        "aws-signature",
        r"AWS A(?:KIA|SIA)[A-Z0-9]{8,20}:(?P<s>[A-Za-z0-9+/]{20,}+={0,2})",
        ("aws a",),
        None,
        ("aws a",),
    ),
    (
        "pem",
        r"Private-Lines: [0-9]{1,4}(?P<s>(?>(?:(?:\\r)?(?:\\n|\s{1,4})[A-Za-z0-9+/=]{8,}+)+))",
        ("private-lines:",),
        None,
        ("private-lines:",),
    ),
    (
        "pem",
        r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[^⟨⟩]{8,20000}?---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        ("begin ssh2",),
        None,
        ("---- begin ssh2",),
    ),
)
"""Tried before the keys of services, of which they are made."""

GIVEN: Final[tuple[Row, ...]] = (
    (
        "key-data",
        r'"auth"[ \t]{0,4}:[ \t]{0,4}"(?P<s>[A-Za-z0-9+/]{4,}+={0,2})(?=")',
        ('"auth"',),
        like.is_login_pair,
        ('"auth"',),
    ),
    (
        "key-data",
        rf"(?i:dockerc(?:onfigjson|fg)){_SIGN}(?P<s>[A-Za-z0-9+/=]{{16,}}+)",
        ("dockerconfigjson", "dockercfg"),
        None,
        ("dockerconfigjson", "dockercfg"),
    ),
    (
        "signature",
        rf"(?i:x-amz-signature|x-goog-signature|x-amz-security-token){_SIGN}(?P<s>[A-Za-z0-9%/+_.=-]{{16,}}+)",
        ("x-amz-s", "x-goog-signature"),
        like.is_signature,
        ("x-amz-s", "x-goog-signature"),
    ),
    ("signature", r"[?&]Signature=(?P<s>[A-Za-z0-9%/+_=-]{20,}+)", ("signature=",), like.is_signature, ()),
    (
        "signature",
        r"(?i:aws4-hmac-sha256) [^\n⟨⟩]{0,200}?(?:⟨secret: [a-z-]{1,20}⟩)?[^\n⟨⟩]{0,300}?"
        r"Signature=(?P<s>[a-f0-9]{64})",
        ("aws4-hmac",),
        None,
        ("aws4-hmac",),
    ),
    (
        "signature",
        r'(?i:digest)[ \t][^\n⟨⟩]{0,600}?response="(?P<s>[a-f0-9]{32,64})"',
        ("response=",),
        None,
        ("digest",),
    ),
    (
        "authorization",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}(?i:[a-z][a-z0-9-]{1,20})"""
        r"(?:[ \t]{1,4}|%20)(?P<s>[A-Za-z0-9._~+/=:-]{12,}+)",
        ("authorization",),
        like.is_dense,
        ("authorization",),
    ),
    (
        "cookie",
        r"""(?<=\s)(?:-b|--cookie)[ =]["']?(?P<s>[\w.-]{1,64}=[^\s"'⟨⟩]{8,}+)""",
        ("curl", "http"),
        like.is_tangled,
        ("-b", "--cookie"),
    ),
    (
        "secret",
        r"(?:(?i:setenv|setx|set[ \t]{1,4}-[a-z]{1,4}|config[: ]set)|ENV|ARG)"
        rf"[ \t]{{1,8}}[A-Za-z][A-Za-z0-9_]{{0,60}}?(?i:{_SECRET_NAME}){_GAP}{_WORD_VALUE}",
        ("setenv", "setx ", "set -", "env ", "arg ", "config set", "config:set"),
        like.is_setting,
        ("setenv", "set", "env", "arg", "config"),
    ),
    (
        "aws-secret",
        rf"(?i:aws_secret_access_key|aws_session_token){_GAP}(?P<s>[A-Za-z0-9/+=]{{40,}}+)",
        ("aws_secret_access_key ", "aws_session_token "),
        None,
        ("aws_s",),
    ),
    (
        "key-data",
        rf"(?i:_authtoken|:_auth|set{_GAP}_auth|_password){_GAP}(?P<s>[A-Za-z0-9+/=_-]{{16,}}+)",
        ("_authtoken ", "_auth ", "_password "),
        like.is_tangled,
        ("_authtoken", ":_auth", "set", "_password"),
    ),
    (
        "password",
        rf"""(?:echo|printf){_GAP}(?:-n[ ])?["']?(?P<s>[^\s"'$|⟨⟩]{{4,}}+)"""
        r"""(?=["']?[ \t]{0,4}\|[^|\n]{1,200}--password-stdin)""",
        ("--password-stdin",),
        like.is_literal,
        ("echo", "printf"),
    ),
    ("password", r"(?<=[\s\"'])pass:(?P<s>[^\s\"'⟨⟩]{3,}+)", ("openssl",), _behind("openssl"), ("pass:",)),
    ("password", rf"(?<=\s)-k{_GAP}{_WORD_VALUE}", ("openssl",),
     _behind("openssl enc", "openssl aes"), ("-k",)),
    (
        "password",
        rf"(?<=\s)-P[ \t]{{0,8}}{_WORD_VALUE}",
        ("zip ", "unzip "),
        _behind(" zip ", "unzip "),
        ("-p",),
    ),
    (
        "password",
        r"""(?<=\s)-p["']?(?P<s>[^\s"'=⟨⟩-][^\s"'⟨⟩]{3,}+)""",
        ("7z ", "7za ", "7zz "),
        _behind(" 7z ", " 7za ", " 7zz "),
        ("-p",),
    ),
    (
        "password",
        rf"(?<=\s)-w{_GAP}{_WORD_VALUE}",
        ("ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "ldappasswd"),
        _behind("ldap"),
        ("-w",),
    ),
    (
        "password",
        r"""(?<=\s)-U[ \t]{0,4}["']?[^\s"'%]{1,60}%(?P<s>[^\s"'⟨⟩]{3,}+)""",
        ("smbclient", "rpcclient", "winexe"),
        _behind("smbclient", "rpcclient", "winexe"),
        ("-u",),
    ),
    (
        "password",
        rf"htpasswd{_GAP}-[a-zA-Z0-9]{{0,8}}b[a-zA-Z0-9]{{0,8}}{_GAP}\S{{1,120}}{_GAP}\S{{1,60}}{_GAP}{_WORD_VALUE}",
        ("htpasswd",),
        like.is_literal,
        ("htpasswd",),
    ),
    (
        "password",
        rf"(?:sqlplus{_GAP}(?:-[A-Za-z]{{1,4}}{_GAP})?|jdbc:oracle:[a-z]{{1,6}}:)[\w$]{{1,60}}/(?P<s>[^\s@/\"'⟨⟩]{{3,}}+)(?=@)",
        ("sqlplus", "jdbc:oracle"),
        like.is_literal,
        ("sqlplus", "jdbc:oracle"),
    ),
    (
        "password",
        r"(?i:identified[ \t]{1,4}by(?:[ \t]{1,4}password)?"
        r"|(?:with|login|encrypted|set)[ \t]{1,4}password(?:[ \t]{0,4}=)?)[ \t]{1,4}"
        r"""(?:'(?P<single>[^'\n⟨⟩]{3,}+)(?=')|"(?P<double>[^"\n⟨⟩]{3,}+)(?="))""",
        ("identified", "password '", 'password "'),
        like.is_literal,
        ("identified", "with", "login", "encrypted", "set"),
    ),
    (
        "password",
        rf"(?:requirepass|masterauth){_GAP}{_WORD_VALUE}",
        ("requirepass", "masterauth"),
        like.is_login,
        ("requirepass", "masterauth"),
    ),
    (
        "password",
        r"(?i:;[ \t]{0,4}(?:password|pwd))[ \t]{0,4}=[ \t]{0,4}(?P<s>[^;\"'\n⟨⟩]{2,}+)",
        (";",),
        like.is_literal,
        (";",),
    ),
    (
        "secret",
        rf"#[ \t]{{0,4}}define{_GAP}[A-Za-z0-9_]{{0,60}}?(?i:{_SECRET_NAME})_?[0-9]{{0,2}}"
        rf'{_GAP}"(?P<s>[^"\s\\⟨⟩]{{4,}}+)(?=")',
        ("define ",),
        like.is_defined,
        ("#",),
    ),
    (
        "password",
        r"""(?i:psk|wpa_passphrase)=["']?(?P<s>[^\s"'⟨⟩]{8,}+)""",
        ("psk=", "wpa_passphrase="),
        like.is_literal,
        ("psk", "wpa_passphrase"),
    ),
    (
        "token",
        r"(?i:(?:root|initial root)[ \t]{1,4}token|unseal[ \t]{1,4}key(?:[ \t]{1,4}[0-9]{1,2})?)"
        r"[ \t]{0,4}:[ \t]{0,4}(?P<s>[A-Za-z0-9+/=._-]{20,}+)",
        ("root token", "unseal key"),
        like.is_signature,
        ("root", "initial root", "unseal"),
    ),
)  # fmt: skip
"""Tried behind the headers; in the form of a row of the table."""

_TO_LINE_END: Final = r":[ \t]{0,4}(?P<s>(?!//)[^\s⟨⟩]{3,128})(?=[ \t]{0,8}(?:[\r\n]|\Z))"

SAID: Final[tuple[Row, ...]] = (
    (
        "password",
        r"(?i:\[sudo(?:: authenticate)?\] password(?: for [^\s:]{1,64})?"
        r"|enter [^\n:]{0,40}?(?:password|passphrase|pass phrase|passcode)"
        r"(?: for [^\n:]{1,120}| \([^\n:)]{1,60}\))?"
        r"|password for (?:'[^'\n]{1,160}'|[^\n:]{1,80})|'s password)" + _TO_LINE_END,
        ("password for", "enter ", "'s password", "[sudo"),
        like.is_echoed,
        ("[sudo", "enter ", "password for ", "'s password"),
    ),
    (
        "password",
        r"(?<![^\n])Password" + _TO_LINE_END,
        ("password:",),
        like.is_echoed,
        ("password",),
    ),
    (
        "api-key",
        r"(?i:(?:api|access|secret|auth|private|signing|encryption)[ _-]?(?:access[ _-]?)?(?:key|token)"
        r"|token|secret)"
        r"""(?:[ \t]{1,4}(?i:is|was)|[ \t]{0,4}[:=]|)[ \t]{1,4}["'`]?(?P<s>[A-Za-z0-9+/=_-]{16,}+)""",
        ("key", "token", "secret"),
        like.is_random,
        ("api", "access", "secret", "auth", "private", "signing", "encryption", "token"),
    ),
    (
        "password",
        r"(?i:password|passphrase|passwd)[ \t]{1,4}(?i:for|of)[ \t]{1,4}\S{1,80}"
        r"[ \t]{1,4}(?i:is|was|to)[ \t]{1,4}"
        r"""["'`]?(?P<s>[^\s"'`⟨⟩]{8,}+)""",
        ("password", "passphrase", "passwd"),
        like.is_mixed,
        ("pass",),
    ),
)
"""Tried last: a sentence that says what a key or a password is."""
