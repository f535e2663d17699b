// The work that an activation waits for. Its time is in docs/measurements/editors.md: a busy machine takes longer.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import Module from 'node:module';
import path from 'node:path';
import { test } from 'node:test';

const bundle = path.join(process.env['KERNELSKILL_TEST_ROOT']!, 'editors/vscode/dist/extension.js');

/** Answers to any use, with itself. */
const anything: unknown = new Proxy(function () {}, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything),
    apply: () => anything,
    construct: () => anything as object,
    set: () => true,
});

const vscode = Object.fromEntries(['MarkdownString', 'StatusBarAlignment', 'ThemeColor', 'commands', 'window'].map((name) => [name, anything]));

test('an activation loads little, and the language client after it', async () => {
    const loader = Module as unknown as { _load(name: string, ...rest: unknown[]): unknown };
    const load = loader._load;
    const asked: string[] = [];
    let started = 0;
    loader._load = (name, ...rest) => {
        asked.push(name);
        if (name === 'vscode') return vscode;
        if (name === './main.js') return { start: () => ++started };
        return load.call(loader, name, ...rest);
    };
    try {
        const { activate } = Module.createRequire(__filename)(bundle) as { activate(context: object): unknown };
        assert.equal(activate({ subscriptions: [] }), undefined); // nothing to wait for
        await Promise.resolve();
        assert.deepEqual([...new Set(asked.slice(1))], ['vscode']);
        await new Promise((resolve) => setTimeout(resolve, 100));
        assert.deepEqual([...new Set(asked.slice(1))], ['vscode', './main.js']);
        assert.equal(started, 1);
    } finally {
        loader._load = load;
    }
    assert.ok(statSync(bundle).size < 8 * 1024, 'what it loads is read and compiled before');
});
