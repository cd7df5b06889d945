"""Keys in the forms that services document are taken wherever they stand; what only looks like one stays."""

import random
import string

import pytest

from tests.support.tables import each_row
from tests.unit.secrets import given_secrets, secret_forms, test_late_forms, told_secrets
from tests.unit.secrets.test_scrub import SECRETS
from workbench.secrets.rules import SECRET_RULES
from workbench.secrets.scrubber import scrub, scrub_value

LETTERS = string.ascii_letters + string.digits
SOME = random.Random(7)


def run(count, alphabet=LETTERS):
    return "".join(SOME.choice(alphabet) for _ in range(count))


def hexed(count):
    return run(count, "0123456789abcdef")


KEYS = {
    "google-token": "ya29." + run(60), "google-secret": "GOCSPX-" + run(28), "digitalocean": "dop_v1_" + hexed(64),
    "doppler": "dp.pt." + run(43), "linear": "lin_api_" + run(40), "notion": "ntn_" + run(46), "old notion": "secret_" + run(43),
    "shopify": "shpat_" + hexed(32), "square": "sq0csp-" + run(43), "meta": "EAAB" + run(80), "databricks": "dapi" + hexed(32),
    "vault": "hvs." + run(90), "terraform": run(14) + ".atlasv1." + run(65), "telegram": "123456789:AA" + run(33),
    "docker": "dckr_pat_" + run(27), "xai": "xai-" + run(80), "groq": "gsk_" + run(52), "replicate": "r8_" + run(37),
    "perplexity": "pplx-" + run(48), "grafana": "glsa_" + run(32) + "_" + hexed(8), "sentry": "sntrys_" + run(60),
    "new relic": "NRAK-" + run(27, string.ascii_uppercase), "rubygems": "rubygems_" + hexed(48), "planetscale": "pscale_tkn_" + run(43),
    "postman": "PMAK-" + hexed(24) + "-" + hexed(34), "prefect": "pnu_" + run(36), "atlassian": "ATATT3xFfGF0" + run(170),
    "bitbucket": "ATBB" + run(32), "figma": "figd_" + run(40), "fly": "fm2_" + run(80), "supabase": "sbp_" + hexed(40),
    "netlify": "nfp_" + run(36), "airtable": "pat" + run(14) + "." + hexed(64), "artifactory": "AKCp" + run(69),
    "dynatrace": "dt0c01." + run(24, string.ascii_uppercase) + "." + run(64, string.ascii_uppercase),
    "nuget": "oy2" + run(43, string.ascii_lowercase), "adafruit": "aio_" + run(28), "easypost": "EZAK" + run(54),
    "duffel": "duffel_live_" + run(43), "tailscale": "tskey-auth-" + run(12) + "-" + run(32), "twilio": "SK" + hexed(32),
    "cloudflare": "v1.0-" + hexed(24) + "-" + hexed(146), "mailgun": "key-" + hexed(32), "mailchimp": hexed(32) + "-us12",
    "bcrypt": "$2b$12$" + run(53), "apr1": "$apr1$" + run(8) + "$" + run(22), "azure": "abc8Q~" + run(34), "firebase": "APA91b" + run(134),
}  # fmt: skip

PLACES = {
    "discord hook": ("https://discord.com/api/webhooks/123456789012345678/", run(68), ""),
    "azure signature": ("https://x.blob.core.windows.net/c?sv=2020&sig=", run(43), ""),
    "token in a url": ("git clone https://", run(40), "@github.com/a/b.git"),
    "cookie": ("Cookie: ", "sessionid=" + run(32) + "; csrftoken=" + run(32), "\r\n"),
    "set-cookie": ("Set-Cookie: session=", run(40), "; Path=/"),
    "netrc": ("machine github.com login me password ", "s3cretpw", "\n"),
    "pgpass": ("localhost:5432:db:user:", "s3cretpw", "\n"),
    "mysql": ("mysql -u root -p", "S3cretpw", " db"),
    "sshpass": ("sshpass -p ", "S3cretPw", " ssh x"),
    "docker login": ("docker login -u x -p ", "S3cretPw1", ""),
    "xml": ("<password>", "S3cretPw1", "</password>"),
    "yaml with a blank": ("db_password: '", "p@ss w0rd", "'"),
    "subscription key": ("Ocp-Apim-Subscription-Key: ", hexed(32), ""),
    "vault header": ("X-Vault-Token: ", "s." + run(24), ""),
}

