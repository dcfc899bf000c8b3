"""What sets up a checkout installs with pip's own settings: by uv, and by pip where uv can't."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


def release(directory: Path) -> Path:
    """A wheel of a package that no index has."""
    directory.mkdir()
    info = "tiny_thing-1.0.dist-info"
    with zipfile.ZipFile(directory / "tiny_thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_thing.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"tiny_thing.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return directory


def install(tmp_path: Path, uv: str | Path, *requirements: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """What was done, and by whom: each installer leaves its name beside what it has installed."""
    config = tmp_path / "pip.conf"
    config.write_text(f"[global]\nno-index = true\nfind-links = {release(tmp_path / 'releases')}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    command = [CHECKOUT / "scripts" / "install", uv, sys.executable, "--target", tmp_path / "there", *requirements]
    env = {**kept, "PIP_CONFIG_FILE": str(config), "UV_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    installer = tmp_path / "there" / "tiny_thing-1.0.dist-info" / "INSTALLER"
    return done, installer.read_text().strip() if installer.exists() else ""


@pytest.mark.parametrize(("uv", "installer"), [(UV, "uv"), ("false", "pip"), ("no-such-program", "pip")])
def test_pips_settings_are_those_that_count_whoever_installs(tmp_path: Path, uv: Path, installer: str) -> None:
    done, by = install(tmp_path, uv, "tiny-thing")
    assert done.returncode == 0, done.stderr
    assert by == installer


def test_what_is_nowhere_is_said(tmp_path: Path) -> None:
    done, _ = install(tmp_path, UV, "tiny-thing==2.0")
    assert done.returncode != 0
    assert "tiny-thing" in done.stderr
