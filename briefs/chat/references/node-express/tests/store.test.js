'use strict';
const test = require('node:test');
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { Store } = require('../src/store');

const folder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'chat-'));

test('a store opened again has everything', () => {
  const place = folder();
  const store = new Store(place);
  const { id } = store.make('Be brief.', 50);
  const other = store.make(null, 7);
  assert.notEqual(id, other.id);
  assert.deepEqual(other, { id: other.id, system: null, budget: 7, used: 0, messages: [], notes: {} });
  store.keep(id, [{ role: 'user', content: 'one' }], { a: '1' });
  store.keep(id, [{ role: 'assistant', content: 'two' }], { b: '2' });
  store.spend(id, 5);
  store.spend(id, 6);
  fs.writeFileSync(path.join(place, 'x.json.part'), '{');
  const again = new Store(place);
  assert.equal(again.conversations.size, 2);
  assert.deepEqual(again.find(id), {
    id, system: 'Be brief.', budget: 50, used: 11, notes: { b: '2' },
    messages: [{ role: 'user', content: 'one' }, { role: 'assistant', content: 'two' }],
  });
});

test('what is removed is gone', () => {
  const place = folder();
  const store = new Store(place);
  const { id } = store.make(null, 7);
  assert.ok(store.remove(id));
  assert.ok(!store.remove(id));
  store.spend(id, 5);
  assert.equal(store.find(id), undefined);
  assert.deepEqual(fs.readdirSync(place), []);
});
