// Answers the server's kernelskill/languageModel with a model of the editor. Knows nothing of VS Code, so that it can
// be tested without one; the shapes are those of docs/language-models.md.

export interface Message {
    readonly role: 'user' | 'assistant';
    readonly text: string;
}

export interface Prompt {
    readonly system: string;
    readonly messages: readonly Message[];
    readonly maxOutputTokens: number;
}

export interface Answer {
    readonly text: string;
    readonly model: string;
    readonly end?: 'length' | 'refused';
    readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
}

/** An error code of the server's request; the server reads the message. */
export class Refusal extends Error {}

export interface Model {
    readonly id: string;
    readonly family: string;
    readonly name: string;
    countTokens(text: string): Thenable<number>;
    /** The reply in pieces. Throws Blocked where the model will not answer this prompt. */
    ask(messages: readonly Message[], stop: AbortSignal): AsyncIterable<string>;
}

/** The model declines to answer this prompt. */
export class Blocked extends Error {}

export interface Surroundings {
    readonly isTrusted: boolean;
    /** The settings kernelskill.model.enabled, provider and name. */
    readonly isEnabled: boolean;
    readonly provider: string;
    readonly modelName: string;
    models(): Thenable<readonly Model[]>;
    /** Whether the user agrees that kernels of this workspace are sent to the model. */
    consents(model: Model): Thenable<boolean>;
}

/** The one that is asked for by id, family or name; the first where none is. */
export function choose(models: readonly Model[], name: string): Model {
    if (models.length === 0)
        throw new Refusal('this editor has no language model; install an extension that offers one');
    if (name === '') return models[0]!;
    const found = models.find((model) => [model.id, model.family, model.name].includes(name));
    if (!found) {
        const known = models.map((model) => model.id).join(', ');
        throw new Refusal(`this editor has no language model '${name}' (kernelskill.model.name); it has ${known}`);
    }
    return found;
}

/** Throws a Refusal where there is no model to ask or the user has not agreed. */
export async function answer(prompt: Prompt, around: Surroundings, stop: AbortSignal): Promise<Answer> {
    if (!around.isTrusted) throw new Refusal('the workspace is not trusted');
    if (!around.isEnabled || around.provider !== 'editor')
        throw new Refusal('the editor’s model is not turned on (kernelskill.model.enabled, kernelskill.model.provider)');
    const model = choose(await around.models(), around.modelName);
    if (!(await around.consents(model))) throw new Refusal(`the user has not agreed that ${model.name} is asked`);
    // The editor's models know no system message: it goes first.
    const messages: Message[] = [{ role: 'user', text: prompt.system }, ...prompt.messages];
    const enough = new AbortController();
    const either = AbortSignal.any([stop, enough.signal]);
    let text = '';
    let end: Answer['end'];
    let counted = 0;
    try {
        for await (const piece of model.ask(messages, either)) {
            text += piece;
            // A token is at least a character, so a shorter text needs no count.
            if (text.length <= prompt.maxOutputTokens || text.length < counted + 1024) continue;
            counted = text.length;
            if ((await model.countTokens(text)) > prompt.maxOutputTokens) {
                end = 'length';
                break;
            }
        }
    } catch (error) {
        if (!(error instanceof Blocked)) throw error;
        end = 'refused';
    } finally {
        enough.abort();
    }
    if (stop.aborted) throw new Refusal('cancelled');
    const inputs = await Promise.all(messages.map((message) => model.countTokens(message.text)));
    return {
        text,
        model: model.id,
        ...(end && { end }),
        usage: {
            inputTokens: inputs.reduce((sum, count) => sum + count, 0),
            outputTokens: await model.countTokens(text),
        },
    };
}
