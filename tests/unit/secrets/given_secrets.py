r"""Ways in which secrets are handed to programs and said by them, and what is written alike and is none: data.

`{}` stands for the secret. All values are made up.
"""

from tests.unit.secrets.secret_forms import HEX, LOWER, UPPER, WORD, some, uuid

KEY, HASH, LONG = some(24), some(64, HEX), some(43)
PAIR = "c29tZXVzZXI6bWFkZS11cDEyMw=="
"""`someuser:made-up123` in base64."""

KEYS = [
    '{{"auths":{{"https://index.docker.io/v1/":{{"auth":"{}"}}}}}}', "setenv API_TOKEN {}", "set -x API_TOKEN {}", "ENV API_TOKEN {}",
    "set -gx GITHUB_TOKEN {}", "ARG NPM_TOKEN {}", "heroku config:set SECRET={}", "export API_TOKEN={}", "  - API_TOKEN={}", "--env API_TOKEN={}",
    "define('AUTH_KEY', '{}');", 't.Setenv("TOKEN", "{}")', 'os.putenv("SECRET_KEY", "{}")', '$env:API_TOKEN = "{}"',
    '[Environment]::SetEnvironmentVariable("API_TOKEN", "{}")', "Authorization: OAuth {}", "Authorization: Api-Key {}", "authorization=Bearer%20{}",
    "Authorization: {}", "Authorization: Token token={}", "-H 'DD-APPLICATION-KEY: {}'", "-H 'PRIVATE-TOKEN: {}'", "X-CSRF-Token: {}",
    "curl -b 'session={}' https://x", "curl --cookie session={} https://x", "Cookie: theme=dark; session={}", "https://api/x?apikey={}&b=1",
    "/callback#access_token={}&token_type=bearer", "grant_type=client_credentials&client_id=x&client_secret={}", '{{"apiKey":"{}"}}',
    "JWT_SECRET={}", 'static let apiKey = "{}"', '<add key="ApiToken" value="{}"/>', "name: API_TOKEN\n  value: {}", '{{"Name": "API_KEY", "Value": "{}"}}',
    "Your API key is {}", "API key: {}", "Access token: {}", "The secret key is {}", "Token: {}", 'token "{}"', "npm config set //r/:_authToken {}",
    "git clone https://{}:x-oauth-basic@github.com/a/b", "vault kv put secret/x api_key={}", "kubectl config set-credentials x --token={}",
    "X-Amz-Security-Token: {}", "https://b.s3.amazonaws.com/k?AWSAccessKeyId=A&Signature={}&Expires=1", "X-Amz-Signature={}", "&X-Goog-Signature={}",
    "Unseal Key 1: {}=", "unseal_key: {}=", "PresharedKey = {}=", "AccountKey={}==;", "  .dockerconfigjson: {}=",
    "Authorization: SharedKey account:{}=", "Authorization: AWS AKIAIOSFODNN7EXAMPLE:{}=", "-----BEGIN EC PRIVATE KEY-----\n{}",
    "PuTTY-User-Key-File-2: ssh-rsa\nPublic-Lines: 1\nAAAA\nPrivate-Lines: 1\n{}\nPrivate-MAC: 01",
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    "+-----BEGIN RSA PRIVATE KEY-----\n+{}\n+-----END RSA PRIVATE KEY-----",
]  # fmt: skip
"""With a run of letters and digits."""

HASHES = [
    "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=host, Signature={}",
    'Authorization: Digest username="u", realm="x", uri="/", response="{}"', "SECRET_KEY_BASE={}", "auth_token={}",
    "https://b.s3.amazonaws.com/k?X-Amz-Date=20130524T000000Z&X-Amz-Signature={}",
]  # fmt: skip
"""With hexadecimal digits."""

