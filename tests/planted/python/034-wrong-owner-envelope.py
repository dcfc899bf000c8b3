# kind: member; line: 9; name: peer; how: attribute exists on Session but not on Envelope
from aiosmtpd.smtp import Envelope


def test_new_envelope_is_blank():
    envelope = Envelope()
    assert envelope.mail_from is None
    assert envelope.rcpt_tos == []
    assert envelope.peer is None
