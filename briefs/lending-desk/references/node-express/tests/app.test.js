'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { createApp } = require('../src/app');
const { inDays } = require('../src/rules');
const { Store } = require('../src/store');

const TODAY = '2026-05-10';
const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'lending-'));
const refused = (does, status, words) => assert.throws(does, (error) => error.status === status && error.message === words);

function ask(port, method, where, told, cookie) {
  return new Promise((resolve, reject) => {
    const headers = cookie ? { Cookie: cookie } : {};
    const request = http.request({ port, host: '127.0.0.1', method, path: where, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (part) => { text += part; });
      response.on('end', () => {
        const isJson = /json/.test(response.headers['content-type']);
        const session = response.headers['set-cookie']?.[0];
        const { statusCode: status, headers: { location, 'content-type': type } } = response;
        resolve({ status, location, type, session, text, json: isJson ? JSON.parse(text) : null });
      });
    });
    request.on('error', reject);
    request.end(told === undefined ? undefined : JSON.stringify(told));
  });
}

class Client {
  constructor(port) {
    this.port = port;
    this.cookie = 'other=1';
  }

  async get(where) {
    return ask(this.port, 'GET', where, undefined, this.cookie);
  }

  async post(where, told = {}) {
    const answer = await ask(this.port, 'POST', where, told, this.cookie);
    if (answer.session) {
      this.attributes = answer.session;
      this.cookie = `other=1; ${answer.session.split(';')[0]}`;
    }
    return answer;
  }

  async done(where, told) {
    const answer = await this.post(where, told);
    assert.deepEqual([answer.status, answer.json], [200, {}], where);
  }

  async refused(status, words, where, told) {
    const answer = await this.post(where, told);
    assert.deepEqual([answer.status, answer.json], [status, { error: words }], where);
  }
}

async function served(does) {
  const server = createApp(new Store(path.join(folder(), 'journal'))).listen(0, '127.0.0.1');
  await new Promise((resolve) => { server.once('listening', resolve); });
  try {
    const [desk, ann, visitor] = [1, 2, 3].map(() => new Client(server.address().port));
    await desk.done('/api/sign-in', { name: ' desk ', password: 'desk' });
    await ann.done('/api/register', { name: ' Ann ', password: 'long enough' });
    await does(desk, ann, visitor);
  } finally {
    server.close();
  }
}

test('people', () => served(async (desk, ann, visitor) => {
  assert.deepEqual((await visitor.get('/healthz')).json, { status: 'ok' });
  assert.deepEqual((await desk.get('/api/me')).json, { name: 'desk', isDesk: true });
  assert.deepEqual((await ann.get('/api/me')).json, { name: 'Ann', isDesk: false });
  assert.deepEqual((await visitor.get('/api/me')).json, { name: null, isDesk: false });
  assert.match(ann.attributes, /HttpOnly; SameSite=Strict/);
  const wrong = "Name and password don't belong together.";
  for (const [name, password] of [['Ann', 'wrong'], ['desk', 'long enough'], ['Ann', 'desk'], ['Eve', 'long enough'], [1, 2]]) {
    await visitor.refused(403, wrong, '/api/sign-in', { name, password });
  }
  for (const name of ['aNN', 'DESK']) {
    await visitor.refused(409, 'This name is taken.', '/api/register', { name, password: 'their own' });
  }
  await visitor.refused(400, 'A name has 2 to 40 characters.', '/api/register', { name: 'x', password: 'their own' });
  await visitor.refused(400, 'A password has at least 8 characters.', '/api/register', { name: 'Eve', password: 'short' });
  await visitor.done('/api/sign-in', { name: ' ann ', password: 'long enough' });
  assert.equal((await visitor.get('/api/me')).json.name, 'Ann');
  await visitor.done('/api/sign-out');
  assert.equal((await visitor.get('/api/me')).json.name, null);
}));

test('pages', () => served(async (desk, ann, visitor) => {
  for (const place of ['/', '/sign-in', '/register', '/loans']) {
    const page = await visitor.get(place);
    assert.equal(page.status, 200);
    assert.match(page.text, /<title>Lending desk/);
  }
  assert.deepEqual([(await desk.get('/desk')).status, (await ann.get('/desk')).status], [200, 403]);
  assert.match((await ann.get('/desk')).text, /<title>Lending desk/);
  const away = await visitor.get('/desk');
  assert.deepEqual([away.status, away.location], [302, '/sign-in']);
  const nowhere = await desk.get('/desk/nowhere');
  assert.deepEqual([nowhere.status, nowhere.json], [404, { error: 'There is no such page.' }]);
}));

test('tools and search', () => served(async (desk, ann, visitor) => {
  for (const name of ['saw', 'Axe', ' <b> ']) await desk.done('/api/desk/tools', { name });
  await desk.refused(409, 'This tool is there already.', '/api/desk/tools', { name: 'SAW' });
  await desk.refused(400, 'A tool has a name of 1 to 80 characters.', '/api/desk/tools', {});
  const found = async (query) => (await visitor.get(`/api/tools${query}`)).json.map((tool) => tool.name);
  assert.deepEqual(await found(''), ['<b>', 'Axe', 'saw']);
  assert.deepEqual(await found('?q=+A+'), ['Axe', 'saw']);
  assert.deepEqual(await found('?q=none'), []);
  assert.deepEqual((await visitor.get('/api/tools')).json[2], { id: 1, name: 'saw', due: null });
  const bodies = [100000, 100001].map((length) => ({ more: 'x'.repeat(length - '{"more":""}'.length) }));
  assert.equal((await desk.post('/api/desk/tools', bodies[0])).status, 400);
  assert.equal((await desk.post('/api/desk/tools', bodies[1])).status, 413);
}));

