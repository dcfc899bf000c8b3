# kind: member; line: 7; name: MAX_LINE_LENGTH; how: class constant is read and fails
from aiosmtpd.smtp import SMTP


def test_limits_follow_the_rfc():
    assert SMTP.command_size_limit == 512
    assert SMTP.line_length_limit == SMTP.MAX_LINE_LENGTH
