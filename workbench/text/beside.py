r"""Secrets that are known by what stands beside them: the line above, the option before, the pair around.

Owns rows of the same form as `text.given`, whose rules on running time hold here, too. A row takes words
without a digit only where nothing but a value can stand.
"""

import re
from typing import Final

from workbench.text import lookalikes as like
from workbench.text.clients import Row

_QUOTED: Final = r"""(?:"(?P<double>[^"\s\\⟨⟩]{3,}+)(?=")|'(?P<single>[^'\s\\⟨⟩]{3,}+)(?='))"""
_BARE: Final = r"""(?P<s>[^\s"'`,;&|<>(){}\[\]\\⟨⟩:#-][^\s"'`,;&|<>(){}\[\]\\⟨⟩:]{2,}+)(?![:(])"""
_LEFT: Final = (
    r"[?&][\w.-]{0,40}\Z|(?<![\w-])--(?:[a-z-]{0,30}-)?\Z|--from-literal[= ][\w.-]{0,40}\Z"
    r"|\b(?:host|hostaddr|user|dbname|port|sslmode)=[^\s,;()]{1,80}[ \t]{1,4}\Z"
)
_STORES: Final = ("vault kv put", "vault kv patch", "vault write", "op item create", "op item edit")
_UNIT: Final = "(?:password|passphrase|passwd|secret|token|api[_-]?key|access[_-]?key)"


def _is_given(found: re.Match[str]) -> bool:
    """`?password=word`, `--db-password=word`, `user=bob password=word`: no code is written like that."""
    text = like.secret(found)
    before = found.string[max(0, found.start() - 130) : found.start()]
    is_place = bool(like.compiled(_LEFT).search(before)) or like.is_behind(found, *_STORES)
    return is_place and like.is_literal(found) and like.is_plain_value(text)


def _is_default(found: re.Match[str]) -> bool:
    """The default of a variable: of a password any, of a token or key one that looks like it."""
    name = like.key_of(found).split('"')[1].lower()
    return like.is_literal(found) if "pass" in name or "secret" in name else like.is_assigned_token(found)


def _is_block(found: re.Match[str]) -> bool:
    """The only line of a block text is a value; below a bare name it has to look like one."""
    head = like.key_of(found)
    if "|" in head or ">" in head:
        return like.is_literal(found) and (head[0] in "pP" or like.is_stated(found))
    return like.is_dense(found)


BESIDE: Final[tuple[Row, ...]] = (
    (
        "password",
        rf"(?i:password|passwd|passphrase|passwort|pwd)={_BARE}",
        ("password=", "passwd=", "passphrase=", "passwort=", "pwd="),
        _is_given,
        ("pass", "pwd"),
    ),
    (
        "secret",
        rf"""(?i:{_UNIT})["']?:[ \t]{{0,4}}(?:[|>][+-]?)?[ \t]{{0,4}}\r?\n[+-]?[ \t]{{1,40}}["']?"""
        r"""(?P<s>[^\s"'⟨⟩:#|>-][^\s"'⟨⟩:]{5,}+)["']?(?=[ \t]{0,8}(?:\r?\n|\Z))""",
        (":",),
        _is_block,
        ("pass", "secret", "token", "api", "access"),
    ),
    (
        "secret",
        rf"""(?i:password|secret|token|key)["'\])]{{0,3}}[ \t]{{1,4}}(?:\|\||\?\?|or)[ \t]{{1,4}}{_QUOTED}""",
        tuple(f"{sign} {quote}" for sign in ("||", "??", "or") for quote in "'\""),
        like.is_assigned_token,
        ("password", "secret", "token", "key"),
    ),
    (
        "secret",
        r"""variable[ \t]{1,4}"[\w-]{0,60}?(?:password|passwd|secret|token|key)[\w-]{0,20}"\s{0,4}\{"""
        r"""[^{}⟨⟩]{0,300}?default\s{0,8}=\s{0,8}"(?P<double>[^"\n$⟨⟩]{3,}+)(?=")""",
        ('variable "',),
        _is_default,
        ("variable",),
    ),
    (
        "password",
        rf"(?:\.|[wW]ith_?)(?i:password)\([ \t]{{0,4}}{_QUOTED}",
        ("password(",),
        like.is_stated_pass,
        (".pass", "with"),
    ),
    (
        "password",
        rf"(?i:pragma[ \t]{{1,4}}(?:hex|re)?key)[ \t]{{0,4}}=[ \t]{{0,4}}{_QUOTED}",
        ("pragma",),
        like.is_literal,
        ("pragma",),
    ),
    (
        "password",
        r"""(?<=\s)-[NP][ \t]{1,4}(?:"(?P<double>[^"\n⟨⟩]{3,}+)(?=")|'(?P<single>[^'\n⟨⟩]{3,}+)(?=')"""
        r"""|(?P<s>[^\s"'⟨⟩-][^\s"'⟨⟩]{2,}+))""",
        ("ssh-keygen",),
        lambda found: like.is_literal(found) and like.is_behind(found, "ssh-keygen"),
        ("-n", "-p"),
    ),
)
"""In the form of a row of the table."""
