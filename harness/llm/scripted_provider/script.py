"""Which reply comes next."""

from collections import Counter

from harness.llm.scripted_provider.scenario import Reply, Rule, Scenario


class ScriptEnded(Exception):
    """No rule has a reply for a request; the message names the scenario."""


class Script:
    """A scenario being played. `name` is what its complaint is to be known by."""

    def __init__(self, scenario: Scenario, name: str) -> None:
        self.scenario = scenario
        self.name = name
        self._served: Counter[int] = Counter()

    def reply_to(self, text: str) -> Reply:
        """Raises ScriptEnded."""
        matching = [(number, rule) for number, rule in enumerate(self.scenario.rules) if rule.matches(text)]
        for number, rule in matching:
            if self._has_more(number, rule):
                reply = rule.replies[min(self._served[number], len(rule.replies) - 1)]
                self._served[number] += 1
                return reply
        why = f"the replies of all {len(matching)} matching rules are used up" if matching else "no rule matches"
        raise ScriptEnded(f"scenario {self.name} has no reply for this request: {why}")

    def _has_more(self, number: int, rule: Rule) -> bool:
        return rule.repeat or self._served[number] < len(rule.replies)
