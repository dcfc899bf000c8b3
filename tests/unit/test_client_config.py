"""What builds borrow from this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.sandbox.images.client_config import (
    ca_bundle,
    npm_configuration,
    npm_registry,
    parse_pip_settings,
    pip_configuration,
    pip_settings,
    proxies,
)
from harness.specs.errors import UserError


def test_own_bundle_comes_first_and_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = tmp_path / "ours.pem", tmp_path / "other.pem"
    ours.touch()
    other.touch()
    monkeypatch.setenv("TESTWRIGHT_CA_BUNDLE", str(ours))
    monkeypatch.setenv("SSL_CERT_FILE", str(other))
    assert ca_bundle() == ours
    ours.unlink()
    with pytest.raises(UserError, match=r"TESTWRIGHT_CA_BUNDLE: .*ours\.pem is no file"):
        ca_bundle()


def test_other_variables_that_name_no_file_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.pem").touch()
    monkeypatch.delenv("TESTWRIGHT_CA_BUNDLE", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "other.pem"))
    assert ca_bundle() == tmp_path / "other.pem"


def test_proxies_are_taken_in_both_cases_and_empty_ones_left() -> None:
    environment = {"HTTP_PROXY": "http://a:1", "https_proxy": "http://b:2", "ALL_PROXY": "", "PROXY": "http://c:3"}
    assert proxies(environment) == {"HTTP_PROXY": "http://a:1", "https_proxy": "http://b:2"}


def test_addresses_of_files_mean_nothing_in_a_container() -> None:
    listing = "global.extra-index-url='file:///srv/simple https://a.invalid/simple'\nglobal.find-links='/wheels'\n"
    assert parse_pip_settings(listing) == {"extra-index-url": ("https://a.invalid/simple",)}
    assert parse_pip_settings("global.index-url='file:///srv/simple'\n") == {}


def test_environment_beats_the_files_of_pip() -> None:
    listing = ":env:.index-url='https://env.invalid'\nglobal.index-url='https://file.invalid'\n"
    assert parse_pip_settings(listing) == {"index-url": ("https://env.invalid",)}


def test_pip_is_asked_and_its_answer_makes_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:word@a.invalid/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://b.invalid/simple https://c.invalid/simple")
    assert pip_settings()["index-url"] == ("https://user:word@a.invalid/simple",)
    assert pip_configuration().startswith("[global]\n")
    assert "extra-index-url =\n    https://b.invalid/simple\n    https://c.invalid/simple\n" in pip_configuration()


def test_pip_is_asked_once_in_a_process_and_again_in_another_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://first.invalid/simple")
    assert pip_settings()["index-url"] == ("https://first.invalid/simple",)
    with monkeypatch.context() as without:
        without.setattr(subprocess, "run", None)
        assert pip_settings()["index-url"] == ("https://first.invalid/simple",)
    monkeypatch.setenv("PIP_INDEX_URL", "https://second.invalid/simple")
    assert pip_settings()["index-url"] == ("https://second.invalid/simple",)


def test_what_a_pip_that_failed_said_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("no section\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    assert "https://mended.invalid/simple" not in pip_settings().get("index-url", ())
    settings.write_text("[global]\nindex-url = https://mended.invalid/simple\n")
    assert pip_settings()["index-url"] == ("https://mended.invalid/simple",)


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm isn't here")
def test_npm_is_asked_and_its_own_registry_is_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NPM_CONFIG_REGISTRY", "npm_config_registry"):
        monkeypatch.delenv(name, raising=False)
    settings = tmp_path / "npmrc"
    settings.touch()
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(settings))
    monkeypatch.setenv("NPM_CONFIG_GLOBALCONFIG", str(tmp_path / "none"))
    assert (npm_registry(), npm_configuration()) == ("", "")
    settings.write_text("registry=https://a.invalid/npm/\n")
    assert npm_registry() == "https://a.invalid/npm/"
    assert npm_configuration() == "registry=https://a.invalid/npm/\n"
