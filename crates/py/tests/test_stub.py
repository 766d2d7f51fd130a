"""The stub of the compiled module is what the module is."""

from __future__ import annotations

import subprocess
import sys

import intervalid
from intervalid import _intervalid


def test_the_stub_matches_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "intervalid._intervalid", "--concise"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_public_is_documented() -> None:
    for name in intervalid.__all__:
        assert name in ("__version__", "Callback") or getattr(intervalid, name).__doc__, name
    for name in dir(_intervalid):
        if not name.startswith("_"):
            assert getattr(_intervalid, name).__doc__, name
