// A user's actions in the workbench, and what they see there. Everything waits for what it needs to see.

import { errors, type Frame, type Locator, type Page } from 'playwright-core';

import { expectSoon, patience } from './expect';

/** After which the user would press the key again. */
const brief = { timeout: 10_000 };
/** More than any quick input of the tests shows. */
const maxEntries = 30;

export class Workbench {
    constructor(readonly page: Page) {}

    /** In the first group of editors: views of ours are in the second. */
    async open(name: string): Promise<void> {
        const tab = this.page.locator(`.tab.active[data-resource-name="${name}"]`).first();
        await this.insist(`${name} in an editor`, async () => {
            await this.page.keyboard.press('Control+1');
            await this.summonEntry('Control+p', name, name);
            await tab.waitFor(brief);
        });
    }

    /** To the other of two editors of a group. */
    async switchTo(name: string): Promise<void> {
        const tab = this.page.locator(`.tab.active[data-resource-name="${name}"]`);
        await expectSoon(`${name} in front`, async () => {
            await this.page.keyboard.press('Control+PageDown');
            return expectSoon('the tab', () => tab.count(), brief.timeout).catch(() => false);
        });
    }

    async closeEditor(): Promise<void> {
        await this.run('View: Close Editor');
    }

    /** Runs a command from the command palette. */
    async run(title: string): Promise<void> {
        await this.summonEntry('F1', `>${title}`, title);
    }

    /** Types into the quick input that is open, and takes the entry of this name. */
    async pick(typed: string, entry: string): Promise<void> {
        await this.input.fill(typed);
        await this.take(entry);
        await this.entry(entry).waitFor({ state: 'hidden' }); // not the quick input, which may be another's then
    }

    /** Puts the cursor there; both count from 1. What is typed next goes into the text. */
    async goTo(line: number, column: number): Promise<void> {
        await this.insist(`the cursor at ${line}:${column}`, async () => {
            await this.page.keyboard.press('Control+g');
            await this.input.fill(`:${line}:${column}`, brief);
            await this.page.keyboard.press('Enter');
            await this.statusOf(`Ln ${line}, Col ${column}`).waitFor(brief); // which it may have said before
            await this.input.waitFor({ state: 'hidden', ...brief });
            await this.page.locator('.editor-instance .monaco-editor.focused').first().waitFor(brief);
        });
    }

    private async summonEntry(key: string, typed: string, entry: string): Promise<void> {
        await this.insist(`an entry '${entry}'`, async () => {
            await this.page.keyboard.press(key);
            await this.input.fill(typed, brief);
            await this.take(entry, brief);
        });
        await this.entry(entry).waitFor({ state: 'hidden' });
    }

    /** Takes an entry of the quick input by the keyboard: hovers of rows keep the mouse out, which goes where it lights nothing. */
    private async take(entry: string, patience: { timeout?: number } = {}): Promise<void> {
        await this.page.mouse.move(0, 0);
        const row = this.entry(entry);
        await row.waitFor(patience);
        for (let presses = 0; presses < maxEntries; ++presses) {
            const classes = (await row.getAttribute('class', patience)) ?? '';
            if (classes.split(' ').includes('focused')) {
                await this.page.keyboard.press('Enter');
                return;
            }
            await this.page.keyboard.press('ArrowDown');
        }
        throw new errors.TimeoutError(`'${entry}' does not get the focus`);
    }

    /**
     * Does it again when it comes to nothing: while the focus moves a key may be lost and the quick input close, and
     * what there is to choose from is read when it opens.
     */
    private async insist(what: string, body: () => Promise<void>): Promise<void> {
        await expectSoon(what, async () => {
            try {
                await body();
                return true;
            } catch (error) {
                if (!(error instanceof errors.TimeoutError)) throw error;
                await this.page.keyboard.press('Escape');
                return false;
            }
        });
    }

    /** Types into the input that is open, and takes what it says. */
    async type(text: string): Promise<void> {
        await this.input.fill(text);
        await this.page.keyboard.press('Enter');
        await this.input.waitFor({ state: 'hidden' });
    }

    /** An entry of the quick input that is open. */
    entry(name: string): Locator {
        const rows = this.page.locator('.quick-input-widget:visible .monaco-list-row');
        return rows.filter({ has: this.page.getByText(name, { exact: true }) }).first();
    }

    private get input(): Locator {
        return this.page.locator('.quick-input-widget:visible input[type=text]');
    }

