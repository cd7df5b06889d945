"""Rules for secrets in command lines and in what programs print."""

import re
from collections.abc import Callable
from typing import Final

from workbench.secrets import false_positives

RuleRow = tuple[str, str, tuple[str, ...], Callable[[re.Match[str]], bool] | None, tuple[str, ...]]
"""Kind, expression, hints, check, anchors."""
_GAP: Final = r"[ \t]{1,8}"
_OPTION_VALUE: Final = r"""["']?(?P<s>[^\s"'⟨⟩-][^\s"'⟨⟩]{2,}+)"""


def _option_of(*programs: str) -> Callable[[re.Match[str]], bool]:
    """Return a check: one of the programs stands before it in the same command, and it is a value."""
    return lambda match: (
        false_positives.is_literal(match) and false_positives.follows_program(match, *programs)
    )


def _option_row(options: str, anchors: tuple[str, ...], programs: tuple[str, ...]) -> RuleRow:
    hints = tuple(program.strip() for program in programs)
    return "password", rf"(?<=\s)(?:{options}){_OPTION_VALUE}", hints, _option_of(*programs), anchors


_SNMP_PROGRAMS: Final = (
    "snmpwalk",
    "snmpget",
    "snmpset",
    "snmpbulk",
    "snmptable",
    "snmptrap",
    "snmptranslate",
    "snmpstatus",
)
_PASSWORD_PIPE: Final = (
    r"(?:[^|\n]{1,200}--password-stdin|[^|\n]{0,80}sudo[ ][^|\n]{0,80}-S\b|[^|\n]{1,200}--passphrase-fd"
    r"|[^|\n]{0,80}passwd[ ][^|\n]{0,40}--stdin)"
)
CLIENT_OPTION_RULES: Final[tuple[RuleRow, ...]] = (
    _option_row(
        rf"-p{_GAP}",
        ("-p",),
        (
            *("mongo", "cqlsh", "ncftp", "twine", "winrm", "crackmapexec", "netexec", "hydra", "psexec"),
            *("rdesktop", "useradd", "usermod", "clickhouse-client", "argocd login"),
        ),
    ),
    _option_row(rf"-P{_GAP}", ("-p",), ("sqlcmd", " bcp ", "ipmitool", "tsql")),
    _option_row(rf"-pw{_GAP}", ("-pw",), ("plink", "pscp", "psftp", "putty", "kitty")),
    _option_row(
        rf"-[uo]pw{_GAP}", ("-upw", "-opw"), ("pdfto", "pdfinfo", "pdfimages", "pdffonts", "pdfdetach")
    ),
    _option_row("-h?p", ("-p", "-hp"), (" rar ", "unrar ")),
    (
        "password",
        rf"(?<=\s)-[cAX]{_GAP}{_OPTION_VALUE}",
        _SNMP_PROGRAMS,
        lambda match: (
            false_positives.is_snmp_community(match)
            and false_positives.follows_program(match, *_SNMP_PROGRAMS)
        ),
        ("-c", "-a", "-x"),
    ),
    _option_row(rf"-k{_GAP}", ("-k",), ("nuget push",)),
    _option_row(r"(?:-b|--body)[ \t=]{0,4}", ("-b", "--body"), ("gh secret set", "gh variable set")),
    _option_row("/p:", ("/p:",), ("freerdp",)),
    _option_row("-p:", ("-p:",), ("winrs",)),
    _option_row(rf"/rp{_GAP}", ("/rp",), ("schtasks",)),
    _option_row("/pass:", ("/pass:",), ("cmdkey", "psexec", "runas")),
    _option_row(rf"(?:--auth|-a){_GAP}", ("--auth", "-a"), ("netlify ",)),
    _option_row(rf"-t{_GAP}", ("-t",), ("codecov ",)),
    _option_row(rf"(?:user|owner)_pw{_GAP}", ("user_pw", "owner_pw"), ("pdftk",)),
    _option_row(r"-u[ \t]{0,8}[^\s,\"']{1,60},", ("-u",), ("lftp",)),
    (
        "password",
        rf"-(?:src|dest|new)?(?:store|key)pass(?:word)?{_GAP}{_OPTION_VALUE}",
        ("storepass", "keypass"),
        false_positives.is_literal,
        ("-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass", "-new"),
    ),
    (
        "password",
        rf"(?i:net(?:\.exe)?{_GAP}use){_GAP}(?:(?:[a-z*]:?|[A-Z]:){_GAP})?\\{{2,4}}\S{{1,120}}"
        rf"(?:{_GAP}/u(?:ser)?:\S{{1,80}})?{_GAP}(?P<s>[^\s\"'⟨⟩/*][^\s\"'⟨⟩]{{2,}}+)",
        ("net use", "net.exe use"),
        false_positives.is_literal,
        ("net use", "net.exe use"),
    ),
    (
        "password",
        rf"(?<![A-Za-z])(?i:net(?:\.exe)?{_GAP}user){_GAP}[\w.$-]{{1,60}}{_GAP}(?P<s>[^\s\"'⟨⟩/*][^\s\"'⟨⟩]{{2,}}+)"
        rf"(?={_GAP}/[a-z]|[ \t]{{0,8}}(?:[\r\n]|\Z))",
        ("net user", "net.exe user"),
        false_positives.is_announced_value,
        ("net user", "net.exe user"),
    ),
    (
        "password",
        rf"""(?:echo|printf){_GAP}(?>(?:-n[ ]|(?:'%s'|"%s"|%s)(?:\\n)?[ ])?)["']?"""
        rf"""(?P<s>[^\s"'$|⟨⟩][^\s"'|⟨⟩]{{2,}}+)["']?[ \t]{{0,4}}\|{_PASSWORD_PIPE}""",
        ("--password-stdin", "sudo ", "--passphrase-fd", "--stdin"),
        false_positives.is_literal,
        ("echo", "printf"),
    ),
    (
        "password",
        rf"""(?:echo|printf){_GAP}(?:-[ne][ ])?["']?[\w.-]{{1,40}}:(?P<s>[^\s"'$|⟨⟩][^\s"'|⟨⟩]{{2,}}+)["']?"""
        r"""[ \t]{0,4}\|[^|\n]{0,80}chpasswd""",
        ("chpasswd",),
        false_positives.is_literal,
        ("echo", "printf"),
    ),
    (
        "password",
        rf"<<<[ \t]{{0,4}}{_OPTION_VALUE}",
        ("<<<",),
        _option_of(
            *("kinit", "cryptsetup", " login ", "--password-stdin", "sudo -s", "passphrase-fd", "secret put"),
            *("secret set", "passwd"),
        ),
        ("<<<",),
    ),
    (
        "password",
        rf"rabbitmqctl{_GAP}(?:-\S{{1,40}}{_GAP})?(?:add_user|change_password|authenticate_user){_GAP}\S{{1,60}}{_GAP}{_OPTION_VALUE}",
        ("rabbitmqctl",),
        false_positives.is_literal,
        ("rabbitmqctl",),
    ),
    (
        "password",
        r"(?:impacket-\w{1,20}|(?:psexec|wmiexec|smbexec|atexec|secretsdump)\.py)[^\n⟨⟩]{0,80}?[ \t'\"]"
        r"(?:[\w.-]{1,60}/)?[\w.-]{1,60}:(?P<s>[^\s\"'⟨⟩]{3,60})(?=@)",
        ("impacket", "exec.py", "secretsdump"),
        false_positives.is_literal,
        ("impacket", "psexec.py", "wmiexec.py", "smbexec.py", "atexec.py", "secretsdump.py"),
    ),
    (
        "password",
        rf"rclone{_GAP}obscure{_GAP}{_OPTION_VALUE}",
        ("rclone obscure",),
        false_positives.is_literal,
        ("rclone",),
    ),
    (
        "password",
        rf"http-basic\.\S{{1,80}}{_GAP}\S{{1,80}}{_GAP}{_OPTION_VALUE}",
        ("http-basic.",),
        false_positives.is_literal,
        ("http-basic.",),
    ),
    (
        "password",
        rf"bundle{_GAP}config{_GAP}(?:(?:set|--\w{{1,12}}){_GAP}){{0,3}}[\w.-]{{1,80}}{_GAP}[\w.%@-]{{1,60}}:{_OPTION_VALUE}",
        ("bundle config",),
        false_positives.is_literal,
        ("bundle",),
    ),
    ("token", rf"snyk{_GAP}auth{_GAP}(?P<s>[a-f0-9-]{{36}})", ("snyk auth",), None, ("snyk",)),
    (
        "token",
        r"-D[a-z.]{0,40}(?:sonar\.login|\.token|apiKey)=(?P<s>[A-Za-z0-9_-]{16,}+)",
        ("sonar.login", ".token=", "apikey="),
        false_positives.is_signature,
        ("-d",),
    ),
    (
        "token",
        r"/t/(?P<s>[a-z]{2}-[A-Za-z0-9-]{16,}+)(?=/)",
        ("/t/",),
        false_positives.is_signature,
        ("/t/",),
    ),
    (
        "password",
        rf"wpa_passphrase{_GAP}\S{{1,40}}{_GAP}(?P<s>[^\s\"'<>⟨⟩]{{8,63}}+)",
        ("wpa_passphrase",),
        false_positives.is_literal,
        ("wpa_passphrase",),
    ),
    (
        "password",
        rf"""wifi{_GAP}(?:connect|hotspot){_GAP}[^\n⟨⟩]{{1,80}}?{_GAP}password{_GAP}["']?(?P<s>[^\s"'⟨⟩]{{6,}}+)""",
        ("wifi connect", "wifi hotspot"),
        false_positives.is_literal,
        ("wifi",),
    ),
    (
        "password",
        rf"""(?:wifi-sec\.(?:psk|wep-key0)|802-1x\.password){_GAP}{_OPTION_VALUE}""",
        ("wifi-sec.", "802-1x.password"),
        false_positives.is_literal,
        ("wifi-sec.", "802-1x.password"),
    ),
    (
        "password",
        rf"{_GAP}key{_GAP}s:(?P<s>[^\s⟨⟩]{{4,}}+)",
        ("iwconfig",),
        false_positives.is_literal,
        (" key",),
    ),
    (
        "password",
        r"""--password-command[ =]["'](?:echo|printf)[ ](?:-n[ ]|'?%s'?[ ])?(?P<s>[^\s"'$⟨⟩]{3,}+)""",
        ("--password-command",),
        false_positives.is_literal,
        ("--password-command",),
    ),
    (
        "password",
        r"""assword:?["'*}\s\\]{0,8};?[ \t\r\n]{0,40}(?:exp_)?send(?:_user)?[ ](?:--[ ])?["']"""
        r"""(?P<s>[^"'\\$⟨⟩\s]{3,}+)""",
        ('send "', "send '", "send -- ", "send_user", 'send \\"'),
        false_positives.is_literal,
        ("assword",),
    ),
    (
        "password",
        r"""(?:username|user)=[^\s,"']{1,80},pass=(?P<s>[^\s,"'⟨⟩]{3,}+)""",
        (",pass=",),
        false_positives.is_literal,
        ("user",),
    ),
    (
        "password",
        r"""ConvertTo-SecureString[ ](?:-String[ ])?["'](?P<s>[^"'\n$⟨⟩][^"'\n⟨⟩]{2,}+)(?=["'])""",
        ("convertto-securestring",),
        false_positives.is_literal,
        ("convertto-securestring",),
    ),
)
"""Kind, expression, hints, check, anchors."""
_ASSIGNMENT_SIGN: Final = r"""["'\\]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}["'\\]{0,3}"""
_WORD_VALUE: Final = r"""["']?(?P<s>[^\s"'⟨⟩]{3,}+)"""
_SECRET_NAME: Final = (
    r"(?:password|passwd|passphrase|pass|pwd|secret|token|(?:api|access|auth|private|secret)_?key)"
)


