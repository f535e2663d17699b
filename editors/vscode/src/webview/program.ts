// The profile of a program: its kernels by their share of the GPU's time, each with a way to its line.
import { button, draw, element } from './dom';
import type { ProgramState, Request } from './state';

export function drawProgram(state: ProgramState, ask: (request: Request) => void): void {
    const [titles = [], ...rows] = ordered(state.table);
    draw(
        element('h1', {}, state.name),
        element('p', { class: 'quiet' }, state.command),
        state.status !== 0 && element('p', { class: 'bad' }, `The program ended with status ${state.status}.`),
        state.dropped > 0 && element('p', { class: 'bad' }, `CUPTI dropped ${state.dropped} records: times are too low.`),
        element(
            'div',
            { class: 'scroll', attributes: { tabindex: '0', role: 'region', 'aria-label': 'Kernels by their time' } },
            element(
                'table',
                { class: 'kernels' },
                element('thead', {}, element('tr', {}, ...titles.map((title) => element('th', { attributes: { scope: 'col' } }, title)))),
                element('tbody', {}, ...rows.map((cells, at) => rowOf(cells, at, state.isPlaced[at] === true, ask))),
            ),
        ),
        ...state.devices.map((text) => element('p', { class: 'quiet' }, text)),
        ...state.problems.map((problem) => element('p', { class: 'bad' }, problem)),
        state.changes.length > 0 &&
            element(
                'section',
                {},
                element('h2', {}, 'Since the last profile'),
                element('ul', {}, ...state.changes.map(({ status, text }) => element('li', {}, element('span', { class: classOf(status) }, status), text))),
            ),
        element('div', { class: 'actions' }, button('again', 'Profile again', () => ask({ ask: 'profileAgain' }))),
    );
}

/** The kernel, which the server puts last, comes first, where a narrow view shows it; columns without any text are left out. */
function ordered(table: ProgramState['table']): string[][] {
    return table
        .map((cells) => [...cells.slice(-1), ...cells.slice(0, -1)])
        .map((cells, _, all) => cells.filter((__, column) => all.slice(1).some((row) => row[column] !== '')));
}

/** The first cell names the kernel and its place. */
function rowOf([name = '', ...others]: readonly string[], at: number, isPlaced: boolean, ask: (request: Request) => void): HTMLElement {
    return element(
        'tr',
        {},
        element('td', { class: 'code' }, isPlaced ? linkTo(name, () => ask({ ask: 'kernel', index: at })) : name),
        ...others.map((text) => element('td', {}, text)),
    );
}

function linkTo(text: string, open: () => void): HTMLElement {
    const link = element('a', { attributes: { href: '#', 'data-key': text } }, text);
    link.addEventListener('click', (event) => {
        event.preventDefault();
        open();
    });
    return link;
}

function classOf(status: string): string {
    return `status ${status === 'faster' ? 'good' : status === 'slower' ? 'bad' : ''}`;
}
