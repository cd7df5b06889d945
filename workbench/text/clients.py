r"""The options by which single programs are handed a password, as data.

Owns rows of the same form as `text.given`, whose rules on running time hold here, too. An option that means
something else to other programs (`-p`, `-P`, `-c`) counts only behind the programs that are named.
"""

import re
from collections.abc import Callable
from typing import Final

from workbench.text import lookalikes as like

Row = tuple[str, str, tuple[str, ...], Callable[[re.Match[str]], bool] | None, tuple[str, ...]]
"""Kind, expression, hints, check, anchors."""

_GAP: Final = r"[ \t]{1,8}"
_VALUE: Final = r"""["']?(?P<s>[^\s"'⟨⟩-][^\s"'⟨⟩]{2,}+)"""
_TO_EOL: Final = r"(?=[ \t]{0,8}(?:$|[\r\n;&|'\"`)]|\\[nr]))"


def _told_to(*programs: str) -> Callable[[re.Match[str]], bool]:
    """Return a check: one of the programs stands before it in the same command, and it is a value."""
    return lambda found: like.is_literal(found) and like.is_behind(found, *programs)


def _option(options: str, anchors: tuple[str, ...], programs: tuple[str, ...]) -> Row:
    """Return the row of an option that some programs take a password by."""
    hints = tuple(program.strip() for program in programs)
    return "password", rf"(?<=\s)(?:{options}){_VALUE}", hints, _told_to(*programs), anchors


_SNMP: Final = (
    "snmpwalk",
    "snmpget",
    "snmpset",
    "snmpbulk",
    "snmptable",
    "snmptrap",
    "snmptranslate",
    "snmpstatus",
)
_PIPED_TO: Final = (
    r"(?:[^|\n]{1,200}--password-stdin|[^|\n]{0,80}sudo[ ][^|\n]{0,80}-S\b|[^|\n]{1,200}--passphrase-fd"
    r"|[^|\n]{0,80}passwd[ ][^|\n]{0,40}--stdin)"
)

