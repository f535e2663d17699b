#include "tests/nest/recorded_run.h"

#include "engine/execution/emulator/emulator_executor.h"
#include "tests/image_cache.h"

#include <sstream>

namespace kernelskill::testing {

namespace {

constexpr std::uint64_t maxRecordBytes = 64ULL << 20;

std::vector<RecordedAccess> accessesFrom(const std::string& printed) {
    std::vector<RecordedAccess> accesses;
    std::istringstream lines(printed);
    RecordedAccess one;
    while (lines >> one.block[0] >> one.block[1] >> one.block[2] >> one.thread[0] >>
           one.thread[1] >> one.thread[2] >> one.kind >> one.bytes >> one.object >> one.offset)
        accesses.push_back(one);
    return accesses;
}

} // namespace

Result<std::unique_ptr<engine::Executor>>
makeRecordingExecutor(const analysis::Toolchain& toolchain) {
    engine::EmulatorOptions options;
    options.workerExecutable = KERNELSKILL_NEST_RECORDER;
    options.cacheDirectory = imageCache();
    options.workers = 1; // Printing makes blocks depend on each other.
    return engine::makeEmulatorExecutor(std::move(options), toolchain);
}

Result<std::vector<RecordedAccess>> recordRun(engine::Executor& recorder, engine::KernelRef kernel,
                                              const engine::LaunchSpec& launch,
                                              std::uint64_t blocks) {
    engine::Job job;
    job.launch = launch;
    job.maxBlocks = blocks;
    job.limits.outputBytes = maxRecordBytes;
    job.limits.accesses = 4'000'000;
    job.limits.time = std::chrono::seconds{60};
    const auto image = recorder.build(kernel, launch, {});
    if (!image)
        return std::unexpected(image.error());
    const auto result = recorder.run(**image, job, {});
    if (!result)
        return std::unexpected(result.error());
    if (result->printed.size() >= maxRecordBytes)
        return std::unexpected(Error{ErrorKind::Failed, "too many accesses to record", "", ""});
    return accessesFrom(result->printed);
}

} // namespace kernelskill::testing
