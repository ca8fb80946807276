"""What ships to run a server: the parts agree with each other and with the code, and they run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from neurowhere.cli import app

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PINS = re.compile(r"^([a-z0-9._-]+)==(\S+)", re.MULTILINE)
VARIABLE = re.compile(r"\bNEUROWHERE_[A-Z_]+")


def read(name):
    return (DEPLOY / name).read_text("utf-8")


def test_the_server_runs_what_was_tested():
    tested = dict(PINS.findall((ROOT / "requirements-test.txt").read_text()))
    deployed = dict(PINS.findall(read("requirements.txt")))
    assert {"fastapi", "uvicorn", "numpy"} <= set(deployed)
    assert deployed.items() <= tested.items()
    assert "://" not in read("requirements.txt")


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "neurowhere.service"])
def test_settings_are_those_of_the_command(name):
    serve = typer.main.get_command(app).commands["serve"]
    known = {option.envvar for option in serve.params}
    used = set(VARIABLE.findall(read(name)))
    assert used
    assert used <= known


def test_nothing_runs_as_root_or_writes_to_a_disk():
    assert re.search(r"^USER [1-9]", read("Containerfile"), re.MULTILINE)
    assert re.search(r"^HEALTHCHECK", read("Containerfile"), re.MULTILINE)
    assert read("compose.yaml").count("read_only: true") == 2
    for line in ("DynamicUser=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes"):
        assert line in read("neurowhere.service")


def test_the_proxy_takes_what_the_server_takes_and_logs_no_address():
    proxy = read("nginx.conf")
    assert "access_log off" in proxy
    assert "client_max_body_size 20m" in proxy  # as --max-map
    assert "TLSv1 " not in proxy


TOOLS = ("curl", "nginx", "openssl", "setpriv", "systemd-analyze", "unshare")
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_the_server_runs_shut_in_behind_the_proxy():
    done = subprocess.run(
        [DEPLOY / "check.sh", sys.executable], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all checks passed\n")
