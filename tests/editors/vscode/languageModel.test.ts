import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
    answer,
    Blocked,
    choose,
    Refusal,
    type Message,
    type Model,
    type Prompt,
    type Surroundings,
} from '../../../editors/vscode/src/languageModel';

const prompt: Prompt = { system: 'be brief', messages: [{ role: 'user', text: 'how so?' }], maxOutputTokens: 100 };
const never = new AbortController().signal;

/** A model that says the pieces; a token is a character of it. */
function model(pieces: readonly string[], changes: Partial<Model> = {}): Model & { readonly asked: Message[] } {
    const asked: Message[] = [];
    return {
        id: 'm-1',
        family: 'm',
        name: 'Model One',
        asked,
        countTokens: async (text) => text.length,
        ask: async function* (messages) {
            asked.push(...messages);
            yield* pieces;
        },
        ...changes,
    };
}

function surroundings(models: readonly Model[], changes: Partial<Surroundings> = {}): Surroundings {
    return {
        isTrusted: true,
        isEnabled: true,
        provider: 'editor',
        modelName: '',
        models: async () => models,
        consents: async () => true,
        ...changes,
    };
}

test('the model’s pieces become one reply, and its tokens are counted', async () => {
    const one = model(['so', ' it is']);
    assert.deepEqual(await answer(prompt, surroundings([one]), never), {
        text: 'so it is',
        model: 'm-1',
        usage: { inputTokens: 'be brief'.length + 'how so?'.length, outputTokens: 8 },
    });
    assert.deepEqual(one.asked, [{ role: 'user', text: 'be brief' }, ...prompt.messages]);
});

test('no model is asked where the workspace, a setting or the user says no', async () => {
    const refusals: [Partial<Surroundings>, RegExp][] = [
        [{ isTrusted: false }, /not trusted/],
        [{ isEnabled: false }, /not turned on/],
        [{ provider: 'anthropic' }, /not turned on/],
        [{ consents: async () => false }, /has not agreed that Model One is asked/],
    ];
    for (const [changes, message] of refusals) {
        const one = model(['x']);
        await assert.rejects(answer(prompt, surroundings([one], changes), never), (error: Error) => {
            assert.ok(error instanceof Refusal);
            assert.match(error.message, message);
            return true;
        });
        assert.deepEqual(one.asked, []);
    }
});

test('no model, and none of the wanted name, is an error that says so', async () => {
    await assert.rejects(answer(prompt, surroundings([]), never), /no language model; install an extension/);
    assert.throws(() => choose([model([])], 'other'), /no language model 'other'.*it has m-1/);
});

test('a model is chosen by id, family or name, else it is the first', () => {
    const other = model([], { id: 'n-1', family: 'n', name: 'Other' });
    for (const name of ['n-1', 'n', 'Other']) assert.equal(choose([model([]), other], name), other);
    assert.equal(choose([model([]), other], '').id, 'm-1');
});

test('a reply longer than it may be is cut, and the model is told to stop', async () => {
    let told = false;
    const endless = model([], {
        ask: async function* (_, stop) {
            stop.addEventListener('abort', () => (told = true));
            for (;;) yield 'x'.repeat(600);
        },
    });
    const reply = await answer(prompt, surroundings([endless]), never);
    assert.equal(reply.end, 'length');
    assert.ok(reply.text.length < 3000);
    assert.ok(told);
});

test('a model that declines the prompt gives a refused reply', async () => {
    const shy = model([], {
        ask: async function* () {
            throw new Blocked('no');
        },
    });
    const reply = await answer(prompt, surroundings([shy]), never);
    assert.equal(reply.end, 'refused');
    assert.equal(reply.text, '');
});

test('what else goes wrong is passed on', async () => {
    const broken = model([], {
        ask: async function* () {
            throw new Refusal('Model One: out of quota');
        },
    });
    await assert.rejects(answer(prompt, surroundings([broken]), never), /out of quota/);
});

test('a cancelled request has no reply', async () => {
    const stop = new AbortController();
    const one = model([], {
        ask: async function* () {
            yield 'part';
            stop.abort();
        },
    });
    await assert.rejects(answer(prompt, surroundings([one]), stop.signal), /cancelled/);
});
