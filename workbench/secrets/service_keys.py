"""The forms of keys that services document: a fixed prefix, then a run of letters and digits."""

import base64
import re
from collections.abc import Iterator
from typing import Final

_WORD_CHARACTER: Final = "[A-Za-z0-9_-]"
_NOT_IN_WORD: Final = r"(?<![A-Za-z0-9_-])"
PREFIXED_SERVICE_KEYS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("google-token", rf"ya29\.{_WORD_CHARACTER}{{20,}}+", ("ya29.",)),
    ("google-secret", rf"GOCSPX-{_WORD_CHARACTER}{{20,}}+", ("gocspx-",)),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{40,}+", ("_v1_",)),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{32,}+", ("dp.",)),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+", ("lin_",)),
    ("notion-token", r"ntn_[A-Za-z0-9]{40,}+", ("ntn_",)),
    ("notion-token", r"secret_(?<![A-Za-z0-9_-]secret_)[A-Za-z0-9]{43}", ("secret_",)),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}+", ("shp",)),
    ("square-token", rf"sq0(?:csp|atp|idp)-{_WORD_CHARACTER}{{20,}}+", ("sq0",)),
    ("meta-token", r"EAA(?<![A-Za-z0-9_-]EAA)[A-Z][A-Za-z0-9_-]{50,}+", ("eaa",)),
    ("databricks-token", r"dapi(?<![A-Za-z0-9_-]dapi)[a-f0-9]{32}", ("dapi",)),
    ("vault-token", rf"hv[sbr]\.(?<![A-Za-z0-9_-]....){_WORD_CHARACTER}{{24,}}+", ("hvs.", "hvb.", "hvr.")),
    ("vault-token", r"s\.(?<![A-Za-z0-9_-]s\.)[A-Za-z0-9]{24}(?![A-Za-z0-9.])", ("vault",)),
    ("terraform-token", rf"{_NOT_IN_WORD}[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD_CHARACTER}{{40,}}+",
     (".atlasv1.",)),
    ("telegram-token", rf"[0-9](?<![0-9][0-9])[0-9]{{7,9}}:AA{_WORD_CHARACTER}{{32,}}+", (":aa",)),
    # Before the first dot stands a number of 17 to 20 digits in base64, and nothing else looks like that.
    (
        "discord-token",
        rf"[MNO](?<![A-Za-z0-9_-].)[DTjz][AEIMQUYcgk][w-z0-5](?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){{4,5}}[A-Za-z0-9]{{0,3}}\.{_WORD_CHARACTER}{{6}}\.{_WORD_CHARACTER}{{27,}}+",
        tuple(first + second for first in "mno" for second in "dtjz"),
    ),
    ("discord-webhook", rf"/api/webhooks/[0-9]{{16,20}}/(?P<s>{_WORD_CHARACTER}{{40,}}+)",
     ("/api/webhooks/",)),
    ("teams-webhook", r"webhook\.office\.com/webhookb2/(?P<s>[^\s\"'⟨⟩]{20,}+)", ("webhook.office.com",)),
    ("docker-token", rf"dckr_(?:pat|oat)_{_WORD_CHARACTER}{{20,}}+", ("dckr_",)),
    ("azure-signature", r"[?&]sig=(?P<s>[A-Za-z0-9%/+_-]{30,}+)", ("sig=",)),
    ("azure-secret", rf"{_NOT_IN_WORD}[A-Za-z0-9_~.]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}", ("q~",)),
    ("firebase-key", rf"APA91b{_WORD_CHARACTER}{{100,}}+", ("apa91b",)),
    ("xai-key", r"xai-[A-Za-z0-9]{60,}+", ("xai-",)),
    ("groq-key", r"gsk_[A-Za-z0-9]{40,}+", ("gsk_",)),
    ("replicate-token", r"r8_(?<![A-Za-z0-9_-]r8_)[A-Za-z0-9]{30,}+", ("r8_",)),
    ("perplexity-key", r"pplx-[A-Za-z0-9]{40,}+", ("pplx-",)),
    ("grafana-token", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}+", ("glsa_", "glc_")),
    ("new-relic-key", r"NRAK-[A-Z0-9]{20,}+", ("nrak-",)),
    ("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_]{40,}+", ("sntry",)),
    ("rubygems-key", r"rubygems_[a-f0-9]{40,}+", ("rubygems_",)),
    ("planetscale-token", rf"pscale_(?:tkn|pw|oauth)_{_WORD_CHARACTER}{{30,}}+", ("pscale_",)),
    ("postman-key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{30,}+", ("pmak-",)),
    ("prefect-key", r"pn[ub]_[A-Za-z0-9]{36,}+", ("pnu_", "pnb_")),
    ("atlassian-token", r"AT(?:ATT3|CTT3)[A-Za-z0-9_=-]{60,}+", ("tt3",)),
    ("bitbucket-token", r"ATBB(?<![A-Za-z0-9_-]ATBB)[A-Za-z0-9]{28,}+", ("atbb",)),
    ("figma-token", rf"figd_{_WORD_CHARACTER}{{35,}}+", ("figd_",)),
    ("fly-token", r"(?:fm[12]|fo1)_[A-Za-z0-9+/=_,-]{40,}+", ("fm1_", "fm2_", "fo1_")),
    ("supabase-key", r"sb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{20,}+)", ("sbp_", "sb_secret_")),
    ("netlify-token", r"nf[pocu]_[A-Za-z0-9]{36,}+", ("nfp_", "nfo_", "nfc_", "nfu_")),
    ("airtable-token", r"pat(?<![A-Za-z0-9_-]pat)[A-Za-z0-9]{14}\.[a-f0-9]{64}", ("pat",)),
    ("dynatrace-token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{40,}+", ("dt0",)),
    ("artifactory-key", r"AKCp(?<![A-Za-z0-9_-]AKCp)[A-Za-z0-9]{60,}+", ("akcp",)),
    ("nuget-key", r"oy2(?<![A-Za-z0-9_-]oy2)[a-z0-9]{43}(?![a-z0-9])", ("oy2",)),
    ("adafruit-key", r"aio_(?<![A-Za-z0-9_-]aio_)[A-Za-z0-9]{28}", ("aio_",)),
    ("easypost-key", r"EZ[AT]K(?<![A-Za-z0-9_-]....)[A-Za-z0-9]{50,}+", ("ezak", "eztk")),
    ("duffel-token", rf"duffel_(?:live|test)_{_WORD_CHARACTER}{{40,}}+", ("duffel_",)),
    ("tailscale-key", r"tskey-[a-z]{3,12}-[A-Za-z0-9-]{20,}+", ("tskey-",)),
    ("cloudflare-key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}+", ("v1.0-",)),
    ("twilio-key", r"SK(?<![A-Za-z0-9_-]SK)[a-f0-9]{32}(?![a-z0-9])", ("sk",)),
    (
        "mailgun-key",
        r"key-(?<![A-Za-z0-9_-]key-)(?=[a-z]{0,31}[0-9])(?=[0-9]{0,31}[a-z])[a-z0-9]{32}(?![a-z0-9])",
        ("key-",),
    ),
    (
        "mailchimp-key",
        r"[a-f0-9](?<![A-Za-z0-9_-].)[a-f0-9]{31}-us[0-9]{1,2}(?![0-9])",
        tuple(f"-us{digit}" for digit in "123456789"),
    ),
    ("password-hash", r"\$(?:apr1|1|2[aby]|5|6|y|argon2id?)\$[./A-Za-z0-9=,$+-]{20,}+", ("$",)),
)  # fmt: skip
"""Kind, expression (its group `s`, or all of it, is the key), lower-case texts of which one has to occur."""
_UUID: Final = "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"
_LETTER_OR_DIGIT: Final = "[A-Za-z0-9]"
_HEX: Final = "[a-f0-9]"
_BASE64_KEYS: Final = (
    ("github-token", ("ghp_", "ghs_", "gho_", "github_pat_")), ("gitlab-token", ("glpat-",)),
    ("slack-token", ("xoxb-", "xoxp-")), ("stripe-key", ("sk_live_", "rk_live_", "sk_test_")),
    ("anthropic-key", ("sk-ant-",)), ("openai-key", ("sk-proj-",)), ("npm-token", ("npm_",)),
    ("huggingface-token", ("hf_",)), ("sendgrid-key", ("SG.",)),
    ("pem", ("-----BEGIN PRIVATE KEY", "-----BEGIN RSA PRIVATE", "-----BEGIN EC PRIVATE",
             "-----BEGIN OPENSSH PRIVATE", "-----BEGIN ENCRYPTED PRIVATE")),
)  # fmt: skip


