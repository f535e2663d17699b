// Source beside what it compiles to. A line that is pointed at or has the focus lights up what belongs to it.
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
        !isComparison && element('p', { class: 'quiet' }, state.listings[0]!.facts),
        element(
            'div',
            { class: `columns ${isComparison ? 'three' : 'two'}` },
            source(state.listings.at(-1)!, ask),
            ...state.listings.map((listing) => code(listing, isComparison ? listing.facts : '')),
        ),
    );
    link(document.querySelector('.columns')!);
}

function source(listing: Listing, ask: (request: Request) => void): HTMLElement {
    const compiled = new Set(listing.instructions.map(({ line }) => line));
    return column(
        'Source',
        '',
        ...listing.source.map(({ line, text }) => {
            const row = element('li', { attributes: { 'data-line': `${line}` } }, element('span', { class: 'number' }, `${line + 1}`), text || ' ');
            if (compiled.has(line)) {
                row.tabIndex = 0;
                row.addEventListener('keydown', ({ key }) => key === 'Enter' && ask({ ask: 'reveal', line }));
                row.addEventListener('dblclick', () => ask({ ask: 'reveal', line }));
            }
            return row;
        }),
    );
}

/** `facts` where they are not those of the whole page. */
function code(listing: Listing, facts: string): HTMLElement {
    return column(
        listing.label,
        facts,
        ...listing.instructions.map(({ text, line, change }) =>
            element('li', { class: change, attributes: line === undefined ? {} : { 'data-line': `${line}` } }, text || ' '),
        ),
    );
}

function column(title: string, facts: string, ...rows: readonly HTMLElement[]): HTMLElement {
    return element(
        'section',
        {},
        element('h2', {}, title),
        element('p', { class: 'quiet facts' }, facts),
        element('ol', { class: 'code', attributes: { tabindex: '0', 'aria-label': title } }, ...rows),
    );
}

/** One listener for all rows: there may be thousands. */
function link(columns: Element): void {
    const light = ({ target }: Event) => {
        const line = (target as Element).closest('[data-line]')?.getAttribute('data-line');
        if (line == null) return;
        for (const row of columns.querySelectorAll('.lit')) row.classList.remove('lit');
        const chosen = (target as Element).closest('ol');
        for (const row of columns.querySelectorAll(`[data-line="${line}"]`)) row.classList.add('lit');
        for (const list of columns.querySelectorAll('ol')) {
            const first = list.querySelector('.lit');
            if (list !== chosen && first && !isInView(first, list)) first.scrollIntoView({ block: 'center', inline: 'nearest' });
        }
    };
    columns.addEventListener('mouseover', light);
    columns.addEventListener('focusin', light);
}

function isInView(row: Element, list: Element): boolean {
    const [inner, outer] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
}
