"""A sliding window of requests by client, with weights and a block after many refusals."""

WINDOW = 10_000
BLOCK = 6_000


class Client:
    def __init__(self):
        self.limit = 5
        self.trusted = False
        self.hits = []  # (ms, weight) of what was allowed
        self.refusals = 0
        self.blocked_at = None


class Subject:
    def __init__(self, clock):
        self.clock = clock
        self.clients = {}

    def of(self, name):
        return self.clients.setdefault(name, Client())

    def trust(self, client):
        self.of(client).trusted = True
        self.of(client).limit = 10

    def requests(self, client, times):
        for _ in range(times):
            self.request(client, 1)

    def request(self, client, weight):
        own, now = self.of(client), self.clock.ms
        if own.blocked_at is not None:
            if now - own.blocked_at < BLOCK:
                return "refused", {"as": "blocked", "after": seconds(own.blocked_at + BLOCK - now)}
            own.blocked_at = None
        hits = [(at, size) for at, size in own.hits if now - at < WINDOW]
        used = sum(size for _, size in hits)
        if used + weight > own.limit:
            after = self.wait(hits, used + weight - own.limit) - now
            self.refuse(own)
            return "refused", {"as": "busy", "after": seconds(max(after, 0 if own.blocked_at is None else BLOCK))}
        own.hits.append((now, weight))
        own.refusals = 0
        return "allowed"

    def wait(self, hits, much):
        for at, size in hits:
            much -= size
            if much <= 0:
                return at + WINDOW
        raise AssertionError("a weight is never more than the limit")

    def refuse(self, own):
        own.refusals += 1
        if own.refusals >= 10 and not own.trusted:
            own.blocked_at = self.clock.ms
            own.refusals = 0


def seconds(ms):
    return (ms + 999) // 1000