def _value_behind(*programs: str) -> Callable[[re.Match[str]], bool]:
    return lambda match: (
        false_positives.is_literal(match) and false_positives.follows_program(match, *programs)
    )


EARLY_RULES: Final[tuple[RuleRow, ...]] = (
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
COMMAND_RULES: Final[tuple[RuleRow, ...]] = (
    (
        "key-data",
        r'"auth"[ \t]{0,4}:[ \t]{0,4}"(?P<s>[A-Za-z0-9+/]{4,}+={0,2})(?=")',
        ('"auth"',),
        false_positives.is_login_pair,
        ('"auth"',),
    ),
    (
        "key-data",
        rf"(?i:dockerc(?:onfigjson|fg)){_ASSIGNMENT_SIGN}(?P<s>[A-Za-z0-9+/=]{{16,}}+)",
        ("dockerconfigjson", "dockercfg"),
        None,
        ("dockerconfigjson", "dockercfg"),
    ),
    (
        "signature",
        rf"(?i:x-amz-signature|x-goog-signature|x-amz-security-token){_ASSIGNMENT_SIGN}(?P<s>[A-Za-z0-9%/+_.=-]{{16,}}+)",
        ("x-amz-s", "x-goog-signature"),
        false_positives.is_signature,
        ("x-amz-s", "x-goog-signature"),
    ),
    ("signature", r"[?&]Signature=(?P<s>[A-Za-z0-9%/+_=-]{20,}+)", ("signature=",),
     false_positives.is_signature, ()),
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
        false_positives.has_dense_run,
        ("authorization",),
    ),
    (
        "cookie",
        r"""(?<=\s)(?:-b|--cookie)[ =]["']?(?P<s>[\w.-]{1,64}=[^\s"'⟨⟩]{8,}+)""",
        ("curl", "http"),
        false_positives.has_digit_or_inner_capital,
        ("-b", "--cookie"),
    ),
    (
        "secret",
        r"(?:(?i:setenv|setx|set[ \t]{1,4}-[a-z]{1,4}|config[: ]set)|ENV|ARG)"
        rf"[ \t]{{1,8}}[A-Za-z][A-Za-z0-9_]{{0,60}}?(?i:{_SECRET_NAME}){_GAP}{_WORD_VALUE}",
        ("setenv", "setx ", "set -", "env ", "arg ", "config set", "config:set"),
        false_positives.is_set_variable,
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
        false_positives.has_digit_or_inner_capital,
        ("_authtoken", ":_auth", "set", "_password"),
    ),
    (
        "password",
        rf"""(?:echo|printf){_GAP}(?:-n[ ])?["']?(?P<s>[^\s"'$|⟨⟩]{{4,}}+)"""
        r"""(?=["']?[ \t]{0,4}\|[^|\n]{1,200}--password-stdin)""",
        ("--password-stdin",),
        false_positives.is_literal,
        ("echo", "printf"),
    ),
    ("password", r"(?<=[\s\"'])pass:(?P<s>[^\s\"'⟨⟩]{3,}+)", ("openssl",),
     _value_behind("openssl"), ("pass:",)),
    ("password", rf"(?<=\s)-k{_GAP}{_WORD_VALUE}", ("openssl",),
     _value_behind("openssl enc", "openssl aes"), ("-k",)),
    (
        "password",
        rf"(?<=\s)-P[ \t]{{0,8}}{_WORD_VALUE}",
        ("zip ", "unzip "),
        _value_behind(" zip ", "unzip "),
        ("-p",),
    ),
    (
        "password",
        r"""(?<=\s)-p["']?(?P<s>[^\s"'=⟨⟩-][^\s"'⟨⟩]{3,}+)""",
        ("7z ", "7za ", "7zz "),
        _value_behind(" 7z ", " 7za ", " 7zz "),
        ("-p",),
    ),
    (
        "password",
        rf"(?<=\s)-w{_GAP}{_WORD_VALUE}",
        ("ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "ldappasswd"),
        _value_behind("ldap"),
        ("-w",),
    ),
    (
        "password",
        r"""(?<=\s)-U[ \t]{0,4}["']?[^\s"'%]{1,60}%(?P<s>[^\s"'⟨⟩]{3,}+)""",
        ("smbclient", "rpcclient", "winexe"),
        _value_behind("smbclient", "rpcclient", "winexe"),
        ("-u",),
    ),
    (
        "password",
        rf"htpasswd{_GAP}-[a-zA-Z0-9]{{0,8}}b[a-zA-Z0-9]{{0,8}}{_GAP}\S{{1,120}}{_GAP}\S{{1,60}}{_GAP}{_WORD_VALUE}",
        ("htpasswd",),
        false_positives.is_literal,
        ("htpasswd",),
    ),
    (
        "password",
        rf"(?:sqlplus{_GAP}(?:-[A-Za-z]{{1,4}}{_GAP})?|jdbc:oracle:[a-z]{{1,6}}:)[\w$]{{1,60}}/(?P<s>[^\s@/\"'⟨⟩]{{3,}}+)(?=@)",
        ("sqlplus", "jdbc:oracle"),
        false_positives.is_literal,
        ("sqlplus", "jdbc:oracle"),
    ),
    (
        "password",
        r"(?i:identified[ \t]{1,4}by(?:[ \t]{1,4}password)?"
        r"|(?:with|login|encrypted|set)[ \t]{1,4}password(?:[ \t]{0,4}=)?)[ \t]{1,4}"
        r"""(?:'(?P<single>[^'\n⟨⟩]{3,}+)(?=')|"(?P<double>[^"\n⟨⟩]{3,}+)(?="))""",
        ("identified", "password '", 'password "'),
        false_positives.is_literal,
        ("identified", "with", "login", "encrypted", "set"),
    ),
    (
        "password",
        rf"(?:requirepass|masterauth){_GAP}{_WORD_VALUE}",
        ("requirepass", "masterauth"),
        false_positives.is_login,
        ("requirepass", "masterauth"),
    ),
    (
        "password",
        r"(?i:;[ \t]{0,4}(?:password|pwd))[ \t]{0,4}=[ \t]{0,4}(?P<s>[^;\"'\n⟨⟩]{2,}+)",
        (";",),
        false_positives.is_literal,
        (";",),
    ),
    (
        "secret",
        rf"#[ \t]{{0,4}}define{_GAP}[A-Za-z0-9_]{{0,60}}?(?i:{_SECRET_NAME})_?[0-9]{{0,2}}"
        rf'{_GAP}"(?P<s>[^"\s\\⟨⟩]{{4,}}+)(?=")',
        ("define ",),
        false_positives.is_macro_value,
        ("#",),
    ),
    (
        "password",
        r"""(?i:psk|wpa_passphrase)=["']?(?P<s>[^\s"'⟨⟩]{8,}+)""",
        ("psk=", "wpa_passphrase="),
        false_positives.is_literal,
        ("psk", "wpa_passphrase"),
    ),
    (
        "token",
        r"(?i:(?:root|initial root)[ \t]{1,4}token|unseal[ \t]{1,4}key(?:[ \t]{1,4}[0-9]{1,2})?)"
        r"[ \t]{0,4}:[ \t]{0,4}(?P<s>[A-Za-z0-9+/=._-]{20,}+)",
        ("root token", "unseal key"),
        false_positives.is_signature,
        ("root", "initial root", "unseal"),
    ),
)  # fmt: skip
"""Tried behind the headers; in the form of a row of the table."""
