#include "engine/workbench/gpu_access.h"

#include "engine/process/patient_lock.h"

#include <filesystem>
#include <utility>

namespace kernelskill::engine {

Result<GpuExecutor*> GpuAccess::open(const std::stop_token& stop, const ProgressSink& progress) {
    const auto onWait = [&](std::string_view what) {
        if (progress)
            progress(what, 0);
    };
    auto opening = lockUnlessStopped(opening_, stop);
    if (!opening)
        return std::unexpected(opening.error());
    const bool isOnCluster = options_.runner.slurm.has_value();
    if (state_ == State::Open && isOnCluster) {
        opening->unlock();
        if (auto ready = (*executor_)->awaitRunner(stop, onWait); !ready)
            return std::unexpected(ready.error());
    } else if (state_ == State::Unopened) {
        executor_ = start(stop, onWait);
        const bool isFinal = !isOnCluster && !stop.stop_requested();
        if (executor_)
            state_ = State::Open;
        else if (isFinal)
            state_ = State::Failed;
    }
    if (!executor_)
        return std::unexpected(executor_.error());
    return executor_->get();
}

const GpuExecutor* GpuAccess::opened() const {
    return state_ == State::Open ? executor_->get() : nullptr;
}

bool GpuAccess::isOffered() const {
    switch (state_) {
    case State::Open:
        return true;
    case State::Failed:
        return false;
    case State::Unopened:
        break;
    }
    namespace fs = std::filesystem;
    std::error_code ignored;
    const bool hasDriver = fs::exists("/dev/nvidiactl", ignored) || fs::exists("/dev/dxg", ignored);
    return (hasDriver || options_.runner.slurm) && !options_.runner.executable.empty();
}

Result<std::unique_ptr<GpuExecutor>> GpuAccess::start(const std::stop_token& stop,
                                                      const gpu::WaitSink& onWait) const {
    if (options_.runner.executable.empty())
        return std::unexpected(
            Error{ErrorKind::Missing,
                  "there is no kernelskill-runner beside this program, which runs kernels on a GPU",
                  {},
                  "build where the CUDA toolkit is installed, or install the bundle"});
    return GpuExecutor::open(options_, stop, onWait);
}

} // namespace kernelskill::engine
