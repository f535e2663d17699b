// Tests of action_sample.mjs: node --test tests/bench/action_sample_test.mjs
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sampleOfActions, weighedShare } from './action_sample.mjs';

const actionsOf = (skill, number) =>
    [...Array(number).keys()].map((index) => ({ skill, file: `f${index % 3}.cu`, offer: `${skill} ${index}` }));
const actions = [...actionsOf('common', 100), ...actionsOf('rare', 3), ...actionsOf('usual', 40)];
const numbersOf = (drawn) =>
    Object.fromEntries(['common', 'rare', 'usual'].map((id) => [id, drawn.filter(({ skill }) => skill === id).length]));

test('each skill gives the same number, and a rare one all it has', () => {
    assert.deepEqual(numbersOf(sampleOfActions(actions, 23, 1)), { common: 10, rare: 3, usual: 10 });
});

test('a favoured skill gives twice as many', () => {
    assert.deepEqual(numbersOf(sampleOfActions(actions, 33, 1, ['usual'])), { common: 10, rare: 3, usual: 20 });
});

test('no action is drawn twice, and never more than there are', () => {
    const drawn = sampleOfActions(actions, 1000, 1, ['rare']);
    assert.equal(drawn.length, actions.length);
    assert.equal(new Set(drawn).size, actions.length);
});

test('the seed alone decides, whatever the order', () => {
    const offers = (drawn) => drawn.map(({ offer }) => offer);
    const drawn = offers(sampleOfActions(actions, 23, 1));
    assert.deepEqual(offers(sampleOfActions([...actions].reverse(), 23, 1)), drawn);
    assert.notDeepEqual(offers(sampleOfActions(actions, 23, 2)), drawn);
});

test('a further action replaces one at most', () => {
    const before = new Set(sampleOfActions(actions, 23, 1));
    const after = sampleOfActions([...actions, ...actionsOf('usual', 41).slice(40)], 23, 1);
    assert.ok(after.filter((action) => !before.has(action)).length <= 1);
});

test('a skill counts by how many of its actions were offered', () => {
    const taken = [
        { skill: 'common', correct: true },
        { skill: 'rare', correct: false },
        { skill: 'rare', correct: true },
    ];
    assert.equal(weighedShare(taken, { common: 90, rare: 10, untried: 50 }), 0.95);
    assert.equal(weighedShare([], { untried: 50 }), undefined);
});
