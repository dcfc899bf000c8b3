from chatting import answered, broken, made
from provider import Call, ErrorKind, Failure, Reply


def test_conversations_are_held_and_the_service_stops(app, provider):
    first, second, deleted = made(app, system="Be brief."), made(app, budget=120), made(app)
    save = Reply(tool_calls=(Call("save_note", {"name": "door", "text": "green"}),))
    provider.will(save, Reply(text="It is saved."), Reply(text="Yes."), save, Reply(error=Failure(ErrorKind.BAD_REQUEST)))
    answered(app, first, "Remember the door")
    answered(app, second, "Are you there?")
    broken(app, first, "lost")
    assert app.ask("DELETE", f"/conversations/{deleted}").status == 204
    app.leave([first, second, deleted])
    app.stop()
