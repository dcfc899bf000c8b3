import logging

import pytest
from testwright_drawing import answer, drawn_calls

from borgmatic.hooks import dispatch
from borgmatic.hooks.credential import container, file, parse, systemd

NAMES = ('secret', 'db_pw', 'borgmatic.pw', 'my-key', 'größe', 'missing', 'folder', 'other', '..', 'a b', 'nested/key')
CONTENTS = (
    b'password', b'password\n', b'password\n\n\n', b'password\r\n', b'\r\n password \r\r\n', b'\nfirst\nsecond\n', b'', b'\n',
    b'pass word \t\n', 'д€ß\n'.encode(), b'\x80\x81\x82', b'abc\xff\n', b'{credential file x}\n', b'\xef\xbb\xbfpw\n', b'a\x0c\n\x0b',
)  # fmt: skip
TAGS = (
    '{credential %s %s}', '{credential %s %s}', '{credential %s %s}', '{credential %s %s}', '{credential  %s  %s }',
    '{credential %s "%s"}', "{credential %s '%s'}", '{credential %s %s extra}', '{credential %s %s} and more',
    ' {credential %s %s}', '{Credential %s %s}', '{credential %s %s',
)  # fmt: skip
PLAIN = (
    None, '', 'plain', 'pa$$ {word}', '{credential}', '{credential }', '{credential  }', '{credential \t}', '{credential file}',
    '{credential container}', '{credential systemd }', "{credential ''}", '{credential "" x}', '{credential unknown x}',
    '{credential parse x}', '{credential file "open}', '{credential /path}', '{credentials file x}', '{credential\nfile x}',
    '{credential file ""}', '{credential}}', 'é',
)  # fmt: skip


@pytest.fixture
def places(tmp_path, monkeypatch):
    for name in ('work', 'work/secrets', 'home', 'secrets', 'service', 'service/nested', 'credentials'):
        (tmp_path / name).mkdir()

    monkeypatch.chdir(tmp_path / 'work')
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))

    return tmp_path


class Records(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(f'{record.levelname} {record.name} {record.getMessage()}')


def write_files(draw, places):
    for place in ('work', 'work/secrets', 'home', 'secrets', 'service'):
        for name in NAMES[:5]:
            path = places / place / name
            path.unlink(missing_ok=True)

            if draw.random() < 0.8:
                path.write_bytes(draw.choice(CONTENTS))

        (places / place / 'folder').mkdir(exist_ok=True)

    (places / 'service/nested/key').write_bytes(b'not for you')


def draw_config(draw, places):
    config = {}

    if draw.random() < 0.5:
        config['working_directory'] = draw.choice((str(places / 'work'), str(places), '', '.', f'{places}/'))
    if draw.random() < 0.8:
        config['container'] = draw.choice(
            ({'secrets_directory': str(places / 'secrets')}, {'secrets_directory': 'secrets'}, {'secrets_directory': ''}, {}, None)
        )
    if draw.random() < 0.7:
        config['systemd'] = draw.choice(
            (
                {'systemd_creds_command': "printf '%s|%s\\n\\n'"},
                {'systemd_creds_command': 'echo', 'encrypted_credentials_directory': '/somewhere'},
                {'systemd_creds_command': 'false'},
                {},
            )
        )
    if 'systemd' not in config:
        config['systemd'] = {'systemd_creds_command': 'echo'}

    return config


def draw_name(draw, hook, places):
    name = draw.choice(NAMES)

    if hook == 'file' or draw.random() < 0.15:
        return draw.choice(('%s', './%s', 'secrets/%s', '~/%s', f'{places}/home/%s', f'{places}/work/../%s', '../%s')) % name

    return name


def test_fuzz_credentials(places, monkeypatch):
    '''
    Call the code on drawn inputs, each of them twice, and write down what it answers and logs.
    '''
    records = Records()
    logger = logging.getLogger('borgmatic')
    logger.addHandler(records)
    logger.setLevel(logging.DEBUG)

    def shown(value):
        return ascii(value).replace(str(places), 'PLACES')

    with drawn_calls(shown=shown) as (draw, write_call):

        def call(name, arguments, function):
            def logged():
                parse.resolve_credential.cache_clear()
                records.lines.clear()

                return answer(function), records.lines

            write_call(name, arguments, logged)

        for _ in range(80):
            write_files(draw, places)
            config = draw_config(draw, places)
            environment = draw.choice((str(places / 'service'), f'{places}/service/', str(places / 'service'), '', None))

            if environment is None:
                monkeypatch.delenv('CREDENTIALS_DIRECTORY', raising=False)
            else:
                monkeypatch.setenv('CREDENTIALS_DIRECTORY', environment)

            hook = draw.choice(('file', 'container', 'systemd'))
            module = {'file': file, 'container': container, 'systemd': systemd}[hook]
            name = draw_name(draw, hook, places)
            value = draw.choice(TAGS) % (hook, name) if draw.random() < 0.8 else draw.choice(PLAIN)
            parameters = draw.choice(((name,), (name,), (name,), (name, 'extra'), ()))
            hook_config = config.get(hook)
            where = (config, environment)

            call('resolve_credential', (value, *where), lambda: parse.resolve_credential(value, config))
            call(
                'load_credential',
                (hook, parameters, hook_config, *where),
                lambda: module.load_credential(hook_config, config, parameters),
            )
            call(
                'call_hook',
                (hook, parameters, *where),
                lambda: dispatch.call_hook('load_credential', config, hook, parameters),
            )

            # What has been read once comes from the cache, for another configuration as well.
            secret = places / 'secrets' / 'kept'
            secret.write_bytes(draw.choice(CONTENTS))

            def ask_again():
                answers = []
                settings = {'container': {'secrets_directory': str(places / 'secrets')}}

                for changed, asked in ((None, settings), (b'changed\n', settings), (b'again\n', {}), (None, {'a': [1], 'b': {2}})):
                    if changed:
                        secret.write_bytes(changed)

                    answers.append(parse.resolve_credential('{credential container kept}', asked))

                return answers

            contents = secret.read_bytes()

            def from_the_start():
                secret.write_bytes(contents)

                return ask_again()

            call('ask_again', (contents,), from_the_start)

            cached = []

            @parse.cache_ignoring_unhashable_arguments
            def remember(*args, **kwargs):
                cached.append((args, kwargs))

                return len(cached)

            asked = [
                draw.choice(((1,), (2,), (1, {'a': 1}), (1, {'b': 2}), (1, [3]), ({1},), ('x', None), ((1, 2),), ()))
                for _ in range(6)
            ]
            keywords = [draw.choice(({}, {'key': 1}, {'key': {}}, {'other': [1], 'key': 2})) for _ in asked]

            def remembered():
                cached.clear()
                remember.cache_clear()

                return [remember(*args, **options) for args, options in zip(asked, keywords)], cached, remember.__name__

            call('cache', (asked, keywords), remembered)

    logger.removeHandler(records)
