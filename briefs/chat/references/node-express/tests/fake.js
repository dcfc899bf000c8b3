'use strict';
const http = require('node:http');

const chunk = (delta, usage = null) => `data: ${JSON.stringify({ choices: delta ? [{ index: 0, delta }] : [], usage })}\n\n`;

const textOf = (...pieces) => [200, {}, [...pieces.map((content) => chunk({ content })), chunk(null, { total_tokens: 12 }), 'data: [DONE]\n\n'].join('')];

// A provider for tests. `does(url, asked)`: what was asked, with path, key and body. An answer of null never comes, one of
// 'half' stops in the middle, one of 'cut' is cut there.
async function provided(answers, does) {
  const asked = [];
  const left = [...answers];
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (part) => { text += part; });
    request.on('end', () => {
      asked.push([request.url, request.headers.authorization, JSON.parse(text)]);
      const answer = left.shift();
      if (answer === null) return;
      if (answer === 'half' || answer === 'cut') {
        response.writeHead(200);
        response.write(chunk({ content: 'Half' }), () => { if (answer === 'cut') response.destroy(); });
        return;
      }
      response.writeHead(answer[0], answer[1]);
      response.end(answer[2]);
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => { server.once('listening', resolve); });
  try {
    await does(`http://127.0.0.1:${server.address().port}/v1`, asked);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => { server.close(resolve); });
  }
}

module.exports = { chunk, textOf, provided };
