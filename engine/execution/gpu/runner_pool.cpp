#include "engine/execution/gpu/runner_pool.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

/// Added to a job's own limit, which the runner enforces and can explain better. The driver takes
/// seconds to start on a machine with many GPUs.
constexpr std::chrono::milliseconds grace{20'000};

/// The time limit while a runner waits in a queue: until the user cancels.
constexpr std::chrono::hours queueTime{24 * 365};

bool isSameModel(const DeviceDescription& left, const DeviceDescription& right) {
    return left.name == right.name && left.capabilityMajor == right.capabilityMajor &&
           left.capabilityMinor == right.capabilityMinor;
}

Error cancelled() {
    return {ErrorKind::Cancelled, "the run was cancelled", {}, {}};
}

} // namespace

Result<std::unique_ptr<RunnerPool>> RunnerPool::open(RunnerCommand command, std::stop_token stop,
                                                     const WaitSink& onWait) {
    std::unique_ptr<RunnerPool> pool(new RunnerPool(std::move(command)));
    pool->seats_.emplace_back();
    if (auto ready = pool->awaitRunner(std::move(stop), onWait); !ready)
        return std::unexpected(ready.error());
    const auto& slurm = pool->command_.slurm;
    pool->seats_.resize(
        static_cast<std::size_t>(std::max(1, slurm ? slurm->slots : pool->device_->devices)));
    if (slurm) {
        pool->keeper_ = std::jthread(
            [pool = pool.get()](const std::stop_token& ended) { pool->releaseIdle(ended); });
    } else {
        for (std::size_t i = 0; i < pool->seats_.size(); ++i)
            pool->seats_[i].device = static_cast<int>(i);
    }
    return pool;
}

RunnerPool::~RunnerPool() = default;

Result<RunnerPool::Seat*> RunnerPool::take(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const auto isFree = [](const Seat& seat) { return !seat.isTaken && !seat.isOther; };
    if (!freed_.wait(lock, stop, [&] { return std::ranges::any_of(seats_, isFree); }))
        return std::unexpected(cancelled());
    // Prefer a runner that is already started.
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
        seat.lastUsed = Clock::now();
    }
    freed_.notify_all(); // Wakes threads that wait for a seat, and the keeper.
}

RunnerPool::Attempt RunnerPool::exchange(Seat& seat, const Request& request,
                                         std::chrono::milliseconds limit,
                                         const std::stop_token& stop,
                                         const LineSink& onMessage) const {
    const auto begin = Clock::now();
    const auto payload = seat.runner->exchange(encode(request), limit, stop, onMessage);
    if (!payload) {
        std::string said = seat.runner->messages();
        seat.runner.reset();
        const bool isLate = Clock::now() - begin >= limit;
        const bool mayRepeat = payload.error().kind != ErrorKind::Cancelled && !isLate;
        if (mayRepeat && command_.slurm && wasEndedBySlurm(said))
            return {std::unexpected(slurmError(*command_.slurm, said)), false, {}};
        return {std::unexpected(payload.error()), mayRepeat, std::move(said)};
    }
    auto answer = decodeAnswer(*payload);
    if (!answer) {
        seat.runner.reset();
    } else if (auto* failure = std::get_if<FailureAnswer>(&*answer)) {
        if (failure->isFatal)
            seat.runner.reset();
        return {std::unexpected(std::move(failure->error)), false, {}};
    }
    return {std::move(answer), false, {}};
}

