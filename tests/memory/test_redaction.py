import time

import pytest

from memory.redaction import names_secret, redact

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
PRIVATE_KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "secret",
    [
        "sk-test-51HabcdefghijklmnopqrstuvwxyzABCD",
        "sk-proj-a1B2c3D4e5F6g7H8i9J0",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "xoxb-263594206564-FGqddMF8t08v8N7Oq4i57vs1",
        "pc_a" + "Zx9_-" * 8 + "abc",
        "pc_o" + "k" * 43,
        JWT,
        PRIVATE_KEY,
        PRIVATE_KEY.replace("RSA ", ""),
        "-----BEGIN OPENSSH PRIVATE KEY-----\ncut off before its end",
    ],
)
def test_what_looks_like_a_credential_is_hidden(secret: str) -> None:
    assert redact(f"before {secret}") == "before [redacted]"
    assert redact(f"({secret}") == "([redacted]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2 for the demo", "password=[redacted] for the demo"),
        ("password = 'hunter 2', then", "password = '[redacted]', then"),
        ('{"api_key": "abc d\'e", "n": 1}', '{"api_key": "[redacted]", "n": 1}'),
        (r"{\"token\": \"abc\"}", r"{\"token\": \"[redacted]\"}"),
        ("token: abc.", "token: [redacted]."),
        ("DB_PASSWORD=hunter2; ls", "DB_PASSWORD=[redacted]; ls"),
        ("?access_token=abc&page=2", "?access_token=[redacted]&page=2"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtn/FEMI", "AWS_SECRET_ACCESS_KEY=[redacted]"),
        ("curl -H 'Authorization: Bearer abc'", "curl -H 'Authorization: [redacted]'"),
        ("Authorization: Basic dXNlcjpw", "Authorization: [redacted]"),
        ("with Bearer a1b2c3d4e5 it works", "with Bearer [redacted] it works"),
        ("postgres://ann:pw@db.local/x", "postgres://[redacted]@db.local/x"),
        ("https://ann:p@ss@db.local/x", "https://[redacted]@db.local/x"),
        ('the secret: "cut off at the end', 'the secret: "[redacted]'),
    ],
)
def test_what_stands_behind_its_name_is_hidden_and_the_name_stays(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "123e4567-e89b-12d3-a456-426614174000",
        "d41d8cd98f00b204e9800998ecf8427e and 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "report-2024-final.pdf, task-force-2024-minutes.md, pc_audit_trail_of_the_store.sql",
        "The bearer of this letter; bearer instruments; Bearer authentication",
        "max_tokens: 2000, tokens=15",
        "def sign_in(password: str, token: None = None) -> bool",
        "http://localhost:8000/a?b=c and mail ann@example.net at 09:30",
        "the password is not written here, nor is the token",
        "risk-assessment-2024-for-the-north-region",
        'an empty one: "password": ""',
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("password", True), ("DB_PASSWORD", True), ("apiKey", True), ("token", True), ("tokens", False), ("key", False)],
)  # fmt: skip
def test_fields_that_hold_a_secret_are_known_by_name(name: str, is_one: bool) -> None:
    assert names_secret(name) is is_one


@pytest.mark.parametrize(
    "piece",
    ["sk-", "eyJ", "eyJaaaaaaaa.", "password=", "password", "a://", "://a:", "://a:@", "Bearer ", 'pwd="',
     "pwd=!", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "xoxb-", "pc_a", "token: ", "."],
)  # fmt: skip
def test_the_work_grows_with_the_length_and_not_faster(piece: str) -> None:
    def seconds(length: int) -> float:
        text = f"token sk- {piece * (length // len(piece))}"
        began = time.process_time()
        redact(text)
        return time.process_time() - began

    # Four times the text takes four times as long, or sixteen times where the work is quadratic.
    assert seconds(400_000) < 9 * max(min(seconds(100_000) for _ in range(3)), 0.01)
