// The editor's language models, behind the server's request kernelskill/languageModel.
import * as vscode from 'vscode';
import {
    type ClientCapabilities,
    type FeatureState,
    type LanguageClient,
    LSPErrorCodes,
    ResponseError,
    type StaticFeature,
} from 'vscode-languageclient/node';

import { answer, Blocked, Refusal, type Message, type Model, type Prompt, type Surroundings } from './languageModel';

const consentKey = 'kernelskill.languageModel.consent';

/** Announces the request to the server and answers it. */
export class EditorModel implements StaticFeature {
    constructor(
        private readonly client: LanguageClient,
        private readonly memory: vscode.Memento,
    ) {}

    fillClientCapabilities(capabilities: ClientCapabilities): void {
        const experimental = (capabilities.experimental ?? {}) as { kernelskill?: object };
        capabilities.experimental = {
            ...experimental,
            kernelskill: { ...experimental.kernelskill, languageModel: true },
        };
    }

    initialize(): void {
        this.client.onRequest('kernelskill/languageModel', async (prompt: Prompt, token: vscode.CancellationToken) => {
            const stop = new AbortController();
            const subscription = token.onCancellationRequested(() => stop.abort());
            try {
                return await answer(prompt, this.surroundings(), stop.signal);
            } catch (error) {
                if (error instanceof Refusal) return new ResponseError(LSPErrorCodes.RequestFailed, error.message);
                throw error;
            } finally {
                subscription.dispose();
            }
        });
    }

    getState(): FeatureState {
        return { kind: 'static' };
    }

    clear(): void {}

    private surroundings(): Surroundings {
        const settings = vscode.workspace.getConfiguration('kernelskill.model');
        return {
            isTrusted: vscode.workspace.isTrusted,
            isEnabled: settings.get('enabled', false),
            provider: settings.get('provider', ''),
            modelName: settings.get('name', ''),
            models: async () => (await vscode.lm.selectChatModels()).map(modelOf),
            consents: (model) => this.consents(model),
        };
    }

    /** Asked once for a workspace and a model; what is refused is asked again the next time. */
    private async consents(model: Model): Promise<boolean> {
        const agreed = this.memory.get<readonly string[]>(consentKey, []);
        if (agreed.includes(model.id)) return true;
        const allow = 'Allow in This Workspace';
        const choice = await vscode.window.showInformationMessage(
            `May KernelSkill ask ${model.name} for faster versions of kernels of this workspace?`,
            {
                modal: true,
                detail:
                    'The source of the kernel that is optimised, the device functions it calls and what was measured ' +
                    'are sent to the model. What it proposes is compiled and checked like any other edit.',
            },
            allow,
        );
        if (choice !== allow) return false;
        await this.memory.update(consentKey, [...agreed, model.id]);
        return true;
    }
}

function modelOf(chat: vscode.LanguageModelChat): Model {
    return {
        id: chat.id,
        family: chat.family,
        name: chat.name,
        countTokens: (text) => chat.countTokens(text),
        ask: (messages, stop) => ask(chat, messages, stop),
    };
}

async function* ask(chat: vscode.LanguageModelChat, messages: readonly Message[], stop: AbortSignal) {
    const source = new vscode.CancellationTokenSource();
    const cancel = () => source.cancel();
    stop.addEventListener('abort', cancel);
    if (stop.aborted) cancel();
    try {
        const response = await chat.sendRequest(messages.map(chatMessage), {}, source.token);
        yield* response.text;
    } catch (error) {
        if (!(error instanceof vscode.LanguageModelError)) throw error;
        if (error.code === vscode.LanguageModelError.Blocked.name) throw new Blocked(error.message);
        throw new Refusal(`${chat.name}: ${error.message}`);
    } finally {
        stop.removeEventListener('abort', cancel);
        source.dispose();
    }
}

function chatMessage({ role, text }: Message): vscode.LanguageModelChatMessage {
    return role === 'user'
        ? vscode.LanguageModelChatMessage.User(text)
        : vscode.LanguageModelChatMessage.Assistant(text);
}
