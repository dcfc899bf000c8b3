'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { createApp } = require('../src/app');
const { ProviderError } = require('../src/provider');
const { Store } = require('../src/store');
const { textOf, provided } = require('./fake');

const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'chat-'));

function events(text) {
  return text.split('\n\n').slice(0, -1).map((part) => {
    const [kind, data] = part.split('\n');
    return [kind.replace('event: ', ''), JSON.parse(data.replace('data: ', ''))];
  });
}

function ask(port, method, where, told, heard = () => {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', method, path: where, agent: false }, (response) => {
      let text = '';
      response.on('data', (part) => { text += part; heard(events(text)); });
      response.on('error', reject);
      response.on('end', () => {
        const kind = (response.headers['content-type'] ?? '').split(';')[0];
        const json = kind === 'application/json' ? JSON.parse(text) : null;
        resolve({ status: response.statusCode, kind, json, events: kind === 'text/event-stream' ? events(text) : [] });
      });
    });
    request.on('error', reject);
    request.end(told === undefined ? undefined : typeof told === 'string' ? told : JSON.stringify(told));
  });
}

// Answers are texts, lists of calls, errors. Each is 10 tokens.
class Scripted {
  constructor() {
    this.answers = [];
    this.asked = [];
  }

  async answer(messages, tools, answer, said) {
    this.asked.push(JSON.parse(JSON.stringify(messages)));
    const told = this.answers.shift();
    if (told instanceof Error) throw told;
    answer.take({ choices: [], usage: { total_tokens: 10 } });
    if (Array.isArray(told)) {
      told.forEach(([name, given], index) => {
        const part = { index, id: `c${index}`, function: { name, arguments: JSON.stringify(given) } };
        answer.take({ choices: [{ delta: { tool_calls: [part] } }] });
      });
      return;
    }
    for (const piece of [told.slice(0, 2), told.slice(2)]) {
      said(answer.take({ choices: [{ delta: { content: piece } }] }));
      await this.gate;
    }
  }
}

async function served(does) {
  const provider = new Scripted();
  const server = createApp(new Store(folder()), provider).listen(0, '127.0.0.1');
  await new Promise((resolve) => { server.once('listening', resolve); });
  const client = (...told) => ask(server.address().port, ...told);
  const made = async (told = {}) => (await client('POST', '/conversations', told)).json.id;
  const say = async (id, text = 'Hello', heard = undefined) => client('POST', `/conversations/${id}/messages`, { text }, heard);
  try {
    await does({ client, made, say, provider });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a conversation is made, shown and deleted', () => served(async ({ client, made }) => {
  assert.deepEqual((await client('GET', '/healthz')).json, { status: 'ok' });
  const first = await client('POST', '/conversations', { system: 'Be brief.', budget: 50 });
  assert.equal(first.status, 201);
  const { id } = first.json;
  assert.deepEqual(first.json, { id, system: 'Be brief.', budget: 50, used: 0, messages: [] });
  assert.deepEqual((await client('GET', `/conversations/${id}`)).json, first.json);
  assert.equal((await client('GET', `/conversations/${await made()}`)).json.budget, 10000);
  assert.equal((await client('DELETE', `/conversations/${id}`)).status, 204);
  for (const [method, where] of [['GET', ''], ['DELETE', ''], ['GET', '/notes'], ['POST', '/messages']]) {
    const answer = await client(method, `/conversations/${id}${where}`, method === 'POST' ? { text: 'x' } : undefined);
    assert.deepEqual([answer.status, answer.json], [404, { error: 'no such conversation' }]);
  }
}));

test('an answer is passed on and kept', () => served(async ({ client, made, say, provider }) => {
  const id = await made({ system: 'Be brief.' });
  provider.answers = ['Good day', 'Bye'];
  const answer = await say(id);
  assert.deepEqual([answer.status, answer.kind], [200, 'text/event-stream']);
  assert.deepEqual(answer.events, [['text', { text: 'Go' }], ['text', { text: 'od day' }], ['done', { text: 'Good day', used: 10 }]]);
  await say(id, 'Goodbye');
  assert.deepEqual(provider.asked[1], [
    { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'Good day' }, { role: 'user', content: 'Goodbye' },
  ]);
  const { used, messages } = (await client('GET', `/conversations/${id}`)).json;
  assert.equal(used, 20);
  assert.deepEqual(messages.map(({ role, text }) => `${role}: ${text}`), ['user: Hello', 'assistant: Good day', 'user: Goodbye', 'assistant: Bye']);
}));

test('calls are run', () => served(async ({ client, made, say, provider }) => {
  const id = await made();
  provider.answers = [[['save_note', { name: 'b', text: 'one' }], ['save_note', { name: 'a', text: '2' }], ['read_note', { name: 'b' }]], 'Saved'];
  const answer = await say(id);
  assert.deepEqual(answer.events[0], ['tool', { name: 'save_note', arguments: '{"name":"b","text":"one"}', result: 'saved' }]);
  assert.equal(answer.events[2][1].result, 'one');
  assert.deepEqual(answer.events.at(-1), ['done', { text: 'Saved', used: 20 }]);
  assert.deepEqual(provider.asked[1].map(({ role }) => role), ['user', 'assistant', 'tool', 'tool', 'tool']);
  assert.deepEqual(provider.asked[1][4], { role: 'tool', tool_call_id: 'c2', content: 'one' });
  assert.deepEqual((await client('GET', `/conversations/${id}/notes`)).json, { notes: [{ name: 'a', text: '2' }, { name: 'b', text: 'one' }] });
  const { messages } = (await client('GET', `/conversations/${id}`)).json;
  assert.deepEqual(messages.map(({ text }) => text), ['Hello', 'Saved']);
}));

