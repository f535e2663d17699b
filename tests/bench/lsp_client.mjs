// A language client over a child process: framing, requests, and waiting for diagnostics of a version.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

export class LspClient {
    #child;
    #buffer = Buffer.alloc(0);
    #nextId = 1;
    #replies = new Map();
    #diagnosticWaiters = [];
    #stderr = '';

    constructor(command, args, options) {
        this.#child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
        this.#child.stdout.on('data', (data) => this.#receive(data));
        this.#child.stderr.on('data', (data) => (this.#stderr = (this.#stderr + data).slice(-4000)));
        this.#child.on('exit', (code, signal) => {
            const problem = new Error(`${command} ended (${signal ?? code}): ${this.#stderr}`);
            for (const { reject } of this.#replies.values()) reject(problem);
            for (const { reject } of this.#diagnosticWaiters) reject(problem);
        });
    }

    request(method, params) {
        const id = this.#nextId++;
        return new Promise((resolve, reject) => {
            this.#replies.set(id, { resolve, reject });
            this.#send({ jsonrpc: '2.0', id, method, params });
        });
    }

    notify(method, params) {
        this.#send({ jsonrpc: '2.0', method, params });
    }

    /** The first diagnostics published from now on for this version. A server that gives no version is a match. */
    diagnostics(uri, version, timeout = 60_000) {
        return new Promise((resolve, reject) => {
            const timer = setTimeout(
                () => reject(new Error(`no diagnostics of version ${version} within ${timeout} ms: ${this.#stderr}`)),
                timeout,
            );
            const settle = (settler) => (value) => {
                clearTimeout(timer);
                settler(value);
            };
            this.#diagnosticWaiters.push({ uri, version, resolve: settle(resolve), reject: settle(reject) });
        });
    }

    /** Resident memory of the process and all its descendants, in MiB. */
    residentMiB() {
        const kilobytes = (pid) =>
            Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
        return processTree(this.#child.pid).reduce((sum, pid) => sum + kilobytes(pid), 0) / 1024;
    }

    /** Ends a server that may not answer any more. */
    kill() {
        this.#child.kill('SIGKILL');
    }

    async stop() {
        const ended = new Promise((resolve) => this.#child.once('exit', resolve));
        await this.request('shutdown', null);
        this.notify('exit', null);
        await ended;
    }

    #send(message) {
        const body = Buffer.from(JSON.stringify(message));
        this.#child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
        this.#child.stdin.write(body);
    }

    #receive(data) {
        this.#buffer = Buffer.concat([this.#buffer, data]);
        for (;;) {
            const headerEnd = this.#buffer.indexOf('\r\n\r\n');
            if (headerEnd < 0) return;
            const length = Number(/Content-Length: (\d+)/i.exec(this.#buffer.toString('latin1', 0, headerEnd))[1]);
            if (this.#buffer.length < headerEnd + 4 + length) return;
            const message = JSON.parse(this.#buffer.toString('utf8', headerEnd + 4, headerEnd + 4 + length));
            this.#buffer = this.#buffer.subarray(headerEnd + 4 + length);
            this.#handle(message);
        }
    }

    #handle(message) {
        if (message.method === undefined) {
            const { resolve, reject } = this.#replies.get(message.id);
            this.#replies.delete(message.id);
            if (message.error) reject(new Error(`${message.error.code}: ${message.error.message}`));
            else resolve(message.result);
        } else if (message.id !== undefined) {
            // Whatever the server asks of us, the answer is "nothing set" and "done".
            const answers = {
                'workspace/configuration': () => message.params.items.map(() => null),
                'workspace/applyEdit': () => ({ applied: true }),
            };
            this.#send({ jsonrpc: '2.0', id: message.id, result: answers[message.method]?.() ?? null });
        } else if (message.method === 'textDocument/publishDiagnostics') {
            const { uri, version } = message.params;
            const isFor = (waiter) => waiter.uri === uri && (version === undefined || waiter.version === version);
            const done = this.#diagnosticWaiters.filter(isFor);
            this.#diagnosticWaiters = this.#diagnosticWaiters.filter((waiter) => !isFor(waiter));
            for (const { resolve } of done) resolve(message.params.diagnostics);
        }
    }
}

function processTree(root) {
    const children = new Map();
    for (const name of readdirSync('/proc')) {
        if (!/^\d+$/.test(name)) continue;
        try {
            // The name in parentheses may hold spaces; the parent's id is the second field after it.
            const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
            const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
            children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
        } catch {
            // ended meanwhile
        }
    }
    const tree = [root];
    for (let i = 0; i < tree.length; ++i) tree.push(...(children.get(tree[i]) ?? []));
    return tree;
}
