/// The process that runs kernels for the emulator.
#pragma once

namespace kernelskill::engine {

/// The hidden subcommand `emulator-worker`: reads jobs from standard input until it closes. Returns
/// the exit status.
int runEmulatorWorker();

} // namespace kernelskill::engine
