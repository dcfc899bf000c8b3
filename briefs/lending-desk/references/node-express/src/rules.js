'use strict';

class Refused extends Error {
  constructor(message, status = 400) {
    super(message);
    this.status = status;
  }
}

const DESK = 'desk';
const folded = (text) => text.toLowerCase();
const compare = (one, other) => (one < other ? -1 : Number(one > other));

function trimmed(value, least, most, words) {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text.length < least || text.length > most) throw new Refused(words);
  return text;
}

const checkedName = (value) => trimmed(value, 2, 40, 'A name has 2 to 40 characters.');
const checkedTool = (value) => trimmed(value, 1, 80, 'A tool has a name of 1 to 80 characters.');

function checkedPassword(value) {
  if (typeof value !== 'string' || value.length < 8) throw new Refused('A password has at least 8 characters.');
  return value;
}

function checkedDays(value) {
  const text = typeof value === 'string' ? value.trim() : '';
  if (!/^[0-9]{1,2}$/.test(text) || Number(text) < 1 || Number(text) > 14) {
    throw new Refused('A loan is for 1 to 14 days.');
  }
  return Number(text);
}

function checkedDate(value) {
  const text = typeof value === 'string' ? value.trim() : '';
  const date = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(NaN);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) {
    throw new Refused('A date looks like 2026-01-31.');
  }
  return text;
}

const inDays = (days) => new Date(Date.now() + days * 86400000).toISOString().slice(0, 10);

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvOf = (rows) => rows.map((row) => `${row.map(quoted).join(',')}\r\n`).join('');

module.exports = {
  Refused, DESK, folded, compare, checkedName, checkedTool, checkedPassword, checkedDays, checkedDate, inDays, csvOf,
};
