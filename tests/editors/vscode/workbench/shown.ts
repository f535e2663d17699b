// How long the page takes from a key or a press of the mouse to what it shows.
import type { Page } from 'playwright-core';

/** From now on the page waits for the next key or press of the mouse, then for the end of the first frame that draws an element with this text. */
export async function watch(page: Page, selector: string, text: string): Promise<void> {
    await page.evaluate(
        ({ selector, text }) => {
            const inputs = ['keydown', 'pointerdown'];
            const shown = new Promise<number>((resolve) => {
                let begun = 0;
                // No look at sizes, which would make the page lay itself out once more.
                const observer = new MutationObserver(() => {
                    if (![...document.querySelectorAll(selector)].some(({ textContent }) => textContent?.includes(text))) return;
                    observer.disconnect();
                    requestAnimationFrame(() => {
                        const drawn = new MessageChannel(); // its message comes after the frame
                        drawn.port1.onmessage = () => resolve(performance.now() - begun);
                        drawn.port2.postMessage(undefined);
                    });
                });
                const heard = (event: Event) => {
                    if (event instanceof KeyboardEvent && event.key === 'Control') return;
                    begun = event.timeStamp;
                    for (const kind of inputs) window.removeEventListener(kind, heard, true);
                    observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributeFilter: ['class'] });
                };
                for (const kind of inputs) window.addEventListener(kind, heard, true);
            });
            Object.assign(window, { shown });
        },
        { selector, text },
    );
}

/** Milliseconds from that key to the end of that frame. */
export function shown(page: Page): Promise<number> {
    return page.evaluate(() => (window as unknown as { shown: Promise<number> }).shown);
}
