"""The example of docs/extending.md that reads results, run as it stands there."""

from harness.specs.reasons import ReasonCode
from tests.support.docs import examples
from tests.support.run_folder import begun, judged, run_folder, worked


def test_the_rate_of_each_scaffold_is_computed_from_rows(tmp_path, capsys):
    run = run_folder(tmp_path / "run")
    judged(worked(begun(run, "sums", "mini", "openai/a", 1)))
    judged(worked(begun(run, "sums", "mini", "openai/a", 2)), ReasonCode.CRITERION_UNMET)
    judged(worked(begun(run, "terms", "mini", "openai/a", 1)), ReasonCode.SANDBOX_LOST)
    judged(begun(run, "sums", "oracle"))
    begun(run, "terms", "oracle")
    [code] = examples("extending.md", "Reading results")
    exec(code, {"run": run})
    assert capsys.readouterr().out.splitlines() == [
        "mini: 1 of 2 resolved (95% interval 9% to 91%)",
        "oracle: 1 of 1 resolved (95% interval 21% to 100%)",
    ]