    /** The time of the extension's activation, as the workbench shows it; milliseconds. */
    async activationTime(): Promise<number> {
        await this.run('Developer: Show Running Extensions');
        const entry = this.page.locator('.runtime-extensions-editor .extension', { hasText: 'KernelSkill' });
        const text = await entry.locator('.activation-time').innerText();
        await this.closeEditor();
        const [, milliseconds] = /(\d+)ms/.exec(text) ?? [];
        if (!milliseconds) throw new Error(`no time in '${text}'`);
        return Number(milliseconds);
    }

    statusOf(text: string | RegExp): Locator {
        return this.page.locator('.statusbar-item', { hasText: text });
    }

    lens(text: string | RegExp): Locator {
        return this.page.locator('.codelens-decoration a', { hasText: text });
    }

    /** A line of the editor that is open, as it is drawn. */
    line(text: string): Locator {
        return this.page.locator('.editor-instance .view-line', { hasText: text });
    }

    /** The text of the line of the editor that the assembly view has lit; undefined: none is. */
    litText(): Promise<string | undefined> {
        return this.page.evaluate(() => {
            const editor = document.querySelector('.editor-instance .monaco-editor');
            const lit = editor?.querySelector<HTMLElement>('.view-overlays [class*="ced-"]')?.parentElement;
            const lines = [...(editor?.querySelectorAll<HTMLElement>('.view-line') ?? [])];
            return lines.find(({ style }) => style.top === lit?.style.top)?.textContent ?? undefined;
        });
    }

    /** A line of the text that a preview proposes. */
    proposed(text: string): Locator {
        return this.page.locator('.monaco-diff-editor .modified .view-line', { hasText: text }).first();
    }

    /** Waits until the hover at the cursor says all of this; its parts come one after the other. */
    async hoverAtCursor(...texts: readonly RegExp[]): Promise<void> {
        await this.page.keyboard.press('Control+K');
        await this.page.keyboard.press('Control+I');
        for (const text of texts) await this.page.locator('.monaco-hover:visible', { hasText: text }).first().waitFor();
    }

    /** The entries of the menu of code actions that can be taken. */
    get actions(): Locator {
        return this.page.locator('.action-widget .monaco-list-row.action:not(.option-disabled)');
    }

    /** Takes the first action at the cursor that this names, by the keyboard: the widget keeps the mouse out. */
    async takeAction(title: string | RegExp): Promise<void> {
        const rows = this.actions;
        await expectSoon(`an action '${title}'`, async () => {
            await this.page.keyboard.press('Escape');
            await this.page.keyboard.press('Control+.');
            const row = rows.filter({ hasText: title }).first();
            return row.waitFor(brief).then(() => true, () => false);
        });
        const focused = this.page.locator('.action-widget .monaco-list-row.focused');
        await focused.waitFor();
        const wanted = rows.filter({ hasText: title }).first();
        for (let left = await rows.count(); !(await wanted.getAttribute('class'))?.includes('focused'); --left) {
            if (left === 0) throw new Error(`the keyboard does not reach '${title}'`);
            await this.page.keyboard.press('ArrowDown');
        }
        await this.page.keyboard.press('Enter');
    }

    /** Opens the side panel. */
    async showKernels(): Promise<void> {
        await this.page.getByRole('tab', { name: /^KernelSkill/ }).click();
    }

    /** An entry of the side panel. */
    kernel(text: string | RegExp): Locator {
        return this.page.locator('.pane-body .monaco-list-row', { hasText: text }).first();
    }

    /** The same, if it is at this place of the list; from 0. */
    kernelAt(index: number, text: string): Locator {
        return this.page.locator(`.pane-body .monaco-list-row[data-index="${index}"]`, { hasText: text });
    }

    notification(text: string | RegExp): Locator {
        return this.page.locator('.notifications-toasts .notification-list-item', { hasText: text });
    }

    /** The frame of a view of ours, by the name that its page's body bears. */
    async view(name: string): Promise<Frame> {
        return this.frame(`body[data-view="${name}"]`);
    }

    /** The frame that shows such an element. */
    async frame(selector: string): Promise<Frame> {
        const deadline = Date.now() + patience;
        while (Date.now() < deadline) {
            for (const frame of this.page.frames()) {
                if (await frame.locator(selector).first().isVisible().catch(() => false)) return frame;
            }
            await this.page.waitForEvent('frameattached', { timeout: 250 }).catch(() => undefined);
        }
        throw new Error(`nothing shows ${selector}`);
    }
}
