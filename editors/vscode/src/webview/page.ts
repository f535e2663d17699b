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

/** A click on the title of a column, or Enter, sorts the rows of a table by it; once more, the other way round. */
export function letSort(): void {
    for (const table of document.querySelectorAll<HTMLTableElement>('table:not(.source)')) {
        const body = table.tBodies[0];
        const titles = [...(table.tHead?.rows[0]?.cells ?? [])];
        if (!body || body.rows.length < 2) continue;
        titles.forEach((title, column) => {
            if (title.textContent?.trim() === '') return;
            const button = document.createElement('button');
            button.type = 'button';
            button.className = 'sort';
            button.append(...title.childNodes);
            button.addEventListener('click', () => {
                const isAscending = title.getAttribute('aria-sort') === 'descending';
                for (const other of titles) other.removeAttribute('aria-sort');
                title.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
                const rows = [...body.rows].sort((a, b) => compareCells(a.cells[column], b.cells[column]));
                body.append(...(isAscending ? rows : rows.reverse()));
            });
            title.replaceChildren(button);
        });
    }
}

/** Compares cells by their numbers, with units; cells without a number follow, by spelling. */
function compareCells(a: HTMLTableCellElement | undefined, b: HTMLTableCellElement | undefined): number {
    const [left, right] = [valueOf(a?.textContent ?? ''), valueOf(b?.textContent ?? '')];
    if (left !== undefined && right !== undefined) return left - right;
    if (left !== undefined || right !== undefined) return left === undefined ? -1 : 1;
    return (b?.textContent ?? '').localeCompare(a?.textContent ?? '');
}

const units: { readonly [unit: string]: number } = {
    ns: 1e-9, µs: 1e-6, us: 1e-6, ms: 1e-3, s: 1, k: 1e3, kB: 1e3, M: 1e6, MB: 1e6, G: 1e9, GB: 1e9, T: 1e12, TB: 1e12,
};

/** The number that the text begins with: "24,576", "at least 3.1 µs", "12 %". */
export function valueOf(text: string): number | undefined {
    const found = /^(?:at least )?(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s?([µa-zA-Z]*)/.exec(text.trim());
    if (!found) return undefined;
    return Number(found[1]!.replaceAll(',', '')) * (units[found[2]!] ?? 1);
}

/** An element that is wider than the page is scrolled by itself, and so needs the focus. */
export function letScroll(): void {
    let title = '';
    for (const part of document.querySelectorAll('h1, h2, h3, h4, .scroll')) {
        if (!part.matches('.scroll')) title = part.textContent ?? '';
        else for (const [name, value] of [['tabindex', '0'], ['role', 'region'], ['aria-label', title]] as const) part.setAttribute(name, value);
    }
}
