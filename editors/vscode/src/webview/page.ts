// The reports that the server writes: their lines of source lead to the editor, and the keyboard reaches all of them.
import type { Request } from './state';

export function linkLines(ask: (request: Request) => void): void {
    for (const cell of document.querySelectorAll('table.source td.line')) {
        const line = Number(cell.textContent) - 1;
        const link = document.createElement('a');
        link.href = '#';
        link.textContent = cell.textContent;
        link.setAttribute('aria-label', `Go to line ${line + 1}`);
        link.addEventListener('click', (event) => {
            event.preventDefault();
            ask({ ask: 'reveal', line });
        });
        cell.replaceChildren(link);
    }
}

/** An element that is wider than the page is scrolled by itself, and so needs the focus. */
export function letScroll(): void {
    let title = '';
    for (const part of document.querySelectorAll('h1, h2, h3, h4, .scroll')) {
        if (!part.matches('.scroll')) title = part.textContent ?? '';
        else for (const [name, value] of [['tabindex', '0'], ['role', 'region'], ['aria-label', title]] as const) part.setAttribute(name, value);
    }
}
