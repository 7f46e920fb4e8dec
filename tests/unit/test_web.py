"""What the environment says about how the site is reached."""

import pytest

from protoconsole.config import ConfigError
from protoconsole.web import allowed_hosts, base_path, trusted_origins

OWN = ["localhost", "127.0.0.1", "[::1]"]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("", ""),
        ("  ", ""),
        ("/", ""),
        ("console", "/console"),
        ("/console/", "/console"),
        ("/tools//console", "/tools/console"),
        ("/a-b_c.d~1", "/a-b_c.d~1"),
    ],
)
def test_a_sub_path_has_one_spelling(given: str, path: str) -> None:
    assert base_path({"PROTOCONSOLE_BASE_PATH": given}) == path


@pytest.mark.parametrize(
    "given", ["/a/../b", "/.", "/a b", "/ä", "/a?b", "/a#b", "https://x/y", "/a\n"[:-1] + "\0"]
)
def test_what_is_no_path_stops_the_start(given: str) -> None:
    with pytest.raises(ConfigError, match=r"^PROTOCONSOLE_BASE_PATH: .* must be a path like /console$"):
        base_path({"PROTOCONSOLE_BASE_PATH": given})


@pytest.mark.parametrize(
    ("given", "hosts", "origins"),
    [
        ("", [], []),
        (" , ", [], []),
        ("Console.Example", ["console.example"], ["https://console.example"]),
        (
            "a.example:8443, b.example",
            ["a.example", "b.example"],
            ["https://a.example:8443", "https://b.example"],
        ),
        (".wide.example", [".wide.example"], ["https://*.wide.example"]),
        ("[2001:db8::1]:8443", ["[2001:db8::1]"], ["https://[2001:db8::1]:8443"]),
        ("[2001:db8::1]", ["[2001:db8::1]"], ["https://[2001:db8::1]"]),
        ("*", ["*"], []),
    ],
)
def test_hosts_and_the_origins_that_follow(given: str, hosts: list[str], origins: list[str]) -> None:
    env = {"PROTOCONSOLE_HOSTS": given}
    assert allowed_hosts(env) == OWN + hosts
    assert trusted_origins(env) == origins