def _base64_prefixes() -> Iterator[tuple[str, str, str]]:
    for kind, beginning in ((kind, text) for kind, beginnings in _BASE64_KEYS for text in beginnings):
        whole = len(beginning) // 3 * 3
        fixed = base64.b64encode(beginning[:whole].encode()).decode()
        rest = base64.b64encode(beginning[whole:].encode()).decode().rstrip("=")[: len(beginning) % 3]
        yield kind, fixed + rest, r"[A-Za-z0-9+/_-]{24,}+={0,2}"


_KEY_PREFIXES: Final[tuple[tuple[str, str, str], ...]] = (
    ("1password-key", "A3-", r"[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
    ("1password-token", "ops_eyJ", r"[A-Za-z0-9+/]{100,}+"), ("adobe-secret", "p8e-", r"[A-Za-z0-9]{32}"),
    ("aiven-token", "AVNS_", rf"{_WORD_CHARACTER}{{16,}}+"),
    ("alibaba-key", "LTAI", rf"{_LETTER_OR_DIGIT}{{16,24}}(?!{_LETTER_OR_DIGIT})"),
    ("artifactory-token", "cmVmd", rf"{_LETTER_OR_DIGIT}{{59}}(?!{_LETTER_OR_DIGIT})"),
    ("bedrock-key", "ABSK", r"[A-Za-z0-9+/]{100,}+"),
    ("bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/=_-]{40,}+"),
    ("bitwarden-token", "0.", rf"{_UUID}\.{_LETTER_OR_DIGIT}{{20,}}+:[A-Za-z0-9+/=]{{16,}}+"),
    ("braintree-token", "access_token$production$", r"[a-z0-9]{12,20}\$[a-f0-9]{32}"),
    ("braintree-token", "access_token$sandbox$", r"[a-z0-9]{12,20}\$[a-f0-9]{32}"),
    ("buildkite-token", "bkua_", rf"{_HEX}{{40}}"), ("cerebras-key", "csk-", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("circleci-token", "CCIPAT_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("circleci-token", "CCIPRJ_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("clickhouse-key", "4b1d", rf"{_LETTER_OR_DIGIT}{{38}}(?!{_LETTER_OR_DIGIT})"),
    ("clojars-token", "CLOJARS_", r"[a-z0-9]{60}"),
    ("contentful-token", "CFPAT-", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("crates-token", "cio", rf"{_LETTER_OR_DIGIT}{{32}}(?!{_LETTER_OR_DIGIT})"),
    ("defined-key", "dnkey-", rf"{_WORD_CHARACTER}{{60,}}+"),
    ("doppler-token", "dp.st.", r"[a-z0-9_-]{2,35}\.[A-Za-z0-9]{40,}+"),
    ("dropbox-token", "sl.", rf"(?:u\.)?{_WORD_CHARACTER}{{120,}}+"), ("e2b-key", "e2b_", rf"{_HEX}{{40}}"),
    ("fireworks-key", "fw_", rf"{_LETTER_OR_DIGIT}{{22,32}}(?!{_WORD_CHARACTER})"),
    ("flutterwave-key", "FLWSECK", r"(?:_TEST)?-[a-f0-9]{12,40}(?:-X)?"),
    ("fly-token", "fm1a_", r"[A-Za-z0-9+/=_,-]{40,}+"), ("fly-token", "fm1r_", r"[A-Za-z0-9+/=_,-]{40,}+"),
    ("frameio-token", "fio-u-", rf"{_WORD_CHARACTER}{{60,}}+"),
    ("gitlab-token", "gloas-", rf"{_HEX}{{60,}}+"),
    ("gitlab-token", "glffct-", rf"{_WORD_CHARACTER}{{20,}}+"),
    ("gitlab-token", "GR1348941", rf"{_WORD_CHARACTER}{{20,}}+"),
    ("google-token", "1//0", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("grafana-token", "eyJrIjoi", r"[A-Za-z0-9+/=]{60,}+"),
    ("harness-token", "pat.", rf"{_LETTER_OR_DIGIT}{{22}}\.{_HEX}{{24}}\.{_LETTER_OR_DIGIT}{{20}}"),
    ("harness-token", "sat.", rf"{_LETTER_OR_DIGIT}{{22}}\.{_HEX}{{24}}\.{_LETTER_OR_DIGIT}{{20}}"),
    ("heroku-key", "HRKU-", rf"{_WORD_CHARACTER}{{40,}}+"), ("honeycomb-key", "hcaik_", r"[a-z0-9]{50,}+"),
    ("honeycomb-key", "hcalk_", r"[a-z0-9]{50,}+"), ("hubspot-token", "pat-", rf"[a-z]{{2}}[0-9]-{_UUID}"),
    ("huggingface-token", "api_org_", rf"{_LETTER_OR_DIGIT}{{30,}}+"),
    ("infracost-key", "ico-", rf"{_LETTER_OR_DIGIT}{{32}}(?!{_LETTER_OR_DIGIT})"),
    ("intra42-secret", "s-s4t2", rf"(?:ud|af)-{_HEX}{{64}}"),
    ("jina-key", "jina_", rf"{_WORD_CHARACTER}{{50,}}+"),
    ("langfuse-key", "sk-lf-", _UUID), ("langsmith-key", "lsv2_", rf"(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    ("launchdarkly-key", "api-", _UUID), ("launchdarkly-key", "sdk-", _UUID),
    ("mailersend-token", "mlsn.", rf"{_HEX}{{60,}}+"),
    ("mapbox-token", "sk.eyJ", rf"{_WORD_CHARACTER}{{40,}}+\.{_WORD_CHARACTER}{{20,}}+"),
    ("neon-key", "napi_", r"[a-z0-9]{50,}+"), ("new-relic-key", "NRJS-", rf"{_HEX}{{19}}"),
    ("new-relic-key", "NRII-", rf"{_WORD_CHARACTER}{{30,}}+"),
    ("nvidia-key", "nvapi-", rf"{_WORD_CHARACTER}{{50,}}+"),
    ("octopus-key", "API-", r"[A-Z0-9]{26}(?![A-Z0-9])"),
    ("okta-token", "SSWS ", rf"00{_WORD_CHARACTER}{{38,}}+"),
    ("openai-session", "sess-", rf"{_LETTER_OR_DIGIT}{{40}}(?!{_LETTER_OR_DIGIT})"),
    ("openshift-token", "sha256~", rf"{_WORD_CHARACTER}{{43}}"),
    ("packagist-token", "packagist_", rf"[a-z]{{3}}_{_HEX}{{60,}}+"),
    ("pinecone-key", "pcsk_", rf"{_LETTER_OR_DIGIT}{{5,6}}_{_LETTER_OR_DIGIT}{{50,}}+"),
    ("plaid-token", "access-", rf"(?:sandbox|development|production)-{_UUID}"),
    ("posthog-key", "phx_", rf"{_LETTER_OR_DIGIT}{{40,}}+"), ("pulumi-token", "pul-", rf"{_HEX}{{40}}"),
    ("razorpay-key", "rzp_", r"(?:live|test)_[A-Za-z0-9]{14,}+"),
    ("readme-key", "rdme_", r"[a-z0-9]{60,}+"), ("render-key", "rnd_", rf"{_LETTER_OR_DIGIT}{{28,}}+"),
    ("resend-key", "re_", rf"{_LETTER_OR_DIGIT}{{8}}_{_LETTER_OR_DIGIT}{{24}}(?!{_LETTER_OR_DIGIT})"),
    ("scalingo-token", "tk-us-", rf"{_WORD_CHARACTER}{{48}}"),
    ("segment-token", "sgp_", rf"{_LETTER_OR_DIGIT}{{16,40}}(?>(?:_{_LETTER_OR_DIGIT}{{40}})?)"),
    ("brevo-key", "xkeysib-", rf"{_HEX}{{64}}-{_LETTER_OR_DIGIT}{{16}}"),
    ("brevo-key", "xsmtpsib-", rf"{_HEX}{{64}}-{_LETTER_OR_DIGIT}{{16}}"),
    ("settlemint-token", "sm_", rf"(?:aat|pat|sat)_{_LETTER_OR_DIGIT}{{16}}"),
    ("shippo-token", "shippo_", rf"(?:live|test)_{_HEX}{{40}}"),
    ("sonar-token", "sq", rf"[pua]_{_HEX}{{40}}"), ("square-token", "EAAA", rf"{_WORD_CHARACTER}{{60,}}+"),
    ("stytch-secret", "secret-", rf"(?:live|test)-{_WORD_CHARACTER}{{36}}"),
    ("tavily-key", "tvly-", rf"(?:dev-|prod-)?{_LETTER_OR_DIGIT}{{28,}}+"),
    ("tencent-key", "AKID", rf"{_LETTER_OR_DIGIT}{{32}}(?!{_LETTER_OR_DIGIT})"),
    ("trello-token", "ATTA", rf"{_HEX}{{60,}}+"),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAA", r"AA[A-Za-z0-9%]{70,}+"),
    ("typeform-token", "tfp_", rf"{_WORD_CHARACTER}{{50,}}+"),
    ("vercel-token", "vcp_", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("yandex-key", "AQVN", rf"{_WORD_CHARACTER}{{35,38}}(?!{_WORD_CHARACTER})"),
    ("yandex-token", "t1.", rf"{_WORD_CHARACTER}{{20,}}+\.{_WORD_CHARACTER}{{86}}"),
    ("discord-token", "mfa.", rf"{_WORD_CHARACTER}{{80,}}+"),
    ("github-token", "v1.", rf"{_HEX}{{40}}(?!{_LETTER_OR_DIGIT})"),
    ("apify-token", "apify_api_", rf"{_LETTER_OR_DIGIT}{{30,}}+"),
    ("cloudflare-token", "cfk_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("cloudflare-token", "cfut_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("cloudflare-token", "cfat_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("context7-key", "ctx7sk-", rf"{_WORD_CHARACTER}{{30,}}+"),
    ("elevenlabs-key", "sk_", rf"{_HEX}{{48}}(?!{_LETTER_OR_DIGIT})"),
    ("firecrawl-key", "fc-", rf"{_HEX}{{32}}(?!{_LETTER_OR_DIGIT})"),
    ("postman-key", "PMAT-", r"[A-Z0-9]{26}(?![A-Z0-9])"), ("segment-token", "sgp_local_", rf"{_HEX}{{40}}"),
    ("slack-token", "xwfp-", rf"{_WORD_CHARACTER}{{20,}}+"),
    ("together-key", "tgp_v1_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("vercel-token", "vck_", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("vercel-token", "vca_", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("vercel-token", "vci_", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("vercel-token", "vcr_", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("vercel-token", "vercel_blob_rw_", rf"{_LETTER_OR_DIGIT}{{12,20}}_{_LETTER_OR_DIGIT}{{28,}}+"),
    ("voyage-key", "pa-", rf"{_WORD_CHARACTER}{{43}}(?!{_WORD_CHARACTER})"),
    ("weights-key", "wandb_v1_", rf"{_WORD_CHARACTER}{{40,}}+"),
    ("langsmith-key", "ls__", rf"{_HEX}{{32}}"),
    ("google-key", "AQ.Ab", rf"{_WORD_CHARACTER}{{30,}}+"),
    ("llamaindex-key", "llx-", rf"{_LETTER_OR_DIGIT}{{40,}}+"),
    ("chutes-key", "cpk_", rf"{_HEX}{{32}}\.{_HEX}{{32}}\.{_LETTER_OR_DIGIT}{{32}}"),
    *_base64_prefixes(),
    ("zuplo-key", "zpka_", rf"{_LETTER_OR_DIGIT}{{32}}_{_HEX}{{8}}"),
)  # fmt: skip
"""Kind, fixed beginning where no word goes on, expression of what follows it."""
_WORD_BOUNDARY: Final = re.compile(r"\(\?<!\[A-Za-z0-9_-\]([^()\[\]]*)\)")


def _allow_escaped_line_end(source: str) -> str:
    """Let a key also stand behind the letter of an escaped line end, which is no word."""
    return _WORD_BOUNDARY.sub(lambda match: rf"(?:{match[0]}|(?<=\\[nrt]{match[1]}))", source)


def _prefix_rows() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for kind, beginning, rest in _KEY_PREFIXES:
        fixed = re.escape(beginning)
        yield kind, rf"{fixed}(?<![A-Za-z0-9_-]{fixed}){rest}", (beginning.lower(),)


_SERVICE_KEY_ROWS: Final = (
    *PREFIXED_SERVICE_KEYS,
    *_prefix_rows(),
    (
        "slack-webhook",
        r"hooks\.slack\.com/(?:workflows|triggers)/(?P<s>[A-Za-z0-9/_-]{20,}+)",
        ("hooks.slack.com",),
    ),
    ("zapier-webhook", r"hooks\.zapier\.com/hooks/catch/(?P<s>[A-Za-z0-9/_-]{10,}+)", ("hooks.zapier.com",)),
    ("maxmind-key", r"(?<![A-Za-z0-9_-])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", ("_mmk",)),
    (
        "asana-token",
        r"[12]/(?<![A-Za-z0-9_-]..)[0-9]{10,20}/(?>(?:[0-9]{10,20}:)?)[a-f0-9]{32}",
        ("1/", "2/"),
    ),
)
SERVICE_KEY_RULES: Final = tuple(
    (kind, _allow_escaped_line_end(source), hints) for kind, source, hints in _SERVICE_KEY_ROWS
)
"""All of them."""
_ANCHOR_OFFSETS: Final = {
    "_mmk": (36,), ".atlasv1.": (14,), "q~": (4,), ":aa": (8, 9, 10), "_v1_": (3,), "-us1": (32,),
    "k_live_": (1,), "sig=": (1,), "signature=": (1,), "key=": (1,), "akia": (0,), "md": (0,),
    "1/": (0,), "fm1_": (0,),
}  # fmt: skip
"""First hint of an expression that begins with no fixed text: how many signs stand before its hints."""
_FIXED_PREFIX: Final = re.compile(r"(?>(?:[A-Za-z0-9_/:;#@!<>=~%&\" -]|\\[-.$+])*)(?![?*{])")


def anchors_of_expression(source: str, hints: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return what to look for before an expression is tried, and how far from its beginning that stands.

    Returns texts in lower case, none where matches can begin anywhere, and the counts of signs before them.
    """
    if hints[0] in _ANCHOR_OFFSETS:
        return hints, _ANCHOR_OFFSETS[hints[0]]
    match = _FIXED_PREFIX.match(source)
    fixed = match[0].replace("\\", "").lower() if match else ""
    return ((fixed,), (0,)) if len(fixed) > 1 or (fixed and not fixed.isalnum()) else ((), (0,))
