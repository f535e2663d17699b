// Builds elements. Texts go in as text: nothing that a user or a server wrote is ever read as markup.

export type Child = Node | string | false | undefined;
export interface Properties {
    readonly class?: string;
    readonly onclick?: () => void;
    readonly attributes?: { readonly [name: string]: string };
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    properties: Properties,
    ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
    const made = document.createElement(tag);
    if (properties.class) made.className = properties.class;
    if (properties.onclick) made.addEventListener('click', properties.onclick);
    for (const [name, value] of Object.entries(properties.attributes ?? {})) made.setAttribute(name, value);
    made.append(...children.filter((child): child is Node | string => child !== false && child !== undefined));
    return made;
}

/** A button that keeps the focus when the page is drawn anew; `key` tells it from the others. */
export function button(key: string, text: string, onclick: () => void, label = text): HTMLButtonElement {
    return element('button', { onclick, attributes: { type: 'button', 'data-key': key, 'aria-label': label } }, text);
}

/** A unified diff, line by line. */
export function diffBlock(diff: string): HTMLElement {
    const kinds: readonly [string, string][] = [['+++', 'heading'], ['---', 'heading'], ['+', 'added'], ['-', 'removed'], ['@@', 'place']];
    const lines = diff.replace(/\n$/, '').split('\n').map((line) => {
        const kind = kinds.find(([start]) => line.startsWith(start))?.[1] ?? 'same';
        return element('span', { class: kind }, line === '' ? ' ' : line);
    });
    return element('pre', { class: 'diff', attributes: { tabindex: '0', 'aria-label': 'The edit as a diff' } }, ...lines);
}

/**
 * Draws into the page's main element; what had the focus, and what was unfolded, stays so. What reads as before stays the same
 * element: a click that has begun on a button would be lost with it.
 */
export function draw(...children: readonly Child[]): void {
    const main = document.querySelector('main')!;
    const focused = document.activeElement?.getAttribute('data-key');
    const open = [...main.querySelectorAll('details[open]')].map((fold) => fold.getAttribute('data-key'));
    const drawn = element('main', {}, ...children);
    for (const fold of drawn.querySelectorAll('details')) {
        if (open.includes(fold.getAttribute('data-key'))) fold.open = true;
    }
    const [before, after] = [[...main.childNodes], [...drawn.childNodes]];
    before.forEach((node, at) => {
        const other = after[at];
        if (!other) node.remove();
        else if (!node.isEqualNode(other)) node.replaceWith(other);
    });
    main.append(...after.slice(before.length));
    if (focused && document.activeElement?.getAttribute('data-key') !== focused) {
        main.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }
}
