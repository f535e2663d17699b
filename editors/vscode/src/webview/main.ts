// Runs in every view of ours: asks for the state, draws it, and passes on what the user wants.
import { drawAssembly } from './assembly';
import { drawMemory } from './memory';
import { letScroll, linkLines } from './page';
import { drawRun } from './run';
import type { Request, State } from './state';

declare function acquireVsCodeApi(): { postMessage(message: Request): void };

const editor = acquireVsCodeApi();
const ask = (request: Request) => editor.postMessage(request);

if (document.body.dataset['view'] === 'page') {
    linkLines(ask);
    letScroll();
} else {
    window.addEventListener('message', ({ data }: MessageEvent<State>) => {
        if (data.view === 'memory') drawMemory(data, ask);
        else if (data.view === 'run') drawRun(data, ask);
        else if (data.view === 'assembly') drawAssembly(data, ask);
    });
    ask({ ask: 'state' });
}
