'use strict';
const test = require('node:test');
const assert = require('node:assert');
const rules = require('../src/rules');

const refused = (does, words) => assert.throws(does, (error) => error.status === 400 && error.message === words);

test('names', () => {
  const words = 'A name has 2 to 40 characters.';
  assert.equal(rules.checkedName(' Ed '), 'Ed');
  assert.equal(rules.checkedName('x'.repeat(40)), 'x'.repeat(40));
  for (const name of [undefined, 12, '', 'x', ' x ', 'x'.repeat(41)]) refused(() => rules.checkedName(name), words);
});

test('tools', () => {
  const words = 'A tool has a name of 1 to 80 characters.';
  assert.equal(rules.checkedTool(' x '), 'x');
  assert.equal(rules.checkedTool('x'.repeat(80)), 'x'.repeat(80));
  for (const name of [undefined, '', '  ', 'x'.repeat(81)]) refused(() => rules.checkedTool(name), words);
});

test('passwords', () => {
  assert.equal(rules.checkedPassword('12345678'), '12345678');
  for (const password of [undefined, 123456789, [], '1234567']) {
    refused(() => rules.checkedPassword(password), 'A password has at least 8 characters.');
  }
});

test('days', () => {
  assert.deepEqual(['1', ' 07 ', '14'].map(rules.checkedDays), [1, 7, 14]);
  for (const days of [undefined, 7, '', '0', '15', '-1', '1.5', 'x', '100']) {
    refused(() => rules.checkedDays(days), 'A loan is for 1 to 14 days.');
  }
});

test('dates', () => {
  assert.equal(rules.checkedDate(' 2024-02-29 '), '2024-02-29');
  for (const date of [undefined, 2, '', 'x', '2025-02-29', '2025-13-01', '20250101', '2025-1-1']) {
    refused(() => rules.checkedDate(date), 'A date looks like 2026-01-31.');
  }
  const [before, found, after] = [new Date(), rules.inDays(3), new Date()];
  const third = (day) => new Date(day.getTime() + 3 * 24 * 3600 * 1000).toISOString().slice(0, 10);
  assert.ok([third(before), third(after)].includes(found));
});

test('order and files', () => {
  assert.deepEqual(['b', 'a', 'c', 'a'].sort(rules.compare), ['a', 'a', 'b', 'c']);
  assert.equal(rules.compare('a', 'a'), 0);
  assert.equal(rules.compare('b', 'a'), 1);
  assert.equal(rules.compare('a', 'b'), -1);
  assert.equal(rules.folded('ÄxE'), 'äxe');
  assert.equal(rules.csvOf([['a', 'b c'], ['1" x', 'y, z'], ['line\nend', '']]), 'a,b c\r\n"1"" x","y, z"\r\n"line\nend",\r\n');
});
