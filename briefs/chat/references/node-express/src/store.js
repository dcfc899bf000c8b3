'use strict';
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

// Each conversation is a file of its own, which is replaced as a whole.
class Store {
  constructor(folder) {
    this.folder = folder;
    this.conversations = new Map();
    for (const name of fs.readdirSync(folder).filter((each) => each.endsWith('.json'))) {
      const conversation = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
      this.conversations.set(conversation.id, conversation);
    }
  }

  file(id) {
    return path.join(this.folder, `${id}.json`);
  }

  write(conversation) {
    const part = `${this.file(conversation.id)}.part`;
    const file = fs.openSync(part, 'w');
    fs.writeSync(file, JSON.stringify(conversation));
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(part, this.file(conversation.id));
    this.conversations.set(conversation.id, conversation);
  }

  make(system, budget) {
    const id = crypto.randomBytes(8).toString('hex');
    this.write({ id, system, budget, used: 0, messages: [], notes: {} });
    return this.find(id);
  }

  find(id) {
    return this.conversations.get(id);
  }

  remove(id) {
    if (!this.conversations.delete(id)) return false;
    fs.rmSync(this.file(id));
    return true;
  }

  // What was removed meanwhile stays removed.
  change(id, changed) {
    const conversation = this.find(id);
    if (conversation) this.write({ ...conversation, ...changed(conversation) });
  }

  spend(id, tokens) {
    this.change(id, ({ used }) => ({ used: used + tokens }));
  }

  keep(id, added, notes) {
    this.change(id, ({ messages }) => ({ messages: [...messages, ...added], notes }));
  }
}

module.exports = { Store };
