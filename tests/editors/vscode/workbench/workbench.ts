// What a user does in the workbench, and what they see there. Everything waits for what it needs to see.

import type { Frame, Locator, Page } from 'playwright-core';

import { expectSoon } from './expect';

/** A run on the emulator takes seconds; a busy machine several times that. */
export const slow = { timeout: Number(process.env['KERNELSKILL_TEST_PATIENCE'] ?? 120) * 1000 };

export class Workbench {
    constructor(readonly page: Page) {}

    /** In the first group of editors: views of ours are in the second. */
    async open(name: string): Promise<void> {
        await this.page.keyboard.press('Control+1');
        await this.summon('Control+p');
        await this.pick(name, name);
        await this.page.locator('.tab.active', { hasText: name }).first().waitFor();
    }

    /** The one that is on top in the second group. */
    async closeView(): Promise<void> {
        await this.page.keyboard.press('Control+2');
        await this.closeEditor();
    }

    async closeEditor(): Promise<void> {
        await this.run('View: Close Editor');
    }

    /** Of the command palette. */
    async run(title: string): Promise<void> {
        await this.summon('F1');
        await this.pick(`>${title}`, title);
    }

    /** Types into the quick input that is open, and takes the entry of this name. */
    async pick(typed: string, entry: string): Promise<void> {
        await this.input.fill(typed);
        const row = this.page.locator('.quick-input-widget .monaco-list-row', { hasText: entry }).first();
        await row.click();
        await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    }

    /** Puts the cursor there; both count from 1. */
    async goTo(line: number, column: number): Promise<void> {
        await this.summon('Control+g');
        await this.input.fill(`:${line}:${column}`);
        await this.page.keyboard.press('Enter');
        await this.statusOf(`Ln ${line}, Col ${column}`).waitFor();
    }

    /** Presses the key until the quick input is there: while the focus moves a key may be lost. */
    private async summon(key: string): Promise<void> {
        await expectSoon(`the quick input after ${key}`, async () => {
            await this.page.keyboard.press(key);
            return this.input.waitFor({ timeout: 3000 }).then(() => true, () => false);
        });
    }

    private get input(): Locator {
        return this.page.locator('.quick-input-widget:visible input[type=text]');
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

    /** Waits until the hover at the cursor says all of this; its parts come one after the other. */
    async hoverAtCursor(...texts: readonly RegExp[]): Promise<void> {
        await this.page.keyboard.press('Control+K');
        await this.page.keyboard.press('Control+I');
        for (const text of texts) await this.page.locator('.monaco-hover:visible', { hasText: text }).first().waitFor();
    }

    /** Takes the first action at the cursor that this names, by the keyboard: the widget keeps the mouse out. */
    async takeAction(title: string | RegExp): Promise<void> {
        const rows = this.page.locator('.action-widget .monaco-list-row.action:not(.option-disabled)');
        await expectSoon(`an action '${title}'`, async () => {
            await this.page.keyboard.press('Escape');
            await this.page.keyboard.press('Control+.');
            const row = rows.filter({ hasText: title }).first();
            return row.waitFor({ timeout: 3000 }).then(() => true, () => false);
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

    notification(text: string | RegExp): Locator {
        return this.page.locator('.notifications-toasts .notification-list-item', { hasText: text });
    }

    /** The frame of a view of ours, by the name that its page's body bears. */
    async view(name: string): Promise<Frame> {
        const deadline = Date.now() + slow.timeout;
        while (Date.now() < deadline) {
            for (const frame of this.page.frames()) {
                if (await frame.locator(`body[data-view="${name}"]`).isVisible().catch(() => false)) return frame;
            }
            await this.page.waitForEvent('frameattached', { timeout: 250 }).catch(() => undefined);
        }
        throw new Error(`no view '${name}' opened`);
    }
}
