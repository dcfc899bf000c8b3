'use strict';
const crypto = require('node:crypto');
const path = require('node:path');
const express = require('express');
const rules = require('./rules');

const { Refused, DESK } = rules;
const PAGE = path.join(__dirname, '..', 'views', 'index.html');
const text = (value) => (typeof value === 'string' ? value : '');

function createApp(store) {
  const app = express();
  const sessions = new Map();
  app.disable('etag');
  app.use(express.json({ limit: 100000, type: () => true }));
  app.use((request, response, next) => {
    const token = /(?:^|; )session=([^;]*)/.exec(request.get('Cookie') || '')?.[1];
    request.person = sessions.get(token) ?? null;
    next();
  });

  const begin = (response, person) => {
    const token = crypto.randomBytes(18).toString('base64url');
    sessions.set(token, person);
    response.cookie('session', token, { httpOnly: true, sameSite: 'strict' }).json({});
  };
  const neighbour = (request, response, next) => {
    if (!request.person || request.person === DESK) throw new Refused('This is for neighbours who are signed in.', 403);
    next();
  };
  const desk = (request, response, next) => {
    if (request.person !== DESK) throw new Refused('This is for the desk.', 403);
    next();
  };

  app.get('/healthz', (request, response) => response.json({ status: 'ok' }));

  for (const place of ['/', '/sign-in', '/register', '/loans']) {
    app.get(place, (request, response) => response.sendFile(PAGE));
  }
  app.get('/desk', (request, response) => {
    if (request.person === null) response.redirect('/sign-in');
    else response.status(request.person === DESK ? 200 : 403).sendFile(PAGE);
  });

  app.get('/api/me', (request, response) => response.json({ name: request.person, isDesk: request.person === DESK }));
  app.post('/api/sign-in', (request, response) => {
    const [name, password] = [text(request.body.name).trim(), text(request.body.password)];
    const person = name === DESK && password === DESK ? DESK : store.knows(name, password);
    if (person === null) throw new Refused("Name and password don't belong together.", 403);
    begin(response, person);
  });
  app.post('/api/register', (request, response) => {
    const name = rules.checkedName(request.body.name);
    store.register(name, rules.checkedPassword(request.body.password));
    begin(response, name);
  });
  app.post('/api/sign-out', (request, response) => response.clearCookie('session').json({}));

  app.get('/api/tools', (request, response) => {
    const tools = store.found(text(request.query.q).trim());
    response.json(tools.map(({ id, name, loan }) => ({ id, name, due: loan && loan.due })));
  });
  app.post('/api/tools/:id/borrow', neighbour, (request, response) => {
    const due = rules.inDays(rules.checkedDays(request.body.days));
    store.borrow(Number(request.params.id), request.person, due, rules.inDays(0));
    response.json({});
  });
  const told = (loans) => loans.map((loan) => ({ ...loan, isOverdue: loan.due < rules.inDays(0) }));
  app.get('/api/loans', neighbour, (request, response) => response.json(told(store.loans(request.person))));

  app.get('/api/desk', desk, (request, response) => response.json(told(store.loans())));
  app.post('/api/desk/tools', desk, (request, response) => {
    store.add(rules.checkedTool(request.body.name));
    response.json({});
  });
  app.post('/api/desk/loans', desk, (request, response) => {
    const { tool, person, due } = request.body;
    store.record(text(tool).trim(), text(person).trim(), rules.checkedDate(due));
    response.json({});
  });
  app.post('/api/desk/loans/:id/back', desk, (request, response) => {
    store.takeBack(Number(request.params.id));
    response.json({});
  });
  app.get('/desk/loans.csv', desk, (request, response) => {
    const rows = store.loans().map((loan) => [loan.tool, loan.person, loan.due]);
    response.type('text/csv').send(rules.csvOf([['tool', 'neighbour', 'due'], ...rows]));
  });

  app.use(() => {
    throw new Refused('There is no such page.', 404);
  });

  // Express tells an error's handler by its four parameters.
  app.use((error, request, response, _next) => {
    response.status(error.status || 500).json({ error: error.message });
  });
  return app;
}

module.exports = { createApp };
