// The view of an optimisation: its rounds as they happen, and every candidate to choose from at the end.
import { attemptCard, toneOf } from './attempt';
import { button, diffBlock, draw, element } from './dom';
import type { Candidate, Request, RunState } from './state';

export function drawRun(state: RunState, ask: (request: Request) => void): void {
    const isRunning = state.phase === 'running';
    const progress = element('progress', { attributes: { max: '100', 'aria-label': 'Progress of the optimisation' } });
    if (state.percent !== undefined) progress.value = state.percent;
    draw(
        element('h1', {}, `Optimize ${state.kernel}`),
        element('p', { class: 'quiet' }, state.file),
        isRunning && progress,
        element('p', { attributes: { role: 'status' } }, state.message),
        element(
            'p',
            { class: 'actions' },
            isRunning && button('cancel', 'Cancel', () => ask({ ask: 'cancel' })),
            state.hasReport && button('report', 'Report with roofline', () => ask({ ask: 'report' })),
        ),
        ...(state.candidates.length === 0 ? state.attempts.map((attempt) => attemptCard(attempt)) : []),
        ...[...new Set(state.candidates.map(({ round }) => round))].map((round) =>
            element(
                'section',
                {},
                element('h2', {}, `Round ${round}`),
                ...state.candidates.filter((each) => each.round === round).map((each) => card(each, ask)),
            ),
        ),
    );
}

function card(candidate: Candidate, ask: (request: Request) => void): HTMLElement {
    const key = `${candidate.number}`;
    return element(
        'article',
        { class: candidate.isBest ? 'best' : '' },
        element(
            'h3',
            {},
            `${candidate.number}. `,
            element('code', {}, candidate.skill),
            ' ',
            element('span', { class: `status ${toneOf(candidate.status, candidate.kept)}` }, candidate.status || 'not reviewed'),
            candidate.isBest && element('span', { class: 'status good' }, 'best'),
        ),
        element('p', {}, candidate.title),
        element('p', { class: 'quiet' }, candidate.decision),
        candidate.diff !== '' &&
            element('details', { attributes: { 'data-key': `diff ${key}` } }, element('summary', {}, 'The edit'), diffBlock(candidate.diff)),
        element(
            'p',
            { class: 'actions' },
            candidate.obstacle === ''
                ? button(`take ${key}`, 'Take this one', () => ask({ ask: 'take', number: candidate.number }), `Take this one: ${key}, ${candidate.skill}`)
                : element('span', { class: 'quiet' }, candidate.obstacle),
        ),
    );
}
