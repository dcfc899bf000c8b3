"""A plugin of pytest, named by PYTEST_PLUGINS: its own file, since pytest warns of one that was imported before."""

import testwright_mocks


def pytest_configure(config):
    testwright_mocks.shim_monkeypatch()
