// Draws few of many offered actions, so that a bench of them says something of every skill.
import { createHash } from 'node:crypto';

/**
 * Returns `count` of the actions, of each skill the same number as far as it has so many, and twice that number of the skills in
 * `favoured`. What is drawn follows from the seed and from each action's file and offer alone: where another action comes or
 * goes, all but one of those drawn of its skill stay.
 */
export function sampleOfActions(actions, count, seed, favoured = []) {
    const rank = ({ file, offer }) => createHash('sha256').update(`${seed}\n${file}\n${offer}`).digest('hex');
    const bySkill = new Map();
    for (const action of actions) {
        if (!bySkill.has(action.skill)) bySkill.set(action.skill, []);
        bySkill.get(action.skill).push({ action, rank: rank(action) });
    }
    for (const ranked of bySkill.values()) ranked.sort((a, b) => (a.rank < b.rank ? -1 : Number(a.rank > b.rank)));
    const skills = [...bySkill.keys()].sort();
    const turns = [...skills, ...skills.filter((skill) => favoured.includes(skill))];
    const drawn = [];
    while (drawn.length < count && drawn.length < actions.length) {
        for (const skill of turns) {
            const next = bySkill.get(skill).shift();
            if (next !== undefined && drawn.length < count) drawn.push(next.action);
        }
    }
    return drawn;
}

/**
 * Estimates the share of all offered actions that are correct from a sample whose skills were not drawn by their numbers:
 * each skill's own share counts by how many of its actions were offered.
 */
export function weighedShare(taken, offered) {
    let correct = 0;
    let all = 0;
    for (const [skill, number] of Object.entries(offered)) {
        const ofSkill = taken.filter((action) => action.skill === skill);
        if (ofSkill.length === 0) continue;
        correct += (number * ofSkill.filter((action) => action.correct).length) / ofSkill.length;
        all += number;
    }
    return all === 0 ? undefined : correct / all;
}
