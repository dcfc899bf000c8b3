"""A message's way: to the provider, through the tools, and into the conversation."""

from chat import tools
from chat.provider import Answer, ProviderError

MOST_ANSWERS = 8


def is_spent(store, name):
    conversation = store.find(name)
    return conversation is None or conversation["used"] >= conversation["budget"]


def answered(store, provider, name, text):
    """Yield the events of an answer: kind and data. Only an answer that is done is kept."""
    try:
        yield from _answered(store, provider, name, text)
    except ProviderError as error:
        yield "error", {"error": str(error)}


def _answered(store, provider, name, text):
    system = store.find(name)["system"]
    before = [{"role": "system", "content": system}] if system else []
    before += store.messages(name)
    added, notes = [{"role": "user", "content": text}], store.notes(name)
    for _ in range(MOST_ANSWERS):
        if is_spent(store, name):
            raise ProviderError("the budget is spent")
        answer = Answer()
        try:
            for piece in provider.answer(before + added, tools.OFFERED, answer):
                yield "text", {"text": piece}
        finally:
            store.spend(name, answer.tokens)
        added.append(answer.message)
        if not answer.calls:
            store.keep(name, added, notes)
            yield "done", {"text": answer.text, "used": store.find(name)["used"]}
            return
        for call in answer.calls:
            function = call["function"]
            result = tools.run(function["name"], function["arguments"], notes)
            yield "tool", {**function, "result": result}
            added.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise ProviderError(f"the model called tools in each of {MOST_ANSWERS} answers")
