/// The process that runs kernels for the emulator.
#pragma once

namespace kernelskill::engine {

namespace emulator {
class Launch;
struct EventLog;
/// Sees what the lanes of the running warp did since it was last called; not for jobs that want a
/// profile. May print().
using EventObserver = void (*)(Launch& launch, const EventLog& log);
} // namespace emulator

/// The hidden subcommand `emulator-worker`: reads jobs from standard input until it closes. Returns
/// the exit status. `observer`, if any, is called in the process of each job.
int runEmulatorWorker(emulator::EventObserver observer = nullptr);

} // namespace kernelskill::engine
