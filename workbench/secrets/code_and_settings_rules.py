"""Rules for secrets in code, SQL, configuration files and library calls.

A row takes words without a digit only where
nothing but a password can be.
"""

from typing import Final

from workbench.secrets import false_positives
from workbench.secrets.command_line_rules import RuleRow

_GAP: Final = r"[ \t]{1,8}"
_ANY_SPACE: Final = r"\s{1,40}"
_SQL_STRING: Final = r"""(?:N?'(?P<single>[^'\n⟨⟩]{2,}+)(?=')|N?"(?P<double>[^"\n⟨⟩]{2,}+)(?="))"""
_UNQUOTED_VALUE: Final = r"""["']?(?P<s>[^\s"'⟨⟩;,]{3,}+)"""
_SQL_USER: Final = rf"""(?:if{_ANY_SPACE}not{_ANY_SPACE}exists{_ANY_SPACE})?[^\s;]{{1,120}}"""
_SECRET_NAME: Final = (
    r"[\w.:-]{0,60}?(?:password|passwd|passphrase|secret|token|api[_.-]?key|access[_.-]?key|private[_.-]?key)"
)
_VALUE_END: Final = r"(?=[ \t]{0,8}(?:[\r\n]|\Z|\\[nr]|[#!]))"
CODE_AND_SETTINGS_RULES: Final[tuple[RuleRow, ...]] = (
    (
        "password",
        rf"(?i:(?:create|alter){_ANY_SPACE}user{_ANY_SPACE}{_SQL_USER}{_ANY_SPACE}identified{_ANY_SPACE}by){_ANY_SPACE}(?P<s>[^\s\"'⟨⟩;:&?$,()]{{3,}}+)"
        r"(?=\s{0,8}(?:;|\Z|[\r\n]|(?i:default|replace|profile|account|quota|temporary|password|container)\b))",
        ("identified by",),
        false_positives.is_literal,
        ("create", "alter"),
    ),
    (
        "password",
        rf"(?i:identified{_ANY_SPACE}(?:with{_ANY_SPACE}[\w'\"`]{{1,60}}{_ANY_SPACE})?(?:by|as)"
        rf"(?:{_ANY_SPACE}values)?){_ANY_SPACE}{_SQL_STRING}",
        ("identified by", "identified with"),
        false_positives.is_literal,
        ("identified",),
    ),
    (
        "password",
        rf"(?i:set{_ANY_SPACE}password(?:{_ANY_SPACE}for{_ANY_SPACE}[^\s=]{{1,120}})?"
        rf"[ \t]{{0,8}}=[ \t]{{0,8}}(?:password\()?){_SQL_STRING}",
        ("set password",),
        false_positives.is_literal,
        ("set",),
    ),
    (
        "password",
        rf"(?i:with{_ANY_SPACE}password[ \t]{{0,8}}=?[ \t]{{0,8}}){_SQL_STRING}",
        ("with password",),
        false_positives.is_literal,
        ("with",),
    ),
    (
        "password",
        r"[,(]\s{0,8}(?i:password)[ \t]{1,8}'(?P<s>[^'\n⟨⟩]{3,}+)(?=')",
        ("password '",),
        false_positives.is_literal,
        ("(", ","),
    ),
    (
        "password",
        r"""(?<=[a-z])Password[ \t]{1,8}["'](?P<s>[^"'\s$⟨⟩]{4,}+)(?=["'])""",
        ("password '", 'password "'),
        false_positives.is_announced_value,
        ("password",),
    ),
    (
        "password",
        rf"AUTH[ ](?:[\w.-]{{1,40}}[ ])?(?P<s>[^\s\"'⟨⟩]{{8,}}+){_VALUE_END}",
        ("auth ",),
        false_positives.is_store_login,
        ("auth",),
    ),
    (
        "password",
        rf"AUTH[ ](?:PLAIN|LOGIN)[ ](?P<s>[A-Za-z0-9+/]{{8,}}+={{0,2}}){_VALUE_END}",
        ("auth plain ", "auth login "),
        false_positives.is_signature,
        ("auth",),
    ),
    (
        "password",
        r"(?i:setuser|user)[ ][\w.-]{1,60}[ ](?:(?:on|off|reset|resetpass|[~+&%-]\S{1,80}|allkeys)[ ]){0,12}"
        r"[>#<](?P<s>[^\s\"'⟨⟩]{3,}+)(?=[ ](?:[~+&%-]|on|allkeys)|[ \t]{0,4}(?:[\r\n\"']|\Z))",
        ("on >", "on #", "setuser", "+@", "~*"),
        false_positives.is_store_rule,
        ("setuser", "user"),
    ),
    (
        "password",
        rf"(?:sentinel{_GAP}auth-pass{_GAP}\S{{1,60}}|(?<![\w-])(?:auth_pass|bindpw|rootpw(?:{_GAP}--plaintext)?"
        rf"|olcRootPW:))[ \t]{{1,8}}[\"']?(?P<s>[^\s\"'⟨⟩<-][^\s\"'⟨⟩]{{2,}}+)",
        ("auth-pass", "auth_pass", "bindpw", "rootpw"),
        false_positives.is_literal,
        ("sentinel", "auth_pass", "bindpw", "rootpw", "olcrootpw"),
    ),
    (
        "password",
        r"REDISCLI_AUTH=[\"']?(?P<s>[^\s\"'⟨⟩]{3,}+)",
        ("rediscli_auth=",),
        false_positives.is_literal,
        ("rediscli",),
    ),
    (
        "password",
        rf"(?:snmp-server{_GAP}community|r[ow]community6?|set{_GAP}snmp{_GAP}community|snmp{_GAP}community){_GAP}{_UNQUOTED_VALUE}",
        ("community ", "community6 "),
        false_positives.is_snmp_community,
        ("snmp", "rocommunity", "rwcommunity", "set"),
    ),
    (
        "password",
        rf"createUser{_GAP}(?:-e{_GAP}\S{{1,60}}{_GAP})?\S{{1,60}}{_GAP}(?:MD5|SHA[0-9-]{{0,4}}){_GAP}{_UNQUOTED_VALUE}",
        ("createuser ",),
        false_positives.is_literal,
        ("createuser",),
    ),
    (
        "password",
        rf"(?:enable{_GAP}(?:secret|password)|username{_GAP}\S{{1,60}}{_GAP}(?:privilege{_GAP}[0-9]{{1,2}}{_GAP})?"
        rf"(?:secret|password)|(?:tacacs|radius)-server{_GAP}(?:host{_GAP}\S{{1,60}}{_GAP})?(?:[\w-]{{1,20}}{_GAP}"
        rf"[0-9]{{1,5}}{_GAP}){{0,4}}key|key-string|pre-shared-key(?:{_GAP}(?:local|remote|ascii-text))?"
        rf"|isakmp{_GAP}key)(?:{_GAP}[0-9])?{_GAP}(?P<s>[^\s\"'⟨⟩]{{3,}}+)"
        rf"(?={_GAP}address|[ \t]{{0,8}}(?:[\r\n]|\Z))",
        ("enable ", "username ", "-server ", "key-string", "pre-shared-key", "isakmp"),
        false_positives.is_announced_value,
        ("enable", "username", "tacacs-server", "radius-server", "key-string", "pre-shared-key", "isakmp"),
    ),
    (
        "password",
        r""":[ ](?:PSK|EAP|XAUTH)[ ]["'](?P<s>[^"'\n<⟨⟩]{3,}+)(?=["'])""",
        (": psk ", ": eap ", ": xauth "),
        false_positives.is_literal,
        (": psk", ": eap", ": xauth"),
    ),
    (
        "password",
        r"\]:(?:25|465|587|2525)[ \t]{1,8}[^\s:⟨⟩]{1,120}:(?P<s>[^\s⟨⟩]{3,}+)",
        ("]:25", "]:465", "]:587"),
        false_positives.is_literal,
        ("]:",),
    ),
    (
        "password",
        rf":(?:543[0-9]|6432|\*):(?:\*|[a-z_][\w-]{{0,63}}):[\w*@.-]{{1,64}}:(?P<s>[^\s:⟨⟩]{{3,}}+){_VALUE_END}",
        (":543", ":6432:", ":*:"),
        false_positives.is_announced_value,
        (":543", ":6432", ":*"),
    ),
    (
        "password",
        rf"""(?i:<[\w:.-]{{1,40}}[ ](?:name|key|id)="{_SECRET_NAME}")[^<>\n]{{0,60}}>"""
        r"""(?P<s>[^<\s⟨⟩]{4,}+)(?=</)""",
        ("</",),
        false_positives.is_announced_value,
        ("<",),
    ),
    (
        "password",
        rf"""(?i:<key>{_SECRET_NAME}</key>)\s{{0,40}}<string>(?P<s>[^<\s⟨⟩]{{4,}}+)(?=</)""",
        ("</key>",),
        false_positives.is_announced_value,
        ("<key>",),
    ),
    (
        "password",
        r"(?i:<(?:[\w.-]{1,40}:)?passphrase>)(?P<s>[^<\s⟨⟩]{4,}+)(?=</)",
        ("<passphrase>", ":passphrase>"),
        false_positives.is_literal,
        ("<",),
    ),
    (
        "password",
        r"(?i:<(?:[\w.-]{1,40}:)?pass(?:word|phrase)>)\{(?P<s>[A-Za-z0-9+/]{12,}+={0,2})(?=\}</)",
        ("word>{", "phrase>{"),
        false_positives.is_signature,
        ("<",),
    ),
    (
        "password",
        r"""(?i:password|secret|token)["'][ \t]{0,4}:\s{0,8}\{\s{0,20}["'](?i:value)["'][ \t]{0,4}"""
        r""":[ \t]{0,4}"(?P<s>[^"\s\\⟨⟩]{3,}+)(?=")""",
        ('"value"', "'value'"),
        false_positives.is_announced_value,
        ("password", "secret", "token"),
    ),
    (
        "password",
        r"""(?i:auth[ ]?=[ ]?|httpbasicauth|httpdigestauth|networkcredential|basicauth|\.login"""
        r"""|passwordauthentication|credentials)\(\s{0,8}["'][^"'\n⟨⟩]{1,80}["'],\s{0,8}["'](?P<s>[^"'\s\\⟨⟩]{3,}+)(?=["'])""",
        ("auth=(", "auth = (", "auth(", "authentication(", "credential(", "credentials(", ".login("),
        false_positives.is_announced_value,
        (
            "auth",
            "httpbasicauth",
            "httpdigestauth",
            "networkcredential",
            "basicauth",
            ".login",
            "passwordauth",
            "credentials",
        ),
    ),
    (
        "password",
        r"""(?i:getconnection|mysqli_connect|mysql_connect|new[ ]mysqli|new[ ]pdo|pg\.connect|sql\.open)\("""
        r"""[^)\n⟨⟩]{1,160}?,[ ]{0,4}["'][^"'\n⟨⟩]{1,60}["'],[ ]{0,4}["'](?P<s>[^"'\s\\⟨⟩]{3,}+)(?=["'])""",
        ("_connect(", "pg.connect(", "new mysqli(", "new pdo(", "getconnection(", "sql.open("),
        false_positives.is_announced_value,
        (
            "getconnection",
            "mysqli_connect",
            "mysql_connect",
            "new mysqli",
            "new pdo",
            "pg.connect",
            "sql.open",
        ),
    ),
    (
        "password",
        r"""(?i:\.(?:set|with)(?:password|passphrase|secret)|jwt\.(?:sign|verify|encode)\([^)\n⟨⟩]{1,80}?,|cookieparser|cookiesession)"""
        r"""[( ]{1,2}["'](?P<s>[^"'\s\\⟨⟩]{4,}+)(?=["'])""",
        (
            *(f".{verb}{noun}(" for verb in ("set", "with") for noun in ("password", "passphrase", "secret")),
            *("jwt.sign(", "jwt.verify(", "jwt.encode(", "cookieparser(", "cookiesession("),
        ),
        false_positives.is_announced_value,
        (".set", ".with", "jwt.", "cookieparser", "cookiesession"),
    ),
    (
        "password",
        r"""(?i:setproperty|set_var|setenv|setenvironmentvariable)\([ \t]{0,4}["'][\w.-]{0,60}?"""
        r"""(?i:password|passwd|secret|token|key)["'],"""
        r"""[ \t]{0,8}["'](?P<s>[^"'\s\\⟨⟩]{3,}+)(?=["'])""",
        ("setproperty(", "set_var(", "setenv(", "setenvironmentvariable("),
        false_positives.is_literal,
        ("setproperty", "set_var", "setenv"),
    ),
    (
        "private-key",
        r'"kty"[^{}⟨⟩]{1,4000}?"(?:d|k)"[ ]?:[ ]?"(?P<s>[A-Za-z0-9_-]{32,}+)',
        ('"kty"',),
        None,
        ('"kty"',),
    ),
    (
        "private-key",
        r'"(?:d|k)"[ ]?:[ ]?"(?P<s>[A-Za-z0-9_-]{32,}+)"(?=[^{}⟨⟩]{1,2000}?"kty")',
        ('"kty"',),
        None,
        ('"d"', '"k"'),
    ),
    (
        "pem",
        r"LS0tLS1CRUdJTi(?:BSU0EgUFJJVkFURSBLRVk|BQUklWQVRFIEtFW|BFQyBQUklWQVRFIEtFW|BPUEVOU1NIIFBSSVZBVEUgS0VZ"
        r"|BFTkNSWVBURUQgUFJJVkFURSBLRVk|BEU0EgUFJJVkFURSBLRVk|BQR1AgUFJJVkFURSBLRVkgQkxPQ0)"
        r"[A-Za-z0-9+/=]{16,}+",
        ("ls0tls1crudjti",),
        None,
        ("ls0tls1crudjti",),
    ),
    (
        "pem",
        r"-----BEGIN OpenVPN Static key V1-----(?P<s>[\sA-Fa-f0-9]{32,}+)",
        ("begin openvpn static",),
        None,
        ("-----begin openvpn",),
    ),
    ("password-hash", r":(?P<s>[a-fA-F0-9]{32}:[a-fA-F0-9]{32})(?=:::)", (":::",), None, (":",)),
    (
        "cookie",
        r"""(?i:laravel_session|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|(?<![a-z_])sessionid)=(?P<s>[A-Za-z0-9%._~+/-]{16,}+)""",
        ("laravel_session=", "sessid=", "sessionid=", "connect.sid="),
        false_positives.has_dense_run,
        ("laravel_session", "phpsessid", "jsessionid", "asp.net_sessionid", "connect.sid", "sessionid"),
    ),
    (
        "api-key",
        r"(?i:x-functions-key)[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"']?(?P<s>[A-Za-z0-9_=/+-]{20,}+)",
        ("x-functions-key",),
        None,
        ("x-functions-key",),
    ),
    (
        "password",
        r"(?i:passphrase|password|passwd)[\"']?[ \t]{0,4}[:=][ \t]{1,4}"
        rf"(?P<s>[a-z]{{3,12}}(?:[ ][a-z]{{3,12}}){{2,11}}){_VALUE_END}",
        ("passphrase", "password", "passwd"),
        false_positives.is_announced_passphrase,
        ("pass",),
    ),
    (
        "password",
        rf"passwd/[\w-]{{1,40}}{_GAP}password{_GAP}{_UNQUOTED_VALUE}",
        ("passwd/",),
        false_positives.is_announced_value,
        ("passwd/",),
    ),
    (
        "password",
        rf"mysqladmin[^\n⟨⟩]{{0,160}}?[ ]password{_GAP}{_UNQUOTED_VALUE}",
        ("mysqladmin",),
        false_positives.is_literal,
        ("mysqladmin",),
    ),
    (
        "password",
        r"""(?i:npmAuthIdent)["']?:[ \t]{0,4}["']?[^\s:"']{1,80}:(?P<s>[^\s"'⟨⟩]{3,}+)""",
        ("npmauthident",),
        false_positives.is_literal,
        ("npmauthident",),
    ),
    (
        "key-data",
        r"""(?<![A-Za-z0-9])_auth[ \t]{0,4}=[ \t]{0,4}["']?(?P<s>[A-Za-z0-9+/]{4,}+={0,2})""",
        ("_auth",),
        false_positives.is_login_pair,
        ("_auth",),
    ),
    (
        "seed-phrase",
        r"(?i:mnemonic|(?:seed|recovery|secret)[ _-]?phrase|seed[ _-]?words)(?>[\"'\s:=]{1,8})"
        r"(?P<s>[a-z]{3,8}(?:[ ][a-z]{3,8}){11,23})(?![ ]?[a-z])",
        ("mnemonic", "phrase", "seed words", "seed_words"),
        false_positives.is_seed_phrase,
        ("mnemonic", "seed", "recovery", "secret"),
    ),
    (
        "password",
        r"(?i:passwort|kennwort|contrase(?:ñ|n)a|senha|mot de passe|wachtwoord|has(?:ł|l)o|[Пп]ароль)[\"']?"
        r"[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<s>[^\s\"'⟨⟩,;]{6,}+)(?=[\"',;]|\s{0,8}(?:[\r\n]|\Z))",
        (
            "passwort",
            "kennwort",
            "contrase",
            "senha",
            "mot de passe",
            "wachtwoord",
            "haslo",
            "hasło",
            "пароль",
        ),
        false_positives.is_announced_password,
        ("passwort", "kennwort", "contrase", "senha", "mot de passe", "wachtwoord", "has", "пароль"),
    ),
    (
        "password",
        r"(?<![A-Za-z])pw[ \t]{0,4}[:= ][ \t]{0,4}[\"']?(?P<s>[^\s\"'⟨⟩]{8,}+)",
        ("pw:", "pw=", "pw ="),
        false_positives.has_mixed_characters,
        ("pw",),
    ),
)
"""In the form of a row of the table."""
