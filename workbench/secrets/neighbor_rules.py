"""Secrets recognized by the words next to them."""

import re
from typing import Final

from workbench.secrets import false_positives
from workbench.secrets.command_line_rules import RuleRow

_QUOTED_VALUE: Final = r"""(?:"(?P<double>[^"\s\\⟨⟩]{3,}+)(?=")|'(?P<single>[^'\s\\⟨⟩]{3,}+)(?='))"""
_BARE_VALUE: Final = r"""(?P<s>[^\s"'`,;&|<>(){}\[\]\\⟨⟩:#-][^\s"'`,;&|<>(){}\[\]\\⟨⟩:]{2,}+)(?![:(])"""
_PARAMETER_START: Final = (
    r"[?&][\w.-]{0,40}\Z|(?<![\w-])--(?:[a-z-]{0,30}-)?\Z|--from-literal[= ][\w.-]{0,40}\Z"
    r"|\b(?:host|hostaddr|user|dbname|port|sslmode)=[^\s,;()]{1,80}[ \t]{1,4}\Z"
)
_SECRET_STORES: Final = ("vault kv put", "vault kv patch", "vault write", "op item create", "op item edit")
_BLOCK_NAME: Final = "(?:password|passphrase|passwd|secret|token|api[_-]?key|access[_-]?key)"


def _is_parameter_value(match: re.Match[str]) -> bool:
    """`?password=word`, `--db-password=word`, `user=bob password=word`: no code is written like that."""
    text = false_positives.secret_text(match)
    before = match.string[max(0, match.start() - 130) : match.start()]
    is_place = bool(
        false_positives.compiled_pattern(_PARAMETER_START).search(before)
    ) or false_positives.follows_program(match, *_SECRET_STORES)
    return is_place and false_positives.is_literal(match) and false_positives.is_plain_value(text)


def _is_variable_default(match: re.Match[str]) -> bool:
    """The default of a variable: of a password any, of a token or key one that looks like it."""
    name = false_positives.name_before_secret(match).split('"')[1].lower()
    return (
        false_positives.is_literal(match)
        if "pass" in name or "secret" in name
        else false_positives.is_assigned_token(match)
    )


def _is_block_value(match: re.Match[str]) -> bool:
    """The only line of a block text is a value; below a bare name it has to look like one."""
    head = false_positives.name_before_secret(match)
    if "|" in head or ">" in head:
        return false_positives.is_literal(match) and (
            head[0] in "pP" or false_positives.is_announced_value(match)
        )
    return false_positives.has_dense_run(match)


NEIGHBOR_RULES: Final[tuple[RuleRow, ...]] = (
    (
        "password",
        rf"(?i:password|passwd|passphrase|passwort|pwd)={_BARE_VALUE}",
        ("password=", "passwd=", "passphrase=", "passwort=", "pwd="),
        _is_parameter_value,
        ("pass", "pwd"),
    ),
    (
        "secret",
        rf"""(?i:{_BLOCK_NAME})["']?:[ \t]{{0,4}}(?:[|>][+-]?)?[ \t]{{0,4}}\r?\n[+-]?[ \t]{{1,40}}["']?"""
        r"""(?P<s>[^\s"'⟨⟩:#|>-][^\s"'⟨⟩:]{5,}+)["']?(?=[ \t]{0,8}(?:\r?\n|\Z))""",
        (":",),
        _is_block_value,
        ("pass", "secret", "token", "api", "access"),
    ),
    (
        "secret",
        rf"""(?i:password|secret|token|key)["'\])]{{0,3}}"""
        rf"""[ \t]{{1,4}}(?:\|\||\?\?|or)[ \t]{{1,4}}{_QUOTED_VALUE}""",
        tuple(f"{sign} {quote}" for sign in ("||", "??", "or") for quote in "'\""),
        false_positives.is_assigned_token,
        ("password", "secret", "token", "key"),
    ),
    (
        "secret",
        r"""variable[ \t]{1,4}"[\w-]{0,60}?(?:password|passwd|secret|token|key)[\w-]{0,20}"\s{0,4}\{"""
        r"""[^{}⟨⟩]{0,300}?default\s{0,8}=\s{0,8}"(?P<double>[^"\n$⟨⟩]{3,}+)(?=")""",
        ('variable "',),
        _is_variable_default,
        ("variable",),
    ),
    (
        "password",
        rf"(?:\.|[wW]ith_?)(?i:password)\([ \t]{{0,4}}{_QUOTED_VALUE}",
        ("password(",),
        false_positives.is_announced_password,
        (".pass", "with"),
    ),
    (
        "password",
        rf"(?i:pragma[ \t]{{1,4}}(?:hex|re)?key)[ \t]{{0,4}}=[ \t]{{0,4}}{_QUOTED_VALUE}",
        ("pragma",),
        false_positives.is_literal,
        ("pragma",),
    ),
    (
        "password",
        r"""(?<=\s)-[NP][ \t]{1,4}(?:"(?P<double>[^"\n⟨⟩]{3,}+)(?=")|'(?P<single>[^'\n⟨⟩]{3,}+)(?=')"""
        r"""|(?P<s>[^\s"'⟨⟩-][^\s"'⟨⟩]{2,}+))""",
        ("ssh-keygen",),
        lambda match: (
            false_positives.is_literal(match) and false_positives.follows_program(match, "ssh-keygen")
        ),
        ("-n", "-p"),
    ),
)
"""In the form of a row of the table."""
