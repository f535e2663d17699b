// One thing that was tried, as a card.
import type { Attempt } from '../views/attempts';
import { type Child, element } from './dom';

export function attemptCard(attempt: Attempt, ...actions: readonly Child[]): HTMLElement {
    const { diagnosis } = attempt;
    const time = attempt.time.replace('T', ' ').replace(/\.\d+Z$/, ' UTC');
    const facts = [
        attempt.speedup !== undefined && `${attempt.speedup.toFixed(2)} times as fast`,
        attempt.kept !== undefined && (attempt.kept ? 'kept' : 'dropped'),
        attempt.architecture,
    ].filter((fact): fact is string => typeof fact === 'string');
    return element(
        'article',
        {},
        element(
            'h3',
            {},
            element('code', {}, attempt.skill),
            ' ',
            element('span', { class: `status ${toneOf(attempt.status, attempt.kept)}` }, attempt.status || 'no verdict yet'),
            facts.length > 0 && element('span', { class: 'quiet' }, ` ${facts.join(' · ')}`),
        ),
        attempt.edit !== '' && element('p', {}, attempt.edit),
        attempt.plan !== '' && element('p', { class: 'quiet' }, `Why: ${attempt.plan}`),
        attempt.detail !== '' && element('p', {}, attempt.detail),
        diagnosis &&
            element(
                'ul',
                {},
                element('li', {}, `${diagnosis.cause}: ${diagnosis.text}`),
                ...diagnosis.evidence.map((text) => element('li', {}, text)),
                diagnosis.invariant !== '' && element('li', {}, `What has to hold: ${diagnosis.invariant}`),
                diagnosis.repair !== '' && element('li', {}, `What would help: ${diagnosis.repair}`),
            ),
        element('p', { class: 'actions' }, ...actions, element('time', { class: 'quiet' }, time)),
    );
}

export function toneOf(status: string, kept?: boolean): string {
    if (status === 'incorrect' || status === 'invalid' || status === 'slower' || status === 'failure') return 'bad';
    return status === 'faster' || kept ? 'good' : 'plain';
}
