'use strict';
const path = require('node:path');
const { createApp } = require('./app');
const { Store } = require('./store');

const store = new Store(path.join(process.env.DATA_DIR, 'journal'));
createApp(store).listen(Number(process.env.PORT), '127.0.0.1');
