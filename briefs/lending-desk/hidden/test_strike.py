import http.client
import threading

from browsing import recorded
from lending import field, press, word

pytest_plugins = ["browsing", "lending"]
WRITERS, BEFORE = 6, 60
OF = word()
NAME = f"{OF}-00000"


def test_the_service_is_killed_while_it_writes(app, desk):
    desk.goto("/desk")
    field(desk, "Tool name").fill(NAME)
    request = recorded(desk, lambda: press(desk, "Add tool"))
    answered, enough, over = [], threading.Event(), threading.Event()

    def write(writer):
        number = 0
        while not over.is_set():
            name = f"{OF}-{writer}{number:04}"
            try:
                status = request.send(app, NAME, name)
            except (OSError, http.client.HTTPException):
                return
            if status < 400:
                answered.append(name)
            if len(answered) >= BEFORE or status >= 400:
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
