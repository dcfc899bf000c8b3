'use strict';

const NEEDED = new Map([['save_note', ['name', 'text']], ['read_note', ['name']]]);
const WORDS = { save_note: 'Keep a note for later.', read_note: 'Read a note that was kept.' };

const OFFERED = [...NEEDED].map(([name, needed]) => ({
  type: 'function',
  function: {
    name,
    description: WORDS[name],
    parameters: { type: 'object', properties: Object.fromEntries(needed.map((each) => [each, { type: 'string' }])), required: needed },
  },
}));

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// `notes` are the conversation's, as a map, and are changed.
function run(name, text, notes) {
  const needed = NEEDED.get(name);
  if (!needed) return `error: there is no tool ${name}`;
  const told = parsed(text);
  if (!told || !needed.every((each) => typeof told[each] === 'string')) {
    return `error: the arguments must be a JSON object with the texts ${needed.join(', ')}`;
  }
  if (name === 'save_note') {
    notes.set(told.name, told.text);
    return 'saved';
  }
  return notes.has(told.name) ? notes.get(told.name) : 'error: there is no such note';
}

module.exports = { OFFERED, run };
