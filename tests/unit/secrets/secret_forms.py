r"""Every documented form of a key that is recognised, by an example: data. All of them are made up by a generator.

Three lists: forms of services, by prefix; ways in which any value may be given; and texts that look like secrets
and are none.
"""

import random
import string

_SOME = random.Random(5)
HEX, LOWER, UPPER = (
    "0123456789abcdef",
    string.ascii_lowercase + string.digits,
    string.ascii_uppercase + string.digits,
)
MIXED = string.ascii_letters + string.digits
WORD = MIXED + "_-"


def some(count: int, alphabet: str = MIXED) -> str:
    """Return a made-up run of signs, with digits and letters in it."""
    text = "".join(_SOME.choice(alphabet) for _ in range(count - 2))
    return f"{alphabet[-1] if alphabet[-1].isalnum() else 'z'}{text}{_SOME.choice('23456789')}"


def uuid() -> str:
    """Return a made-up UUID."""
    return "-".join(some(count, HEX) for count in (8, 4, 4, 4, 12))


SERVICES = {
    "1password": [
        f"A3-{some(6, UPPER)}-{some(11, UPPER)}-{some(5, UPPER)}-{some(5, UPPER)}-{some(5, UPPER)}",
        f"ops_eyJ{some(260)}",
    ],
    "adobe": [f"p8e-{some(32, LOWER)}"],
    "aiven": [f"AVNS_{some(19)}"],
    "airtable": [f"pat{some(14)}.{some(64, HEX)}"],
    "alibaba": [f"LTAI{some(20)}"],
    "anthropic": [
        f"sk-ant-api03-{some(93, WORD)}AA",
        f"sk-ant-admin01-{some(93, WORD)}AA",
        f"sk-ant-oat01-{some(80, WORD)}",
    ],
    "artifactory": [f"AKCp{some(69)}", f"cmVmd{some(59)}"],
    "asana": [f"2/{some(16, string.digits)}/{some(16, string.digits)}:{some(32, HEX)}"],
    "atlassian": [f"ATATT3{some(186)}", f"ATCTT3{some(186)}", f"ATBB{some(32)}"],
    "aws": [
        f"{prefix}{some(16, string.ascii_uppercase + '234567')}"
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA", "A3TX")
    ],
    "aws bedrock": [f"ABSK{some(120)}", f"bedrock-api-key-{some(60)}"],
    "azure": [
        f"{some(3)}8Q~{some(34)}",
        f"https://x.blob.core.windows.net/c?sv=2022-11-02&sig={some(43)}%3D",
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={some(86)}==;EndpointSuffix=core.windows.net",
        f"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={some(43)}=",
    ],
    "bitwarden": [f"0.{uuid()}.{some(30)}:{some(22)}=="],
    "braintree": [f"access_token$production${some(16, LOWER)}${some(32, HEX)}"],
    "buildkite": [f"bkua_{some(40, HEX)}"],
    "cerebras": [f"csk-{some(48, LOWER)}"],
    "circleci": [f"CCIPAT_{some(22)}_{some(40, HEX)}"],
    "clojars": [f"CLOJARS_{some(60, LOWER)}"],
    "cloudflare": [f"v1.0-{some(24, HEX)}-{some(146, HEX)}"],
    "contentful": [f"CFPAT-{some(43, WORD)}"],
    "crates.io": [f"cio{some(32)}"],
    "databricks": [f"dapi{some(32, HEX)}", f"dapi{some(32, HEX)}-2"],
    "defined": [f"dnkey-{some(26, WORD)}-{some(52, WORD)}"],
    "digitalocean": [f"{prefix}_v1_{some(64, HEX)}" for prefix in ("dop", "doo", "dor")],
    "discord": [
        "MTk4NjIyNDgzNDcxOTI1MjQ4." + f"{some(6)}.{some(38)}",
        f"https://discord.com/api/webhooks/{some(18, string.digits)}/{some(68, WORD)}",
    ],
    "docker": [f"dckr_pat_{some(27, WORD)}", f"dckr_oat_{some(32, WORD)}"],
    "doppler": [f"dp.pt.{some(43)}", f"dp.st.dev.{some(43)}"],
    "dropbox": [f"sl.{some(135, WORD)}", f"sl.u.{some(135, WORD)}"],
    "duffel": [f"duffel_live_{some(43, WORD)}"],
    "dynatrace": [f"dt0c01.{some(24, UPPER)}.{some(64, UPPER)}"],
    "e2b": [f"e2b_{some(40, HEX)}"],
    "easypost": [f"EZAK{some(54)}", f"EZTK{some(54)}"],
    "figma": [f"figd_{some(40, WORD)}"],
    "fireworks": [f"fw_{some(24)}"],
    "flutterwave": [f"FLWSECK_TEST-{some(32, HEX)}-X", f"FLWSECK-{some(32, HEX)}-X"],
    "fly": [f"fo1_{some(43, WORD)}", f"fm2_{some(100)}", f"fm1r_{some(100)}"],
    "frame.io": [f"fio-u-{some(64, WORD)}"],
    "github": [f"{prefix}_{some(36)}" for prefix in ("ghp", "gho", "ghu", "ghs", "ghr")]
    + [f"github_pat_{some(22)}_{some(59)}"],
    "gitlab": [
        f"{prefix}-{some(20, WORD)}"
        for prefix in ("glpat", "gldt", "glrt", "glft", "glsoat", "glcbt", "glimt")
    ]
    + [
        f"glagent-{some(50, WORD)}",
        f"gloas-{some(64, HEX)}",
        f"glffct-{some(20, WORD)}",
        f"glptt-{some(40, HEX)}",
        f"GR1348941{some(20, WORD)}",
    ],
    "google": [
        f"AIza{some(35, WORD)}",
        f"GOCSPX-{some(28, WORD)}",
        f"ya29.{some(80, WORD)}",
        f"1//0{some(60, WORD)}",
    ],
    "grafana": [f"glc_{some(60)}", f"glsa_{some(32)}_{some(8, HEX)}", f"eyJrIjoi{some(80)}"],
    "groq": [f"gsk_{some(52)}"],
    "harness": [f"pat.{some(22)}.{some(24, HEX)}.{some(20)}"],
    "hashicorp": [f"{some(14)}.atlasv1.{some(64, WORD)}", f"hvs.{some(90, WORD)}", f"hvb.{some(140, WORD)}"],
    "heroku": [f"HRKU-AA{some(58, WORD)}"],
    "honeycomb": [f"hcaik_01{some(56, LOWER)}"],
    "hubspot": [f"pat-na1-{uuid()}"],
    "huggingface": [f"hf_{some(34)}", f"api_org_{some(34)}"],
    "infracost": [f"ico-{some(32)}"],
    "intra42": [f"s-s4t2ud-{some(64, HEX)}"],
    "jina": [f"jina_{some(60)}"],
    "langfuse": [f"sk-lf-{uuid()}"],
    "langsmith": [f"lsv2_pt_{some(32, HEX)}_{some(10, HEX)}", f"lsv2_sk_{some(32, HEX)}_{some(10, HEX)}"],
    "launchdarkly": [f"api-{uuid()}", f"sdk-{uuid()}"],
    "linear": [f"lin_api_{some(40)}"],
    "mailchimp": [f"{some(32, HEX)}-us12"],
    "mailersend": [f"mlsn.{some(64, HEX)}"],
    "mailgun": [f"key-{some(32, HEX)}"],
    "mapbox": [f"sk.eyJ{some(60)}.{some(22)}"],
    "maxmind": [f"{some(6)}_{some(29)}_mmk"],
    "neon": [f"napi_{some(64, LOWER)}"],
    "netlify": [f"nfp_{some(36)}"],
    "new relic": [f"NRAK-{some(27, UPPER)}", f"NRJS-{some(19, HEX)}", f"NRII-{some(32, WORD)}"],
    "notion": [f"ntn_{some(46)}", f"secret_{some(43)}"],
    "npm": [f"npm_{some(36)}"],
    "nuget": [f"oy2{some(43, LOWER)}"],
    "nvidia": [f"nvapi-{some(64, WORD)}"],
    "octopus": [f"API-{some(26, UPPER)}"],
    "okta": [f"SSWS 00{some(40, WORD)}"],
    "openai": [
        f"sk-{some(20)}T3BlbkFJ{some(20)}",
        f"sk-proj-{some(74, WORD)}T3BlbkFJ{some(74, WORD)}",
        f"sk-svcacct-{some(74, WORD)}T3BlbkFJ{some(74, WORD)}",
        f"sess-{some(40)}",
    ],
    "openrouter": [f"sk-or-v1-{some(64, HEX)}"],
    "openshift": [f"sha256~{some(43, WORD)}"],
    "packagist": [f"packagist_uut_{some(68, HEX)}"],
    "perplexity": [f"pplx-{some(48)}"],
    "pinecone": [f"pcsk_{some(6)}_{some(60)}"],
    "plaid": [f"access-production-{uuid()}"],
    "planetscale": [
        f"pscale_tkn_{some(43, WORD)}",
        f"pscale_pw_{some(43, WORD)}",
        f"pscale_oauth_{some(43, WORD)}",
    ],
    "posthog": [f"phx_{some(43)}"],
    "postman": [f"PMAK-{some(24, HEX)}-{some(34, HEX)}"],
    "prefect": [f"pnu_{some(36)}"],
    "pulumi": [f"pul-{some(40, HEX)}"],
    "pypi": [f"pypi-AgEIcHlwaS5vcmc{some(80, WORD)}"],
    "razorpay": [f"rzp_live_{some(14)}"],
    "readme": [f"rdme_{some(70, LOWER)}"],
    "render": [f"rnd_{some(32)}"],
    "replicate": [f"r8_{some(37)}"],
    "resend": [f"re_{some(8)}_{some(24)}"],
    "rubygems": [f"rubygems_{some(48, HEX)}"],
    "scaleway": [f"SCW_SECRET_KEY={uuid()}"],
    "scalingo": [f"tk-us-{some(48, WORD)}"],
    "segment": [f"sgp_{some(16, HEX)}_{some(40, HEX)}"],
    "sendgrid": [f"SG.{some(22, WORD)}.{some(43, WORD)}"],
    "sendinblue": [f"xkeysib-{some(64, HEX)}-{some(16)}", f"xsmtpsib-{some(64, HEX)}-{some(16)}"],
    "sentry": [f"sntrys_eyJ{some(80)}", f"sntryu_{some(64, HEX)}"],
    "settlemint": [f"sm_{kind}_{some(16)}" for kind in ("aat", "pat", "sat")],
    "shippo": [f"shippo_live_{some(40, HEX)}"],
    "shopify": [f"{prefix}_{some(32, HEX)}" for prefix in ("shpat", "shpca", "shppa", "shpss")],
    "slack": [
        f"xoxb-{some(12, string.digits)}-{some(12, string.digits)}-{some(24)}",
        f"xoxp-{some(12, string.digits)}-{some(32)}",
        f"xoxe.xoxp-1-{some(160)}",
        f"xapp-1-{some(10, UPPER)}-{some(13, string.digits)}-{some(64, HEX)}",
        f"https://hooks.slack.com/services/T{some(8, UPPER)}/B{some(8, UPPER)}/{some(24)}",
        f"https://hooks.slack.com/workflows/T{some(8, UPPER)}/A{some(8, UPPER)}/{some(18, string.digits)}/{some(24)}",
    ],
    "sonar": [f"sqp_{some(40, HEX)}", f"squ_{some(40, HEX)}", f"sqa_{some(40, HEX)}"],
    "square": [f"sq0atp-{some(22, WORD)}", f"sq0csp-{some(43, WORD)}", f"EAAA{some(60, WORD)}"],
    "stripe": [f"{kind}_{where}_{some(24)}" for kind in ("sk", "rk") for where in ("live", "test")]
    + [f"whsec_{some(32)}"],
    "stytch": [f"secret-live-{some(36, WORD)}"],
    "supabase": [f"sbp_{some(40, HEX)}", f"sb_secret_{some(31, WORD)}"],
    "tailscale": [f"tskey-auth-{some(12)}-{some(32)}", f"tskey-api-{some(12)}-{some(32)}"],
    "tavily": [f"tvly-{some(32)}", f"tvly-dev-{some(32)}"],
    "telegram": [f"{some(10, string.digits)}:AA{some(33, WORD)}"],
    "tencent": [f"AKID{some(32)}"],
    "trello": [f"ATTA{some(72, HEX)}"],
    "twilio": [f"SK{some(32, HEX)}"],
    "twitter": [f"{'A' * 22}{some(90)}"],
    "typeform": [f"tfp_{some(59, WORD)}"],
    "vercel": [f"vcp_{some(56)}"],
    "xai": [f"xai-{some(80)}"],
    "yandex": [f"AQVN{some(36, WORD)}", f"t1.9euelZ{some(40, WORD)}.{some(86, WORD)}"],
    "zapier": [f"https://hooks.zapier.com/hooks/catch/1234567/{some(12, LOWER)}"],
    "zuplo": [f"zpka_{some(32, LOWER)}_{some(8, HEX)}"],
}
"""Keys by the service that gives them out; of an address, the part that is secret."""

