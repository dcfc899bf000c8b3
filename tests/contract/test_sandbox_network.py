"""Loopback works over both families, the host has a name, and nothing else can be reached."""

from harness.sandbox.protocol import Engine, Sandbox

ECHO = (
    "perl -MIO::Socket::IP -e '$a=shift; $s=IO::Socket::IP->new(LocalHost=>$a,LocalPort=>0,Listen=>1) or die $@;"
    "$c=IO::Socket::IP->new(PeerHost=>$a,PeerPort=>$s->sockport) or die $@;"
    '$k=$s->accept; print $k "hello\\n"; close $k; print <$c>\' '
)
LISTEN_ON_ALL = (
    "perl -MSocket=:all -MIO::Socket::IP -e '"
    '($e,@all)=getaddrinfo("localhost",0,{socktype=>SOCK_STREAM,flags=>AI_PASSIVE}); die $e if $e;'
    "for(@all){($e,$host)=getnameinfo($_->{addr},NI_NUMERICHOST,NIx_NOSERV);"
    'push @kept,IO::Socket::IP->new(LocalHost=>$host,LocalPort=>0,Listen=>1)||die "$host: $@";print "$host\n"}\''
)
"""As asyncio's servers do: one socket for each address of the name."""


async def test_a_server_on_localhost_listens_over_both_families(sandbox: Sandbox, engine: Engine) -> None:
    result = await sandbox.run(LISTEN_ON_ALL, 20)
    assert result.exit_status == 0, result
    assert b"127.0.0.1\n" in result.output
    if engine.capabilities.network_isolation:  # without, it is this machine's name service that answers
        assert sorted(result.output.split()) == [b"127.0.0.1", b"::1"]


async def test_loopback_connects_and_nothing_else_does(sandbox: Sandbox, engine: Engine) -> None:
    for address in ("127.0.0.1", "::1", "localhost"):
        result = await sandbox.run(ECHO + address, 20)
        assert (result.exit_status, result.output) == (0, b"hello\n"), result
    if not engine.capabilities.network_isolation:
        assert engine.isolation in ("none", "swerex-remote-open-network")  # and says so
        return
    result = await sandbox.run(ECHO + "box", 20)
    assert (result.exit_status, result.output) == (0, b"hello\n"), result
    result = await sandbox.run("getent hosts box; uname -n", 20)
    assert result.output.split()[0] == b"127.0.0.1"
    assert result.output.split()[-1] == b"box"
    # Addresses of documentation, of a cloud's metadata, of a private network.
    for address in ("192.0.2.1", "169.254.169.254", "10.0.0.1", "2001:db8::1"):
        result = await sandbox.run(f"exec 3<>/dev/tcp/{address}/80", 20)
        assert result.exit_status == 1
        assert b"Network is unreachable" in result.output, result
    result = await sandbox.run("getent hosts example.com", 20)
    assert result.exit_status != 0
    result = await sandbox.run("cat /proc/net/dev", 20)
    assert [line.split(b":")[0].strip() for line in result.output.splitlines()[2:]] == [b"lo"]