test('borrowing and taking back', () => served(async (desk, ann) => {
  await desk.done('/api/desk/tools', { name: 'saw' });
  await ann.refused(400, 'A loan is for 1 to 14 days.', '/api/tools/1/borrow', { days: '15' });
  await ann.done('/api/tools/1/borrow', { days: '14' });
  const due = inDays(14);
  assert.deepEqual((await ann.get('/api/tools')).json, [{ id: 1, name: 'saw', due }]);
  const loan = { id: 1, tool: 'saw', person: 'Ann', due, isOverdue: false };
  assert.deepEqual((await ann.get('/api/loans')).json, [loan]);
  assert.deepEqual((await desk.get('/api/desk')).json, [loan]);
  await ann.refused(409, 'This tool is on loan.', '/api/tools/1/borrow', { days: '1' });
  await desk.done('/api/desk/loans/1/back');
  await desk.refused(404, 'This tool is not on loan.', '/api/desk/loans/1/back');
  assert.deepEqual((await desk.get('/api/desk')).json, []);
}));

test('loans on paper and their file', () => served(async (desk, ann) => {
  for (const [name, days] of [['saw, 1" long', 0], ['axe', -1], ['hoe', 1]]) {
    await desk.done('/api/desk/tools', { name });
    await desk.done('/api/desk/loans', { tool: ` ${name} `, person: ' ann ', due: inDays(days) });
  }
  assert.deepEqual((await ann.get('/api/loans')).json.map((loan) => [loan.tool, loan.isOverdue]), [['axe', true], ['saw, 1" long', false], ['hoe', false]]);
  await desk.refused(400, 'A date looks like 2026-01-31.', '/api/desk/loans', { tool: 'hoe', person: 'Ann' });
  await desk.refused(404, 'There is no such neighbour.', '/api/desk/loans', { tool: 'hoe', due: TODAY });
  const file = await desk.get('/desk/loans.csv');
  assert.equal(file.type, 'text/csv; charset=utf-8');
  assert.equal(file.text, `tool,neighbour,due\r\naxe,Ann,${inDays(-1)}\r\n"saw, 1"" long",Ann,${inDays(0)}\r\nhoe,Ann,${inDays(1)}\r\n`);
}));

test('each for their own', () => served(async (desk, ann, visitor) => {
  await desk.done('/api/desk/tools', { name: 'saw' });
  for (const client of [ann, visitor]) {
    for (const place of ['/api/desk/tools', '/api/desk/loans', '/api/desk/loans/1/back']) {
      await client.refused(403, 'This is for the desk.', place, { name: 'hoe' });
    }
    assert.deepEqual([(await client.get('/api/desk')).status, (await client.get('/desk/loans.csv')).status], [403, 403]);
  }
  for (const client of [desk, visitor]) {
    await client.refused(403, 'This is for neighbours who are signed in.', '/api/tools/1/borrow', { days: '1' });
    assert.equal((await client.get('/api/loans')).status, 403);
  }
}));

test('limits', () => {
  const store = new Store(path.join(folder(), 'journal'));
  for (const name of ['Ann', 'Bob']) store.register(name, 'long enough');
  for (const name of ['a', 'b', 'c', 'd', 'e']) store.add(name);
  for (const [id, due] of [[3, TODAY], [1, '2026-05-12'], [2, '2026-05-11']]) store.borrow(id, 'Ann', due, TODAY);
  refused(() => store.borrow(4, 'Ann', TODAY, TODAY), 409, 'Nobody has more than 3 tools at a time.');
  assert.deepEqual(store.loans('Ann').map((loan) => loan.tool), ['c', 'b', 'a']);
  store.takeBack(1);
  refused(() => store.borrow(4, 'Ann', '2026-06-01', '2026-05-11'), 409, 'Bring back what is overdue first.');
  store.borrow(4, 'Ann', '2026-05-12', TODAY);
  refused(() => store.borrow(5, 'Ann', TODAY, TODAY), 409, 'Nobody has more than 3 tools at a time.');
  store.borrow(5, 'Bob', '2026-05-01', TODAY);
  refused(() => store.borrow(9, 'Bob', TODAY, '2026-05-01'), 404, 'There is no such tool.');
  refused(() => store.takeBack(9), 404, 'This tool is not on loan.');
});

test('a store opened again has everything but what was cut off', () => {
  const file = path.join(folder(), 'journal');
  const store = new Store(file);
  store.register('Ann', 'long enough');
  for (const name of ['saw', 'hoe', 'axe']) store.add(name);
  store.borrow(1, 'Ann', TODAY, TODAY);
  store.borrow(2, 'Ann', TODAY, TODAY);
  store.takeBack(2);
  fs.appendFileSync(file, '{"does":"add","na');
  for (let number = 0; number < 2; number += 1) {
    const again = new Store(file);
    assert.deepEqual(again.loans(), [{ id: 1, tool: 'saw', person: 'Ann', due: TODAY }]);
    assert.deepEqual([again.knows('ANN', 'long enough'), again.knows('Ann', 'another')], ['Ann', null]);
    assert.equal(again.found('').length, 3 + number);
    again.add(`new ${number}`);
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
