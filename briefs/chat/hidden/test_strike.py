import http.client
import threading

from chatting import made, say, sentence
from provider import Reply

WRITERS, BEFORE = 4, 30


def test_the_service_is_killed_while_it_answers(app, provider):
    asked, said = sentence(), sentence()
    provider.answers(lambda _: Reply(text=said))
    conversations = [made(app, budget=1_000_000) for _ in range(WRITERS)]
    done, enough, over = dict.fromkeys(conversations, 0), threading.Event(), threading.Event()

    def talk(conversation):
        try:
            while not over.is_set():
                if say(app, conversation, asked)[-1].kind != "done":
                    return
                done[conversation] += 1
                if sum(done.values()) >= BEFORE:
                    enough.set()
        except (OSError, http.client.HTTPException, AssertionError):
            return
        finally:
            enough.set()

    writers = [threading.Thread(target=talk, args=(conversation,)) for conversation in conversations]
    for writer in writers:
        writer.start()
    enough.wait(60)
    app.kill()
    over.set()
    for writer in writers:
        writer.join()
    app.leave({"done": done, "texts": [asked, said]})
    assert sum(done.values()) >= BEFORE
