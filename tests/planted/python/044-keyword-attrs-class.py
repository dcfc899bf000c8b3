# kind: parameter; line: 6; name: reason; how: keyword of a generated __init__ and fails
from aiosmtpd.smtp import AuthResult


def test_refused():
    result = AuthResult(success=False, handled=False, reason="expired")
    assert not result.success
    assert not result.handled
