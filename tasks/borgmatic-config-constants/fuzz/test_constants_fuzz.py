import copy
import re

from testwright_drawing import drawn_calls

from borgmatic.config import constants as module

PATTERN = re.compile(r'(?P<left_escape>\\)?\{(?P<name>[\w]+)(?P<right_escape>\\)?\}')
NAMES = ('user', 'host', 'days', 'zero', 'flag', 'off', 'nothing', 'empty', 'path', 'evil', 'nested', 'größe', 'A_1')
VALUES = (
    'alice', 'backup.example.org', 7, '7', '08', 0, '0', -3, 1.5, True, False, 'true', 'False', 'TRUE', None, '', ' ',
    '/srv/my data', "it's; touch $(id) `id` #", 'a\\1b', '{user}', '\\{user\\}', '{', '\\', 'Bücher', [1, 'a b'], {'a': 1},
)  # fmt: skip
PIECES = (
    '{%s}', '{%s}', '{%s}', '{%s}', '\\{%s\\}', '\\{%s}', '{%s\\}', '${%s}', '{ %s }', '{%s', '%s}', '{{%s}}', '{%s,x}',
    '\\\\{%s\\}', '{%s-x}',
)  # fmt: skip
PLAIN = ('', ' ', '/home/', '-', 'x', '1', '{now:%Y-%m-%d}', '{}', '\\', '\n', "'", 'echo ', 'é')
OPTIONS = ('path', 'label', 'before_backup', 'after_check', 'on_error', 'run', 'commands', 'keep_daily', 'before', 'constants')
SCALARS = (0, 1, 7, 2.5, True, False, None, '', 'plain', '12', ' 12 ', '1_0', 'true', 'True', 'false', 'False', 'TRUE', [], {})


def draw_text(draw):
    pieces = []

    for _ in range(draw.randrange(1, 4)):
        piece = draw.choice(PIECES)
        pieces.append(piece % draw.choice(NAMES + ('unknown',)))

        if draw.random() < 0.5:
            pieces.insert(draw.randrange(len(pieces) + 1), draw.choice(PLAIN))

    return ''.join(pieces)


def draw_value(draw, depth=0):
    kind = draw.random()

    if depth < 3 and kind < 0.25:
        return [draw_value(draw, depth + 1) for _ in range(draw.randrange(1, 5))]
    if depth < 3 and kind < 0.55:
        return {draw.choice(OPTIONS): draw_value(draw, depth + 1) for _ in range(draw.randrange(1, 5))}
    if kind < 0.65:
        return copy.deepcopy(draw.choice(SCALARS))

    return draw_text(draw)


def draw_constants(draw):
    return {
        'user': 'alice',
        **{name: copy.deepcopy(draw.choice(VALUES)) for name in draw.sample(NAMES, draw.randrange(1, 6))},
    }


def apply(value, constants, command_hook):
    value, constants = copy.deepcopy(value), copy.deepcopy(constants)
    result = module.apply_constants(value, constants, command_hook)

    return result, result is value, constants


def apply_to_configuration(config):
    '''
    Like borgmatic does, with the constants as one of the options.
    '''
    config = copy.deepcopy(config)
    module.apply_constants(config, config['constants'])

    return config


def test_fuzz_constants():
    '''
    Call the code on drawn inputs, each of them twice, and write down what it answers.
    '''
    with drawn_calls() as (draw, call):
        for _ in range(400):
            constants = draw_constants(draw)
            scalar = draw.choice((draw.choice(SCALARS), str(draw.randrange(-9, 99999)), draw_text(draw)))
            call('coerce_scalar', (scalar,), lambda scalar=scalar: module.coerce_scalar(scalar))

            text = draw_text(draw)
            hook = draw.random() < 0.5

            for match in PATTERN.finditer(text):
                call(
                    'resolve_constant',
                    (match.group(), constants, hook),
                    lambda match=match: module.resolve_constant(match, constants, hook),
                )

            # Nothing is replaced where there is no constant or no value.
            value = draw_value(draw) or text
            call('apply_constants', (value, constants, hook), lambda value=value: apply(value, constants, hook))

            config = {'label': text, **{draw.choice(OPTIONS): draw_value(draw, 1) for _ in range(3)}, 'constants': constants}
            call('apply_constants', (config,), lambda config=config: apply_to_configuration(config))
