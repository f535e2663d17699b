// Decides what to do when the server's process ends by itself. Knows nothing of VS Code, so that it can be tested without one.

export type Answer =
    | { readonly kind: 'restart'; readonly delay: number; readonly tellsUser: boolean }
    | { readonly kind: 'giveUp' };

/** A series of crashes ends when the server has lived for so long; milliseconds. */
const calmAfter = 180_000;
const firstDelay = 500;
const maxRestarts = 5;

/** Each restart of a series waits twice as long as the one before; the user hears of its first, and of its end. */
export class CrashPolicy {
    private restarts = 0;
    private last = -Infinity;

    /** `now` in milliseconds of any clock that only goes forward. */
    crashed(now: number): Answer {
        if (now - this.last > calmAfter) this.restarts = 0;
        this.last = now;
        if (this.restarts === maxRestarts) return { kind: 'giveUp' };
        return { kind: 'restart', delay: firstDelay * 2 ** this.restarts, tellsUser: this.restarts++ === 0 };
    }
}
