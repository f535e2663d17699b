#include "engine/execution/gpu/runner_pool.h"

#include "engine/execution/cache_files.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

/// Beyond a job's own limit, which the runner enforces and can explain better than we can: the
/// driver takes seconds to start on a machine with many GPUs.
constexpr std::chrono::milliseconds grace{20'000};

/// What the driver needs, and nothing else of ours.
std::vector<std::string> runnerEnvironment() {
    std::vector<std::string> variables;
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name); value != nullptr)
            variables.push_back(std::string(name) + "=" + value);
    }
    variables.push_back("CUDA_CACHE_PATH=" + userCacheFolder("cuda").string());
    return variables;
}

} // namespace

Result<std::unique_ptr<RunnerPool>> RunnerPool::open(RunnerCommand command, std::stop_token stop) {
    std::unique_ptr<RunnerPool> pool(new RunnerPool(std::move(command)));
    pool->seats_.emplace_back();
    const auto answer = pool->ask(DescribeRequest{}, std::move(stop));
    if (!answer)
        return std::unexpected(answer.error());
    const auto* device = std::get_if<DeviceDescription>(&*answer);
    if (device == nullptr)
        return std::unexpected(
            Error{ErrorKind::Internal, "the runner does not know its GPU", {}, {}});
    pool->device_ = *device;
    pool->seats_.resize(static_cast<std::size_t>(std::max(1, device->devices)));
    for (std::size_t i = 0; i < pool->seats_.size(); ++i)
        pool->seats_[i].device = static_cast<int>(i);
    return pool;
}

Result<std::unique_ptr<FramedChild>> RunnerPool::start(int device) const {
    FramedChildCommand child;
    child.calledInMessages = "GPU runner";
    child.environment = runnerEnvironment();
    child.arguments = command_.prefix;
    child.arguments.push_back(command_.executable.string());
    child.program = child.arguments.front();
    child.arguments.erase(child.arguments.begin());
    child.arguments.push_back("--device=" + std::to_string(device));
    if (!command_.cuptiLibrary.empty())
        child.arguments.push_back("--cupti=" + command_.cuptiLibrary.string());
    return FramedChild::start(child);
}

Result<RunnerPool::Seat*> RunnerPool::take(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto isFree = [](const Seat& seat) { return !seat.isTaken; };
    if (!freed_.wait(lock, stop, [&] { return std::ranges::any_of(seats_, isFree); }))
        return std::unexpected(Error{ErrorKind::Cancelled, "the run was cancelled", {}, {}});
    // One that runs already, rather than one to start.
    auto seat = std::ranges::find_if(
        seats_, [&](const Seat& each) { return isFree(each) && each.runner != nullptr; });
    if (seat == seats_.end())
        seat = std::ranges::find_if(seats_, isFree);
    seat->isTaken = true;
    return &*seat;
}

void RunnerPool::giveBack(Seat& seat) {
    {
        const std::scoped_lock lock(mutex_);
        seat.isTaken = false;
    }
    freed_.notify_one();
}

Result<Answer> RunnerPool::askSeat(Seat& seat, const Request& request,
                                   const std::stop_token& stop) const {
    const auto frame = encode(request);
    Error last;
    for (int attempt = 0; attempt < mostAttempts; ++attempt) {
        if (!seat.runner || !seat.runner->isAlive()) {
            auto started = start(seat.device);
            if (!started)
                return std::unexpected(started.error());
            seat.runner = std::move(*started);
        }
        const auto begin = std::chrono::steady_clock::now();
        const auto limit = timeLimit(request) + grace;
        const auto payload = seat.runner->exchange(frame, limit, stop);
        if (!payload) {
            seat.runner.reset();
            last = payload.error();
            const bool isLate = std::chrono::steady_clock::now() - begin >= limit;
            if (last.kind == ErrorKind::Cancelled || isLate)
                return std::unexpected(std::move(last));
            continue;
        }
        auto answer = decodeAnswer(*payload);
        if (!answer)
            seat.runner.reset();
        else if (auto* failure = std::get_if<FailureAnswer>(&*answer)) {
            if (failure->isFatal)
                seat.runner.reset();
            return std::unexpected(std::move(failure->error));
        }
        return answer;
    }
    last.remedy = "run `kernelskill doctor`";
    return std::unexpected(std::move(last));
}

Result<Answer> RunnerPool::ask(const Request& request, std::stop_token stop) {
    const auto seat = take(stop);
    if (!seat)
        return std::unexpected(seat.error());
    auto answer = askSeat(**seat, request, stop);
    giveBack(**seat);
    return answer;
}

} // namespace kernelskill::engine::gpu
