"""What the local sandbox reads of a job's outputs."""

from harness.sandbox.local.place import LocalDirectory, read_outputs


def test_a_report_that_its_user_may_not_read_is_read_all_the_same() -> None:
    """Tests may leave a mask with which everything that is made later has no rights at all."""
    place = LocalDirectory.make({})
    try:
        reports = place.files / "report"
        reports.mkdir()
        (reports / "1.xml").write_bytes(b"<a/>")
        (reports / "1.xml").chmod(0)
        assert read_outputs(place, "/report") == ({"1.xml": b"<a/>"}, True)
        assert (reports / "1.xml").stat().st_mode & 0o400, "root may read it anyhow, and others only now"
    finally:
        place.remove()