VALUE = some(24)
"""A value of no known form: only what stands around it tells."""

CONTEXTS = [
    "API_KEY={}", "export API_KEY={}", "export API_KEY='{}'", 'API_KEY="{}"', "OPENAI_API_KEY={}", "SECRET_KEY={}",
    "DJANGO_SECRET_KEY='{}'", "DATABASE_PASSWORD={}", "DB_PASS={}", "MYSQL_PWD={}", "PGPASSWORD={}", "JWT_SECRET={}",
    "AUTH_TOKEN={}", "GITHUB_TOKEN={}", "NPM_TOKEN={}", "CLIENT_SECRET={}", "AWS_SECRET_ACCESS_KEY={}",
    "AWS_SESSION_TOKEN={}", "ENCRYPTION_KEY={}", "PRIVATE_KEY={}", "ACCESS_TOKEN={}", "REFRESH_TOKEN={}", "SIGNING_KEY={}",
    "set API_KEY={}", "$env:API_KEY = '{}'", "ENV API_KEY={}", "-e API_KEY={}", "--build-arg TOKEN={}",
    "api_key: {}", "apiKey: '{}'", 'api_key: "{}"', "apikey = {}", "api-key: {}", "  password: {}", "password: '{}'",
    "  - name: token\n    value: {}", "secret: {}", "client_secret = \"{}\"", "auth_token => '{}'", "passwd={}",
    "passphrase: {}", "secret_key_base: {}", "access_key = {}", "token = '{}'", "token: {}", "bearer_token: {}",
    '{{"apiKey": "{}"}}', '{{"password":"{}"}}', '{{"access_token" : "{}"}}', '{{"client_secret":"{}","x":1}}',
    '{{"token": "{}"}}', "{{'password': '{}'}}", '{{\\"apiKey\\": \\"{}\\"}}', '{{"secretKey": "{}"}}', '{{"refresh_token":"{}"}}',
    '{{"privateKey":"{}"}}', '{{"auth":{{"pass":"{}"}}}}', '"accessKeySecret": "{}"', '"db_password": "{}"',
    "Authorization: Bearer {}", "authorization: bearer {}", '"Authorization": "Bearer {}"', "'Authorization': 'Bearer {}'",
    "-H 'Authorization: Bearer {}'", '-H "Authorization: token {}"', "Authorization: Basic {}", "Authorization: {}",
    "Proxy-Authorization: Basic {}", "X-Api-Key: {}", "x-api-key: {}", "X-Auth-Token: {}", "Private-Token: {}",
    "PRIVATE-TOKEN: {}", "X-Vault-Token: {}", "apikey: {}", "Ocp-Apim-Subscription-Key: {}", "X-Amz-Security-Token: {}",
    "X-Shopify-Access-Token: {}", "X-Figma-Token: {}", "Authorization: ApiKey {}", "X-CSRF-Token: {}",
    "Cookie: session={}", "Cookie: a=b; sessionid={}; c=d", "Set-Cookie: sid={}; Path=/; HttpOnly", "cookie: auth={}",
    "https://user:{}@example.com/x", "postgres://u:{}@db:5432/x", "mongodb+srv://u:{}@c.mongodb.net/x", "redis://:{}@r:6379/0",
    "amqp://u:{}@mq//", "mysql://u:{}@h/d", "ftp://u:{}@h/", "https://{}@github.com/a/b.git",
    "https://oauth2:{}@gitlab.com/a/b.git", "https://x-access-token:{}@github.com/a/b", "smtp://u:{}@h:25",
    "https://example.com/?api_key={}", "https://example.com/?a=b&token={}&c=d", "https://example.com/?access_token={}",
    "https://example.com/cb#access_token={}", "https://example.com/?key={}", "https://example.com/?apikey={}",
    "https://example.com/?password={}", "https://example.com/?client_secret={}", "https://example.com/?sig={}%3D",
    "https://b.s3.amazonaws.com/k?X-Amz-Signature={}", "https://b.s3.amazonaws.com/k?X-Amz-Security-Token={}",
    "curl -u user:{} https://example.com", "curl --user user:{} https://example.com", "mysql -u root -p{}",
    "mysql --password={}", "psql \"password={}\"", "sshpass -p {} ssh x", "docker login -u u -p {}", "--token {}", "--token={}",
    "--api-key {}", "--password {}", "--client-secret={}", "helm --set password={}", "redis-cli -a {}", "vault login {}",
    "//registry.npmjs.org/:_authToken={}", "_auth={}", "_password={}", "machine h login u password {}",
    "h:5432:d:u:{}", "[default]\naws_secret_access_key = {}", "username = u\npassword = {}", "<password>{}</password>",
    "<add key=\"Password\" value=\"{}\" />", '<apiKey>{}</apiKey>', "Server=h;User Id=u;Password={};", "jdbc:x://h/d?user=u&password={}",
    "pwd={};", "os.environ['API_KEY'] = '{}'", "process.env.API_KEY = '{}'", "const apiKey = '{}';", "let token = \"{}\"",
    "private static final String API_KEY = \"{}\";", "var apiKey = \"{}\"", "apiKey := \"{}\"", "API_KEY = '{}'",
    "password=\"{}\",", "connect(password='{}')", "connect(token=\"{}\")", "Password: {}", "password is {}", "PrivateKey = {}=",
    "client-key-data: {}", '"auth": "{}"', "ANSIBLE_BECOME_PASS={}", "admin_password: {}", "root_password={}",
    "spring.datasource.password={}", "db.password = {}", "my.api.key={}", "APP_KEY=base64:{}=", "storePassword '{}'",
    "credentials: {}", "creds={}", "TWILIO_AUTH_TOKEN={}", "sas_token={}",
    "define('DB_PASSWORD', '{}');", 'os.Setenv("API_TOKEN", "{}")',
]  # fmt: skip
"""Ways in which a value is given that is secret because of its name or its place."""

