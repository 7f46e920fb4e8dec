"""Take credentials out of a text. No Django, no clock, no file.

What is recognised by its own look: keys of well-known services and of this console, JSON Web Tokens, bearer
tokens, private key blocks. By what stands before it: `password=…`, `token: …` and their like, and
`user:password@` in an address. The work is linear in the length of the text: whatever a pattern may repeat
is bounded, stops at what begins another attempt, or is never given back.
"""

import re

REDACTED = "[redacted]"

# What names a secret, wherever it stands in a longer name: DB_PASSWORD, apiKey, aws_secret_access_key.
_NAMES = (
    "passw(?:or)?d|passphrase|pwd|secret|token|credentials?|authorization"
    "|(?:api|access|private|signing|encryption|account)[_-]?key"
)
_IS_NAME = re.compile(rf"(?:{_NAMES})\Z", re.IGNORECASE | re.ASCII)

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.ASCII | re.DOTALL,
)
_LOGIN = r"(?<=://)[^\s/@:?#\"'<>]{0,256}+:[^\s/?#\"'<>]{1,256}(?=@)"
_BEARER = r"(?<![A-Za-z0-9])(?i:bearer)[ \t]+(?:(?=[\w.~+/-]{0,64}\d)[\w.~+/-]{8,}+|[\w.~+/-]{16,}+)=*"
_JWT = r"(?<![\w-])eyJ[\w-]{8,}+(?:\.[\w-]*+){1,4}"
_SERVICE_KEYS = "|".join(
    (
        r"sk-(?=[\w-]{0,64}\d)[\w-]{16,}+",
        r"[srp]k_(?:live|test)_[A-Za-z0-9]{8,}+",
        r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        r"gh[pousr]_[A-Za-z0-9]{16,}+",
        r"github_pat_\w{20,}+",
        r"glpat-[\w-]{16,}+",
        r"xox[a-z]-[A-Za-z0-9-]{8,}+",
        r"AIza[\w-]{35}",
        r"hf_[A-Za-z0-9]{30,}+",
        r"pc_[apov](?:[\w-]{40,}+|(?=[\w-]{0,40}\d)[\w-]{20,}+)",
    )
)
# Possessive repeats only of single characters: around groups, Python before 3.11.5 gets them wrong.
_QUOTED = r"(?:(?!(?P=quote))[^\n])+"
_BARE = r"(?:(?:basic|bearer|token)[ \t]+)?[^\s\"'`&<]*[^\s\"'`&<.,;:!?)\]}]"
_NO_VALUE = r"\[redacted\]|(?:str|string|bytes|none|null|undefined|true|false|any)(?![^\s,;)=\]}|])"
_ASSIGNED = (
    rf"(?P<before>(?:{_NAMES})(?:\\?[\"'])?[ \t]*[:=][ \t]*(?P<quote>\\?[\"'])?)"
    rf"(?!{_NO_VALUE})(?(quote){_QUOTED}|(?!\\?[\"']){_BARE})"
)

_SECRET = re.compile(
    rf"{_LOGIN}|(?P<bearer>{_BEARER})|{_JWT}|(?<![A-Za-z0-9])(?:{_SERVICE_KEYS})|(?i:{_ASSIGNED})",
    re.ASCII,
)

# What every credential of one line has in it, in small letters: most lines have none of it, which is soon seen.
_SIGNS = (
    "://", "bearer", "eyj", "sk-", "k_live_", "k_test_", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat_", "glpat-", "xox",
    "aiza", "hf_", "pc_", "passw", "passphrase", "pwd", "secret", "token", "credential", "authorization", "key",
)  # fmt: skip


def redact(text: str) -> str:
    """Return the text with `[redacted]` in the place of every credential."""
    return "\n".join(map(_redacted_line, _PRIVATE_KEY.sub(REDACTED, text).split("\n")))


def _redacted_line(line: str) -> str:
    small = line.lower()
    return _SECRET.sub(_hidden, line) if any(sign in small for sign in _SIGNS) else line


def names_secret(name: str) -> bool:
    """Say whether a field of this name holds a credential."""
    return _IS_NAME.search(name) is not None


def _hidden(found: re.Match[str]) -> str:
    """Keep what says that there was a credential: the name before it, or the word Bearer."""
    bearer = f"{found['bearer'][: len('bearer')]} " if found["bearer"] else ""
    return f"{found['before'] or bearer}{REDACTED}"
