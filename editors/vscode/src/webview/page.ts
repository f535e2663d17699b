// The reports that the server writes: their lines of source lead to the editor.
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
