from chatting import answered, broken, made, sentence, word
from provider import Call, ErrorKind, Failure, Reply


def test_conversations_are_held_and_the_service_stops(app, provider):
    system, asked, said, note, other = sentence(), sentence(), sentence(), [word(), sentence()], f"{word()}-{word()}"
    first, second, deleted = made(app, system=system), made(app, budget=120), made(app)
    save, lose = (Reply(tool_calls=(Call("save_note", {"name": name, "text": note[1]}),)) for name in (note[0], other))
    provider.will(save, Reply(text=said), Reply(text=sentence()), lose, Reply(error=Failure(ErrorKind.BAD_REQUEST)))
    answered(app, first, asked)
    answered(app, second)
    broken(app, first)
    assert app.ask("DELETE", f"/conversations/{deleted}").status == 204
    app.leave({"ids": [first, second, deleted], "system": system, "texts": [asked, said], "note": note})
    app.stop()
