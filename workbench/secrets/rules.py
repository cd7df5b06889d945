"""The table of rules for secrets: kind, regular expression, hints, check and anchors.

A rule must run in linear time: it begins with fixed text or a keyword, repetitions are possessive or
bounded. Make a group possessive with `(?>…)`: Python before 3.11.4 mishandles a `+` behind its quantifier. A
rule must never match because of the mark that another one put beside it: `⟨` and `⟩` are in no class, and
few rules look left.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from workbench.secrets.code_and_settings_rules import CODE_AND_SETTINGS_RULES
from workbench.secrets.command_line_rules import CLIENT_OPTION_RULES, COMMAND_RULES, EARLY_RULES, RuleRow
from workbench.secrets.false_positives import (
    compiled_pattern,
    has_dense_run,
    has_digit_or_inner_capital,
    has_mixed_characters,
    is_assigned_password,
    is_assigned_to_pass,
    is_assigned_token,
    is_base64_text,
    is_call_value,
    is_client_login,
    is_database_password,
    is_flag_value,
    is_key_block,
    is_key_body,
    is_literal,
    is_login_password,
    is_quoted_secret,
    is_random_run,
    is_store_password,
    is_typed_at_prompt,
)
from workbench.secrets.neighbor_rules import NEIGHBOR_RULES
from workbench.secrets.service_keys import SERVICE_KEY_RULES, anchors_of_expression

_BLANK = r"[ \t]"
_ANY_BLANK = "[ \\t\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]"
"""No-break, thin, wide and such of no width: between a name and its secret they are blanks like any other."""
_WORD_CHARACTER = "[A-Za-z0-9_-]"
_WORD_START = r"(?:(?<![A-Za-z0-9_-]{0})|(?<=\\[nrt]{0}))"
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


class SecretRule(NamedTuple):
    """One kind of secret."""

    kind: str
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
        return compiled_pattern(self.source.replace(_BLANK, _ANY_BLANK))


def _assignment(keyword: str) -> str:
    """`password = "…"`, `PASSWORD=…`, `"password": "…"`, `password: str = "…"`, `x["password"] = "…"`."""
    return (
        rf"(?<!⟨)(?i:{keyword})(?i:{_SUFFIX})"
        rf"""(?:\\?["'])?\]?[ \t]{{0,8}}{_ANNOTATION}(?:=>|:=|[=:])[ \t]{{0,8}}\\?{_VALUE}"""
    )


_CALL_VALUE = (
    r"""\([ \t]{0,4}["'](?:[A-Z][A-Z0-9_]{0,60}?_)?(?:PASSWORD|PASSWD|PASS|PWD|SECRET|TOKEN|KEY|SALT)["']"""
    r"""[ \t]{0,4},[ \t]{0,16}"""
    r"""(?:"(?P<double>[^"\n\\⟨⟩]{1,200}+)(?=")|'(?P<single>[^'\n\\⟨⟩]{1,200}+)(?='))"""
)
"""`define('DB_PASSWORD', '…')`, `os.Setenv("API_TOKEN", "…")`."""
_PASSWORD_WORDS = "pass(?:word|wd|phrase|code)|pwd"
_SECRET_WORDS = "secret|credentials?|creds"
_KEY_PREFIXES = (
    "api", "access", "account", "subscription", "private", "signing", "encryption", "master", "auth",
    "service", "shared", "application", "unseal", "secret", "fernet",
)  # fmt: skip
_KEY_WORDS = f"(?:{'|'.join(_KEY_PREFIXES)})[_.-]?key"
_KEY_HINTS = tuple(f"{word}{joint}key" for word in _KEY_PREFIXES for joint in ("", "_", "-", "."))
_SECRET_NAMES = f"{_PASSWORD_WORDS}|{_SECRET_WORDS}|{_KEY_WORDS}|token"
_EARLY_RULES: tuple[SecretRule, ...] = (
    SecretRule("pem", _PEM, ("-----begin",), is_key_block),
    *(SecretRule(*row) for row in EARLY_RULES),
)
_PREFIX_RULES: tuple[SecretRule, ...] = (
    SecretRule(
        "github-token",
        rf"gh[opsur]_{_WORD_CHARACTER}{{20,}}+",
        ("ghp_", "gho_", "ghs_", "ghu_", "ghr_"),
        is_key_body,
    ),
    SecretRule("github-token", rf"github_pat_{_WORD_CHARACTER}{{20,}}+", ("github_pat_",), is_key_body),
    SecretRule(
        "gitlab-token", rf"gl(?:pat|rtr?|dt|ptt|cbt|soat|ft|imt|wt|agent)-{_WORD_CHARACTER}{{16,}}+", ("gl",)
    ),
    SecretRule("slack-token", r"xox[a-eoprs]-[A-Za-z0-9%_-]{10,}+", ("xox",), is_key_body),
    SecretRule("slack-token", rf"xapp-[0-9]-{_WORD_CHARACTER}{{10,}}+", ("xapp-",)),
    SecretRule(
        "slack-webhook", r"hooks\.slack\.com/services/(?P<s>[A-Za-z0-9/_-]{20,}+)", ("hooks.slack.com",)
    ),
    SecretRule("google-key", rf"AIza{_WORD_CHARACTER}{{30,}}+", ("aiza",)),
    SecretRule("stripe-key", rf"[rs]k_(?:live|test)_{_WORD_CHARACTER}{{16,}}+", ("k_live_", "k_test_")),
    SecretRule("stripe-key", rf"whsec_{_WORD_CHARACTER}{{16,}}+", ("whsec_",)),
    SecretRule("npm-token", r"npm_[A-Za-z0-9]{30,}+", ("npm_",)),
    SecretRule("pypi-token", rf"pypi-{_WORD_CHARACTER}{{40,}}+", ("pypi-",), has_dense_run),
    SecretRule("huggingface-token", r"hf_[A-Za-z0-9]{30,}+", ("hf_",)),
    SecretRule("sendgrid-key", rf"SG\.{_WORD_CHARACTER}{{16,}}+\.{_WORD_CHARACTER}{{16,}}+", ("sg.",)),
    SecretRule("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}+", ("age-secret-key-",)),
    SecretRule("anthropic-key", rf"sk-ant-{_WORD_CHARACTER}{{16,}}+", ("sk-ant-",)),
    SecretRule(
        "aws-key",
        r"A(?:KIA|SIA|BIA|CCA|GPA|IDA|ROA|IPA|NPA|NVA|3T[A-Z0-9])[A-Z0-9]{16,}+",
        ("akia", "asia", "abia", "acca", "agpa", "aida", "aroa", "aipa", "anpa", "anva", "a3t"),
    ),
    SecretRule(
        "openai-key", rf"sk-{_WORD_START.format('sk-')}{_WORD_CHARACTER}{{20,}}+", ("sk-",), has_dense_run
    ),
    SecretRule(
        "jwt",
        rf"eyJ{_WORD_START.format('eyJ')}{_WORD_CHARACTER}{{8,}}+\.{_WORD_CHARACTER}{{8,}}+(?>(?:\.{_WORD_CHARACTER}*+){{0,3}})",
        ("eyj",),
    ),
    *(SecretRule(kind, source, hints, is_key_body) for kind, source, hints in SERVICE_KEY_RULES),
)
_TO_LINE_END = r":[ \t]{0,4}(?P<s>(?!//)[^\s⟨⟩]{3,128})(?=[ \t]{0,8}(?:[\r\n]|\Z))"
_SENTENCE_RULES: tuple[RuleRow, ...] = (
    (
        "password",
        r"(?i:\[sudo(?:: authenticate)?\] password(?: for [^\s:]{1,64})?"
        r"|enter [^\n:]{0,40}?(?:password|passphrase|pass phrase|passcode)"
        r"(?: for [^\n:]{1,120}| \([^\n:)]{1,60}\))?"
        r"|password for (?:'[^'\n]{1,160}'|[^\n:]{1,80})|'s password)" + _TO_LINE_END,
        ("password for", "enter ", "'s password", "[sudo"),
        is_typed_at_prompt,
        ("[sudo", "enter ", "password for ", "'s password"),
    ),
    ("password", r"(?<![^\n])Password" + _TO_LINE_END, ("password:",), is_typed_at_prompt, ("password",)),
    (
        "api-key",
        r"(?i:(?:api|access|secret|auth|private|signing|encryption)[ _-]?(?:access[ _-]?)?(?:key|token)"
        r"|token|secret)"
        r"""(?:[ \t]{1,4}(?i:is|was)|[ \t]{0,4}[:=]|)[ \t]{1,4}["'`]?(?P<s>[A-Za-z0-9+/=_-]{16,}+)""",
        ("key", "token", "secret"),
        is_random_run,
        ("api", "access", "secret", "auth", "private", "signing", "encryption", "token"),
    ),
    (
        "password",
        r"(?i:password|passphrase|passwd)[ \t]{1,4}(?i:for|of)[ \t]{1,4}\S{1,80}"
        r"[ \t]{1,4}(?i:is|was|to)[ \t]{1,4}"
        r"""["'`]?(?P<s>[^\s"'`⟨⟩]{8,}+)""",
        ("password", "passphrase", "passwd"),
        has_mixed_characters,
        ("pass",),
    ),
)
"""Tried last: a sentence that says what a key or a password is."""
_CONTEXT_RULES: tuple[SecretRule, ...] = (
    SecretRule("url-token", r"""://(?P<s>[A-Za-z0-9_-]{20,}+)(?=@|:[\w-]{0,40}@)""", ("://",), has_dense_run),
    SecretRule(
        "url-password",
        r"""://[^\s/:@"'`<>\[⟨⟩]*+:(?P<s>[^\s/?#"'`<>⟨⟩]{1,200}|(?![0-9]{1,5}[/?#])[^\s@"'`<>⟨⟩]{1,200}+)(?=@)""",
        ("://",),
        is_literal,
    ),
    SecretRule(
        "bearer",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
        r"(?i:bearer|token|apikey|negotiate)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=:-]{4,}+)",
        ("authorization",),
        has_digit_or_inner_capital,
        ("authorization",),
    ),
    SecretRule(
        "basic-auth",
        r"""(?i:authorization)["'\\\]]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
        r"(?i:basic)[ \t]{1,4}(?P<s>[A-Za-z0-9+/=_-]{4,}+)",
        ("authorization",),
        has_digit_or_inner_capital,
        ("authorization",),
    ),
    SecretRule(
        "bearer",
        r"(?i:bearer)[ \t]{1,4}(?P<s>[A-Za-z0-9._~+/=-]{16,}+)",
        ("bearer",),
        has_digit_or_inner_capital,
        ("bearer",),
    ),
    SecretRule(
        "basic-auth",
        r"""(?<=\s)(?:-[uU][ =]?|--(?:proxy-)?user[ =]|-a |--auth[ =])["']?"""
        r"""[^\s:"'⟨⟩/]{1,64}:(?P<s>[^\s"'⟨⟩]++)""",
        ("curl", "wget", "http"),
        is_client_login,
        ("-u", "--", "-a"),
    ),
    SecretRule(
        "authorization",
        r"""(?i:(?<![A-Za-z])authorization)["'\\]{0,3}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,3}"""
        r"(?P<s>[A-Za-z0-9._~+/=:-]{16,}+)",
        ("authorization",),
        has_dense_run,
        ("authorization",),
    ),
    *(SecretRule(*row) for row in COMMAND_RULES),
    *(SecretRule(*row) for row in CLIENT_OPTION_RULES),
    *(SecretRule(*row) for row in CODE_AND_SETTINGS_RULES),
    *(SecretRule(*row) for row in NEIGHBOR_RULES),
    SecretRule(
        "url-token",
        r"[?&#](?i:key|auth|sig|signature|x-amz-signature|x-goog-signature|code|session|sessionid|sid|jwt)="
        r"(?P<s>[A-Za-z0-9%._~+/-]{16,}+)",
        (
            *("key=", "auth=", "sig=", "signature=", "x-amz-signature=", "x-goog-signature=", "code="),
            *("session=", "sessionid=", "sid=", "jwt="),
        ),
        has_dense_run,
    ),
    SecretRule(
        "named-value",
        rf"""(?i:(?<![A-Za-z])(?:name|key))["']?[ \t]{{0,4}}:[ \t]{{0,4}}["']?[\w.-]{{0,60}}?"""
        rf"""(?i:{_SECRET_NAMES}|_pass)"""
        r"""["']?(?:,|\s)\s{0,40}"""
        rf"""["']?(?i:value)["']?[ \t]{{0,4}}:[ \t]{{0,4}}{_VALUE}""",
        ("value:", '"value"', "'value'"),
        is_assigned_password,
        ("name", "key"),
    ),
    SecretRule(
        "named-value",
        rf"""(?i:(?:name|key)="[\w.:-]{{0,60}}?(?:{_SECRET_NAMES})"\s{{1,8}}value)="(?P<s>[^"\s⟨⟩]{{4,}}+)(?=")""",
        ("value=",),
        is_literal,
        ("name=", "key="),
    ),
    SecretRule(
        "key-data",
        r"""(?:client-key-data|(?<![A-Za-z0-9])_auth|"auth"|"identitytoken")[ \t]{0,4}[:=][ \t]{0,4}["']?"""
        r"(?P<s>[A-Za-z0-9+/=_-]{16,}+)",
        ("client-key-data", "_auth", '"auth"', "identitytoken"),
        has_dense_run,
        ("client-key-data", "_auth", '"auth"', '"identitytoken"'),
    ),
    SecretRule(
        "app-key",
        r"(?i:key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?base64:(?P<s>[A-Za-z0-9+/=]{16,}+)",
        ("base64:",),
        None,
        ("key",),
    ),
    SecretRule(
        "password",
        r"(?:(?<=\s)-a|vault[ \t]{1,4}login)[ \t]{1,4}(?P<s>[^\s\"'⟨⟩-][^\s\"'⟨⟩]{7,}+)",
        ("redis-cli", "vault login"),
        is_store_password,
        ("-a", "vault"),
    ),
    SecretRule(
        "password",
        rf"""(?i:{_PASSWORD_WORDS})(?:[ \t]{{1,4}}(?i:is|to|as))?[ \t]{{1,4}}["'`]?"""
        r"""(?P<s>[^\s"'`⟨⟩]{8,}+)""",
        ("pass", "pwd"),
        has_mixed_characters,
        ("pass", "pwd"),
    ),
    SecretRule(
        "aws-secret",
        r"""(?i:secret_?access_?key)["'\\]{0,2}[ \t]{0,4}[:=][ \t"'\\]{0,6}(?P<s>[A-Za-z0-9/+]{40,}+)""",
        ("secretaccesskey", "secret_access_key"),
        None,
        ("secret",),
    ),
    SecretRule(
        "cookie",
        r"""(?i:(?<![A-Za-z])set-cookie)["'\\]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,2}[\w.-]{1,64}="""
        r"""(?P<s>[^;\s"'⟨⟩]{8,}+)""",
        ("set-cookie",),
        has_digit_or_inner_capital,
        ("set-cookie",),
    ),
    SecretRule(
        "cookie",
        r"""(?i:(?<![A-Za-z-])cookie)["'\\]{0,2}[ \t]{0,4}:[ \t]{0,4}["'\\]{0,2}"""
        r"""(?P<s>[\w.-]{1,64}=[^\r\n"'\\⟨⟩]{8,}+)""",
        ("cookie",),
        has_digit_or_inner_capital,
        ("cookie",),
    ),
    SecretRule(
        "password",
        r"(?i:machine\s{1,9}\S{1,99}|default)\s{1,9}(?i:login)\s{1,9}\S{1,99}\s{1,9}"
        r"(?i:account\s{1,9}\S{1,99}\s{1,9})?(?i:password)"
        r"(?:[ \t]{1,9}|\r?\n[ \t]{1,9})(?P<s>[^\s⟨⟩]++)",
        ("machine", "default"),
        is_literal,
        ("machine", "default"),
    ),
    SecretRule(
        "password",
        r":(?:5432|3306|27017):[\w*-]{1,64}:[\w*-]{1,64}:(?P<s>[^\s:⟨⟩]{4,}+)",
        (":5432:", ":3306:"),
    ),
    SecretRule(
        "password",
        r"""(?<=\s)-p["']?(?P<s>[^\s"'=⟨⟩-][^\s"'⟨⟩]{3,}+)""",
        ("mysql", "mariadb"),
        is_database_password,
        ("-p",),
    ),
    SecretRule("password", r"""sshpass[ \t]{1,4}-p[ \t]{0,4}["']?(?P<s>[^\s"'⟨⟩]++)""", ("sshpass",)),
    SecretRule(
        "password",
        r"""(?<=\s)-p[ \t]{1,4}["']?(?P<s>[^\s"'⟨⟩]{4,}+)""",
        ("login",),
        is_login_password,
        ("-p",),
    ),
    SecretRule(
        "password",
        r"(?i:<[\w:.-]{0,40}(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)>)(?P<s>[^<\s⟨⟩]{4,}+)(?=</)",
        ("</",),
        is_literal,
    ),
    SecretRule(
        "password",
        rf"""(?i:{_PASSWORD_WORDS})(?:\\?["'])?[ \t]{{0,8}}(?:=>|:=|[=:])[ \t]{{0,8}}"""
        r"""(?:"(?=[^"\s\\⟨⟩]{0,127}+[ \t\\])(?P<double>(?:[^"\n\\⟨⟩]|\\[^\n⟨⟩]){6,128})(?=")"""
        r"""|'(?=[^'\s\\⟨⟩]{0,127}+[ \t\\])(?P<single>(?:[^'\n\\⟨⟩]|\\[^\n⟨⟩]){6,128})(?='))""",
        ("pass", "pwd"),
        is_quoted_secret,
        ("pass", "pwd"),
    ),
    SecretRule(
        "password",
        rf"(?i:{_PASSWORD_WORDS}|{_SECRET_WORDS}|token)[\"']?[ \t]{{0,8}}[=:][ \t]{{0,8}}[\"']?"
        r"(?P<s>[A-Za-z0-9+/]{6,400}={1,2})(?![A-Za-z0-9+/=(])",
        ("pass", "pwd", "secret", "cred", "token"),
        is_base64_text,
        ("pass", "pwd", "secret", "cred", "token"),
    ),
    SecretRule(
        "password", _assignment(_PASSWORD_WORDS), ("pass", "pwd"), is_assigned_password, ("pass", "pwd")
    ),
    SecretRule(
        "password",
        _assignment(r"(?:(?<![A-Za-z])|(?<=ssh))pass(?![A-Za-z])"),
        ("pass",),
        is_assigned_to_pass,
        ("pass",),
    ),
    SecretRule(
        "secret",
        _assignment(_SECRET_WORDS),
        ("secret", "credential", "creds"),
        is_assigned_password,
        ("secret", "cred"),
    ),
    SecretRule("api-key", _assignment(_KEY_WORDS), _KEY_HINTS, is_assigned_token, _KEY_PREFIXES),
    SecretRule("token", _assignment("token"), ("token",), is_assigned_token, ("token",)),
    SecretRule(
        "secret",
        _CALL_VALUE,
        tuple(
            f"{word}{quote}"
            for word in ("pass", "word", "pwd", "secret", "token", "key", "salt")
            for quote in "'\""
        ),
        is_call_value,
        ("(",),
    ),
    SecretRule(
        "password",
        rf"(?:{_PASSWORD_WORDS}|(?<=-)pass|{_SECRET_WORDS}|(?:api|account|access)-key|token)"
        rf"[ \t]{{1,4}}{_VALUE}",
        ("-",),
        is_flag_value,
        ("pass", "pwd", "secret", "cred", "api-key", "account-key", "access-key", "token"),
    ),
    *(SecretRule(*row) for row in _SENTENCE_RULES),
)


def _anchored(pattern: SecretRule) -> SecretRule:
    if pattern.anchors:
        return pattern
    anchors, leads = anchors_of_expression(pattern.source, pattern.hints)
    return pattern._replace(anchors=anchors, leads=leads)


_SERVICE_KEY_BLOCK = tuple(map(_anchored, _PREFIX_RULES))
SECRET_RULE_BLOCKS: tuple[tuple[SecretRule, ...], ...] = (
    *((_anchored(pattern),) for pattern in _EARLY_RULES),
    _SERVICE_KEY_BLOCK,
    *((_anchored(pattern),) for pattern in _CONTEXT_RULES),
)
"""Every kind that is recognised, in the order in which they are tried; what is in one block is tried at once.

Nothing in a block of several looks at what stands around a key: one that another has replaced by a mark makes
no difference to it.
"""
SECRET_RULES: tuple[SecretRule, ...] = tuple(pattern for block in SECRET_RULE_BLOCKS for pattern in block)
