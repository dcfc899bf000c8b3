"""The provider of models: one answer is a stream of pieces, which is asked for again where it is worth it."""

import http.client
import json
import time
from urllib.parse import urlsplit

MOST_TRIES, MOST_WAIT, USUAL_WAIT = 3, 5.0, 0.2


class ProviderError(Exception):
    """No answer. The words are for whoever sent the message."""


class _Busy(Exception):
    def __init__(self, words, wait=USUAL_WAIT):
        super().__init__(words)
        self.wait = wait


class Answer:
    """What has come of an answer so far."""

    def __init__(self):
        self.text, self.tokens = "", 0
        self._calls = {}

    @property
    def calls(self):
        return [self._calls[index] for index in sorted(self._calls)]

    @property
    def message(self):
        found = {"role": "assistant", "content": self.text}
        return {**found, "tool_calls": self.calls} if self._calls else found

    def take(self, chunk):
        """Take in one part of a stream, and return the text in it."""
        try:
            self.tokens += (chunk.get("usage") or {}).get("total_tokens", 0)
            said = ""
            for choice in chunk["choices"]:
                said += choice["delta"].get("content") or ""
                for part in choice["delta"].get("tool_calls") or []:
                    self._take_call(part)
        except (AttributeError, KeyError, TypeError):
            raise ProviderError("the provider sends something that is no answer") from None
        self.text += said
        return said

    def _take_call(self, part):
        empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        call, function = self._calls.setdefault(part["index"], empty), part.get("function") or {}
        call["id"] += part.get("id") or ""
        call["function"]["name"] += function.get("name") or ""
        call["function"]["arguments"] += function.get("arguments") or ""


class Provider:
    def __init__(self, url, key, model, seconds, wait=time.sleep):
        self._url, self._model, self._seconds, self._wait = urlsplit(url), model, seconds, wait
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def answer(self, messages, tools, answer):
        """Yield the pieces of an answer's text; `answer` is then whole. Raises ProviderError."""
        told = {"model": self._model, "messages": messages, "tools": tools, "stream": True}
        body = json.dumps({**told, "stream_options": {"include_usage": True}})
        connection, response = self._asked(body)
        try:
            yield from self._pieces(response, answer)
        except TimeoutError:
            raise ProviderError("the provider has fallen silent") from None
        except (OSError, http.client.HTTPException):
            raise ProviderError("the provider's answer broke off") from None
        finally:
            connection.close()

    def _asked(self, body):
        for number in range(1, MOST_TRIES + 1):
            try:
                return self._ask(body)
            except _Busy as busy:
                if number == MOST_TRIES:
                    raise ProviderError(str(busy)) from None
                self._wait(busy.wait)

    def _ask(self, body):
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.hostname, self._url.port, timeout=self._seconds)
        try:
            connection.request("POST", f"{self._url.path}/chat/completions", body, self._headers)
            response = connection.getresponse()
        except TimeoutError:
            connection.close()
            raise ProviderError("the provider doesn't answer") from None
        except (OSError, http.client.HTTPException):
            connection.close()
            raise _Busy("the provider can't be reached") from None
        if response.status == 200:
            return connection, response
        connection.close()
        words = f"the provider answers with status {response.status}"
        if response.status == 429 or response.status >= 500:
            raise _Busy(words, _seconds_of(response.getheader("Retry-After")))
        raise ProviderError(words)

    def _pieces(self, response, answer):
        for line in response:
            if not line.startswith(b"data:"):
                continue
            data = line.removeprefix(b"data:").strip()
            if data == b"[DONE]":
                return
            try:
                chunk = json.loads(data)
            except ValueError:
                raise ProviderError("the provider sends something that is no answer") from None
            if said := answer.take(chunk):
                yield said
        raise ProviderError("the provider's answer broke off")


def _seconds_of(text):
    try:
        return min(max(float(text), 0.0), MOST_WAIT)
    except (TypeError, ValueError):
        return USUAL_WAIT
