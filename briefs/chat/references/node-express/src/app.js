'use strict';
const express = require('express');
const { answered, isSpent } = require('./answering');
const { Refused, checkedText, checkedSystem, checkedBudget } = require('./rules');

function shown({ id, system, budget, used, messages }) {
  const said = messages.filter((message) => message.role !== 'tool' && !message.tool_calls);
  return { id, system, budget, used, messages: said.map(({ role, content }) => ({ role, text: content })) };
}

function objectOf(body) {
  const isObject = body && !Array.isArray(body) && typeof body === 'object';
  if (!isObject) throw new Refused('the body must be a JSON object');
  return body;
}

function createApp(store, provider) {
  const app = express();
  const busy = new Set();
  app.disable('etag');
  app.use(express.json({ limit: 100000, type: () => true }));

  const known = (id) => {
    const conversation = store.find(id);
    if (!conversation) throw new Refused('no such conversation', 404);
    return conversation;
  };

  app.get('/healthz', (request, response) => response.json({ status: 'ok' }));

  app.post('/conversations', (request, response) => {
    const { system, budget } = objectOf(request.body);
    response.status(201).json(shown(store.make(checkedSystem(system), checkedBudget(budget))));
  });

  app.get('/conversations/:id', (request, response) => response.json(shown(known(request.params.id))));

  app.delete('/conversations/:id', (request, response) => {
    if (!store.remove(request.params.id)) throw new Refused('no such conversation', 404);
    response.status(204).end();
  });

  app.get('/conversations/:id/notes', (request, response) => {
    const notes = Object.entries(known(request.params.id).notes).map(([name, text]) => ({ name, text }));
    response.json({ notes: notes.sort((one, other) => (one.name < other.name ? -1 : 1)) });
  });

  app.post('/conversations/:id/messages', (request, response, next) => {
    const { id } = known(request.params.id);
    const text = checkedText(objectOf(request.body).text);
    if (busy.has(id)) throw new Refused('another message is being answered', 409);
    if (isSpent(store, id)) throw new Refused('the budget is spent', 402);
    busy.add(id);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.flushHeaders();
    const tell = (kind, data) => response.write(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
    answered(store, provider, id, text, tell)
      // Whoever reads the end may send the next message at once.
      .finally(() => busy.delete(id))
      .then(([kind, data]) => { tell(kind, data); response.end(); })
      .catch(next);
  });

  app.use(() => {
    throw new Refused('no such route', 404);
  });

  // Express tells an error's handler by its four parameters.
  app.use((error, request, response, _next) => {
    if (response.headersSent) response.destroy();
    else response.status(error.status || 500).json({ error: error.message });
  });
  return app;
}

module.exports = { createApp };
