"""Secrets of forty services, planted wherever recordings have texts, and texts that only look like secrets."""

from __future__ import annotations

import string
from collections.abc import Callable
from random import Random
from time import process_time
from typing import Any

import pytest

from mcp_sim.recordings.capture.redaction import Redactor

Json = Any
HEX, LOWER, ALNUM = "0123456789abcdef", string.ascii_lowercase + string.digits, string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
SERVICES: dict[str, list[tuple[str, str, int]]] = {
    "linear": [("lin_api_", ALNUM, 40)],
    "notion": [("ntn_", ALNUM, 46), ("secret_", ALNUM, 43)],
    "figma": [("figd_", ALNUM, 40)],
    "atlassian": [("ATATT3xFfGF0", ALNUM, 160)],
    "bitbucket": [("ATBB", ALNUM, 32)],
    "shopify": [("shpat_", HEX, 32), ("shpss_", HEX, 32)],
    "telegram": [("123456789:AA", ALNUM, 33)],
    "github": [("ghp_", ALNUM, 36), ("github_pat_", ALNUM, 82), ("gho_", ALNUM, 36)],
    "gitlab": [("glpat-", ALNUM, 20)],
    "slack": [("xoxb-1234567890-1234567890-", ALNUM, 24), ("xapp-1-A0-1-", HEX, 40)],
    "stripe": [("sk_live_", ALNUM, 24), ("rk_test_", ALNUM, 24), ("whsec_", ALNUM, 32)],
    "openai": [("sk-proj-", ALNUM, 60)],
    "anthropic": [("sk-ant-api03-", ALNUM, 90)],
    "aws": [("AKIA", UPPER, 16)],
    "google": [("AIzaSy", ALNUM, 33), ("ya29.", ALNUM, 60)],
    "huggingface": [("hf_", string.ascii_letters, 34)],
    "npm": [("npm_", ALNUM, 36)],
    "pypi": [("pypi-AgEIcHlwaS5vcmc", ALNUM, 70)],
    "sendgrid": [("SG.abcdefghij1234567890AB.", ALNUM, 43)],
    "digitalocean": [("dop_v1_", HEX, 64)],
    "docker": [("dckr_pat_", ALNUM, 27)],
    "supabase": [("sbp_", HEX, 40)],
    "sentry": [("sntrys_", ALNUM, 60)],
    "grafana": [("glsa_", ALNUM, 32)],
    "replicate": [("r8_", ALNUM, 37)],
    "groq": [("gsk_", ALNUM, 52)],
    "databricks": [("dapi", HEX, 32)],
    "vault": [("hvs.", ALNUM, 90)],
    "pulumi": [("pul-", HEX, 40)],
    "newrelic": [("NRAK-", UPPER, 27)],
    "postman": [("PMAK-", HEX, 59)],
    "rubygems": [("rubygems_", HEX, 48)],
    "planetscale": [("pscale_tkn_", ALNUM, 43)],
    "square": [("sq0atp-", ALNUM, 22)],
    "mailgun": [("key-", HEX, 32)],
    "airtable": [("pat1234567890abcd.", HEX, 64)],
    "posthog": [("phx_", ALNUM, 43)],
    "typeform": [("tfp_", ALNUM, 59)],
    "age": [("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)],
    "okta": [("00", ALNUM, 40)],
}
PLACES: list[Callable[[str, str], Json]] = [
    lambda secret, service: {"arguments": {"note": f"The key of {service} is {secret}."}},
    lambda secret, service: {"headers": {"Authorization": f"Bearer {secret}"}},
    lambda secret, service: {"env": {f"{service.upper()}_API_KEY": secret}},
    lambda secret, service: {"url": f"https://api.{service}.example/v1/items?limit=5&token={secret}"},
    lambda secret, service: {"command": ["serve", "--api-key", secret, "--verbose"]},
    lambda secret, service: {"settings": [{"key": "password", "value": secret}]},
    lambda secret, service: {"result": {"content": [{"type": "text", "text": f'{{"{service}_token": "{secret}"}}'}]}},
    lambda secret, service: {"url": f"https://files.example/{service}.pdf?X-Amz-Signature={secret}&X-Amz-Expires=60"},
    lambda secret, service: {"text": f"export {service.upper()}_TOKEN={secret}"},
    lambda secret, _: {"text": f"My key:\n{secret}"},
]
PGP = "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n{}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----"


def planted() -> list[tuple[str, str]]:
    """Return 150 secrets with their services."""
    draws, forms = Random(43), [(service, form) for service, known in SERVICES.items() for form in known]
    chosen = [forms[n % len(forms)] for n in range(146)]
    made = [(service, start + "".join(draws.choices(signs, k=size))) for service, (start, signs, size) in chosen]
    return [*made, *(("pgp", PGP.format("".join(draws.choices(ALNUM, k=60)))) for _ in range(4))]


def test_nearly_all_planted_secrets_are_redacted() -> None:
    missed = list[tuple[str, str]]()
    for number, (service, secret) in enumerate(planted()):
        place = PLACES[-1] if service == "pgp" else PLACES[number % (len(PLACES) - 1)]
        shown = str(Redactor().redact(place(secret, service), "x"))
        if secret in shown or (service == "pgp" and secret[50:80] in shown):
            missed.append((service, str(place(secret, service))[:90]))
    assert len(planted()) == 150
    assert len(SERVICES) == 40
    assert len(missed) <= 5, missed


FURTHER: list[tuple[str, str, int]] = [
    ("sl.", ALNUM, 130),
    ("MTAxMjM0NTY3ODkwMTIzNDU2.GhIjKl.", ALNUM, 38),
    ("HRKU-AA", ALNUM, 58),
    ("nfp_", ALNUM, 36),
    ("vcp_", ALNUM, 56),
    ("rnd_", ALNUM, 28),
    ("fm2_", ALNUM, 120),
    ("pat-na1-", HEX, 36),
    ("sk.eyJ1IjoiYWRh", ALNUM, 60),
    ("pcsk_", ALNUM, 70),
    ("2/1201234567890/1201234567891:", HEX, 32),
    ("pk_12345678_", UPPER, 32),
    ("CCIPAT_", ALNUM, 64),
    ("sqp_", HEX, 40),
    ("snyk_uat.1a2b3c4d.", ALNUM, 60),
    ("tskey-auth-", ALNUM, 40),
    ("tgp_v1_", ALNUM, 43),
    ("csk-", LOWER, 48),
    ("fw_", ALNUM, 22),
    ("fc-", HEX, 32),
    ("e2b_", HEX, 40),
    ("re_1a2b3c4d_", ALNUM, 24),
    ("GOCSPX-", ALNUM, 28),
    ("1//0", ALNUM, 100),
    ("AAAAaaaa:APA91b", ALNUM, 134),
    ("EAAG", ALNUM, 180),
    ("dG9rO", ALNUM, 55),
    ("00D5g000004abcd!", ALNUM, 96),
    ("access-sandbox-", HEX, 36),
    ("access_token$production$1a2b3c4d5e6f7a8b$", HEX, 32),
    ("pdl_live_apikey_01", LOWER, 50),
    ("CFPAT-", ALNUM, 43),
    ("bkua_", HEX, 40),
    ("cio", ALNUM, 32),
    ("oy2", LOWER, 43),
    ("$6$abcdefgh$", ALNUM, 86),
    ("https://", HEX, 32),
]
"""Secrets of services that are not among the forty."""


def test_secrets_of_further_services_are_redacted_in_prose() -> None:
    draws = Random(30)
    secrets = [start + "".join(draws.choices(signs, k=size)) for start, signs, size in FURTHER]
    secrets = [f"{secret}@o1.ingest.example/2" if "://" in secret else secret for secret in secrets]
    shown = [str(Redactor().redact({"text": f"The key is {secret}."}, "x")) for secret in secrets]
    assert [secret for secret, text in zip(secrets, shown, strict=True) if secret in text] == []


WAYS = """
PGPASSWORD={} psql
export SPOTIFY_KEY={}
ansible_ssh_pass={}
<server><password>{}</password></server>
<add key="ApiKey" value="{}" />
define('AUTH_KEY', '{}');
secret_key_base: {}
contraseña: {}
Das Passwort lautet: {}
The password is {}.
the token `{}` expires
Authenticate with token {}
machine api.example login bob password {}
curl -u admin:{} https://api.example
sshpass -p '{}' ssh host
mysql -h db -p{} shop
https://app.example/cb?code={}&state=x
https://app.example/reset-password/{}
https://hooks.example.com/catch/{}
"""


@pytest.mark.parametrize("way", WAYS.strip().splitlines())
def test_a_secret_is_found_however_a_text_gives_it(way: str) -> None:
    secret = "k7U7EZj3LQ4zqy5Xw8Rt2"
    assert secret not in str(Redactor().redact({"text": way.format(secret)}, "x"))


PREFIXES = [
    "jina-",
    "aio-",
    "retool-",
    "m0-",
    "rnd_",
    "key_live-",
    "secret-test-",
    "hawk_",
    "odt-",
    "pul-",
    "y0_",
    "md-",
]
"""Those of services, which names of packages, branches and models have, too."""


def ordinary() -> list[str]:
    """Return 2,000 texts without secrets: prose, ids, hashes, code, URLs, tables."""
    draws = Random(7)

    def sign(signs: str, size: int) -> str:
        return "".join(draws.choices(signs, k=size))

    words = "the invoice token of order was paid by a key customer in spring while sig notes secret meetings"
    kinds: list[Callable[[], str]] = [
        lambda: " ".join(draws.choices(words.split(), k=12)).capitalize() + ".",
        lambda: f"commit {sign(HEX, 40)} by Ada Vos",
        lambda: f"{sign(HEX, 8)}-{sign(HEX, 4)}-4{sign(HEX, 3)}-a{sign(HEX, 3)}-{sign(HEX, 12)}",
        lambda: f"con_{sign(string.digits, 5)}, deal_{sign(string.digits, 4)}, cus_{sign(ALNUM, 8)}",
        lambda: f"https://shop.example/{sign(LOWER, 9)}?page={sign(HEX, 2)}&page_token={sign(LOWER, 6)}",
        lambda: f"def {draws.choice(words.split())}_key(token, secret=None): return token[{draws.randrange(9)}:]",
        lambda: f"| {draws.choice(words.split())} | {draws.randrange(9999)} | 2029-03-17T09:00:00Z |",
        lambda: f"sha256:{sign(HEX, 64)}",
        lambda: f"/home/ada/{draws.choice(words.split())}/{sign(LOWER, 10)}.py:{draws.randrange(400)}",
        lambda: f"ada.vos+{sign(LOWER, 4)}@example.com wrote: see linear notes and the figma file",
        lambda: f"npm install left-pad@{draws.randrange(9)}.{draws.randrange(9)} && git push origin main",
        lambda: f"data:image/png;base64,{sign(ALNUM, 60)}",
        lambda: f"toolu_01{sign(ALNUM, 22)}, resp_{sign(HEX, 48)}, pi_{sign(ALNUM, 24)}, {'A' * 60}{sign(ALNUM, 90)}",
        lambda: "The password is required, token cl100k_base_tokenizer_v2, ORDER_KEY=1042, code=SPRING2024 ",
        lambda: f'["password", "username{draws.randrange(9999)}"], password: string (8-64 characters)',
        lambda: "https://docs.example/reset-password/step-by-step-instructions and /v1/secrets/list-all-the-secrets-2",
        lambda: f"{draws.choice(PREFIXES)}{'-'.join(draws.choices(words.split(), k=8))}-v{draws.randrange(9)}",
        lambda: "At login your password expires soon. After login the password field is shown.",
    ]
    return [kinds[n % len(kinds)]() for n in range(2000)]


def test_ordinary_texts_stay_as_they_are() -> None:
    damaged = [text for text in ordinary() if Redactor().redact({"text": text}, "x") != {"text": text}]
    assert damaged == []


@pytest.mark.parametrize("repeated", ["A_KEY=", "password=1", "API_KEY=a1b2c3d4"])
def test_a_name_that_is_repeated_without_end_takes_no_longer_than_others(repeated: str) -> None:
    began = process_time()
    shown = Redactor().redact({"text": repeated * 5_000 + " password=hunter-22"}, "x")
    assert process_time() - began < 1
    assert "hunter-22" not in str(shown)


def test_a_value_within_another_is_known_afterwards() -> None:
    redactor = Redactor()
    redactor.redact({"text": "auth=password=hunter-22"}, "x")
    assert "hunter-22" not in str(redactor.redact({"text": "It is hunter-22."}, "x"))
