'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { checkedUrl, checkedCode, checkedLimit, number, hostOf } = require('../src/rules');

const refused = (does, words) => assert.throws(does, (error) => error.status === 400 && error.message.startsWith(words));

test('addresses', () => {
  for (const url of ['http://a.example', `https://a.example/${'x'.repeat(1982)}`]) assert.equal(checkedUrl(url), url);
  for (const url of [undefined, 1, '', 'a.example', 'ftp://a.example', 'http://', 'http:///x', 'http://a b', 'http://[', `https://a.example/${'x'.repeat(1983)}`]) {
    refused(() => checkedUrl(url), 'url: ');
  }
});

test('codes', () => {
  for (const code of ['abc', 'A'.repeat(32), 'a-_9']) assert.equal(checkedCode(code), code);
  for (const code of [null, 123, 'ab', 'A'.repeat(33), 'a.b', 'a b']) refused(() => checkedCode(code), 'code: ');
});

test('limits', () => {
  assert.equal(checkedLimit(1), 1);
  for (const limit of [0, -1, true, 1.5, '2']) refused(() => checkedLimit(limit), 'max_visits: ');
});

test('numbers', () => {
  assert.equal(number('1', 'page'), 1);
  assert.equal(number('999999999', 'page'), 999999999);
  assert.equal(number('100', 'limit', 100), 100);
  for (const text of ['0', '-1', '1.5', 'x', '', '1234567890']) refused(() => number(text, 'page'), 'page: ');
  refused(() => number('101', 'limit', 100), 'limit: a whole number from 1 to 100');
});

test('hosts', () => {
  assert.equal(hostOf('https://A.example:8080/x'), 'a.example');
  for (const referrer of [undefined, '', 'nonsense']) assert.equal(hostOf(referrer), '');
});
