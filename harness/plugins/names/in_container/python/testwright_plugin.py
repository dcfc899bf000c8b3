"""A plugin of pytest, named by PYTEST_PLUGINS: its own file, since pytest warns of one that was imported before."""

import testwright_names


def pytest_configure(config):
    testwright_names.shim_monkeypatch()
