"""`operator` and `apikey`: results on stdout, talk on stderr, exit codes that mean something."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from protoconsole.access.keys import revoke, verify
from protoconsole.access.models import ApiKey, Operator
from protoconsole.instance import Instance

MANAGE = Path(__file__).parents[2] / "manage.py"
PASSWORD = "correct horse battery staple"


def run(*words: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*words, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def manage(home: Path, *words: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PROTO")}
    return subprocess.run(
        [sys.executable, str(MANAGE), *words],
        input=stdin,
        capture_output=True,
        text=True,
        env={**clean, "PROTOAGENT_HOME": str(home), "DJANGO_SETTINGS_MODULE": "protoconsole.settings", **env},
        timeout=60,
        check=False,
    )


def test_a_key_is_alone_on_stdout(db: None) -> None:
    out, err = run("apikey", "create", "roxy", "--role", "agent")
    key = verify(out.removesuffix("\n"))
    assert key is not None
    assert (key.name, key.role, key.may_confirm, key.created_by) == ("roxy", "agent", False, "command line")
    assert "roxy" in err
    assert out.strip() not in err


def test_a_plugin_may_be_let_confirm(db: None) -> None:
    run("apikey", "create", "importer", "--role", "plugin", "--may-confirm")
    assert ApiKey.objects.get().may_confirm


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("create", "taken", "--role", "agent"), "already a live key of the name taken"),
        (("create", " ", "--role", "agent"), "name: must be"),
        (("create", "k", "--role", "agent", "--may-confirm"), "may_confirm: only a plugin's"),
        (("create", "k", "--role", "root"), "invalid"),
        (("create", "k"), "--role"),
        (("revoke", "nobody"), "no live key of the name nobody"),
        ((), "action"),
    ],
)
def test_a_key_that_cannot_be_is_an_error(db: None, words: tuple[str, ...], problem: str) -> None:
    run("apikey", "create", "taken", "--role", "agent")
    with pytest.raises(CommandError, match=problem):
        run("apikey", *words)
    assert ApiKey.objects.count() == 1


def test_keys_are_listed_a_line_each_without_the_token(db: None) -> None:
    token = run("apikey", "create", "roxy", "--role", "agent")[0].strip()
    run("apikey", "create", "old", "--role", "viewer")
    revoke("old")
    verify(token)
    out, err = run("apikey", "list")
    rows = [line.split("\t") for line in out.splitlines()]
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
    assert [(row[0], row[1], row[2], row[4] == "never", row[5]) for row in rows] == [
        ("roxy", "agent", token[:8], False, "live"),
        ("old", "viewer", rows[1][2], True, "revoked"),
    ]
    assert re.fullmatch(moment, rows[0][3])
    assert re.fullmatch(moment, rows[0][4])
    assert (token in out, err) == (False, "")


def test_a_key_is_revoked_by_name(db: None) -> None:
    token = run("apikey", "create", "roxy", "--role", "agent")[0].strip()
    out, err = run("apikey", "revoke", "roxy")
    assert (out, verify(token)) == ("", None)
    assert "roxy is revoked" in err


def test_an_operator_with_a_password_from_stdin(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
    out, err = run("operator", "create", "vera", "--role", "viewer", "--password-stdin")
    vera = Operator.objects.get()
    assert (vera.username, vera.role, vera.check_password(PASSWORD)) == ("vera", "viewer", True)
    assert (out, PASSWORD in err) == ("", False)


def test_an_operator_without_a_password_gets_a_way_in(db: None, client: Client) -> None:
    out, _ = run("operator", "create", "olive")
    assert Operator.objects.get().role == "operator"
    assert client.post(out.strip()).headers["Location"] == "/password/"


def test_a_lost_password_is_answered_with_a_new_way_in(
    db: None, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(PASSWORD))
    run("operator", "create", "olive", "--password-stdin")
    out, _ = run("operator", "link", "olive")
    client.post(out.strip())
    new = {"new_password1": "another long one", "new_password2": "another long one"}
    assert client.post("/password/", new).status_code == 302
    assert Operator.objects.get().check_password("another long one")


@pytest.mark.parametrize(
    ("words", "stdin", "problem"),
    [
        (("create", "olive"), "", "already an operator of the name olive"),
        (("create", "a b"), "", "name: "),
        (("create", "vera", "--password-stdin"), "", "password: "),
        (("create", "vera", "--password-stdin"), "12345678\n", "password: "),
        (("create", "vera", "--role", "agent"), "", "invalid"),
        (("link", "nobody"), "", "no operator of the name nobody"),
    ],
)
def test_an_account_that_cannot_be_is_an_error(
    db: None, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], stdin: str, problem: str
) -> None:
    run("operator", "create", "olive")
    monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
    with pytest.raises(CommandError, match=problem):
        run("operator", *words)
    assert Operator.objects.count() == 1


def test_a_console_that_is_no_store_is_one_line(instance: Instance) -> None:
    instance.paths.console_db.write_bytes(b"no database at all" * 100)
    with pytest.raises(CommandError) as caught:
        run("apikey", "list")
    assert str(caught.value).startswith(f"{instance.paths.console_db}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.processes
def test_commands_work_before_the_first_start(tmp_path: Path) -> None:
    home = tmp_path / "box" / "home"
    made = manage(home, "apikey", "create", "roxy", "--role", "agent")
    assert (made.returncode, made.stdout.startswith("pc_a"), made.stdout.count("\n")) == (0, True, 1)
    again = manage(home, "apikey", "create", "roxy", "--role", "agent")
    assert (again.returncode, again.stdout) == (1, "")
    assert "already a live key" in again.stderr
    assert manage(home, "apikey", "create").returncode == 2
    modes = {path.name: path.stat().st_mode & 0o777 for path in (home, *home.iterdir())}
    assert modes["home"] == 0o700
    assert modes["console.db"] == 0o600
    assert {mode for name, mode in modes.items() if name != "home"} == {0o600}


@pytest.mark.processes
def test_two_first_commands_at_once_both_succeed(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PROTO")}
    env = {**clean, "PROTOAGENT_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "protoconsole.settings"}
    started = [
        subprocess.Popen(
            [sys.executable, str(MANAGE), "apikey", "create", name, "--role", "agent"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for name in ("one", "two")
    ]
    errors = [process.communicate(timeout=60)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0], errors


@pytest.mark.processes
@pytest.mark.parametrize(
    ("env", "line"),
    [
        (
            {"PROTOCONSOLE_CONFIG": "/nowhere.yaml"},
            "/nowhere.yaml: cannot be read: No such file or directory\n",
        ),
        (
            {"PROTOCONSOLE_BASE_PATH": "/a b"},
            "PROTOCONSOLE_BASE_PATH: '/a b' is not allowed, must be a path like /console\n",
        ),
    ],
)
def test_a_setting_that_stops_the_start_is_one_line_and_exit_1(
    tmp_path: Path, env: dict[str, str], line: str
) -> None:
    done = manage(tmp_path, "apikey", "list", **env)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)
    assert list(tmp_path.iterdir()) == []
