// From a key or a click to what it shows: what the editor's side adds to the server's own time, which timed_server notes.
// docs/measurements/editors.md quotes it. Time that the page and the extension's host were ready to run and had no processor,
// which other programs had, is nobody's and left out. A busy machine also makes the work itself slower, never quicker: it is
// the quickest tenth of the runs that is held against the bound.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';

import { processorTimeOf } from './processes';
import { example, root, type Session, story } from './session';
import { Workbench } from './workbench';

const file = 'transpose.cu';
const runs = Number(process.env['KERNELSKILL_TEST_RUNS'] ?? 20);
const mostAdded = 50; // milliseconds
/** After so long a result is lost: the key came to nothing, as it does while the focus moves. Milliseconds. */
const lostAfter = 15_000;
const mostLost = 5;

const folder = mkdtempSync(path.join(tmpdir(), 'kernelskill-timings-'));
after(() => rmSync(folder, { recursive: true }));
const timings = path.join(folder, 'timings');
process.env['KERNELSKILL_TEST_TIMINGS'] = timings;

const test = story({ 'kernelskill.server.path': path.join(root, 'tests/editors/vscode/workbench/timed_server') }, { [file]: example(file) });

/** What the server took for the requests of these methods since the last time that this was asked. */
function takeServerTime(methods: readonly string[]): number {
    const lines = readFileSync(timings, 'utf8').split('\n').filter((line) => line !== '');
    writeFileSync(timings, '');
    const answers = lines.map((line) => JSON.parse(line) as { method: string; milliseconds: number });
    return answers.filter(({ method }) => methods.includes(method)).reduce((sum, { milliseconds }) => sum + milliseconds, 0);
}

interface Action {
    readonly name: string;
    /** What of the server it asks. */
    readonly methods: readonly string[];
    /** Up to the key or click that counts. */
    prepare(): Promise<void>;
    /** Does that, and gives the milliseconds from it to the result; undefined when that is lost. */
    act(): Promise<number | undefined>;
    /** Takes the result away. */
    clear(): Promise<void>;
}

async function measure(session: Session, { name, methods, prepare, act, clear }: Action): Promise<void> {
    const times = { server: [] as number[], clock: [] as number[], worked: [] as number[], added: [] as number[] };
    let lost = 0;
    for (let run = 0; run <= runs; ) {
        await prepare();
        const processes = await session.editorProcesses();
        takeServerTime([]);
        const before = processorTimeOf(processes);
        const all = await act();
        const after = processorTimeOf(processes);
        const server = takeServerTime(methods);
        await clear();
        if (all === undefined) {
            assert.ok(++lost <= mostLost, `${lost} times nothing was shown`);
            continue;
        }
        if (run++ === 0) continue; // fills caches
        times.server.push(server);
        times.clock.push(all - server);
        times.worked.push(after.worked - before.worked);
        times.added.push(all - server - (after.waited - before.waited));
    }
    const spread = (values: readonly number[]) => `median ${quantile(values, 0.5).toFixed(1)} p95 ${quantile(values, 0.95).toFixed(1)} ms`;
    console.log(`${name}, n = ${runs}: server ${spread(times.server)};`);
    console.log(`the editor adds ${spread(times.added)} (by the clock ${spread(times.clock)}), and works for ${spread(times.worked)}`);
    assert.ok(Math.min(...times.server) > 0, 'the server was not asked');
    assert.ok(quantile(times.added, 0.1) <= mostAdded, `the editor adds ${spread(times.added)}`);
}

function quantile(values: readonly number[], fraction: number): number {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.max(Math.ceil(fraction * sorted.length), 1) - 1]!;
}

/** From now on the page waits for the next key, then for the end of the first frame that draws an element with this text. */
async function watch({ page }: Session, selector: string, text: string): Promise<void> {
    await page.evaluate(
        ({ selector, text }) => {
            const shown = new Promise<number>((resolve) => {
                let begun = 0;
                const look = () => {
                    const found = [...document.querySelectorAll(selector)].some((each) => each.getClientRects().length > 0 && each.textContent?.includes(text));
                    if (found) window.setTimeout(() => resolve(performance.now() - begun)); // the frame has been drawn then
                    else requestAnimationFrame(look);
                };
                const heard = (event: KeyboardEvent) => {
                    if (event.key === 'Control') return;
                    begun = event.timeStamp;
                    window.removeEventListener('keydown', heard, true);
                    requestAnimationFrame(look);
                };
                window.addEventListener('keydown', heard, true);
            });
            Object.assign(window, { shown });
        },
        { selector, text },
    );
}

async function pressed({ page }: Session, key: string): Promise<number | undefined> {
    await page.keyboard.press(key);
    const shown = page.evaluate(() => (window as unknown as { shown: Promise<number> }).shown);
    return Promise.race([shown, setTimeout(lostAfter, undefined, { ref: false })]);
}

test('a hover is on the screen at most 50 ms after the server has answered', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.open(file);
    await workbench.lens('bank-conflicts').waitFor();
    await workbench.goTo(16, 32);
    await measure(session, {
        name: 'hover',
        methods: ['textDocument/hover'],
        prepare: async () => {
            await session.page.keyboard.press('Control+k');
            await watch(session, '.monaco-hover:not(.hidden)', 'index: 32*threadIdx.x');
        },
        act: () => pressed(session, 'Control+i'),
        clear: async () => {
            await session.page.keyboard.press('Escape');
            await session.page.locator('.monaco-hover:visible').first().waitFor({ state: 'hidden' });
        },
    });
});

test('so is the menu of code actions', async (session) => {
    const workbench = new Workbench(session.page);
    await workbench.goTo(7, 22);
    const menu = '.action-widget .monaco-list-row';
    await measure(session, {
        name: 'code actions',
        methods: ['textDocument/codeAction'],
        prepare: () => watch(session, menu, 'Pad the rows of shared array'),
        act: () => pressed(session, 'Control+.'),
        clear: async () => {
            await session.page.keyboard.press('Escape');
            await session.page.locator(menu).first().waitFor({ state: 'detached' });
        },
    });
});
