// What a kernel compiles to, beside the editor that has its source. An instruction that is pointed at or has the focus lights up
// its line there, with the other instructions of that line; and the other way round.
import { button, draw, element } from './dom';
import type { AssemblyState, Listing, Request } from './state';

export function drawAssembly(state: AssemblyState, ask: (request: Request) => void): void {
    const isComparison = state.listings.length > 1;
    draw(
        element('h1', {}, state.kernel),
        element(
            'p',
            { class: 'actions' },
            isComparison
                ? button('compare', 'Show this version alone', () => ask({ ask: 'compare', against: 'none' }))
                : button('compare', 'Compare with the saved file', () => ask({ ask: 'compare', against: 'saved' })),
        ),
        ...state.notes.map((note) => element('p', { class: 'quiet' }, note)),
        element(
            'div',
            { class: `columns ${isComparison ? 'two' : 'one'}` },
            ...state.listings.map((listing) => code(listing, ask)),
        ),
    );
    link(document.querySelector('.columns')!, ask);
}

/** Highlights all instructions of the line, and scrolls to the first one. */
export function lightLine(line: number): void {
    const columns = document.querySelector('.columns');
    if (!columns) return;
    lightRows(columns, line);
    for (const list of columns.querySelectorAll('ol')) show(list);
}

function code(listing: Listing, ask: (request: Request) => void): HTMLElement {
    const rows = listing.instructions.map(({ text, line, change }) => {
        const row = element('li', { class: change, attributes: line === undefined ? {} : { 'data-line': `${line}` } }, text || ' ');
        if (line !== undefined) {
            row.tabIndex = -1;
            row.addEventListener('dblclick', () => ask({ ask: 'reveal', line }));
        }
        return row;
    });
    const list = element('ol', { class: 'code', attributes: { tabindex: '0', 'aria-label': listing.label } }, ...rows);
    list.addEventListener('keydown', (event) => move(event, list, ask));
    return element(
        'section',
        {},
        element('h2', {}, listing.label),
        element('p', { class: 'quiet facts' }, listing.facts),
        list,
    );
}

/** The arrow keys go from one instruction with a line to the next; Enter goes to the line. */
function move(event: KeyboardEvent, list: HTMLElement, ask: (request: Request) => void): void {
    const rows = [...list.querySelectorAll<HTMLElement>('li[data-line]')];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'Enter' && at >= 0) return ask({ ask: 'reveal', line: Number(rows[at]!.dataset['line']) });
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    rows[event.key === 'ArrowDown' ? Math.min(at + 1, rows.length - 1) : Math.max(at - 1, 0)]?.focus();
}

/** One listener for all rows: there may be thousands. */
function link(columns: Element, ask: (request: Request) => void): void {
    let last: string | undefined;
    const light = ({ target }: Event) => {
        const line = (target as Element).closest('[data-line]')?.getAttribute('data-line');
        if (line == null || line === last) return;
        last = line;
        lightRows(columns, Number(line));
        ask({ ask: 'light', line: Number(line) });
        const chosen = (target as Element).closest('ol');
        for (const list of columns.querySelectorAll('ol')) if (list !== chosen) show(list);
    };
    columns.addEventListener('mouseover', light);
    columns.addEventListener('focusin', light);
    columns.addEventListener('mouseleave', () => (last = undefined));
}

function lightRows(columns: Element, line: number): void {
    for (const row of columns.querySelectorAll('.lit')) row.classList.remove('lit');
    for (const row of columns.querySelectorAll(`[data-line="${line}"]`)) row.classList.add('lit');
}

function show(list: Element): void {
    const first = list.querySelector('.lit');
    if (first && !isInView(first, list)) first.scrollIntoView({ block: 'center', inline: 'nearest' });
}

function isInView(row: Element, list: Element): boolean {
    const [inner, outer] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
}
