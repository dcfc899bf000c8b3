import http.client
import threading

WRITERS, BEFORE = 6, 60


def test_the_service_is_killed_while_it_writes(app):
    answered, enough, over = [], threading.Event(), threading.Event()

    def write(writer):
        number = 0
        while not over.is_set():
            code = f"strike-{writer}-{number}"
            try:
                status = app.ask("POST", "/links", {"url": f"https://example.org/{code}", "code": code}).status
            except (OSError, http.client.HTTPException):
                return
            if status == 201:
                answered.append(code)
            if len(answered) >= BEFORE or status != 201:
                enough.set()
            number += 1

    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    enough.wait(60)
    app.kill()
    over.set()
    for writer in writers:
        writer.join()
    app.leave(answered)
    assert len(answered) >= BEFORE
