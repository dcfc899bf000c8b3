'use strict';

class Refused extends Error {
  constructor(message, status = 400) {
    super(message);
    this.status = status;
  }
}

function parsed(text) {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function checkedUrl(url) {
  if (typeof url !== 'string' || url.length > 2000) throw new Refused('url: a text of at most 2000 characters');
  if (!/^https?:\/\/[^/?#\s]/i.test(url) || /\s/.test(url) || !parsed(url)) throw new Refused('url: not an address');
  return url;
}

function checkedCode(code) {
  if (typeof code !== 'string' || !/^[A-Za-z0-9_-]{3,32}$/.test(code)) {
    throw new Refused('code: 3 to 32 of A-Z a-z 0-9 _ -');
  }
  return code;
}

function checkedLimit(limit) {
  if (!Number.isInteger(limit) || limit < 1) throw new Refused('max_visits: a whole number, 1 or more');
  return limit;
}

function number(text, name, most = 999999999) {
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) < 1 || Number(text) > most) {
    throw new Refused(`${name}: a whole number from 1 to ${most}`);
  }
  return Number(text);
}

function hostOf(referrer) {
  const found = referrer ? parsed(referrer) : null;
  return found ? found.hostname : '';
}

module.exports = { Refused, checkedUrl, checkedCode, checkedLimit, number, hostOf };
