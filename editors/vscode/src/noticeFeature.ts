// Tells the server what this editor can show beyond the protocol.
import type { ClientCapabilities, FeatureState, StaticFeature } from 'vscode-languageclient/node';

export class NoticeFeature implements StaticFeature {
    /** Messages with buttons do not keep the user from working, hovers draw <details>, and profiles of programs have a view. */
    fillClientCapabilities(capabilities: ClientCapabilities): void {
        const experimental = (capabilities.experimental ?? {}) as { kernelskill?: object };
        capabilities.experimental = {
            ...experimental,
            kernelskill: { ...experimental.kernelskill, noticeActions: true, foldedHover: true, programProfiles: true },
        };
    }

    initialize(): void {}

    getState(): FeatureState {
        return { kind: 'static' };
    }

    clear(): void {}
}
