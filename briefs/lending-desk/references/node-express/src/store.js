'use strict';
const crypto = require('node:crypto');
const fs = require('node:fs');
const { Refused, DESK, folded, compare } = require('./rules');

const MOST_TOOLS = 3;
const hashed = (password, salt) => crypto.scryptSync(password, salt, 32, { N: 4096 }).toString('hex');

class Store {
  constructor(file) {
    this.people = new Map();
    this.tools = new Map();
    const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    for (const line of whole.split('\n').filter(Boolean)) this.apply(JSON.parse(line));
    // A line that was cut off was never answered.
    if (whole.length < text.length) fs.truncateSync(file, Buffer.byteLength(whole));
    this.file = fs.openSync(file, 'a');
  }

  apply({ does, ...told }) {
    if (does === 'register') this.people.set(folded(told.name), told);
    if (does === 'add') this.tools.set(folded(told.name), { id: this.tools.size + 1, name: told.name, loan: null });
    if (does === 'lend') this.tool(told.id).loan = { person: told.person, due: told.due };
    if (does === 'back') this.tool(told.id).loan = null;
  }

  write(change) {
    fs.writeSync(this.file, `${JSON.stringify(change)}\n`);
    fs.fdatasyncSync(this.file);
    this.apply(change);
  }

  tool(id) {
    return [...this.tools.values()].find((tool) => tool.id === id);
  }

  register(name, password) {
    if (folded(name) === DESK || this.people.has(folded(name))) throw new Refused('This name is taken.', 409);
    const salt = crypto.randomBytes(16).toString('hex');
    this.write({ does: 'register', name, salt, hash: hashed(password, salt) });
  }

  knows(name, password) {
    const person = this.people.get(folded(name));
    return person && hashed(password, person.salt) === person.hash ? person.name : null;
  }

  found(part) {
    const all = [...this.tools.values()].filter((tool) => folded(tool.name).includes(folded(part)));
    return all.sort((one, other) => compare(folded(one.name), folded(other.name)));
  }

  add(name) {
    if (this.tools.has(folded(name))) throw new Refused('This tool is there already.', 409);
    this.write({ does: 'add', name });
  }

  lend(tool, person, due) {
    if (!tool) throw new Refused('There is no such tool.', 404);
    if (tool.loan) throw new Refused('This tool is on loan.', 409);
    this.write({ does: 'lend', id: tool.id, person, due });
  }

  borrow(id, person, due, today) {
    const own = this.loans(person);
    if (own.length >= MOST_TOOLS) throw new Refused('Nobody has more than 3 tools at a time.', 409);
    if (own.some((loan) => loan.due < today)) throw new Refused('Bring back what is overdue first.', 409);
    this.lend(this.tool(id), person, due);
  }

  record(tool, name, due) {
    const person = this.people.get(folded(name));
    if (!person) throw new Refused('There is no such neighbour.', 404);
    this.lend(this.tools.get(folded(tool)), person.name, due);
  }

  takeBack(id) {
    if (!this.tool(id)?.loan) throw new Refused('This tool is not on loan.', 404);
    this.write({ does: 'back', id });
  }

  loans(person) {
    const all = this.found('').filter((tool) => tool.loan && (!person || tool.loan.person === person));
    return all
      .map(({ id, name, loan }) => ({ id, tool: name, ...loan }))
      .sort((one, other) => compare(one.due, other.due));
  }
}

module.exports = { Store };
