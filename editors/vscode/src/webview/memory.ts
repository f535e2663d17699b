// The memory view: what was tried on a file, what became of it, and a way to try it again.
import { attemptCard } from './attempt';
import { button, draw, element } from './dom';
import type { MemoryState, Request } from './state';

export function drawMemory(state: MemoryState, ask: (request: Request) => void): void {
    const kernels = [...new Set(state.attempts.map(({ kernel }) => kernel))];
    draw(
        element('h1', {}, 'What was tried'),
        element('p', { class: 'quiet' }, state.file),
        ...state.problems.map((problem) => element('p', { class: 'bad' }, problem)),
        state.attempts.length === 0 &&
            element('p', {}, 'Nothing was tried on this file yet. Apply a skill, or optimize a kernel.'),
        ...kernels.map((kernel) =>
            element(
                'section',
                {},
                element('h2', {}, kernel),
                ...state.attempts
                    .filter((attempt) => attempt.kernel === kernel)
                    .map((attempt) =>
                        attemptCard(
                            attempt,
                            ...(state.kernels.includes(kernel)
                                ? [
                                      button(`show ${attempt.id}`, 'Show the edit', () => ask({ ask: 'showEdit', id: attempt.id }), `Show the edit of ${attempt.skill}`),
                                      button(`try ${attempt.id}`, 'Try anyway', () => ask({ ask: 'tryAnyway', id: attempt.id }), `Try anyway: ${attempt.skill}`),
                                  ]
                                : [element('span', { class: 'quiet' }, 'The file has no such kernel now.')]),
                        ),
                    ),
            ),
        ),
    );
}
