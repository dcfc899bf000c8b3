"""Jobs that compile variants. Only an error of the compiler is the variant's fault; any other end is not."""

from harness.languages.toolchain import BuildContext
from harness.sandbox.protocol import Job, JobResult, LimitReached, SandboxOptions
from harness.specs.errors import EndedFromOutside, SandboxLost, UserError

DEFAULT_OPTIONS = SandboxOptions()
_SIGNALLED = 128


async def run_build(context: BuildContext, job: Job, options: SandboxOptions = DEFAULT_OPTIONS) -> JobResult:
    """Run a job that compiles and holds nothing of a submission's, a second time where it was ended from outside.

    Raises SandboxLost where it was ended again, or by a signal or a limit; UserError where it left more than a job
    may leave.
    """
    try:
        try:
            result = await _run(context, job, options)
        except EndedFromOutside:
            result = await _run(context, job, options)
    except LimitReached as limit:
        raise SandboxLost(f"building the task's variants: {limit}") from None
    if result.timed_out:
        raise SandboxLost(f"building the task's variants took more than {job.seconds:g} s")
    if result.out_of_memory:
        raise SandboxLost("building the task's variants took more memory than its container has")
    if not result.complete:
        raise UserError("the task's variants, compiled, are larger than what a job may leave")
    return result


async def _run(context: BuildContext, job: Job, options: SandboxOptions) -> JobResult:
    result = await context.engine.run_job(context.image, job, options, context.labels)
    if result.exit_status > _SIGNALLED and not (result.timed_out or result.out_of_memory):
        raise EndedFromOutside(f"a container that built the task's variants ended with status {result.exit_status}")
    return result


def refused(name: str, said: str) -> UserError | SandboxLost:
    """The error for a variant of which nothing was built: what the compiler said, or that it said nothing."""
    if said and "signal: killed" not in said:
        return UserError(f"{name} of this task does not compile: {said}")
    return SandboxLost(f"{name} of this task was not built, and no compiler said why{f': {said}' if said else ''}")


def last_line(log: bytes) -> str:
    """What a command said in the end; empty where it said nothing."""
    return "".join(log.decode(errors="replace").strip().splitlines()[-1:])
