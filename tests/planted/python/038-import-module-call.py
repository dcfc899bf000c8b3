# kind: module; line: 15; name: aiosmtpd.exceptions; how: importlib.import_module of an absent module inside raises(ImportError, AttributeError)
import importlib

import pytest

from aiosmtpd.smtp import TLSSetupException


def test_error_is_an_exception():
    assert issubclass(TLSSetupException, Exception)


def test_error_is_exported_in_one_place():
    with pytest.raises((ImportError, AttributeError)):
        errors = importlib.import_module("aiosmtpd.exceptions")
        assert errors.TLSSetupException is not TLSSetupException
