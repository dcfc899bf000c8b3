# kind: on-mock; line: 11; name: is_tls; how: attribute read on a mock with a spec which lacks it
from unittest.mock import MagicMock

from aiosmtpd.smtp import Session


def test_plain_session_is_not_secure():
    session = MagicMock(spec=Session)
    session.ssl = None
    assert session.ssl is None
    assert not session.is_tls()