KEYS_OF_PARAMETERS = [
    "password", "passwd", "pwd", "passphrase", "secret", "client_secret", "clientSecret", "token", "access_token",
    "accessToken", "refreshToken", "id_token", "api_key", "apiKey", "apikey", "API_KEY", "x-api-key", "X-Api-Key",
    "authorization", "Authorization", "auth_token", "authToken", "private_key", "privateKey", "secretKey", "secret_key",
    "access_key", "accessKey", "aws_secret_access_key", "SecretAccessKey", "session_token", "sessionToken", "cookie",
    "Cookie", "set-cookie", "credentials", "credential", "db_password", "DB_PASSWORD", "userPassword", "jwt", "bearer",
    "signing_key", "encryption_key", "master_key", "webhook_secret", "otp", "pin_code_secret", "GITHUB_TOKEN", "tokens",
    "passwords", "secrets", "apiKeys", "api-key", "proxy-authorization", "ssh_key", "pgpassword", "auth_key", "deploy_key",
]  # fmt: skip
"""Names of parameters whose value is secret whatever it is."""

PLAIN_PARAMETERS = {
    "path": "src/token.py", "tokens_used": 12, "token_count": "12", "max_tokens": 100,
    "monkey": "x", "keyboard": "qwerty", "keyword": "secret", "public_key": "ssh-ed25519 AAAA", "key_name": "x", "password_field": "pw", "has_password": True,
    "password_hash_algorithm": "argon2", "secret_name": "db", "author": "someone", "authority": "x", "description": "a token",
    "tokenizer": "cl100k", "passenger": "y", "compass": "north", "bypass": True, "pass": 3, "passed": 10, "is_secret": False,
    "cookie_name": "sid", "content": "def f(password): ...", "command": "git log", "query": "password", "keymap": {"a": "b"},
    "turkey": "bird", "hotkey": "ctrl+k", "keypress": "x", "idempotency_id": "a1b2", "secretary": "x", "tokenize": "fast",
}  # fmt: skip
"""Parameters that have such words in their names, or none, and must stay as they are."""

