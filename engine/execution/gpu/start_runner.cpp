#include "engine/execution/gpu/start_runner.h"

#include "engine/storage/cache_files.h"

#include <chrono>
#include <cstdlib>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

/// The time for srun to give its job back.
constexpr std::chrono::milliseconds srunFarewell{5'000};

/// The variables that the driver needs, and no others.
std::vector<std::string> localEnvironment() {
    std::vector<std::string> variables;
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name); value != nullptr)
            variables.push_back(std::string(name) + "=" + value);
    }
    return variables;
}

} // namespace

Result<std::unique_ptr<FramedChild>> startRunner(const RunnerCommand& command, int device) {
    FramedChildCommand child;
    child.calledInMessages = "GPU runner";
    auto runner = command.executable;
    std::vector<std::string> words;
    if (command.slurm) {
        auto srun = srunWords(*command.slurm);
        if (!srun)
            return std::unexpected(srun.error());
        words = std::move(*srun);
        child.environment = slurmEnvironment();
        child.keepsMessages = true;
        child.farewell = srunFarewell;
        if (!command.slurm->runner.empty())
            runner = command.slurm->runner;
    } else {
        child.environment = localEnvironment();
    }
    child.environment.push_back("CUDA_CACHE_PATH=" + userCacheFolder("cuda").string());
    words.insert(words.end(), command.prefix.begin(), command.prefix.end());
    words.push_back(runner.string());
    words.push_back("--device=" + std::to_string(device));
    if (!command.cuptiLibrary.empty())
        words.push_back("--cupti=" + command.cuptiLibrary.string());
    child.program = words.front();
    child.arguments.assign(words.begin() + 1, words.end());
    return FramedChild::start(child);
}

} // namespace kernelskill::engine::gpu
