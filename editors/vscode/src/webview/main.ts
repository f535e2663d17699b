// Runs in every view of ours: asks for the state, draws it, and passes on what the user wants.
import { drawAssembly, lightLine } from './assembly';
import { drawMemory } from './memory';
import { letScroll, letSort, linkLines } from './page';
import { drawProgram } from './program';
import { drawRun } from './run';
import type { Light, Request, State } from './state';

declare function acquireVsCodeApi(): { postMessage(message: Request): void };

const editor = acquireVsCodeApi();
const ask = (request: Request) => editor.postMessage(request);

if (document.body.dataset['view'] === 'page') {
    linkLines(ask);
    letScroll();
    letSort();
} else {
    window.addEventListener('message', ({ data }: MessageEvent<State | Light>) => {
        if ('light' in data) lightLine(data.light);
        else if (data.view === 'memory') drawMemory(data, ask);
        else if (data.view === 'run') drawRun(data, ask);
        else if (data.view === 'assembly') drawAssembly(data, ask);
        else if (data.view === 'program') drawProgram(data, ask);
    });
    ask({ ask: 'state' });
}
