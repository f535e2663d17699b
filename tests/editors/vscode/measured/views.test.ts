// From a click to the first picture of a view, for docs/measurements/editors.md; `run` has this only when it is asked for. Beside
// VS Code's own views, whose time the machine has a part in as well: a Markdown preview is a webview too, the explorer a tree.
import assert from 'node:assert/strict';

import type { Frame, Page } from 'playwright-core';

import { expectSoon } from '../workbench/expect';
import { example, story } from '../workbench/session';
import { shown, watch } from '../workbench/shown';
import { spread, takeServerTimes, timedServer } from '../workbench/timings';
import { Workbench } from '../workbench/workbench';

const file = 'transpose.cu';
const runs = Number(process.env['KERNELSKILL_TEST_RUNS'] ?? 6);
const test = story(timedServer, { [file]: example(file), 'control.md': '# Transpose\n\nA tiled transpose.\n' });

/** From now on the page notes when the last click or key came, in milliseconds since 1970. */
async function noteInput(page: Page): Promise<void> {
    await page.evaluate(() => {
        const note = ({ timeStamp }: Event) => Object.assign(window, { lastInput: performance.timeOrigin + timeStamp });
        for (const kind of ['click', 'keydown']) window.addEventListener(kind, note, true);
    });
}

function lastInput(page: Page): Promise<number> {
    return page.evaluate(() => (window as unknown as { lastInput: number }).lastInput);
}

/** When the frame drew something first. */
async function firstPicture(frame: Frame): Promise<number> {
    return expectSoon('something drawn', () =>
        frame.evaluate(() => {
            const [paint] = performance.getEntriesByName('first-contentful-paint');
            return paint && performance.timeOrigin + paint.startTime;
        }),
    );
}

interface Opening {
    readonly name: string;
    /** The request that it sends to the server; empty: none. */
    readonly method: string;
    open(workbench: Workbench): Promise<Frame>;
    close?(frame: Frame): Promise<void>;
}

async function measure(page: Page, { name, method, open, close }: Opening): Promise<void> {
    const workbench = new Workbench(page);
    const server: number[] = [];
    const added: number[] = [];
    for (let run = 0; run <= runs; ++run) {
        await workbench.open(method === 'none' ? 'control.md' : file);
        if (method !== 'none') await workbench.goTo(7, 1);
        takeServerTimes(method);
        const frame = await open(workbench);
        const drawn = await firstPicture(frame);
        const input = await lastInput(page);
        const asked = takeServerTimes(method).reduce((sum, time) => sum + time, 0);
        await close?.(frame);
        await workbench.run('View: Close Editors in Other Groups');
        assert.ok(drawn > input, 'drawn after the click');
        if (run === 0) continue; // fills caches
        server.push(asked);
        added.push(drawn - input - asked);
    }
    console.log(`${name}, n = ${runs}: server ${spread(server)}; the editor adds ${spread(added)}`);
}

const command = (title: string, view: string) => async (workbench: Workbench) => {
    await workbench.run(title);
    return workbench.view(view);
};

test('the side panel, and the explorer', async ({ page }) => {
    const workbench = new Workbench(page);
    await workbench.showKernels();
    await workbench.kernel('transpose').waitFor();
    const panels = [
        { tab: page.getByRole('tab', { name: /^Explorer/ }), text: file },
        { tab: page.getByRole('tab', { name: /^KernelSkill/ }), text: 'bank-conflicts' },
    ];
    const times: number[][] = [[], []];
    for (let run = 0; run <= 3 * runs; ++run) {
        for (const [index, { tab, text }] of panels.entries()) {
            await watch(page, '.pane-body .monaco-list-row', text);
            await tab.click();
            const time = await shown(page);
            if (run > 0) times[index]!.push(time);
        }
    }
    console.log(`n = ${3 * runs}: the explorer ${spread(times[0]!)}; the side panel ${spread(times[1]!)}`);
});

test('the views, and a Markdown preview', async ({ page }) => {
    const workbench = new Workbench(page);
    await workbench.open('control.md');
    await workbench.open(file);
    await workbench.lens('bank-conflicts').waitFor();
    await workbench.goTo(7, 1);
    await noteInput(page);
    await measure(page, {
        name: 'Markdown preview',
        method: 'none',
        open: async (workbench) => {
            await workbench.run('Markdown: Open Preview to the Side');
            return workbench.frame('body.vscode-body .markdown-body, body.vscode-body h1#transpose');
        },
    });
    await measure(page, { name: 'memory', method: 'kernelskill/memory', open: command('KernelSkill: Show What Was Tried on This File', 'memory') });
    await measure(page, { name: 'profile', method: 'kernelskill/report', open: command('KernelSkill: Show a Report of This File', 'page') });
    await measure(page, { name: 'assembly', method: 'kernelskill/assembly', open: command('KernelSkill: Show What the Kernel at the Cursor Compiles To', 'assembly') });
    await measure(page, {
        name: 'run, its first picture',
        method: '',
        open: command('KernelSkill: Optimize Kernel at Cursor', 'run'),
        close: async (frame) => {
            await frame.getByRole('button', { name: 'Cancel' }).click({ timeout: 5000 }).catch(() => undefined);
            await frame.getByRole('progressbar').waitFor({ state: 'detached' });
        },
    });
});
