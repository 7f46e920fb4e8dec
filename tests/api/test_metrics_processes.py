"""Counts of several processes add up."""

import os
import subprocess
import sys
from pathlib import Path

_COUNT = "from protoconsole.metrics import WRITES; WRITES.labels('stored').inc()"
_ASK = "import sys; from protoconsole.metrics import exposition; sys.stdout.buffer.write(exposition({}, 0))"


def test_whichever_process_is_asked_tells_the_counts_of_all(tmp_path: Path) -> None:
    env = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", _COUNT], env=env, check=True)
    told = subprocess.run([sys.executable, "-c", _ASK], env=env, check=True, capture_output=True, text=True)
    assert 'protoconsole_writes_total{outcome="stored"} 2.0' in told.stdout.splitlines()
