r"""How statements, configuration files and calls of libraries spell a password, as data.

Owns rows of the same form as `text.given`, whose rules on running time hold here, too. A row takes words
without a digit only where nothing but a password can stand.
"""

from typing import Final

from workbench.text import lookalikes as like
from workbench.text.clients import Row

_GAP: Final = r"[ \t]{1,8}"
_SPACE: Final = r"\s{1,40}"
_STRING: Final = r"""(?:N?'(?P<single>[^'\n⟨⟩]{2,}+)(?=')|N?"(?P<double>[^"\n⟨⟩]{2,}+)(?="))"""
_VALUE: Final = r"""["']?(?P<s>[^\s"'⟨⟩;,]{3,}+)"""
_USER: Final = rf"""(?:if{_SPACE}not{_SPACE}exists{_SPACE})?[^\s;]{{1,120}}"""
_NAMED: Final = (
    r"[\w.:-]{0,60}?(?:password|passwd|passphrase|secret|token|api[_.-]?key|access[_.-]?key|private[_.-]?key)"
)
_END: Final = r"(?=[ \t]{0,8}(?:[\r\n]|\Z|\\[nr]|[#!]))"

DIALECTS: Final[tuple[Row, ...]] = (
    (
        "password",
        rf"(?i:(?:create|alter){_SPACE}user{_SPACE}{_USER}{_SPACE}identified{_SPACE}by){_SPACE}(?P<s>[^\s\"'⟨⟩;:&?$,()]{{3,}}+)"
        r"(?=\s{0,8}(?:;|\Z|[\r\n]|(?i:default|replace|profile|account|quota|temporary|password|container)\b))",
        ("identified by",),
        like.is_literal,
        ("create", "alter"),
    ),
    (
        "password",
        rf"(?i:identified{_SPACE}(?:with{_SPACE}[\w'\"`]{{1,60}}{_SPACE})?(?:by|as)"
        rf"(?:{_SPACE}values)?){_SPACE}{_STRING}",
        ("identified by", "identified with"),
        like.is_literal,
        ("identified",),
    ),
    (
        "password",
        rf"(?i:set{_SPACE}password(?:{_SPACE}for{_SPACE}[^\s=]{{1,120}})?[ \t]{{0,8}}=[ \t]{{0,8}}"
        rf"(?:password\()?){_STRING}",
        ("set password",),
        like.is_literal,
        ("set",),
    ),
    (
        "password",
        rf"(?i:with{_SPACE}password[ \t]{{0,8}}=?[ \t]{{0,8}}){_STRING}",
        ("with password",),
        like.is_literal,
        ("with",),
    ),
    (
        "password",
        r"[,(]\s{0,8}(?i:password)[ \t]{1,8}'(?P<s>[^'\n⟨⟩]{3,}+)(?=')",
        ("password '",),
        like.is_literal,
        ("(", ","),
    ),
    (
        "password",
        r"""(?<=[a-z])Password[ \t]{1,8}["'](?P<s>[^"'\s$⟨⟩]{4,}+)(?=["'])""",
        ("password '", 'password "'),
        like.is_stated,
        ("password",),
    ),
    (
        "password",
        rf"AUTH[ ](?:[\w.-]{{1,40}}[ ])?(?P<s>[^\s\"'⟨⟩]{{8,}}+){_END}",
        ("auth ",),
        like.is_store_login,
        ("auth",),
    ),
    (
        "password",
        rf"AUTH[ ](?:PLAIN|LOGIN)[ ](?P<s>[A-Za-z0-9+/]{{8,}}+={{0,2}}){_END}",
        ("auth plain ", "auth login "),
        like.is_signature,
        ("auth",),
    ),
    (
        "password",
        r"(?i:setuser|user)[ ][\w.-]{1,60}[ ](?:(?:on|off|reset|resetpass|[~+&%-]\S{1,80}|allkeys)[ ]){0,12}"
        r"[>#<](?P<s>[^\s\"'⟨⟩]{3,}+)(?=[ ](?:[~+&%-]|on|allkeys)|[ \t]{0,4}(?:[\r\n\"']|\Z))",
        ("on >", "on #", "setuser", "+@", "~*"),
        like.is_store_rule,
        ("setuser", "user"),
    ),
    (
        "password",
        rf"(?:sentinel{_GAP}auth-pass{_GAP}\S{{1,60}}|(?<![\w-])(?:auth_pass|bindpw|rootpw(?:{_GAP}--plaintext)?"
        rf"|olcRootPW:))[ \t]{{1,8}}[\"']?(?P<s>[^\s\"'⟨⟩<-][^\s\"'⟨⟩]{{2,}}+)",
        ("auth-pass", "auth_pass", "bindpw", "rootpw"),
        like.is_literal,
        ("sentinel", "auth_pass", "bindpw", "rootpw", "olcrootpw"),
    ),
    (
        "password",
        r"REDISCLI_AUTH=[\"']?(?P<s>[^\s\"'⟨⟩]{3,}+)",
        ("rediscli_auth=",),
        like.is_literal,
        ("rediscli",),
    ),
    (
        "password",
        rf"(?:snmp-server{_GAP}community|r[ow]community6?|set{_GAP}snmp{_GAP}community|snmp{_GAP}community){_GAP}{_VALUE}",
        ("community ", "community6 "),
        like.is_community,
        ("snmp", "rocommunity", "rwcommunity", "set"),
    ),
    (
        "password",
        rf"createUser{_GAP}(?:-e{_GAP}\S{{1,60}}{_GAP})?\S{{1,60}}{_GAP}(?:MD5|SHA[0-9-]{{0,4}}){_GAP}{_VALUE}",
        ("createuser ",),
        like.is_literal,
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
        like.is_stated,
        ("enable", "username", "tacacs-server", "radius-server", "key-string", "pre-shared-key", "isakmp"),
    ),
    (
        "password",
        r""":[ ](?:PSK|EAP|XAUTH)[ ]["'](?P<s>[^"'\n<⟨⟩]{3,}+)(?=["'])""",
        (": psk ", ": eap ", ": xauth "),
        like.is_literal,
        (": psk", ": eap", ": xauth"),
    ),
    (
        "password",
        r"\]:(?:25|465|587|2525)[ \t]{1,8}[^\s:⟨⟩]{1,120}:(?P<s>[^\s⟨⟩]{3,}+)",
        ("]:25", "]:465", "]:587"),
        like.is_literal,
        ("]:",),
    ),
    (
        "password",
        rf":(?:543[0-9]|6432|\*):(?:\*|[a-z_][\w-]{{0,63}}):[\w*@.-]{{1,64}}:(?P<s>[^\s:⟨⟩]{{3,}}+){_END}",
        (":543", ":6432:", ":*:"),
        like.is_stated,
        (":543", ":6432", ":*"),
    ),
    (
        "password",
        rf"""(?i:<[\w:.-]{{1,40}}[ ](?:name|key|id)="{_NAMED}")[^<>\n]{{0,60}}>"""
        r"""(?P<s>[^<\s⟨⟩]{4,}+)(?=</)""",
        ("</",),
        like.is_stated,
        ("<",),
    ),
    (
        "password",
        rf"""(?i:<key>{_NAMED}</key>)\s{{0,40}}<string>(?P<s>[^<\s⟨⟩]{{4,}}+)(?=</)""",
        ("</key>",),
        like.is_stated,
        ("<key>",),
    ),
    (
        "password",
        r"(?i:<(?:[\w.-]{1,40}:)?passphrase>)(?P<s>[^<\s⟨⟩]{4,}+)(?=</)",
        ("<passphrase>", ":passphrase>"),
        like.is_literal,
        ("<",),
    ),
    (
        "password",
        r"(?i:<(?:[\w.-]{1,40}:)?pass(?:word|phrase)>)\{(?P<s>[A-Za-z0-9+/]{12,}+={0,2})(?=\}</)",
        ("word>{", "phrase>{"),
        like.is_signature,
        ("<",),
    ),
    (
        "password",
        r"""(?i:password|secret|token)["'][ \t]{0,4}:\s{0,8}\{\s{0,20}["'](?i:value)["'][ \t]{0,4}"""
        r""":[ \t]{0,4}"(?P<s>[^"\s\\⟨⟩]{3,}+)(?=")""",
        ('"value"', "'value'"),
        like.is_stated,
        ("password", "secret", "token"),
    ),
    (
        "password",
        r"""(?i:auth[ ]?=[ ]?|httpbasicauth|httpdigestauth|networkcredential|basicauth|\.login"""
        r"""|passwordauthentication|credentials)\(\s{0,8}["'][^"'\n⟨⟩]{1,80}["'],\s{0,8}["'](?P<s>[^"'\s\\⟨⟩]{3,}+)(?=["'])""",
        ("auth=(", "auth = (", "auth(", "authentication(", "credential(", "credentials(", ".login("),
        like.is_stated,
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
        like.is_stated,
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
        like.is_stated,
        (".set", ".with", "jwt.", "cookieparser", "cookiesession"),
    ),
    (
        "password",
        r"""(?i:setproperty|set_var|setenv|setenvironmentvariable)\([ \t]{0,4}["'][\w.-]{0,60}?"""
        r"""(?i:password|passwd|secret|token|key)["'],"""
        r"""[ \t]{0,8}["'](?P<s>[^"'\s\\⟨⟩]{3,}+)(?=["'])""",
        ("setproperty(", "set_var(", "setenv(", "setenvironmentvariable("),
        like.is_literal,
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
    (
        "password-hash",
        r":(?P<s>[a-fA-F0-9]{32}:[a-fA-F0-9]{32})(?=:::)",
        (":::",),
        None,
        (":",),
    ),
    (
        "cookie",
        r"""(?i:laravel_session|phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|(?<![a-z_])sessionid)=(?P<s>[A-Za-z0-9%._~+/-]{16,}+)""",
        ("laravel_session=", "sessid=", "sessionid=", "connect.sid="),
        like.is_dense,
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
        rf"(?P<s>[a-z]{{3,12}}(?:[ ][a-z]{{3,12}}){{2,11}}){_END}",
        ("passphrase", "password", "passwd"),
        like.is_spoken,
        ("pass",),
    ),
    (
        "password",
        rf"passwd/[\w-]{{1,40}}{_GAP}password{_GAP}{_VALUE}",
        ("passwd/",),
        like.is_stated,
        ("passwd/",),
    ),
    (
        "password",
        rf"mysqladmin[^\n⟨⟩]{{0,160}}?[ ]password{_GAP}{_VALUE}",
        ("mysqladmin",),
        like.is_literal,
        ("mysqladmin",),
    ),
    (
        "password",
        r"""(?i:npmAuthIdent)["']?:[ \t]{0,4}["']?[^\s:"']{1,80}:(?P<s>[^\s"'⟨⟩]{3,}+)""",
        ("npmauthident",),
        like.is_literal,
        ("npmauthident",),
    ),
    (
        "key-data",
        r"""(?<![A-Za-z0-9])_auth[ \t]{0,4}=[ \t]{0,4}["']?(?P<s>[A-Za-z0-9+/]{4,}+={0,2})""",
        ("_auth",),
        like.is_login_pair,
        ("_auth",),
    ),
    (
        "seed-phrase",
        r"(?i:mnemonic|(?:seed|recovery|secret)[ _-]?phrase|seed[ _-]?words)(?>[\"'\s:=]{1,8})"
        r"(?P<s>[a-z]{3,8}(?:[ ][a-z]{3,8}){11,23})(?![ ]?[a-z])",
        ("mnemonic", "phrase", "seed words", "seed_words"),
        like.is_seed,
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
        like.is_stated_pass,
        ("passwort", "kennwort", "contrase", "senha", "mot de passe", "wachtwoord", "has", "пароль"),
    ),
    (
        "password",
        r"(?<![A-Za-z])pw[ \t]{0,4}[:= ][ \t]{0,4}[\"']?(?P<s>[^\s\"'⟨⟩]{8,}+)",
        ("pw:", "pw=", "pw ="),
        like.is_mixed,
        ("pw",),
    ),
)
"""In the form of a row of the table."""
