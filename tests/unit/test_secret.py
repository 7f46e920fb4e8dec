"""The secret key: made once, for this user alone, whoever is first."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from protoconsole.config import ConfigError
from protoconsole.secret import secret_key


def test_a_key_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "root" / "secret.key"
    first = secret_key(path)
    assert len(first) == 86  # 64 random bytes in base64 without padding
    assert secret_key(path) == first
    assert (path.stat().st_mode, path.parent.stat().st_mode) == (stat.S_IFREG | 0o600, stat.S_IFDIR | 0o700)


def test_each_instance_has_its_own(tmp_path: Path) -> None:
    assert secret_key(tmp_path / "a") != secret_key(tmp_path / "b")


def test_a_key_that_is_there_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    path.write_text("from-elsewhere\n", "ascii")
    assert secret_key(path) == "from-elsewhere"


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe"])
def test_an_empty_or_broken_key_stops_the_start_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "secret.key"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        secret_key(path)
    assert str(caught.value).startswith(f"{path}: the secret key ")
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_hold_it_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="the secret key cannot be kept here"):
        secret_key(tmp_path / "file" / "secret.key")


@pytest.mark.processes
def test_processes_that_start_at_once_end_with_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "root" / "secret.key"
    code = (
        "import sys; from pathlib import Path; from protoconsole.secret import secret_key;"
        "print('ready', flush=True); sys.stdin.read(); print(secret_key(Path(sys.argv[1])))"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for _ in range(6)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
        process.stdin = None
    keys = {process.communicate(timeout=30)[0] for process in started}
    assert keys == {f"{path.read_text('ascii')}\n"}
    assert [file.name for file in path.parent.iterdir()] == ["secret.key"]
