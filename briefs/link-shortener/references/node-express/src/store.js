'use strict';
const fs = require('node:fs');

class Store {
  constructor(file) {
    this.links = new Map();
    const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const line of whole.split('\n').filter(Boolean)) this.apply(JSON.parse(line));
    // A line that was cut off was never answered.
    if (whole.length < text.length) fs.truncateSync(file, Buffer.byteLength(whole));
    this.file = fs.openSync(file, 'a');
  }

  apply({ does, code, ...told }) {
    if (does === 'add') this.links.set(code, { code, ...told, visits: 0, hosts: new Map() });
    if (does === 'remove') this.links.delete(code);
    if (does === 'visit') {
      const link = this.links.get(code);
      link.visits += 1;
      link.hosts.set(told.host, (link.hosts.get(told.host) || 0) + 1);
    }
  }

  write(change) {
    fs.writeSync(this.file, `${JSON.stringify(change)}\n`);
    fs.fdatasyncSync(this.file);
    this.apply(change);
  }

  add(code, url, limit) {
    if (this.links.has(code)) return false;
    this.write({ does: 'add', code, url, limit });
    return true;
  }

  visit(code, host) {
    const link = this.links.get(code);
    if (!link) return 'missing';
    if (link.limit !== null && link.visits >= link.limit) return 'used up';
    this.write({ does: 'visit', code, host });
    return link.url;
  }

  remove(code) {
    if (!this.links.has(code)) return false;
    this.write({ does: 'remove', code });
    return true;
  }

  referrers(code) {
    return [...this.links.get(code).hosts]
      .map(([host, visits]) => ({ host, visits }))
      .sort((one, other) => other.visits - one.visits || (one.host < other.host ? -1 : 1));
  }

  page(page, size) {
    return [...this.links.values()].reverse().slice((page - 1) * size, page * size);
  }

  top(limit) {
    return [...this.links.values()].sort((one, other) => other.visits - one.visits).slice(0, limit);
  }
}

module.exports = { Store };
