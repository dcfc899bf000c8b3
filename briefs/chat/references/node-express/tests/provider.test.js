'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { Answer, Provider, ProviderError } = require('../src/provider');
const { chunk, textOf, provided } = require('./fake');

const messages = [{ role: 'user', content: 'Hello' }];
const tools = [{ type: 'function' }];

async function asking(answers, seconds = 5, rejected = undefined) {
  const found = { pieces: [], waits: [], answer: new Answer(), error: null };
  await provided(answers, async (url, asked) => {
    found.asked = asked;
    const wait = async (time) => { found.waits.push(time); if (rejected) await rejected(); };
    const provider = new Provider({ url, key: 'key-1', model: 'model-1', seconds, wait });
    try {
      await provider.answer(messages, tools, found.answer, (piece) => found.pieces.push(piece));
    } catch (error) {
      assert.ok(error instanceof ProviderError, error);
      found.error = error.message;
    }
  });
  return found;
}

test('an answer comes in pieces', async () => {
  const { pieces, waits, answer, asked, error } = await asking([textOf('Good ', '', 'day — ß')]);
  assert.deepEqual([error, pieces, waits], [null, ['Good ', 'day — ß'], []]);
  assert.deepEqual(answer.message, { role: 'assistant', content: 'Good day — ß' });
  assert.deepEqual([answer.tokens, answer.calls], [12, []]);
  assert.deepEqual(asked, [['/v1/chat/completions', 'Bearer key-1', {
    model: 'model-1', messages, tools, stream: true, stream_options: { include_usage: true },
  }]]);
});

test('calls are put together', async () => {
  const parts = [
    { content: null, tool_calls: [{ index: 0, id: 'c0', type: 'function', function: { name: 'a', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x":' } }] },
    { tool_calls: [{ index: 1, id: 'c1', function: { name: 'b', arguments: '{}' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '1}' } }, { index: 1 }] },
  ];
  const { answer, error, pieces } = await asking([[200, {}, `: ping\n\n${parts.map((part) => chunk(part)).join('')}data:[DONE]\n\n`]]);
  assert.deepEqual([error, pieces, answer.tokens], [null, [], 0]);
  assert.deepEqual(answer.message.tool_calls, [
    { id: 'c0', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
    { id: 'c1', type: 'function', function: { name: 'b', arguments: '{}' } },
  ]);
});

test('a provider that fails is asked again', async () => {
  const cases = [
    [429, { 'Retry-After': '2' }, 2], [500, {}, 0.2], [503, { 'Retry-After': '60' }, 5], [502, { 'Retry-After': 'x' }, 0.2],
    [429, { 'Retry-After': '-1' }, 0], [429, { 'Retry-After': '0.5' }, 0.5], [429, { 'Retry-After': '' }, 0.2],
  ];
  for (const [status, headers, wait] of cases) {
    const { pieces, waits } = await asking([[status, headers, ''], textOf('yes')]);
    assert.deepEqual([pieces, waits], [['yes'], [wait]], `${status}`);
  }
});

test('a provider that goes on failing is an error', async () => {
  for (const [status, count] of [[429, 3], [500, 3], [599, 3], [400, 1], [401, 1], [404, 1], [499, 1]]) {
    const { error, asked, waits } = await asking(Array(3).fill([status, {}, '']));
    assert.deepEqual([error, asked.length, waits.length], [`the provider answers with status ${status}`, count, count - 1]);
  }
});

test('a provider that is not there is an error', async () => {
  let gone;
  await provided([], async (url) => { gone = url; });
  const waits = [];
  const provider = new Provider({ url: gone, key: 'key', model: 'model', seconds: 5, wait: async (time) => waits.push(time) });
  await assert.rejects(provider.answer(messages, tools, new Answer(), () => {}), /^Error: the provider can't be reached$/);
  assert.deepEqual(waits, [0.2, 0.2]);
});

test('a provider that is silent is an error', async () => {
  assert.deepEqual((await asking([null], 0.2)).error, "the provider doesn't answer");
  const { error, pieces, asked } = await asking(['half'], 0.3);
  assert.deepEqual([error, pieces, asked.length], ['the provider has fallen silent', ['Half'], 1]);
});

test('waiting is not silence', async () => {
  const longer = () => new Promise((resolve) => { setTimeout(resolve, 900); });
  assert.deepEqual((await asking([[429, {}, ''], textOf('yes')], 0.6, longer)).pieces, ['yes']);
});

test('an answer that breaks off is an error', async () => {
  for (const text of ['', chunk({ content: 'Half' }), 'data: [DONE', 'data: [DONE]']) {
    assert.equal((await asking([[200, {}, text]])).error, "the provider's answer broke off");
  }
  assert.equal((await asking(['cut'])).error, "the provider's answer broke off");
});

test('what is no answer is an error', async () => {
  const told = [7, null, [], {}, { choices: 'none' }, { choices: [{}] }, { choices: [{ delta: { content: 5 } }] }, { choices: [], usage: 7 },
    { choices: [], usage: { total_tokens: 'x' } }, { choices: [{ delta: { tool_calls: [{}] } }] }];
  for (const text of [...told.map((each) => JSON.stringify(each)), '{']) {
    assert.equal((await asking([[200, {}, `data: ${text}\n\ndata: [DONE]\n\n`]])).error, 'the provider sends something that is no answer', text);
  }
});
