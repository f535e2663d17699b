#include "tests/engine/execution/emulator/test_worker.h"

#include "engine/execution/emulator/worker_process.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <utility>

namespace kernelskill::engine::emulator {

BufferSpec input(std::string name, std::uint64_t elements) {
    BufferSpec spec;
    spec.name = std::move(name);
    spec.elements = elements;
    return spec;
}

BufferSpec output(std::string name, std::uint64_t elements) {
    BufferSpec spec = input(std::move(name), elements);
    spec.isInput = false;
    spec.isOutput = true;
    return spec;
}

BufferSpec unknownExtent(BufferSpec spec) {
    spec.elements.reset();
    return spec;
}

WorkerJob jobFor(const std::string& image, int kernel, Dim3 grid, Dim3 block,
                 std::vector<ArgumentSpec> arguments) {
    WorkerJob job;
    job.image = std::string(paths::imageFolder) + "/" + image + ".so";
    job.job.launch.origin = LaunchOrigin::Pinned;
    job.job.launch.grid = grid;
    job.job.launch.block = block;
    job.job.launch.arguments.emplace_back(scalar(kernel));
    for (ArgumentSpec& argument : arguments)
        job.job.launch.arguments.push_back(std::move(argument));
    job.job.wantProfile = true;
    job.job.wantOutputs = true;
    return job;
}

WorkerReport run(const WorkerJob& job) {
    WorkerPool workers{paths::testWorker};
    auto report = workers.run(job, {});
    if (!report) {
        ADD_FAILURE() << report.error().describe();
        return {};
    }
    return std::move(*report);
}

const HazardReport* hazardOf(const WorkerReport& report, HazardKind kind) {
    for (const HazardReport& hazard : report.hazards) {
        if (hazard.kind == kind)
            return &hazard;
    }
    return nullptr;
}

} // namespace kernelskill::engine::emulator