test('an error leaves the conversation as it was', () => served(async ({ client, made, say, provider }) => {
  const id = await made();
  provider.answers = [[['save_note', { name: 'a', text: 'one' }]], new ProviderError('no'), 'Here'];
  assert.deepEqual((await say(id)).events.at(-1), ['error', { error: 'no' }]);
  const { used, messages } = (await client('GET', `/conversations/${id}`)).json;
  assert.deepEqual([used, messages], [10, []]);
  assert.deepEqual((await client('GET', `/conversations/${id}/notes`)).json, { notes: [] });
  assert.equal((await say(id)).events.at(-1)[0], 'done');
}));

test('an error of ours ends the answer and frees the conversation', () => served(async ({ made, say, provider }) => {
  const id = await made();
  provider.answers = [new TypeError('ours'), 'Here'];
  await assert.rejects(say(id));
  assert.equal((await say(id)).events.at(-1)[0], 'done');
}));

test('the budget', () => served(async ({ made, say, provider }) => {
  const id = await made({ budget: 11 });
  provider.answers = ['one', [['read_note', { name: 'a' }]], 'one'];
  assert.equal((await say(id)).events.at(-1)[0], 'done');
  assert.deepEqual((await say(id)).events.at(-1), ['error', { error: 'the budget is spent' }]);
  assert.deepEqual((await say(id)).json, { error: 'the budget is spent' });
  const other = await made({ budget: 10 });
  await say(other);
  assert.equal((await say(other)).status, 402);
}));

test('calls without end', () => served(async ({ made, say, provider }) => {
  provider.answers = Array(9).fill([['read_note', { name: 'a' }]]);
  assert.deepEqual((await say(await made())).events.at(-1), ['error', { error: 'the model called tools in each of 8 answers' }]);
  assert.equal(provider.asked.length, 8);
}));

test('one message at a time, and a conversation that goes meanwhile', () => served(async ({ client, made, say, provider }) => {
  const id = await made();
  // Does something once an answer has begun, which then goes on.
  const midway = async (does) => {
    let open;
    let isHeard;
    provider.gate = new Promise((resolve) => { open = resolve; });
    const heard = new Promise((resolve) => { isHeard = resolve; });
    const answer = say(id, 'x', isHeard);
    await heard;
    const found = await does();
    open();
    return [found.status, (await answer).events.at(-1)];
  };
  provider.answers = ['first', 'second'];
  assert.deepEqual(await midway(() => say(id, 'y')), [409, ['done', { text: 'first', used: 10 }]]);
  assert.deepEqual(await midway(() => client('DELETE', `/conversations/${id}`)), [204, ['done', { text: 'second', used: 0 }]]);
}));

test('refusals', () => served(async ({ client, made, provider }) => {
  const id = await made();
  for (const where of ['/conversations', `/conversations/${id}/messages`]) {
    for (const body of ['[]', '{', 'null', '['.repeat(50000)]) {
      const answer = await client('POST', where, body);
      assert.equal(answer.status, 400, body);
      assert.ok(answer.json.error);
    }
  }
  for (const told of [{ budget: 0 }, { system: 1 }]) assert.equal((await client('POST', '/conversations', told)).status, 400);
  assert.equal((await client('POST', `/conversations/${id}/messages`, {})).status, 400);
  assert.equal((await client('POST', '/conversations', '{}'.padEnd(100001))).status, 413);
  assert.equal((await client('POST', '/conversations', '{}'.padEnd(100000))).status, 201);
  assert.deepEqual((await client('GET', '/nowhere')).json, { error: 'no such route' });
  assert.deepEqual(provider.asked, []);
}));

test('the program serves', () => provided([[429, {}, ''], textOf('yes')], async (url, asked) => {
  const port = 20000 + (process.pid % 9000);
  const told = { PORT: String(port), DATA_DIR: folder(), OPENAI_BASE_URL: url, OPENAI_API_KEY: 'key-2', MODEL: 'model-2', PROVIDER_SECONDS: '5' };
  const program = spawn(process.execPath, ['src/main.js'], { env: { ...process.env, ...told } });
  try {
    for (;;) {
      assert.equal(program.exitCode, null);
      try {
        assert.equal((await ask(port, 'GET', '/healthz')).status, 200);
        break;
      } catch (error) {
        if (error.code !== 'ECONNREFUSED') throw error;
        await new Promise((resolve) => { setTimeout(resolve, 20); });
      }
    }
    const { id } = (await ask(port, 'POST', '/conversations', {})).json;
    assert.equal((await ask(port, 'POST', `/conversations/${id}/messages`, { text: 'x' })).events.at(-1)[0], 'done');
    assert.deepEqual(asked.map(([, key, body]) => [key, body.model]), Array(2).fill(['Bearer key-2', 'model-2']));
  } finally {
    program.kill('SIGKILL');
  }
}));
