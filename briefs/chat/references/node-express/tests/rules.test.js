'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { checkedText, checkedSystem, checkedBudget } = require('../src/rules');

const refused = (does, words) => assert.throws(does, (error) => error.status === 400 && error.message.startsWith(words));

test('texts', () => {
  for (const text of ['a', 'a'.repeat(10000), ' a ', '\u{1f600}'.repeat(10000)]) assert.equal(checkedText(text), text);
  for (const text of [undefined, null, 1, '', ' \n', 'a'.repeat(10001)]) refused(() => checkedText(text), 'text: 1 to 10000');
});

test('system texts', () => {
  for (const text of ['Be brief.', 'a'.repeat(10000)]) assert.equal(checkedSystem(text), text);
  for (const text of [undefined, null, '']) assert.equal(checkedSystem(text), null);
  for (const text of [1, ['x'], 'a'.repeat(10001)]) refused(() => checkedSystem(text), 'system: a text of at most 10000');
});

test('budgets', () => {
  for (const budget of [undefined, null]) assert.equal(checkedBudget(budget), 10000);
  for (const budget of [1, 1000000]) assert.equal(checkedBudget(budget), budget);
  for (const budget of [0, 1000001, -1, '5', 1.5, true]) refused(() => checkedBudget(budget), 'budget: a whole number from 1 to 1000000');
});
