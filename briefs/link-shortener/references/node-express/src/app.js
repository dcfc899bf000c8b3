'use strict';
const crypto = require('node:crypto');
const express = require('express');
const { Refused, checkedUrl, checkedCode, checkedLimit, number, hostOf } = require('./rules');

function shown({ code, url, visits, limit }) {
  return { code, url, visits, max_visits: limit };
}

function createApp(store) {
  const app = express();
  app.set('case sensitive routing', true);
  app.disable('etag');
  app.use(express.json({ limit: 100000, type: () => true }));

  const known = (code) => {
    const link = store.links.get(code);
    if (!link) throw new Refused('no such link', 404);
    return link;
  };

  app.get('/healthz', (request, response) => response.json({ status: 'ok' }));

  app.post('/links', (request, response) => {
    const told = request.body;
    const isObject = told && !Array.isArray(told) && typeof told === 'object';
    if (!isObject) throw new Refused('the body must be a JSON object');
    const url = checkedUrl(told.url);
    const limit = told.max_visits === undefined || told.max_visits === null ? null : checkedLimit(told.max_visits);
    const isOwn = told.code !== undefined && told.code !== null;
    const code = isOwn ? checkedCode(told.code) : crypto.randomBytes(6).toString('base64url');
    if (!store.add(code, url, limit)) throw new Refused('code: taken', 409);
    response.status(201).json(shown(known(code)));
  });

  app.get('/links', (request, response) => {
    const size = number(request.query.per_page ?? '20', 'per_page', 100);
    const page = number(request.query.page ?? '1', 'page');
    response.json({ total: store.links.size, links: store.page(page, size).map(shown) });
  });

  app.get('/top', (request, response) => {
    response.json({ links: store.top(number(request.query.limit ?? '10', 'limit', 100)).map(shown) });
  });

  app.get('/links/:code', (request, response) => response.json(shown(known(request.params.code))));

  app.delete('/links/:code', (request, response) => {
    if (!store.remove(request.params.code)) throw new Refused('no such link', 404);
    response.status(204).end();
  });

  app.get('/links/:code/referrers', (request, response) => {
    known(request.params.code);
    response.json({ referrers: store.referrers(request.params.code) });
  });

  app.get('/:code', (request, response) => {
    const found = store.visit(request.params.code, hostOf(request.get('Referer')));
    if (found === 'missing') throw new Refused('no such link', 404);
    if (found === 'used up') throw new Refused('this link has been visited as often as it may be', 410);
    response.writeHead(302, { Location: found });
    response.end();
  });

  app.use(() => {
    throw new Refused('no such route', 404);
  });

  // Express tells an error's handler by its four parameters.
  app.use((error, request, response, _next) => {
    response.status(error.status || 500).json({ error: error.message });
  });
  return app;
}

module.exports = { createApp };
