'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { createApp } = require('../src/app');
const { Store } = require('../src/store');

const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'links-'));

function ask(port, method, where, told, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: '127.0.0.1', method, path: where, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (part) => { text += part; });
      response.on('end', () => resolve({ status: response.statusCode, location: response.headers.location, json: text ? JSON.parse(text) : null }));
    });
    request.on('error', reject);
    request.end(told === undefined ? undefined : typeof told === 'string' ? told : JSON.stringify(told));
  });
}

async function served(does) {
  const server = createApp(new Store(path.join(folder(), 'journal'))).listen(0, '127.0.0.1');
  await new Promise((resolve) => { server.once('listening', resolve); });
  try {
    await does((...told) => ask(server.address().port, ...told));
  } finally {
    server.close();
  }
}

const url = 'https://a.example/x?y#z';

test('a link leads to its address', () => served(async (client) => {
  assert.deepEqual((await client('GET', '/healthz')).json, { status: 'ok' });
  const made = await client('POST', '/links', { url });
  assert.equal(made.status, 201);
  const { code } = made.json;
  assert.deepEqual(made.json, { code, url, visits: 0, max_visits: null });
  assert.ok(code.length >= 6);
  const visit = await client('GET', `/${code}`);
  assert.deepEqual([visit.status, visit.location], [302, url]);
  assert.equal((await client('GET', `/links/${code}`)).json.visits, 1);
}));

test('a code is given once', () => served(async (client) => {
  assert.equal((await client('POST', '/links', { url, code: 'mine' })).json.code, 'mine');
  const refused = await client('POST', '/links', { url, code: 'mine' });
  assert.deepEqual([refused.status, refused.json], [409, { error: 'code: taken' }]);
}));

test('refusals', () => served(async (client) => {
  const bodies = ['', '[]', '{', 'null', {}, { url, code: '' }, { url, max_visits: 0 }];
  for (const body of bodies) {
    const answer = await client('POST', '/links', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.ok(answer.json.error);
  }
  const body = JSON.stringify({ url });
  assert.equal((await client('POST', '/links', body.padEnd(100001))).status, 413);
  assert.equal((await client('POST', '/links', body.padEnd(100000))).status, 201);
  assert.equal((await client('POST', '/links', { url, code: null, max_visits: null })).status, 201);
  for (const where of ['/links?page=0', '/links?per_page=101', '/top?limit=101']) assert.equal((await client('GET', where)).status, 400);
  for (const where of ['/nowhere', '/links/nowhere', '/links/nowhere/referrers', '/a/b/c']) {
    const answer = await client('GET', where);
    assert.equal(answer.status, 404);
    assert.match(answer.json.error, /^no such (link|route)$/);
  }
  const gone = await client('DELETE', '/links/nowhere');
  assert.deepEqual([gone.status, gone.json], [404, { error: 'no such link' }]);
}));

test('referrers', () => served(async (client) => {
  await client('POST', '/links', { url, code: 'mine' });
  for (const Referer of ['https://b.example/', 'https://b.example/2', 'https://c.example/', 'https://a.example/']) {
    await client('GET', '/mine', undefined, { Referer });
  }
  await client('GET', '/mine');
  assert.deepEqual((await client('GET', '/links/mine/referrers')).json.referrers, [
    { host: 'b.example', visits: 2 }, { host: '', visits: 1 }, { host: 'a.example', visits: 1 }, { host: 'c.example', visits: 1 },
  ]);
}));

test('pages and the most visited', () => served(async (client) => {
  const codes = [];
  for (let number = 0; number < 22; number += 1) codes.push((await client('POST', '/links', { url })).json.code);
  const codesOf = async (where) => (await client('GET', where)).json.links.map((link) => link.code);
  assert.equal((await client('GET', '/links')).json.total, 22);
  assert.deepEqual(await codesOf('/links'), codes.slice(2).reverse());
  assert.deepEqual(await codesOf('/links?page=2'), [codes[1], codes[0]]);
  assert.deepEqual(await codesOf('/links?page=2&per_page=3'), [codes[18], codes[17], codes[16]]);
  for (const code of [codes[5], codes[3], codes[5]]) await client('GET', `/${code}`);
  assert.deepEqual((await codesOf('/top')), [codes[5], codes[3], ...codes.slice(0, 3), codes[4], ...codes.slice(6, 10)]);
  assert.equal((await codesOf('/top?limit=2')).length, 2);
}));

test('deleting', () => served(async (client) => {
  await client('POST', '/links', { url, code: 'mine' });
  await client('GET', '/mine');
  assert.equal((await client('DELETE', '/links/mine')).status, 204);
  assert.equal((await client('GET', '/mine')).status, 404);
  await client('POST', '/links', { url, code: 'mine' });
  assert.deepEqual((await client('GET', '/links/mine/referrers')).json, { referrers: [] });
}));

test('a limit of visits', () => served(async (client) => {
  await client('POST', '/links', { url, code: 'mine', max_visits: 2 });
  const found = [];
  for (let number = 0; number < 3; number += 1) found.push((await client('GET', '/mine')).status);
  assert.deepEqual(found, [302, 302, 410]);
  assert.equal((await client('GET', '/links/mine')).json.visits, 2);
}));

test('a store opened again has everything but what was cut off', () => {
  const file = path.join(folder(), 'journal');
  const store = new Store(file);
  assert.ok(store.add('one', url, 2));
  assert.ok(!store.add('one', url, 2));
  store.visit('one', 'b.example');
  store.add('two', url, null);
  assert.ok(store.remove('two'));
  assert.ok(!store.remove('two'));
  fs.appendFileSync(file, '{"does":"add","co');
  for (let number = 0; number < 2; number += 1) {
    const again = new Store(file);
    assert.deepEqual([...again.links.keys()], number ? ['one', 'three'] : ['one']);
    assert.equal(again.links.get('one').visits, 1);
    assert.deepEqual(again.referrers('one'), [{ host: 'b.example', visits: 1 }]);
    again.add('three', url, null);
  }
});

test('the program serves', async () => {
  const port = 20000 + (process.pid % 9000);
  const program = spawn(process.execPath, ['src/main.js'], { env: { ...process.env, PORT: String(port), DATA_DIR: folder() } });
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
  } finally {
    program.kill('SIGKILL');
  }
});
