// The official clients against a real server: the current one by revision 2026-07-28 and by a handshake, and the one before.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const server = process.env.KERNELSKILL_TEST_SERVER;
const root = process.env.KERNELSKILL_TEST_ROOT;
const info = { name: 'test', version: '1' };
const toolTime = { timeout: 120_000 };

const clients = [
    {
        name: 'client 2, revision 2026-07-28',
        revision: '2026-07-28',
        make: () => new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
        transport: (options) => new StdioClientTransport(options),
    },
    {
        name: 'client 2, that finds the revision itself',
        revision: '2026-07-28',
        make: () => new Client(info, { versionNegotiation: { mode: 'auto' } }),
        transport: (options) => new StdioClientTransport(options),
    },
    {
        name: 'client 1, by a handshake',
        revision: '2025-11-25',
        make: () => new OldClient(info),
        transport: (options) => new OldTransport(options),
    },
];

for (const { name, revision, make, transport } of clients) {
    describe(name, () => {
        let client;
        let folder;
        const call = (tool, args, options = toolTime) =>
            // The client of version 1 takes a schema of results before the options.
            client instanceof OldClient
                ? client.callTool({ name: tool, arguments: args }, undefined, options)
                : client.callTool({ name: tool, arguments: args }, options);

        before(async () => {
            folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-mcp-'));
            cpSync(path.join(root, 'examples', 'transpose.cu'), path.join(folder, 'transpose.cu'));
            mkdirSync(path.join(folder, 'state'));
            const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: path.join(folder, 'state') };
            execFileSync(server, ['trust', folder], { env });
            client = make();
            await client.connect(transport({ command: server, args: ['mcp'], cwd: folder, env, stderr: 'ignore' }));
        });
        after(async () => {
            await client.close();
            rmSync(folder, { recursive: true });
        });

        test('they agree on a revision', () => {
            assert.equal(client.getServerVersion().name, 'kernelskill');
            if (client.getNegotiatedProtocolVersion) assert.equal(client.getNegotiatedProtocolVersion(), revision);
            assert.match(client.getInstructions(), /try_edit/);
        });

        test('tools are listed with their schemas', async () => {
            const { tools } = await client.listTools();
            assert.equal(tools.length, 9);
            for (const tool of tools) assert.equal(tool.outputSchema.type, 'object', tool.name);
        });

        test('results fit their schemas', async () => {
            // The clients compare them, and refuse what does not fit.
            await client.listTools();
            const check = await call('check', { file: 'transpose.cu' });
            assert.equal(check.structuredContent.kernels[0].bottleneck.kind, 'bank-conflicts');
            for (const tool of ['plan', 'nest', 'memory', 'profile']) {
                const result = await call(tool, { file: 'transpose.cu' });
                assert.ok(!result.isError, result.content[0].text);
            }
        });

        test('a wrong edit is answered with its cause, a right one with what it gains', async () => {
            const text = readFileSync(path.join(folder, 'transpose.cu'), 'utf8');
            const seen = [];
            const wrong = await call(
                'try_edit',
                { file: 'transpose.cu', text: text.replace('    __syncthreads();\n', '') },
                { ...toolTime, onprogress: (progress) => seen.push(progress.progress) },
            );
            assert.equal(wrong.structuredContent.outcome, 'wrong');
            assert.equal(wrong.structuredContent.kernels[0].diagnosis.cause, 'missing-barrier');
            assert.match(wrong.content[0].text, /cause: missing-barrier/);
            assert.ok(seen.length > 0, 'no progress');
            const right = await call('try_edit', {
                file: 'transpose.cu',
                diff: '@@ -1 +1 @@\n-    __shared__ float tile[TILE][TILE];\n+    __shared__ float tile[TILE][TILE + 1];\n',
            });
            assert.equal(right.structuredContent.outcome, 'right', right.content[0].text);
            assert.equal(readFileSync(path.join(folder, 'transpose.cu'), 'utf8'), text);
        });

        test('skills are applied and resources read', async () => {
            const result = await call('apply_skill', { file: 'transpose.cu', skill: 'shared-memory-padding' });
            assert.equal(result.structuredContent.acceptable, true);
            const { resources } = await client.listResources();
            const { contents } = await client.readResource({ uri: resources[0].uri });
            assert.match(contents[0].text, /^# /);
        });

        test('errors of tools are results, errors of calls are not', async () => {
            const result = await call('check', { file: 'none.cu' });
            assert.equal(result.isError, true);
            await assert.rejects(call('no_tool', {}));
        });

        test('a call can be aborted', async () => {
            writeFileSync(
                path.join(folder, 'slow.cu'),
                '__global__ void slow(float* a) {\n    for (int i = 0; i < 1000000; ++i) a[threadIdx.x] += 1.0f;\n}\n' +
                    '// kernelskill: launch slow<<<4096, 1024>>>(a=zero[1024])\n',
            );
            const abort = new AbortController();
            const options = { ...toolTime, signal: abort.signal, onprogress: () => abort.abort() };
            await assert.rejects(call('profile', { file: 'slow.cu' }, options));
            assert.ok(!(await call('check', { file: 'transpose.cu' })).isError);
        });
    });
}
