"""The gateway: the host-side server through which native agents reach the one model of their trial.

It speaks four dialects (OpenAI's chat completions and responses, Anthropic's messages, Google's generateContent) and
passes calls to the provider that the trial's model names: in the same dialect where the provider has it, else
translated. Keys of providers never leave the host. How it is used:

    async with serve_gateway() as gateway:                  # harness.models.gateway.server; port=0 for loopback TCP
        served = models.served(trial.model)                 # harness.models.build.Models; UserError: replay:, ...
        async with gateway.open(served, allowance, trajectory.add, calls=path_of_calls_jsonl) as access:
            environment = {
                "ANTHROPIC_BASE_URL": access.base_url(DialectName.MESSAGES, "http://127.0.0.1:8787"),
                "ANTHROPIC_API_KEY": access.token,
                "ANTHROPIC_MODEL": access.model,                   # the provider's own name of it
            }
            ...                                                    # run the agent beside `access.ended()`

`serve_gateway(port=None)` raises UserError (one line) for a port that can't be had; port 0 takes a free one. One
gateway serves all trials of a run, `async with gateway.socket() as path` the agent of one: at most 128 connections at
a time. `gateway.url` is its own TCP address, where it has one.

`access.base_url(dialect, authority)`, for whatever authority the agent sees the gateway under:

    CHAT, RESPONSES   AUTHORITY/openai/v1      (OPENAI_BASE_URL)           + /chat/completions, /responses, /models
    MESSAGES          AUTHORITY/anthropic      (ANTHROPIC_BASE_URL)        + /v1/messages, .../count_tokens, ...
    GOOGLE            AUTHORITY/google         (GOOGLE_GEMINI_BASE_URL)    + /v1beta/models/NAME:generateContent, ...

`access.token` is taken wherever agents put keys: Authorization: Bearer, x-api-key, x-goog-api-key, ?key=.

How a trial ends from here (an agent can't see these; whoever runs it must):

- `await access.ended()` never returns. It raises AllowanceExhausted at the first call beyond a limit,
  BudgetExhausted where the run's money is spent, and ProviderError for an outage: for a fault that no repetition
  mends and no agent can (key, permission, quota, unknown model) at once, for faults that pass once there were
  `retries.attempts` in a row over `retries.longest_wait` seconds. After an agent's first answer the gateway asks
  the provider something itself before it takes either for an outage; `await access.quiet()` waits for that. Run it
  beside the agent's process and let the error pass to `supervise`. A call beyond a limit was answered with a 400 in
  the dialect's form that says why, a failed one in the provider's own form; whatever comes after the end gets a
  400.
- `access.fault` is the ProviderError of the last request, or None where it was answered. An agent that gives up by
  itself (exit status, no manifest) while it is set did so because of its provider: raise it. Its class CONTEXT ends
  the work as `context-limit`, by `supervise`.
- Leaving the block revokes the token at once, waits for the calls under way (they are paid), and writes the last
  record. Calls with a revoked or unknown token get 401.

The wall limit is `supervise`'s as before; allowance.steps counts answers. Waits between a failed request and the next
one don't count against the agent's time, up to `retries.longest_wait` each.

What is recorded, by calls of the function given to `open` (a trajectory's `add`):

- MessageRecord for each message that is new in its conversation (system prompt first, tool results as sent) and for
  each answer with usage and stop. `conversation` is "" for the first of a trial, "2", "3", ... for those of subagents
  and of side calls.
- PromptRecord (kind `prompt`): the sha256 of a system prompt that was really sent and of the tools offered with it,
  once for each that is different.
- GatewayRecord (kind `gateway`), the last: calls by dialect and by the model's name that was asked for, what was
  withheld by kind, unknown paths with counts.
- Failed requests go through `allowance.failed`, so that `supervise` makes FaultRecords of them.

`calls` names a file that gets a line for each call (CallRecord: dialect, path, model asked for, status, size, time,
usage, fault, what was withheld), up to a bound.
"""
