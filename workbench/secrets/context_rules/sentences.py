"""Rules for secrets in what people and programs say: prompts for a password, sentences that name a key."""

from typing import Final

from workbench.secrets import false_positives
from workbench.secrets.context_rules.command_lines import RuleRow

_TO_LINE_END: Final = r":[ \t]{0,4}(?P<s>(?!//)[^\s⟨⟩]{3,128})(?=[ \t]{0,8}(?:[\r\n]|\Z))"
SENTENCE_RULES: Final[tuple[RuleRow, ...]] = (
    (
        "password",
        r"(?i:\[sudo(?:: authenticate)?\] password(?: for [^\s:]{1,64})?"
        r"|enter [^\n:]{0,40}?(?:password|passphrase|pass phrase|passcode)"
        r"(?: for [^\n:]{1,120}| \([^\n:)]{1,60}\))?"
        r"|password for (?:'[^'\n]{1,160}'|[^\n:]{1,80})|'s password)" + _TO_LINE_END,
        ("password for", "enter ", "'s password", "[sudo"),
        false_positives.is_typed_at_prompt,
        ("[sudo", "enter ", "password for ", "'s password"),
    ),
    (
        "password",
        r"(?<![^\n])Password" + _TO_LINE_END,
        ("password:",),
        false_positives.is_typed_at_prompt,
        ("password",),
    ),
    (
        "api-key",
        r"(?i:(?:api|access|secret|auth|private|signing|encryption)[ _-]?(?:access[ _-]?)?(?:key|token)"
        r"|token|secret)"
        r"""(?:[ \t]{1,4}(?i:is|was)|[ \t]{0,4}[:=]|)[ \t]{1,4}["'`]?(?P<s>[A-Za-z0-9+/=_-]{16,}+)""",
        ("key", "token", "secret"),
        false_positives.is_random_run,
        ("api", "access", "secret", "auth", "private", "signing", "encryption", "token"),
    ),
    (
        "password",
        r"(?i:password|passphrase|passwd)[ \t]{1,4}(?i:for|of)[ \t]{1,4}\S{1,80}"
        r"[ \t]{1,4}(?i:is|was|to)[ \t]{1,4}"
        r"""["'`]?(?P<s>[^\s"'`⟨⟩]{8,}+)""",
        ("password", "passphrase", "passwd"),
        false_positives.has_mixed_characters,
        ("pass",),
    ),
)
"""Tried last: a sentence that says what a key or a password is."""
