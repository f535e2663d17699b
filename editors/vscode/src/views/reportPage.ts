// The server's report pages as pages of a webview. Knows nothing of VS Code, so that it can be tested without one.

export interface Dressing {
    readonly nonce: string;
    /** In the editor's colours; ours. */
    readonly style: string;
    /** Address of the script. */
    readonly script: string;
}

const policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/;

/**
 * The page with the editor's colours and our script. Its own policy allows no script at all; in its place comes one that
 * allows ours and still nothing that the page could hold or load.
 */
export function dressed(html: string, { nonce, style, script }: Dressing): string {
    if (!policy.test(html) || !html.includes('<body>')) throw new Error('the server’s report is no page that is known here');
    // The bars of a report are as wide as their style attributes say.
    const content = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
    return html
        .replace(policy, () => `<meta http-equiv="Content-Security-Policy" content="${content}">`)
        .replace('</head>', () => `<style>${style}</style></head>`)
        .replace('<body>', () => '<body data-view="page">')
        .replace('</body>', () => `<script nonce="${nonce}" src="${script}"></script></body>`);
}