RunnerPool::Attempt RunnerPool::meet(Seat& seat, const std::stop_token& stop,
                                     const WaitSink& onWait) {
    const auto& slurm = command_.slurm;
    const Request question = DescribeRequest{};
    const auto limit = slurm ? queueTime : timeLimit(question) + grace;
    auto met = exchange(seat, question, limit, stop, [&](std::string_view line) {
        if (const auto state = queueState(line); state && onWait)
            onWait(*state);
    });
    if (!met.answer) {
        if (slurm && met.mayRepeat) // srun ended before a runner answered, and would do so again.
            return {std::unexpected(slurmError(*slurm, met.said)), false, {}};
        if (slurm && met.answer.error().kind == ErrorKind::Missing) {
            seat.runner.reset(); // If a node has no GPU now, it has none for the next request.
            met.answer.error().remedy = "have a GPU given to the job with kernelskill.slurm.gres "
                                        "(--gres), like gpu:1";
        }
        return met;
    }
    const auto* description = std::get_if<DeviceDescription>(&*met.answer);
    if (description == nullptr) {
        seat.runner.reset();
        return {
            std::unexpected(Error{ErrorKind::Internal, "the runner does not know its GPU", {}, {}}),
            false,
            {}};
    }
    if (!device_)
        device_ = *description;
    if (isSameModel(*device_, *description)) {
        seat.isMet = true;
        return met;
    }
    seat.runner.reset();
    seat.isOther = !slurm;
    return {std::unexpected(
                Error{ErrorKind::Failed,
                      "the runner got a " + description->name + ", those before a " + device_->name,
                      {},
                      "name the GPU in kernelskill.slurm.gres (--gres), like "
                      "gpu:h100:1"}),
            false,
            {}};
}

RunnerPool::Attempt RunnerPool::provide(Seat& seat, const std::stop_token& stop,
                                        const WaitSink& onWait) {
    if (!seat.runner || !seat.runner->isAlive()) {
        auto started = startRunner(command_, seat.device);
        if (!started)
            return {std::unexpected(started.error()), false, {}};
        seat.runner = std::move(*started);
        // On a cluster each runner may be on another node.
        if (command_.slurm || !seat.isMet)
            return meet(seat, stop, onWait);
    }
    return {*device_, false, {}};
}

Result<Answer> RunnerPool::withSeat(const std::stop_token& stop,
                                    const std::function<Attempt(Seat&)>& use) {
    while (true) {
        const auto seat = take(stop);
        if (!seat)
            return std::unexpected(seat.error());
        auto last = use(**seat);
        for (int attempt = 1; attempt < maxAttempts && last.mayRepeat; ++attempt)
            last = use(**seat);
        const bool isOther = (*seat)->isOther;
        giveBack(**seat);
        if (isOther)
            continue;
        if (last.mayRepeat)
            last.answer.error().remedy = "run `kernelskill doctor`";
        return std::move(last.answer);
    }
}

Result<Answer> RunnerPool::ask(const Request& request, std::stop_token stop,
                               const WaitSink& onWait) {
    return withSeat(stop, [&](Seat& seat) {
        auto ready = provide(seat, stop, onWait);
        return ready.answer ? exchange(seat, request, timeLimit(request) + grace, stop, {})
                            : std::move(ready);
    });
}

Result<void> RunnerPool::awaitRunner(std::stop_token stop, const WaitSink& onWait) {
    const auto ready = withSeat(stop, [&](Seat& seat) { return provide(seat, stop, onWait); });
    if (!ready)
        return std::unexpected(ready.error());
    return {};
}

void RunnerPool::releaseIdle(const std::stop_token& stop) {
    const auto limit = command_.slurm->idleTime;
    const auto mayGo = [](const Seat& seat) { return !seat.isTaken && seat.runner != nullptr; };
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        const auto now = Clock::now();
        auto next = now + limit;
        std::vector<std::unique_ptr<FramedChild>> released;
        for (Seat& seat : seats_) {
            if (!mayGo(seat))
                continue;
            if (seat.lastUsed + limit <= now)
                released.push_back(std::move(seat.runner));
            else
                next = std::min(next, seat.lastUsed + limit);
        }
        if (!released.empty()) {
            lock.unlock();
            released.clear(); // srun needs some time for it.
            lock.lock();
            continue;
        }
        freed_.wait_until(lock, stop, next, [] { return false; });
    }
}

} // namespace kernelskill::engine::gpu
