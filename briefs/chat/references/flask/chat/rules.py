"""Which requests are refused."""

MOST_CHARACTERS, MOST_BUDGET = 10_000, 1_000_000
USUAL_BUDGET = 10_000


class Refused(Exception):
    def __init__(self, words, status=400):
        super().__init__(words)
        self.status = status


def checked_text(text):
    if not isinstance(text, str) or not text.strip() or len(text) > MOST_CHARACTERS:
        raise Refused(f"text: 1 to {MOST_CHARACTERS} characters, not only spaces")
    return text


def checked_system(text):
    if text is not None and (not isinstance(text, str) or len(text) > MOST_CHARACTERS):
        raise Refused(f"system: a text of at most {MOST_CHARACTERS} characters")
    return text or None


def checked_budget(budget):
    if budget is None:
        return USUAL_BUDGET
    if type(budget) is not int or not 1 <= budget <= MOST_BUDGET:
        raise Refused(f"budget: a whole number from 1 to {MOST_BUDGET}")
    return budget
