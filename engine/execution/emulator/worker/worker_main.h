/// The process that runs kernels for the emulator.
#pragma once

namespace kernelskill::engine {

/// Body of the hidden subcommand `emulator-worker`: reads jobs on standard input until it closes.
/// Returns the exit status.
int runEmulatorWorker();

} // namespace kernelskill::engine
