'use strict';

class Refused extends Error {
  constructor(message, status = 400) {
    super(message);
    this.status = status;
  }
}

function length(text) {
  return [...text].length;
}

function checkedText(text) {
  if (typeof text !== 'string' || !text.trim() || length(text) > 10000) {
    throw new Refused('text: 1 to 10000 characters, not only spaces');
  }
  return text;
}

function checkedSystem(text) {
  if (text === undefined || text === null || text === '') return null;
  if (typeof text !== 'string' || length(text) > 10000) throw new Refused('system: a text of at most 10000 characters');
  return text;
}

function checkedBudget(budget) {
  if (budget === undefined || budget === null) return 10000;
  if (!Number.isInteger(budget) || budget < 1 || budget > 1000000) {
    throw new Refused('budget: a whole number from 1 to 1000000');
  }
  return budget;
}

module.exports = { Refused, checkedText, checkedSystem, checkedBudget };
