"""The scripted provider knows the parameters that the vendors' own packages send: a newer package shows new ones."""

from harness.plugins.scripted_provider import anthropic, openai_chat, openai_responses


def test_each_dialect_takes_the_parameters_of_its_vendors_package():
    """Those that the package no longer names, or sends by another way, are few and told here."""
    from anthropic.types.beta import message_create_params as anthropic_params
    from openai.types.chat import completion_create_params as chat_params
    from openai.types.responses import response_create_params as responses_params

    messages = set(anthropic_params.MessageCreateParamsBase.__annotations__)
    assert anthropic._KNOWN - messages == {"stream", "temperature", "top_p", "top_k", "output_format"}
    assert messages <= anthropic._KNOWN
    chat = set(chat_params.CompletionCreateParamsBase.__annotations__)
    assert (openai_chat._KNOWN - chat, chat - openai_chat._KNOWN) == ({"stream"}, set())
    responses = set(responses_params.ResponseCreateParamsBase.__annotations__)
    assert openai_responses._KNOWN - responses == {"stream", "client_metadata"}
    assert responses <= openai_responses._KNOWN