HARMLESS = [
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "index 3f78685..89e6c98 100644",
    "123e4567-e89b-12d3-a456-426614174000",
    "sha256:" + hexed(64),
    '"integrity": "sha512-' + run(86) + '=="',
    'resolved "https://registry.npmjs.org/x/-/x-1.0.0.tgz#' + hexed(40) + '"',
    "h1:" + run(43) + "=",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + run(200) + " me@x",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + run(43),
    "-----BEGIN PUBLIC KEY-----\n" + run(64) + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + run(64) + "\n-----END CERTIFICATE-----",
    "API_KEY=your_api_key_here",
    "API_KEY=<your-api-key>",
    "api_key: ${API_KEY}",
    "password: changeme",
    "password = os.environ['PASSWORD']",
    "ghp_" + "x" * 36,
    "xoxb-your-token",
    "sk-your-key-here",
    "data:image/png;base64," + run(200),
    "cookie: Cookie = Cookie(name)",
    'message = "Enter your password, please"',
    "the key-value store; SK1234; pattern.sub; pat.compile",
    "login with -p as port; mysql is a database",
    "12:30:45:abcdef",
    "$1 costs $20",
    "git@github.com:a/b.git",
]


@pytest.mark.spec(202)
@each_row("key", KEYS.values(), ids=KEYS.keys())
def test_a_key_of_a_service_is_taken(key):
    for text in (key, f"x={key} y", f'"{key}"', f"https://x/{key}\n"):
        assert key not in scrub(text).text
        assert "⟨secret: " in scrub(text).text
    assert key not in str(scrub_value({"text": key}))


@pytest.mark.spec(202)
@each_row(("before", "secret", "after"), PLACES.values(), ids=PLACES.keys())
def test_a_secret_is_taken_by_its_place(before, secret, after):
    shown = scrub(f"{before}{secret}{after}").text
    assert secret not in shown
    assert scrub(shown).text == shown


@each_row("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert scrub(text).text == text


def test_headers_in_parameters_are_taken_by_their_name():
    found, kinds = scrub_value(
        {"headers": {"Authorization": "Bearer x", "Cookie": "a=b", "Accept": "text/html"}}
    )
    assert found == {
        "headers": {"Authorization": "⟨secret: token⟩", "Cookie": "⟨secret: cookie⟩", "Accept": "text/html"}
    }
    assert kinds == ("token", "cookie")


MORE = [
    f"access_token$sandbox${run(16, string.ascii_lowercase)}${hexed(32)}", f"CCIPRJ_{run(60)}", f"4b1d{run(38)}",
    f"fm1a_{run(90)}", f"sat.{run(22)}.{hexed(24)}.{run(20)}", f"hcalk_{run(58, string.ascii_lowercase)}",
]  # fmt: skip


def test_every_row_of_the_table_has_an_example():
    texts = (
        [text for _, text, _ in SECRETS] + list(KEYS.values()) + ["".join(place) for place in PLACES.values()]
    )
    texts += [
        "discord: MTk4NjIyNDgzNDcxOTI1MjQ4." + run(6) + "." + run(38),
        "https://x.webhook.office.com/webhookb2/" + run(40),
    ]
    texts += [key for keys in secret_forms.SERVICES.values() for key in keys]
    texts += [context.format(secret_forms.VALUE) for context in secret_forms.CONTEXTS]
    texts += MORE + given_secrets.SERVICES
    texts += [way.format(given_secrets.LONG) for way in given_secrets.KEYS]
    texts += [way.format(given_secrets.HASH) for way in given_secrets.HASHES]
    texts += [way.format("made-up12") for way in given_secrets.PASSWORDS]
    texts += [text for text, _ in given_secrets.WHOLE]
    texts += [way.replace("@@", "hunter2") for way in told_secrets.SHORT]
    texts += [way.replace("@@", value) for way, value in told_secrets.WHOLE]
    texts += [*test_late_forms.KEYS, *(way.format("hunter2") for way in test_late_forms.TYPED)]
    texts.append("password: aHVudGVyMg==")
    used = {id(row) for row in SECRET_RULES if any(row.regex().search(text) for text in texts)}
    assert [row.kind for row in SECRET_RULES if id(row) not in used] == []
