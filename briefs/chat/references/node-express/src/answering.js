'use strict';
const { OFFERED, run } = require('./tools');
const { Answer, ProviderError } = require('./provider');

const MOST_ANSWERS = 8;

function isSpent(store, id) {
  const conversation = store.find(id);
  return !conversation || conversation.used >= conversation.budget;
}

// Tells the events of an answer but the last one, which it returns. Only an answer that is done is kept.
async function answered(store, provider, id, text, tell) {
  try {
    return await whole(store, provider, id, text, tell);
  } catch (error) {
    if (error instanceof ProviderError) return ['error', { error: error.message }];
    throw error;
  }
}

async function whole(store, provider, id, text, tell) {
  const { system, messages, notes: kept } = store.find(id);
  const before = [...(system ? [{ role: 'system', content: system }] : []), ...messages];
  const added = [{ role: 'user', content: text }];
  const notes = new Map(Object.entries(kept));
  for (let number = 0; number < MOST_ANSWERS; number += 1) {
    if (isSpent(store, id)) throw new ProviderError('the budget is spent');
    const answer = new Answer();
    try {
      await provider.answer([...before, ...added], OFFERED, answer, (piece) => tell('text', { text: piece }));
    } finally {
      store.spend(id, answer.tokens);
    }
    added.push(answer.message);
    if (!answer.calls.length) {
      store.keep(id, added, Object.fromEntries(notes));
      return ['done', { text: answer.text, used: store.find(id)?.used ?? 0 }];
    }
    for (const call of answer.calls) {
      const result = run(call.function.name, call.function.arguments, notes);
      tell('tool', { ...call.function, result });
      added.push({ role: 'tool', tool_call_id: call.id, content: result });
    }
  }
  throw new ProviderError(`the model called tools in each of ${MOST_ANSWERS} answers`);
}

module.exports = { answered, isSpent };
