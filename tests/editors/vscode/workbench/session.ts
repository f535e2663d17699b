// VS Code as its users have it: code-server with the packaged extension, in Chromium, on a workspace of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { type Browser, chromium, type Page } from 'playwright-core';

import { expectSoon, patience } from './expect';

// Set by tests/editors/vscode/run.
export const root = process.env['KERNELSKILL_TEST_ROOT']!;
export const kernelskill = process.env['KERNELSKILL_TEST_SERVER']!;
/** The same, which finds the programs of tools/. */
export const serverWithTools = path.join(root, 'tests/editors/vscode/workbench/server_with_tools');
const codeServer = process.env['KERNELSKILL_TEST_CODE_SERVER']!;
const chromiumFile = process.env['KERNELSKILL_TEST_CHROMIUM']!;
/** Another package than the one that tests/editors/vscode/run builds, which holds no server. */
const vsix = process.env['KERNELSKILL_TEST_VSIX'] ?? path.join(root, 'editors/vscode/kernelskill.vsix');

export type Settings = { readonly [name: string]: unknown };
/** The contents of files by their names. */
export type Files = { readonly [name: string]: string | Buffer };

export class Session {
    private constructor(
        readonly folder: string,
        readonly page: Page,
        private readonly browser: Browser,
        private readonly server: ChildProcess,
    ) {}

    static async start(settings: Settings, files: Files): Promise<Session> {
        const folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-vscode-'));
        const workspace = path.join(folder, 'kernels');
        mkdirSync(path.join(workspace, '.git'), { recursive: true }); // the workspace's root, and so its memory's
        mkdirSync(path.join(folder, 'data/User'), { recursive: true });
        writeSettings(folder, settings);
        for (const [name, text] of Object.entries(files)) writeFileSync(path.join(workspace, name), text);
        const places = ['--user-data-dir', path.join(folder, 'data'), '--extensions-dir', path.join(folder, 'extensions')];
        // Nothing of the user's: no memory of what was tried, no settings of code-server.
        const env = {
            ...process.env,
            XDG_DATA_HOME: path.join(folder, 'home/data'),
            XDG_CONFIG_HOME: path.join(folder, 'home/config'),
            XDG_STATE_HOME: path.join(folder, 'home/state'),
        };
        execFileSync(process.execPath, [codeServer, ...places, '--install-extension', vsix], { env, stdio: 'pipe' });
        const quiet = ['--auth', 'none', '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'];
        const server = spawn(process.execPath, [codeServer, ...places, ...quiet, '--bind-addr', '127.0.0.1:0', workspace], {
            env,
            stdio: ['ignore', 'pipe', 'ignore'],
        });
        let browser: Browser | undefined;
        try {
            const address = await addressOf(server);
            browser = await chromium.launch({ executablePath: chromiumFile, args: ['--no-sandbox'] });
            const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
            const page = await context.newPage();
            page.setDefaultTimeout(patience);
            await page.goto(`${address}?folder=${encodeURIComponent(workspace)}`, { waitUntil: 'commit' });
            await page.locator('.monaco-workbench .part.statusbar').waitFor();
            return new Session(folder, page, browser, server);
        } catch (error) {
            await browser?.close(); // left open, it and the server would keep the tests from ending
            server.kill();
            throw error;
        }
    }

    get workspace(): string {
        return path.join(this.folder, 'kernels');
    }

    /** Replaces the workspace's settings, whose file the workbench watches. */
    configure(settings: Settings): void {
        this.write('.vscode/settings.json', JSON.stringify(settings));
    }

    write(name: string, text: string): string {
        const file = path.join(this.workspace, name);
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, text);
        return file;
    }

    read(name: string): string {
        return readFileSync(path.join(this.workspace, name), 'utf8');
    }

    /** Has the editor write the file, and waits until it holds this. */
    async save(name: string, expected: string): Promise<void> {
        await this.page.keyboard.press('Control+s');
        await this.page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]:not(.dirty)`).first().waitFor();
        await expectSoon(`the text in ${name}`, () => this.read(name) === expected, 10_000).catch(() =>
            assert.equal(this.read(name), expected),
        );
    }

    async close(): Promise<void> {
        await this.browser.close();
        const ended = new Promise((resolve) => this.server.once('exit', resolve));
        this.server.kill();
        await ended;
        rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
}

/**
 * Tests that go on from each other in one session: where one fails, those after it are skipped, and what was on the
 * screen is kept.
 */
export function story(settings: Settings, files: Files) {
    let session: Session;
    let failed = '';
    before(async () => {
        session = await Session.start(settings, files);
    });
    after(() => session?.close());
    return (name: string, body: (session: Session) => Promise<void>) =>
        test(name, async (context) => {
            if (failed !== '') return context.skip(`after '${failed}'`);
            try {
                await withinLimit(body(session));
            } catch (error) {
                failed = name;
                const picture = path.join(tmpdir(), 'kernelskill-vscode-failure.png');
                await session.page.screenshot({ path: picture });
                context.diagnostic(`the screen is in ${picture}`);
                throw error;
            }
        });
}

/** A wait in the page itself has no limit of playwright's. */
function withinLimit(done: Promise<void>): Promise<void> {
    const limit = 5 * patience;
    const late = setTimeout(limit, undefined, { ref: false }).then(() => {
        throw new Error(`not over within ${limit / 1000} s`);
    });
    return Promise.race([done, late]);
}

export function example(name: string): string {
    return readFileSync(path.join(root, 'examples', name), 'utf8');
}

function writeSettings(folder: string, settings: Settings): void {
    const all = {
        'kernelskill.server.path': kernelskill,
        'kernelskill.gpu.enabled': false, // the same pictures everywhere
        'workbench.startupEditor': 'none',
        'workbench.tips.enabled': false,
        'workbench.colorTheme': 'Default Light Modern',
        'window.commandCenter': false,
        'chat.commandCenter.enabled': false,
        'editor.minimap.enabled': false,
        'extensions.ignoreRecommendations': true,
        'git.enabled': false,
        'files.autoSave': 'off',
        'search.exclude': { '**/.kernelskill': true }, // the memory of transpose.cu is transpose.cu.jsonl
        ...settings,
    };
    writeFileSync(path.join(folder, 'data/User/settings.json'), JSON.stringify(all, undefined, 4));
}

function addressOf(server: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
        let said = '';
        server.stdout!.on('data', (piece: Buffer) => {
            said += piece.toString();
            const address = /listening on (http:\S+)/i.exec(said)?.[1];
            if (address) resolve(address);
        });
        server.once('exit', () => reject(new Error(`code-server ended:\n${said}`)));
    });
}
