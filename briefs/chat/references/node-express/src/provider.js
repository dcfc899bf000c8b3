'use strict';

const MOST_TRIES = 3;
const MOST_WAIT = 5;
const USUAL_WAIT = 0.2;

class ProviderError extends Error {}

const NO_ANSWER = 'the provider sends something that is no answer';
const BROKEN_OFF = "the provider's answer broke off";

function secondsOf(text) {
  const found = text === null || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(found) ? Math.min(Math.max(found, 0), MOST_WAIT) : USUAL_WAIT;
}

class Answer {
  constructor() {
    this.text = '';
    this.tokens = 0;
    this.calls = [];
  }

  get message() {
    const found = { role: 'assistant', content: this.text };
    return this.calls.length ? { ...found, tool_calls: this.calls } : found;
  }

  take(chunk) {
    if (!chunk || !Array.isArray(chunk.choices)) throw new ProviderError(NO_ANSWER);
    const counted = chunk.usage ? chunk.usage.total_tokens : 0;
    if (!Number.isInteger(counted)) throw new ProviderError(NO_ANSWER);
    this.tokens += counted;
    let said = '';
    for (const { delta } of chunk.choices) {
      const content = delta ? delta.content ?? '' : null;
      if (typeof content !== 'string') throw new ProviderError(NO_ANSWER);
      said += content;
      for (const part of delta.tool_calls ?? []) this.takeCall(part);
    }
    this.text += said;
    return said;
  }

  takeCall({ index, id, function: told }) {
    if (!Number.isInteger(index)) throw new ProviderError(NO_ANSWER);
    this.calls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
    const call = this.calls[index];
    call.id += id ?? '';
    call.function.name += told?.name ?? '';
    call.function.arguments += told?.arguments ?? '';
  }
}

// Gives a request up where nothing comes for some time.
class Watch {
  constructor(seconds) {
    this.seconds = seconds;
    this.control = new AbortController();
  }

  get signal() {
    return this.control.signal;
  }

  begin() {
    this.end();
    this.timer = setTimeout(() => this.control.abort(), 1000 * this.seconds);
  }

  end() {
    clearTimeout(this.timer);
  }
}

class Provider {
  constructor({ url, key, model, seconds, wait }) {
    Object.assign(this, { url, key, model, seconds });
    this.wait = wait ?? ((time) => new Promise((resolve) => { setTimeout(resolve, 1000 * time); }));
  }

  // Calls `said` with each piece of text; returns nothing, since `answer` is then whole.
  async answer(messages, tools, answer, said) {
    const body = JSON.stringify({
      model: this.model, messages, tools, stream: true, stream_options: { include_usage: true },
    });
    const watch = new Watch(this.seconds);
    try {
      await Provider.read(await this.asked(body, watch), answer, said, watch);
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw new ProviderError(watch.signal.aborted ? 'the provider has fallen silent' : BROKEN_OFF);
    } finally {
      watch.end();
      watch.control.abort();
    }
  }

  async asked(body, watch) {
    for (let number = 1; ; number += 1) {
      watch.begin();
      const { response, words, wait } = await this.ask(body, watch.signal);
      if (response) return response;
      watch.end();
      if (wait === null || number === MOST_TRIES) throw new ProviderError(words);
      await this.wait(wait);
    }
  }

  async ask(body, signal) {
    let response;
    try {
      response = await fetch(`${this.url}/chat/completions`, {
        method: 'POST', body, signal, headers: { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json' },
      });
    } catch {
      if (signal.aborted) return { words: "the provider doesn't answer", wait: null };
      return { words: "the provider can't be reached", wait: USUAL_WAIT };
    }
    if (response.status === 200) return { response };
    await response.body?.cancel();
    const isBusy = response.status === 429 || response.status >= 500;
    const wait = isBusy ? secondsOf(response.headers.get('retry-after')) : null;
    return { words: `the provider answers with status ${response.status}`, wait };
  }

  static async read(response, answer, said, watch) {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of response.body) {
      watch.begin();
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop();
      for (const line of lines.filter((each) => each.startsWith('data:'))) {
        const data = line.slice('data:'.length).trim();
        if (data === '[DONE]') return;
        const piece = answer.take(Provider.parsed(data));
        if (piece) said(piece);
      }
    }
    throw new ProviderError(BROKEN_OFF);
  }

  static parsed(data) {
    try {
      return JSON.parse(data);
    } catch {
      throw new ProviderError(NO_ANSWER);
    }
  }
}

module.exports = { Answer, Provider, ProviderError };
