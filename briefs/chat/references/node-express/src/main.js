'use strict';
const { createApp } = require('./app');
const { Provider } = require('./provider');
const { Store } = require('./store');

const { DATA_DIR, PORT, OPENAI_BASE_URL: url, OPENAI_API_KEY: key, MODEL: model, PROVIDER_SECONDS } = process.env;
const provider = new Provider({ url, key, model, seconds: Number(PROVIDER_SECONDS) });
createApp(new Store(DATA_DIR), provider).listen(Number(PORT), '127.0.0.1');
