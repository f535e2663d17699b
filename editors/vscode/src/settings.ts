// From VS Code's settings to what the server is told. Knows nothing of VS Code, so that it can be tested without one.

export type Section = { readonly [name: string]: unknown };

/** Areas that are the client's own business and are not sent. */
const clientAreas = new Set(['server', 'trace']);

/**
 * The server's settings out of the section `kernelskill`. In a workspace that is not trusted nothing may be compiled
 * or run, whatever the settings say.
 */
export function serverSettings(section: Section, isTrusted: boolean): Section {
    const settings: Record<string, unknown> = {};
    for (const [area, items] of Object.entries(section)) {
        if (!clientAreas.has(area)) settings[area] = items;
    }
    if (!isTrusted) {
        const execution = settings['execution'];
        settings['execution'] = { ...(isSection(execution) ? execution : {}), enabled: false };
    }
    return settings;
}

function isSection(value: unknown): value is Section {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
