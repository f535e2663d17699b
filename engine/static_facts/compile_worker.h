/// The process that NVRTC runs in.
#pragma once

namespace kernelskill::engine {

/// Body of the hidden subcommand `compile-worker`: one job on standard input, its reply on standard
/// output. Limits what the process may use before it loads the compiler. Returns the exit status.
int runCompileWorker();

} // namespace kernelskill::engine
