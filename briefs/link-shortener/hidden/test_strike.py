import http.client
import threading

from drawing import code, host

pytest_plugins = ["drawing"]

WRITERS, BEFORE = 6, 60


def test_the_service_is_killed_while_it_writes(app, chance):
    answered, enough, over = [], threading.Event(), threading.Event()
    prefix, url = code(chance, 6, 12), f"https://{host(chance)}/"

    def write(writer):
        number = 0
        while not over.is_set():
            own = f"{prefix}-{writer}-{number}"
            try:
                status = app.ask("POST", "/links", {"url": url + own, "code": own}).status
            except (OSError, http.client.HTTPException):
                return
            if status == 201:
                answered.append(own)
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
    app.leave({"url": url, "answered": answered})
    assert len(answered) >= BEFORE
