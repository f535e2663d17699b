/** Milliseconds. A run on the emulator takes seconds; a busy machine several times that. */
export const patience = Number(process.env['KERNELSKILL_TEST_PATIENCE'] ?? 120) * 1000;

/** Waits until `look` gives something true, and gives that. */
export async function expectSoon<T>(what: string, look: () => T | Promise<T>, timeout = patience): Promise<NonNullable<T>> {
    const deadline = Date.now() + timeout;
    for (;;) {
        const seen = await look();
        if (seen) return seen as NonNullable<T>;
        if (Date.now() > deadline) throw new Error(`not within ${timeout / 1000} s: ${what}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
}