PASSWORDS = [
    "define('DB_PASSWORD', '{}');", 'define( "DB_PASSWORD", "{}" );', 'os.Setenv("DB_PASSWORD", "{}")', "putenv('DB_PASSWORD={}');",
    "PGPASSWORD={} psql", "SSHPASS={} sshpass -e ssh h", "ansible_ssh_pass={}", "DB_PASS: {}", "curl -uadmin:{} https://x", "curl -U admin:{} https://x",
    "curl --proxy-user admin:{} https://x", "http -a admin:{} https://x", "echo {} | docker login -u u --password-stdin", "openssl rsa -passin pass:{} -in x",
    "openssl enc -aes-256-cbc -k {} -in x", "7z x -p{} a.7z", "unzip -P {} a.zip", "zip -P {} a.zip x", "smbclient //h/s -U user%{}", "htpasswd -b f user {}",
    "ldapsearch -D cn=x -w {} -b y", "sqlplus system/{}@db", "jdbc:oracle:thin:u/{}@h:1521:x", "default login u password {}",
    "machine h\n  login u\n  password {}", '{{"name":"DB_PASSWORD","value":"{}"}}', '{{ "key": "password", "value": "{}" }}', '#define WIFI_PASS "{}"',
    "ALTER USER x WITH PASSWORD '{}'", "CREATE USER 'x'@'%' IDENTIFIED BY '{}'", "CREATE ROLE x LOGIN PASSWORD '{}';", "requirepass {}", "masterauth {}",
    'psk="{}"', "Server=h;User ID=u;Password={};Encrypt=True", "postgres://u:{}@h/db", "postgres://u:{}/1@h/db", "postgres://u:{}@1@h/db",
    "redis://:{}@localhost:6379/0", "<SecretAccessKey>{}</SecretAccessKey>", "user=u password='{}' host=h", "password: {} # comment", ":password => '{}'",
    'connectionString="Data Source=h;User=u;Pwd={}"', "terraform apply -var db_password={}", "kubectl create secret generic d --from-literal=password={}",
    "kind: Secret\nstringData:\n  plain: {}\n", "apiVersion: v1\ndata:\n  username: {}\nkind: Secret\n", "- data:\n    a: {}\n  kind: Secret\n",
    "+kind: Secret\n+data:\n+  a.b: {}\n", '{{"data": {{"x": "{}"}}, "kind": "Secret"}}', "kind: Secret\nstringData:\n  file: |\n    {}\n    b\n",
]  # fmt: skip
"""With a short password."""

