r"""What the keys of services look like: one table of kinds, regular expressions and hints, as data.

Owns the forms that services document for their own keys: a fixed beginning, then a run of letters and digits.
Each begins with fixed text or a bounded run, and nothing that can fail stands behind an unbounded one.
"""

from typing import Final

_WORD: Final = "[A-Za-z0-9_-]"
_NOT_IN_WORD: Final = r"(?<![A-Za-z0-9_-])"

VENDORS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("google-token", rf"ya29\.{_WORD}{{20,}}+", ("ya29.",)),
    ("google-secret", rf"GOCSPX-{_WORD}{{20,}}+", ("gocspx-",)),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{40,}+", ("_v1_",)),
    ("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9]{32,}+", ("dp.",)),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+", ("lin_",)),
    ("notion-token", r"ntn_[A-Za-z0-9]{40,}+", ("ntn_",)),
    ("notion-token", r"secret_(?<![A-Za-z0-9_-]secret_)[A-Za-z0-9]{43}", ("secret_",)),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}+", ("shp",)),
    ("square-token", rf"sq0(?:csp|atp|idp)-{_WORD}{{20,}}+", ("sq0",)),
    ("meta-token", r"EAA(?<![A-Za-z0-9_-]EAA)[A-Z][A-Za-z0-9_-]{50,}+", ("eaa",)),
    ("databricks-token", r"dapi(?<![A-Za-z0-9_-]dapi)[a-f0-9]{32}", ("dapi",)),
    ("vault-token", rf"hv[sbr]\.(?<![A-Za-z0-9_-]....){_WORD}{{24,}}+", ("hvs.", "hvb.", "hvr.")),
    ("vault-token", rf"{_NOT_IN_WORD}s\.[A-Za-z0-9]{{24}}(?![A-Za-z0-9.])", ("vault",)),
    ("terraform-token", rf"{_NOT_IN_WORD}[A-Za-z0-9]{{14}}\.atlasv1\.{_WORD}{{40,}}+", (".atlasv1.",)),
    ("telegram-token", rf"(?<![0-9])[0-9]{{8,10}}:AA{_WORD}{{33}}", (":aa",)),
    (
        "discord-token", rf"{_NOT_IN_WORD}[MNO]{_WORD}{{22,27}}\.{_WORD}{{6}}\.{_WORD}{{27,}}+",
        ("discord", "bot"),
    ),
    ("discord-webhook", rf"/api/webhooks/[0-9]{{16,20}}/(?P<s>{_WORD}{{40,}}+)", ("/api/webhooks/",)),
    ("teams-webhook", r"webhook\.office\.com/webhookb2/(?P<s>[^\s\"'⟨⟩]{20,}+)", ("webhook.office.com",)),
    ("docker-token", rf"dckr_(?:pat|oat)_{_WORD}{{20,}}+", ("dckr_",)),
    ("azure-signature", r"[?&]sig=(?P<s>[A-Za-z0-9%/+_-]{30,}+)", ("sig=",)),
    ("azure-secret", rf"{_NOT_IN_WORD}[A-Za-z0-9_~.]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{31,34}}", ("q~",)),
    ("firebase-key", rf"APA91b{_WORD}{{100,}}+", ("apa91b",)),
    ("xai-key", r"xai-[A-Za-z0-9]{60,}+", ("xai-",)),
    ("groq-key", r"gsk_[A-Za-z0-9]{40,}+", ("gsk_",)),
    ("replicate-token", r"r8_(?<![A-Za-z0-9_-]r8_)[A-Za-z0-9]{30,}+", ("r8_",)),
    ("perplexity-key", r"pplx-[A-Za-z0-9]{40,}+", ("pplx-",)),
    ("grafana-token", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}+", ("glsa_", "glc_")),
    ("new-relic-key", r"NRAK-[A-Z0-9]{20,}+", ("nrak-",)),
    ("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_]{40,}+", ("sntry",)),
    ("rubygems-key", r"rubygems_[a-f0-9]{40,}+", ("rubygems_",)),
    ("planetscale-token", rf"pscale_(?:tkn|pw|oauth)_{_WORD}{{30,}}+", ("pscale_",)),
    ("postman-key", r"PMAK-[a-f0-9]{24}-[a-f0-9]{30,}+", ("pmak-",)),
    ("prefect-key", r"pn[ub]_[A-Za-z0-9]{36,}+", ("pnu_", "pnb_")),
    ("atlassian-token", r"AT(?:ATT3|CTT3)[A-Za-z0-9_=-]{60,}+", ("tt3",)),
    ("bitbucket-token", r"ATBB(?<![A-Za-z0-9_-]ATBB)[A-Za-z0-9]{28,}+", ("atbb",)),
    ("figma-token", rf"figd_{_WORD}{{35,}}+", ("figd_",)),
    ("fly-token", r"(?:fm[12]|fo1)_[A-Za-z0-9+/=_,-]{40,}+", ("fm1_", "fm2_", "fo1_")),
    ("supabase-key", r"sb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{20,}+)", ("sbp_", "sb_secret_")),
    ("netlify-token", r"nf[pocu]_[A-Za-z0-9]{36,}+", ("nfp_", "nfo_", "nfc_", "nfu_")),
    ("airtable-token", r"pat(?<![A-Za-z0-9_-]pat)[A-Za-z0-9]{14}\.[a-f0-9]{64}", ("pat",)),
    ("dynatrace-token", r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{40,}+", ("dt0",)),
    ("artifactory-key", r"AKCp(?<![A-Za-z0-9_-]AKCp)[A-Za-z0-9]{60,}+", ("akcp",)),
    ("nuget-key", r"oy2(?<![A-Za-z0-9_-]oy2)[a-z0-9]{43}(?![a-z0-9])", ("oy2",)),
    ("adafruit-key", r"aio_(?<![A-Za-z0-9_-]aio_)[A-Za-z0-9]{28}", ("aio_",)),
    ("easypost-key", r"EZ[AT]K(?<![A-Za-z0-9_-]....)[A-Za-z0-9]{50,}+", ("ezak", "eztk")),
    ("duffel-token", rf"duffel_(?:live|test)_{_WORD}{{40,}}+", ("duffel_",)),
    ("tailscale-key", r"tskey-[a-z]{3,12}-[A-Za-z0-9-]{20,}+", ("tskey-",)),
    ("cloudflare-key", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}+", ("v1.0-",)),
    ("twilio-key", r"SK(?<![A-Za-z0-9_-]SK)[a-f0-9]{32}(?![a-z0-9])", ("sk",)),
    ("mailgun-key", r"key-(?<![A-Za-z0-9_-]key-)[a-f0-9]{32}(?![a-z0-9])", ("key-",)),
    ("mailchimp-key", rf"{_NOT_IN_WORD}[a-f0-9]{{32}}-us[0-9]{{1,2}}(?![0-9])", ("-us",)),
    ("password-hash", r"\$(?:apr1|1|2[aby]|5|6|y|argon2id?)\$[./A-Za-z0-9=,$+-]{20,}+", ("$",)),
)  # fmt: skip
"""Kind, expression (its group `s`, or all of it, is the key), lower-case texts of which one has to occur."""
