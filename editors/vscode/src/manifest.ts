/** The commands of package.json, less `kernelskill.client.`; a test compares them. */
export const commandNames = [
    'profileKernel',
    'profileOnGpu',
    'showReport',
    'applySkill',
    'optimizeKernel',
    'repair',
    'generateModel',
    'verify',
    'showMemory',
    'showAssembly',
    'pickProgram',
    'runProgram',
    'refreshKernels',
    'sortKernels',
    'profileEntry',
    'optimizeEntry',
    'applyPreview',
    'discardPreview',
    'restart',
    'showOutput',
    'doctor',
] as const;

export type CommandName = (typeof commandNames)[number];