WHOLE = [
    ("password=letmein", "letmein"), ('{"password":"correct horse battery staple"}', "horse"), ("password: correct-horse-battery-staple", "horse"),
    ("PGPASSWORD=x1 psql", "x1"), ("Server=h;Password=p w d 1;Encrypt=True", "w d"), ("The password for admin is S3cr3tPass!", "S3cr"),
    ('"password": "pa\\"ssword1"', "ssword1"), ("define('DB_PASSWORD','x');", "'x'"), ('"auth": "dTpwNHNz"', "dTpw"),
    ("aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr"),
    ("define('NONCE_SALT', 'put$%6jk! sd{}[LKJ#2 8d;klf');", "LKJ"), ("TELEGRAM=110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "AAHdq"),
]  # fmt: skip

SERVICES = [
    f"tgp_v1_{some(43, WORD)}", f"cfut_{some(40)}", f"cfat_{some(40)}", f"cfk_{some(40)}", f"vck_{some(56)}", f"vca_{some(56)}", f"vci_{some(56)}",
    f"vcr_{some(56)}", f"vercel_blob_rw_{some(16)}_{some(32)}", f"apify_api_{some(36)}", f"fc-{some(32, HEX)}", f"sk_{some(48, HEX)}", f"ctx7sk-{some(36)}",
    f"PMAT-{some(26, UPPER)}", f"sgp_local_{some(40, HEX)}", f"xwfp-{some(20)}", f"xoxc-1-2-3-{some(64, HEX)}", f"xoxd-{some(60)}", f"mfa.{some(84, WORD)}",
    f"v1.{some(40, HEX)}", f"glrtr-{some(20)}", f"glwt-{some(20)}", f"pa-{some(43)}", f"wandb_v1_{some(60)}", f"ls__{some(32, HEX)}", f"s.{some(24)} vault",
]  # fmt: skip

HARMLESS = [
    "--- PASS: TestFoo2 (0.00s)", "--- PASS: TestParse/ipv4_8.8.8.8 (0.00s)", "PASS: tests/test1.sh", "PASS: src/foo/b1.test.js", "PASS  src/a1.test.ts",
    "ok 1 - pass", "pass=15 fail=2", "credentials: 'include'", "const USE_CREDENTIALS = 'use-credentials'", "SEC_E_INVALID_TOKEN: Final = -2146893048",
    "SEC_I_CREDENTIALS: Final = 0x00090320", "api_key: _AzureApiKeyT | str", "client_secret: SessionClientSecret", "token: OAuth2Token", "spwd: 3.0-3.12",
    "credentials = '%s:%s' % (user, password)", "f'machine {host} login {user} password {self.password}'", "const UNEXPECTED_TOKEN = /^Unexpected token/",
    'key="-----BEGIN PRIVATE KEY-----\\nXXXX\\nXXXX\\n-----END PRIVATE KEY-----"', "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    '#define OSSL_PASSPHRASE_PARAM_INFO "info"', '#define PROP_PASSWORD "password"', "self._pass = run_the_second_pass_over_it", "password=self.password",
    "password=new_password", '"password": "Enter your new password here"', '"password": "must have at least eight characters"', "password: required field here",
    "docker run -u node:node -p 80:80 http-server", "docker run --user app:app x http://y", "chown -R www:www /srv/http", "podman run -u web:web http",
    "echo done | docker ps", "zip -r a.zip src", "unzip -l a.zip", "7z l a.7z", "openssl s_client -connect h:443", "openssl rand -base64 32", "htpasswd -c f user",
    "ENV PATH /usr/local/bin", "ENV TOKEN_URL https://x/y", "set -e", "set -euo pipefail", "setenv EDITOR vi", "ARG VERSION", "git config set user.name x",
    "kind: ConfigMap\ndata:\n  password_file: /etc/x\n", "kind: Secret\nmetadata:\n  name: db\n", "kind: Secret\ndata:\n  password: {{ .Values.p | b64enc }}\n",
    "kind: SecretProviderClass\ndata:\n  a: hello\n", "a: 1\n---\nkind: ConfigMap\ndata:\n  a: hello\n---\nkind: Secret\n", '{"kind": "ConfigMap", "data": {"a": "b"}}',
    "The token is checked before it is used", "the key is the name of the row", "token is feature/add-login-page-2", "API key: see the documentation", "the secret is out",
    "https://host:8080/a@b", "https://registry:5000/x@sha256:" + HASH, "git@github.com:org/repo.git", "ssh://git@host:22/x", "npm config set registry https://r/",
    "Signature: valid", "?signature=true&x=1", "X-Hub-Signature-256: sha256=" + HASH, "response=\"ok\"", "digest: sha256:" + HASH, "Digest sha256 of x",
    "ALTER USER x WITH PASSWORD $1", "IDENTIFIED BY", "password for admin is required here", "the passphrase for the key is asked", "requirepass", "masterauth %s",
    "Private-Lines: 0", '"auth": "none"', '"auth": "basic"', '"auth": {"type": "x"}', '"auth": "bearer"', 'name="auth" value="x"', "AWS Alpha", "aws akia", f"{uuid()}",
    f"v1.{some(12, HEX)}", f"x_{some(40, LOWER)}.js", "mfa.enabled", "cio build", "re_export", "sk_learn", "pa-per", "fc-cache -f", "vca_list", "ls__x",
    "DB_PASSWORD=<password>", "DB_PASSWORD=${DB_PASSWORD}", "DB_PASSWORD=changeme", "DB_PASSWORD=xxxx", "REQUIRE_PASSWORD=no", "CONFIG_PASSWORD=y",
]  # fmt: skip
