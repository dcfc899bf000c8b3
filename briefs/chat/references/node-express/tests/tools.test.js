'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { OFFERED, run } = require('../src/tools');

test('what is offered', () => {
  assert.deepEqual(OFFERED[0], {
    type: 'function',
    function: {
      name: 'save_note',
      description: 'Keep a note for later.',
      parameters: { type: 'object', properties: { name: { type: 'string' }, text: { type: 'string' } }, required: ['name', 'text'] },
    },
  });
  assert.deepEqual(OFFERED.map((tool) => tool.function.name), ['save_note', 'read_note']);
  assert.deepEqual(OFFERED[1].function.parameters.required, ['name']);
  assert.equal(OFFERED[1].function.description, 'Read a note that was kept.');
});

test('notes are saved, replaced and read', () => {
  const notes = new Map();
  assert.equal(run('save_note', '{"name": "a", "text": "one"}', notes), 'saved');
  assert.equal(run('save_note', '{"name": "a", "text": ""}', notes), 'saved');
  assert.deepEqual([...notes], [['a', '']]);
  assert.equal(run('read_note', '{"name": "a"}', notes), '');
  assert.equal(run('read_note', '{"name": "b"}', notes), 'error: there is no such note');
});

test('calls that are wrong', () => {
  const notes = new Map();
  for (const text of ['{', '[]', '{}', 'null', '7', '{"name": "a"}', '{"name": "a", "text": 1}']) {
    assert.equal(run('save_note', text, notes), 'error: the arguments must be a JSON object with the texts name, text');
  }
  assert.equal(notes.size, 0);
  assert.equal(run('open_door', '{}', notes), 'error: there is no tool open_door');
});
