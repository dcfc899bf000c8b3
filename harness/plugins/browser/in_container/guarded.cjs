/*
Has each server of a Node program answer only connections that begin with a word:

    STAGE_WORD=HEX NODE_OPTIONS="--require guarded.cjs" node PROGRAM

It is guarded.py for programs of Node. The word is read before the server's own listeners know of the connection, and is
passed on to nobody; a connection that doesn't begin with it is closed.
*/
"use strict";

const crypto = require("node:crypto");
const net = require("node:net");

const MILLISECONDS = 20_000; // How long a connection may take to say the word; the proxy says it at once.

function guard(word) {
    const emit = net.Server.prototype.emit;
    net.Server.prototype.emit = function (event, ...values) {
        if (event !== "connection") {
            return emit.call(this, event, ...values);
        }
        whenItSays(word, values[0], () => emit.call(this, event, ...values));
        return true;
    };
}

// What follows the word stays in the socket's buffer, where the server finds it.
function whenItSays(word, socket, pass) {
    const close = () => socket.destroy();
    const look = () => {
        const said = socket.read(word.length);
        if (said === null) {
            return;
        }
        socket.setTimeout(0);
        socket.off("readable", look).off("end", close).off("timeout", close).off("error", close);
        if (said.length === word.length && crypto.timingSafeEqual(said, word)) {
            pass();
        } else {
            close();
        }
    };
    socket.setTimeout(MILLISECONDS);
    socket.on("readable", look).on("end", close).on("timeout", close).on("error", close);
}

guard(Buffer.from(process.env.STAGE_WORD, "hex"));
delete process.env.STAGE_WORD;
delete process.env.NODE_OPTIONS;
