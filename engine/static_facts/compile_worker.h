/// Runs NVRTC in a process of its own.
#pragma once

namespace kernelskill::engine {

/// The hidden subcommand `compile-worker`: reads one job from standard input and writes the reply
/// to standard output. Limits the process's resources before it loads the compiler. Returns the
/// exit status.
int runCompileWorker();

} // namespace kernelskill::engine