CLIENTS: Final[tuple[Row, ...]] = (
    _option(
        rf"-p{_GAP}",
        ("-p",),
        (
            *("mongo", "cqlsh", "ncftp", "twine", "winrm", "crackmapexec", "netexec", "hydra", "psexec"),
            *("rdesktop", "useradd", "usermod", "clickhouse-client", "argocd login"),
        ),
    ),
    _option(rf"-P{_GAP}", ("-p",), ("sqlcmd", " bcp ", "ipmitool", "tsql")),
    _option(rf"-pw{_GAP}", ("-pw",), ("plink", "pscp", "psftp", "putty", "kitty")),
    _option(rf"-[uo]pw{_GAP}", ("-upw", "-opw"), ("pdfto", "pdfinfo", "pdfimages", "pdffonts", "pdfdetach")),
    _option("-h?p", ("-p", "-hp"), (" rar ", "unrar ")),
    (
        "password",
        rf"(?<=\s)-[cAX]{_GAP}{_VALUE}",
        _SNMP,
        lambda found: like.is_community(found) and like.is_behind(found, *_SNMP),
        ("-c", "-a", "-x"),
    ),
    _option(rf"-k{_GAP}", ("-k",), ("nuget push",)),
    _option(r"(?:-b|--body)[ \t=]{0,4}", ("-b", "--body"), ("gh secret set", "gh variable set")),
    _option("/p:", ("/p:",), ("freerdp",)),
    _option("-p:", ("-p:",), ("winrs",)),
    _option(rf"/rp{_GAP}", ("/rp",), ("schtasks",)),
    _option("/pass:", ("/pass:",), ("cmdkey", "psexec", "runas")),
    _option(rf"(?:--auth|-a){_GAP}", ("--auth", "-a"), ("netlify ",)),
    _option(rf"-t{_GAP}", ("-t",), ("codecov ",)),
    _option(rf"(?:user|owner)_pw{_GAP}", ("user_pw", "owner_pw"), ("pdftk",)),
    _option(r"-u[ \t]{0,8}[^\s,\"']{1,60},", ("-u",), ("lftp",)),
    (
        "password",
        rf"-(?:src|dest|new)?(?:store|key)pass(?:word)?{_GAP}{_VALUE}",
        ("storepass", "keypass"),
        like.is_literal,
        ("-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass", "-new"),
    ),
    (
        "password",
        rf"(?i:net(?:\.exe)?{_GAP}use){_GAP}(?:(?:[a-z*]:?|[A-Z]:){_GAP})?\\{{2,4}}\S{{1,120}}"
        rf"(?:{_GAP}/u(?:ser)?:\S{{1,80}})?{_GAP}(?P<s>[^\s\"'⟨⟩/*][^\s\"'⟨⟩]{{2,}}+)",
        ("net use", "net.exe use"),
        like.is_literal,
        ("net use", "net.exe use"),
    ),
    (
        "password",
        rf"(?<![A-Za-z])(?i:net(?:\.exe)?{_GAP}user){_GAP}[\w.$-]{{1,60}}{_GAP}(?P<s>[^\s\"'⟨⟩/*][^\s\"'⟨⟩]{{2,}}+)"
        rf"(?={_GAP}/[a-z]|[ \t]{{0,8}}(?:[\r\n]|\Z))",
        ("net user", "net.exe user"),
        like.is_stated,
        ("net user", "net.exe user"),
    ),
    (
        "password",
        rf"""(?:echo|printf){_GAP}(?>(?:-n[ ]|(?:'%s'|"%s"|%s)(?:\\n)?[ ])?)["']?"""
        rf"""(?P<s>[^\s"'$|⟨⟩][^\s"'|⟨⟩]{{2,}}+)["']?[ \t]{{0,4}}\|{_PIPED_TO}""",
        ("--password-stdin", "sudo ", "--passphrase-fd", "--stdin"),
        like.is_literal,
        ("echo", "printf"),
    ),
    (
        "password",
        rf"""(?:echo|printf){_GAP}(?:-[ne][ ])?["']?[\w.-]{{1,40}}:(?P<s>[^\s"'$|⟨⟩][^\s"'|⟨⟩]{{2,}}+)["']?"""
        r"""[ \t]{0,4}\|[^|\n]{0,80}chpasswd""",
        ("chpasswd",),
        like.is_literal,
        ("echo", "printf"),
    ),
    (
        "password",
        rf"<<<[ \t]{{0,4}}{_VALUE}",
        ("<<<",),
        _told_to(
            *("kinit", "cryptsetup", " login ", "--password-stdin", "sudo -s", "passphrase-fd", "secret put"),
            *("secret set", "passwd"),
        ),
        ("<<<",),
    ),
    (
        "password",
        rf"rabbitmqctl{_GAP}(?:-\S{{1,40}}{_GAP})?(?:add_user|change_password|authenticate_user){_GAP}\S{{1,60}}{_GAP}{_VALUE}",
        ("rabbitmqctl",),
        like.is_literal,
        ("rabbitmqctl",),
    ),
    (
        "password",
        r"(?:impacket-\w{1,20}|(?:psexec|wmiexec|smbexec|atexec|secretsdump)\.py)[^\n⟨⟩]{0,80}?[ \t'\"]"
        r"(?:[\w.-]{1,60}/)?[\w.-]{1,60}:(?P<s>[^\s\"'⟨⟩]{3,60})(?=@)",
        ("impacket", "exec.py", "secretsdump"),
        like.is_literal,
        ("impacket", "psexec.py", "wmiexec.py", "smbexec.py", "atexec.py", "secretsdump.py"),
    ),
    ("password", rf"rclone{_GAP}obscure{_GAP}{_VALUE}", ("rclone obscure",), like.is_literal, ("rclone",)),
    (
        "password",
        rf"http-basic\.\S{{1,80}}{_GAP}\S{{1,80}}{_GAP}{_VALUE}",
        ("http-basic.",),
        like.is_literal,
        ("http-basic.",),
    ),
    (
        "password",
        rf"bundle{_GAP}config{_GAP}(?:(?:set|--\w{{1,12}}){_GAP}){{0,3}}[\w.-]{{1,80}}{_GAP}[\w.%@-]{{1,60}}:{_VALUE}",
        ("bundle config",),
        like.is_literal,
        ("bundle",),
    ),
    ("token", rf"snyk{_GAP}auth{_GAP}(?P<s>[a-f0-9-]{{36}})", ("snyk auth",), None, ("snyk",)),
    (
        "token",
        r"-D[a-z.]{0,40}(?:sonar\.login|\.token|apiKey)=(?P<s>[A-Za-z0-9_-]{16,}+)",
        ("sonar.login", ".token=", "apikey="),
        like.is_signature,
        ("-d",),
    ),
    (
        "token",
        r"/t/(?P<s>[a-z]{2}-[A-Za-z0-9-]{16,}+)(?=/)",
        ("/t/",),
        like.is_signature,
        ("/t/",),
    ),
    (
        "password",
        rf"wpa_passphrase{_GAP}\S{{1,40}}{_GAP}(?P<s>[^\s\"'<>⟨⟩]{{8,63}}+)",
        ("wpa_passphrase",),
        like.is_literal,
        ("wpa_passphrase",),
    ),
    (
        "password",
        rf"""wifi{_GAP}(?:connect|hotspot){_GAP}[^\n⟨⟩]{{1,80}}?{_GAP}password{_GAP}["']?(?P<s>[^\s"'⟨⟩]{{6,}}+)""",
        ("wifi connect", "wifi hotspot"),
        like.is_literal,
        ("wifi",),
    ),
    (
        "password",
        rf"""(?:wifi-sec\.(?:psk|wep-key0)|802-1x\.password){_GAP}{_VALUE}""",
        ("wifi-sec.", "802-1x.password"),
        like.is_literal,
        ("wifi-sec.", "802-1x.password"),
    ),
    ("password", rf"{_GAP}key{_GAP}s:(?P<s>[^\s⟨⟩]{{4,}}+)", ("iwconfig",), like.is_literal, (" key",)),
    (
        "password",
        r"""--password-command[ =]["'](?:echo|printf)[ ](?:-n[ ]|'?%s'?[ ])?(?P<s>[^\s"'$⟨⟩]{3,}+)""",
        ("--password-command",),
        like.is_literal,
        ("--password-command",),
    ),
    (
        "password",
        r"""assword:?["'*}\s\\]{0,8};?[ \t\r\n]{0,40}(?:exp_)?send(?:_user)?[ ](?:--[ ])?["']"""
        r"""(?P<s>[^"'\\$⟨⟩\s]{3,}+)""",
        ('send "', "send '", "send -- ", "send_user", 'send \\"'),
        like.is_literal,
        ("assword",),
    ),
    (
        "password",
        r"""(?:username|user)=[^\s,"']{1,80},pass=(?P<s>[^\s,"'⟨⟩]{3,}+)""",
        (",pass=",),
        like.is_literal,
        ("user",),
    ),
    (
        "password",
        r"""ConvertTo-SecureString[ ](?:-String[ ])?["'](?P<s>[^"'\n$⟨⟩][^"'\n⟨⟩]{2,}+)(?=["'])""",
        ("convertto-securestring",),
        like.is_literal,
        ("convertto-securestring",),
    ),
)
"""In the form of a row of the table."""
