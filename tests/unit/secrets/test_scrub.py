"""Secrets go, ordinary text stays, twice is as once, and no text takes long. All keys are made up."""

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.growth import assert_grows_with_length
from tests.support.tables import each_row
from workbench.secrets.scrubber import Scrubbed, scrub, scrub_value, secret_mark

PEM = "-----BEGIN RSA PRIVATE KEY-----\nFAKEfakeFAKEfake0000\nFAKEfakeFAKE+/==\n-----END RSA PRIVATE KEY-----"

SECRETS = [
    ("aws-key", "AKIAFAKEFAKEFAKEFAKE", "⟨⟩"),
    ("aws-key", "ASIAFAKEFAKEFAKEFAKE", "⟨⟩"),
    (
        "aws-secret",
        "aws_secret_access_key = FAKEfakeFAKE/fakeFAKE+fakeFAKEfakeFAKE0000",
        "aws_secret_access_key = ⟨⟩",
    ),
    (
        "aws-secret",
        '"SecretAccessKey": "FAKEfakeFAKE/fakeFAKE+fakeFAKEfakeFAKEfake"',
        '"SecretAccessKey": "⟨⟩"',
    ),
    ("github-token", "ghp_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000.", "⟨⟩."),
    ("github-token", "gho_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000", "⟨⟩"),
    ("github-token", "ghs_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000", "⟨⟩"),
    ("github-token", "ghu_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000", "⟨⟩"),
    ("github-token", r'"line\nghp_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000"', r'"line\n⟨⟩"'),
    ("github-token", "github_pat_FAKE0000fake0000FAKE_fakefakefake", "⟨⟩"),
    ("gitlab-token", "glpat-FAKEfakeFAKEfake0000", "⟨⟩"),
    ("slack-token", "xoxb-0000-fake-FAKEFAKE", "⟨⟩"),
    ("slack-token", "xapp-1-FAKEFAKE-0000", "⟨⟩"),
    (
        "slack-webhook",
        "https://hooks.slack.com/services/TFAKE/BFAKE/fakefake0000",
        "https://hooks.slack.com/services/⟨⟩",
    ),
    ("openai-key", "sk-FAKE0000fake0000FAKE0000fake", "⟨⟩"),
    ("openai-key", "sk-proj-FAKE0000fake0000FAKE-fake", "⟨⟩"),
    ("anthropic-key", "sk-ant-api03-FAKE_fake-FAKE0000", "⟨⟩"),
    ("google-key", "AIzaFAKEfakeFAKEfakeFAKEfakeFAKEfake000", "⟨⟩"),
    ("stripe-key", "sk_live_FAKEfakeFAKE0000", "⟨⟩"),
    ("stripe-key", "rk_live_FAKEfakeFAKE0000", "⟨⟩"),
    ("stripe-key", "whsec_FAKEfakeFAKE0000", "⟨⟩"),
    ("npm-token", "npm_FAKEfakeFAKEfakeFAKEfakeFAKEfake0000", "⟨⟩"),
    ("pypi-token", "pypi-AgEFAKEfake0000FAKEfake0000FAKEfake0000FAKEfake0000", "⟨⟩"),
    ("huggingface-token", "hf_FAKEfakeFAKEfakeFAKEfakeFAKEfake00", "⟨⟩"),
    ("sendgrid-key", "SG.FAKEfakeFAKEfake00.FAKEfakeFAKEfake00", "⟨⟩"),
    ("age-key", "AGE-SECRET-KEY-1FAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKEFAKE", "⟨⟩"),
    ("jwt", "x eyJGQUtFIjoxfQ.eyJmYWtlIjoxfQ.FAKE-fake y", "x ⟨⟩ y"),
    ("jwt", r"\neyJGQUtFIjoxfQ.eyJmYWtlIjoxfQ.FAKE-fake", r"\n⟨⟩"),
    ("bearer", "Authorization: Bearer FAKEfake0000", "Authorization: Bearer ⟨⟩"),
    ("bearer", '"Authorization": "Bearer FAKEfake0000"', '"Authorization": "Bearer ⟨⟩"'),
    ("bearer", "bearer FAKEfake0000FAKEfake", "bearer ⟨⟩"),
    ("basic-auth", "authorization: basic ZmFrZTpmYWtl", "authorization: basic ⟨⟩"),
    ("basic-auth", "curl -u admin:fakepass http://x", "curl -u admin:⟨⟩ http://x"),
    ("pem", f"a\n{PEM}\nb", "a\n⟨⟩\nb"),
    ("pem", PEM[:65], "⟨⟩"),
    ("pem", PEM.replace("\n", r"\n"), "⟨⟩"),
    ("pem", PEM.replace("\n", "\n+"), "⟨⟩"),
    ("pem", PEM.replace("KEY-----\nF", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,FAKE\n\nF"), "⟨⟩"),
    ("pem", "-----BEGIN PRIVATE KEY-----\nfake\n-----END PRIVATE KEY-----", "⟨⟩"),
    ("url-password", "postgres://admin:fake-pass@db:5432/x", "postgres://admin:⟨⟩@db:5432/x"),
    ("url-password", "redis://:fakepass@cache", "redis://:⟨⟩@cache"),
    ("password", 'password = "correcthorse"', 'password = "⟨⟩"'),
    ("password", "passwd='it\"s-fake'", "passwd='⟨⟩'"),
    ("password", "password: hunter2", "password: ⟨⟩"),
    ("password", "DB_PASSWORD=correcthorse", "DB_PASSWORD=⟨⟩"),
    ("password", 'password: str = "hunter2"', 'password: str = "⟨⟩"'),
    ("password", "mysql --password hunter2-fake", "mysql --password ⟨⟩"),
    ("api-key", "API_KEY=fake0000fake", "API_KEY=⟨⟩"),
    ("api-key", "x-api-key: fake0000fake", "x-api-key: ⟨⟩"),
    ("secret", '"client_secret": "fake-client-value"', '"client_secret": "⟨⟩"'),
    ("secret", r"\"client_secret\": \"fake-client-value\"", r"\"client_secret\": \"⟨⟩\""),
    ("token", 'os.environ["API_TOKEN"] = "fake0000fake0000"', 'os.environ["API_TOKEN"] = "⟨⟩"'),
    ("token", "/cb?access_token=fake0000fake&x=1", "/cb?access_token=⟨⟩&x=1"),
]

ORDINARY = [
    "commit 3f2a9c0d1e4b5a69788796a5b4c3d2e1f0a9b8c7",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "pip install scikit-learn sk-learn",
    '<div class="sk-estimator-doc-link-12-fitted sk-container-id-1-some-class-name">',
    "disk-0123456789abcdef0123 npm_config_registry",
    "token: str",
    "token: Optional[str] = None",
    "password: str = Field()",
    "password = get_password()",
    "password=self.password",
    "password == other",
    'password: "Enter your password here"',
    "key = value_name",
    "api_key = settings.API_KEY_2",
    'token = os.environ["X2"]',
    "token = next_page_token2",
    "token := lexer.Next(x1)",
    "max_tokens: 10000000 token_count=123456789",
    '{"token": "string", "secret": "⟨secret: token⟩"}',
    '{"monkey": "see", "keymap": "x1"}',
    "API_KEY=$API_KEY TOKEN=${TOKEN} SECRET=<secret> password=*****",
    "password: ${{ secrets.X1 }}",
    "TOKEN=DEFAULT_TOKEN PWD=/home/user/proj2",
    "secret: u64",
    "Authorization: Bearer token; Authorization: Basic authentication is old",
    "Bearer internationalization",
    "look for -----BEGIN RSA PRIVATE KEY----- in your files",
    "-----BEGIN CERTIFICATE-----\nFAKEfakeFAKEfake0000\n-----END CERTIFICATE-----",
    "http://example.com:8080/@x postgres://user:${PASS}@db",
    "docker run -u 1000:1000 curl",
    "password = sha256sum(x) token = tokens64b[0]",
    "password: abc123-⟨secret: jwt⟩ ⟨secret: v2-key99⟩",
    "gh_foo eyJ xoxo AKIA ghp_short",
]


@pytest.mark.spec(202)
@each_row(("kind", "text", "expected"), SECRETS)
def test_secrets_are_replaced(kind: str, text: str, expected: str):
    assert scrub(text) == Scrubbed(text=expected.replace("⟨⟩", secret_mark(kind)), found=(kind,))


@each_row("text", ORDINARY)
def test_ordinary_text_stays(text: str):
    assert scrub(text) == Scrubbed(text=text, found=())


def test_kinds_are_told_once_in_the_order_of_the_table():
    text = "password: hunter2 AKIAFAKEFAKEFAKEFAKE AKIAFAKEFAKEFAKEFAKF"
    assert scrub(text).found == ("aws-key", "password")


pieces = st.sampled_from(
    [text for _, text, _ in SECRETS]
    + [text[: len(text) // 2] for _, text, _ in SECRETS]
    + [text[len(text) // 3 :] for _, text, _ in SECRETS]
    + ORDINARY
    + [
        "⟨secret: pem⟩",
        "⟨",
        "⟩",
        '"',
        "'",
        " ",
        "\n",
        "\\n",
        "=",
        ": ",
        "-",
        "_",
        "/",
        "@",
        "(",
        "a",
        "0",
        "password=",
    ]
)


@settings(max_examples=600)
@given(st.lists(pieces, max_size=8).map("".join))
@example("secret = xpassword: sDB_PASSWORD=correcthorse 0FAKE/x")
@example("secret = 0/xpassword: sDB_PASSWORD=correcthorse")
@example("secret: u64token = next_page_token2password: x")
@example('token: Optional[str] = unter2password: huntepassword: str = "hunter2"')
@example(
    'a\n-----BEGIN RSA PRIVATE KEY-----\nFAKEfakeFAKEfake0"SecretAccessKey": '
    '"FAKEfakeFAKE/fakeFAKE+fakeFAKEfakeFAKEfake"FAKEfakeFAKEfake0000\nFAKEfakeFAKE+/==\n'
    "-----END RSA PRIVATE KEY-----\nb"
)
def test_scrubbing_again_changes_nothing(text: str):
    once = scrub(text).text
    assert scrub(once) == Scrubbed(text=once, found=())


@given(st.text())
def test_scrubbing_any_text_again_changes_nothing(text: str):
    once = scrub(text).text
    assert scrub(once).text == once


@given(st.sampled_from(SECRETS), st.text(st.sampled_from("xyz .,;\n"), max_size=20))
def test_a_secret_is_found_wherever_it_stands(secret: tuple[str, str, str], around: str):
    kind, text, expected = secret
    assert secret_mark(kind) in scrub(f"{around}\n {text} \n{around}").text
    assert expected.replace("⟨⟩", secret_mark(kind)) in scrub(f"{around}\n {text} \n{around}").text


@each_row(
    "unit",
    [
        "password=",
        "password=a.b",
        "token='",
        "token: x = ",
        "eyJaaaaaaaa",
        "eyJaaaaaaaa-",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\na: b",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAA\n",
        "://a:b",
        "SG.aaaaaaaaaaaaaaaaaaaa",
        "sk-",
        "--a-",
        "authorization: bearer ",
        "curl -u a",
        "AB12abZZ",
    ],
)
def test_time_grows_with_the_text_and_not_faster(unit: str):
    assert_grows_with_length(scrub, *((unit * 100_000)[:size] for size in (20_000, 160_000)))


@pytest.mark.spec(202)
@each_row(
    ("value", "expected", "kinds"),
    [
        ({"password": "x"}, {"password": secret_mark("password")}, ("password",)),
        (
            {"api_token": "x", "apiKey": "y"},
            {"api_token": secret_mark("token"), "apiKey": secret_mark("key")},
            ("token", "key"),
        ),
        ({"clientSecret": "x"}, {"clientSecret": secret_mark("secret")}, ("secret",)),
        (
            {"X-Api-Key": "x", "key": "y"},
            {"X-Api-Key": secret_mark("key"), "key": secret_mark("key")},
            ("key",),
        ),
        ({"apikey": "x"}, {"apikey": secret_mark("key")}, ("key",)),
        (
            {"tokens": ["a", ["b"], 3]},
            {"tokens": [secret_mark("token"), [secret_mark("token")], 3]},
            ("token",),
        ),
        ({"secret": {"type": "string"}, "token": 5, "pwd": ""}, ..., ()),
        ({"monkey": "a", "keymap": "b", "token_count": "c", "public_key": "d", "key_env": "E"}, ..., ()),
        ({"a": ["AKIAFAKEFAKEFAKEFAKE"]}, {"a": [secret_mark("aws-key")]}, ("aws-key",)),
        ({"AKIAFAKEFAKEFAKEFAKE": 1}, {secret_mark("aws-key"): 1}, ("aws-key",)),
        ([1, None, True, 2.5, "x"], ..., ()),
    ],
)
def test_values_are_scrubbed(value: object, expected: object, kinds: tuple[str, ...]):
    scrubbed, found = scrub_value(value)
    assert scrubbed == (value if expected is ... else expected)
    assert found == kinds
    assert scrub_value(scrubbed) == (scrubbed, ())


def test_keys_that_become_the_same_are_all_kept():
    scrubbed, _ = scrub_value({"AKIAFAKEFAKEFAKEFAKE": 1, "AKIAFAKEFAKEFAKEFAKF": 2})
    assert isinstance(scrubbed, dict)
    assert list(scrubbed.values()) == [1, 2]


def test_importing_compiles_nothing():
    program = (
        "import re, workbench.secrets.scrubber, workbench.text.safe, workbench.text.human, workbench.text.canonical\n"
        "from workbench.secrets.false_positives import compiled_pattern\n"
        "assert compiled_pattern.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