HARMLESS = [
    f"commit {some(40, HEX)}", f"{some(40, HEX)} refs/heads/main", f"index {some(7, HEX)}..{some(7, HEX)} 100644",
    f"Merge: {some(7, HEX)} {some(7, HEX)}", f"git show {some(10, HEX)}", f"sha256:{some(64, HEX)}", f"{some(64, HEX)}  file.txt",
    f"md5: {some(32, HEX)}", f"{some(32, HEX)} *file.iso", f"SHA512 (x) = {some(128, HEX)}", f'"integrity": "sha512-{some(86)}=="',
    f"resolved \"https://registry.yarnpkg.com/a/-/a-1.0.0.tgz#{some(40, HEX)}\"", f"  integrity sha512-{some(86)}==",
    f'checksum = "{some(64, HEX)}"', f"github.com/a/b v1.2.3 h1:{some(43)}=", f"--hash=sha256:{some(64, HEX)}",
    f'"hash": "{some(32, HEX)}"', f"content-hash = \"{some(64, HEX)}\"", f"etag: \"{some(32, HEX)}\"", f"ETag: W/\"{some(20)}\"",
    uuid(), f"id: {uuid()}", f'"request_id": "{uuid()}"', f"trace_id={some(32, HEX)}", f"span={some(16, HEX)}", f"docker.io/x@sha256:{some(64, HEX)}",
    f"ssh-rsa AAAAB3NzaC1yc2E{some(340)} user@host", f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(43)} user@host",
    f"SHA256:{some(43)} user@host (ED25519)", f"-----BEGIN PUBLIC KEY-----\n{some(64)}\n{some(64)}\n-----END PUBLIC KEY-----",
    f"-----BEGIN CERTIFICATE-----\n{some(64)}\n{some(64)}\n-----END CERTIFICATE-----",
    f"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{some(64)}\n-----END PGP PUBLIC KEY BLOCK-----", f"age1{some(58, LOWER)}",
    f"data:image/png;base64,iVBORw0KGgo{some(400)}", f"//# sourceMappingURL=data:application/json;base64,{some(300)}",
    f"nonce-{some(22)}", f"script-src 'sha256-{some(43)}='", f"<link integrity=\"sha384-{some(64)}\" crossorigin>",
    "function(e,t,n){var r=n(123);e.exports=r(t,{a:1,b:2})}", "!function(t){var e={};function n(r){if(e[r])return e[r].exports}}",
    "AbstractSingletonProxyFactoryBeanConfigurationManagerImpl", "com.example.service.impl.UserAuthenticationTokenServiceImplTest",
    "test_that_a_token_which_expired_yesterday_is_refused_with_a_reason", "MAX_TOKENS_PER_MINUTE = 100000", "max_tokens=4096",
    "token_count: 12345678", "tokens: 1024", '"usage": {"prompt_tokens": 1234, "completion_tokens": 567890}', "num_tokens=123456789",
    "password = input('Password: ')", "password = getpass.getpass()", "password: str", "password: string;", "password?: string",
    "def login(user: str, password: str) -> None:", "func Login(user, password string) error {", "if password == '':", "password=None",
    "password = os.environ['DB_PASSWORD']", "password = process.env.DB_PASSWORD", "password: ${DB_PASSWORD}", "password: $DB_PASSWORD",
    "password: {{ vault_password }}", "password: !vault |", "API_KEY=<your-api-key>", "API_KEY=your_api_key_here", "API_KEY=xxxxxxxxxxxx",
    "API_KEY=changeme", "API_KEY=...", "API_KEY=", "API_KEY=\"\"", "export API_KEY", "api_key = None", "api_key: null", "apiKey: undefined",
    "token = request.headers.get('Authorization')", "token = self.get_token()", "token := r.Header.Get(\"X-Token\")", "token = tokens[0]",
    "const token = await getToken();", "let token = localStorage.getItem('token')", "secret = Secret.objects.get()", "secret: Secret",
    "key = f'{prefix}:{name}'", "key=lambda x: x[1]", "sorted(x, key=str.lower)", "<li key={item.id}>", "primary_key=True", "KeyError: 'abc'",
    "keyof typeof x", "key: 'ArrowDown'", "public_key = load('x')", "token.type == TokenType.IDENTIFIER", "expected token 'end of statement'",
    "Unexpected token < in JSON at position 0", "SyntaxError: Unexpected token '}'", "the secret is to mix well", "password must have 8 characters",
    "Invalid password: too short", "Enter password:", "forgot password? click here", "Password:", "password (again):", "authorization: required",
    "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Bearer ${TOKEN}", "Authorization: Bearer YOUR_TOKEN",
    "-H \"Authorization: Bearer $GITHUB_TOKEN\"", "-H 'X-Api-Key: <key>'", "Cookie: name=value", "https://user@example.com/x", "git@github.com:a/b.git",
    "ssh://git@host/x", "https://example.com:8080/a@b", "user:pass", "http://localhost:3000/?page=2", "postgres://localhost/db",
    "postgres://user:password@localhost/db", "https://user:pass@example.com", "https://example.com/?q=token", "mailto:a@b.c", "sk-learn and sk-image",
    "task-force risk-averse disk-usage", "aws s3 ls s3://bucket/AKIA", "arn:aws:iam::123456789012:role/x", "i-0abcd1234efgh5678", "ami-0abcdef1234567890",
    "vpc-0a1b2c3d4e5f67890", "us-east-1 eu-central-1", "2024-01-02T03:04:05.678901Z", "1.2.3-beta.4+build.5678", "v20.11.0 (node)", "0x7ffdeadbeef01234",
    "0xdeadbeefdeadbeefdeadbeefdeadbeef", "127.0.0.1:8080 10.0.0.1/24", "fe80::1ff:fe23:4567:890a", "4f:8c:1a:2b:3c:4d", "#ff00ff #a1b2c3d4",
    "M12.5 3.2c1.1 0 2 .9 2 2v14c0 1.1-.9 2-2 2h-9z", "lorem ipsum dolor sit amet consectetur adipiscing elit", "pytest tests/test_token_refresh.py::test_secret",
    "src/components/PasswordField/PasswordField.test.tsx", "import { getToken } from './auth/token'", "from secrets import token_hex", "secrets.token_hex(32)",
    "kubectl get secrets", "kubectl get secret db -o yaml", "gh secret set TOKEN", "aws secretsmanager list-secrets", "vault kv get secret/app",
    "token bucket algorithm with refill rate", "csrf_token: required", "<input type=\"password\" name=\"password\">", "<input name=\"token\" value=\"\">",
    "type Token struct { Value string }", "class ApiKey(models.Model):", "ALTER TABLE t ADD COLUMN password VARCHAR(255)", "SELECT token FROM t", "GRANT SELECT ON t TO u",
    "openssl rand -hex 32", "ssh-keygen -t ed25519", "gpg --list-secret-keys", "docker run -p 8080:80 x", "docker run -e TOKEN x", "mysql -u root -p",
    "psql -h h -U u -p 5432", "curl -u user https://x", "tar -p -xf x", "mkdir -p /a/b/c", "cp -p a b", "ssh -p 2222 host", "x-request-id: 8f14e45fceea167a5a36dedd4bea2543",
    "Set-Cookie: theme=dark; Path=/", "keyring==24.3.0", "PyJWT==2.8.0", "token-types@5.0.1", "jsonwebtoken@9.0.2", "passlib[bcrypt]>=1.7", "__Secure-next-auth",
    "\u5bc6\u7801\uff1a\u8bf7\u8f93\u5165", "passwort: bitte eingeben", "const API_KEY = process.env.API_KEY", "const API_KEY = import.meta.env.VITE_API_KEY;",
    "secretKeyRef:\n  name: db\n  key: password", "name: DB_PASSWORD\nvalueFrom:", "token: ${{ secrets.GITHUB_TOKEN }}", "password: ((db-password))", "password: <%= ENV['X'] %>",
    "key-value store", "access_key_id and secret_access_key", "aws_secret_access_key = YOUR_SECRET", "AKIAIOSFODNN", "xoxb-", "ghp_", "sk-", "eyJ", "AIza", "-----BEGIN",
]  # fmt: skip
"""Texts that hold no secret, or a placeholder only, and must stay to the letter."""
