#include "engine/graph/torch/race.h"

#include "engine/graph/torch/candidate_memory.h"
#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/round_clock.h"

#include <algorithm>
#include <c10/core/StreamGuard.h>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr double longRound = 50'000;     ///< Microseconds: fewer rounds are enough.
constexpr double longRounds = 5'000'000; ///< Microseconds that long rounds may take together.
constexpr std::uint32_t minLongRounds = 10;
constexpr std::uint32_t blocks = 10; ///< Turns of candidate and eager program.

/// Whose rounds these are.
struct Runner {
    std::function<Result<double>()> round;
    std::vector<double> microseconds;
    std::uint32_t rounds = 0; ///< In all.
};

class Race {
public:
    Race(const Contest& contest, const TorchJudgeRequest& request, RoundClock clock)
        : contest_(contest), request_(request), clock_(std::move(clock)),
          device_(contest.eager.place().device), stream_(newStream(device_)), onStream_(stream_),
          memory_(contest.candidate, contest.model, contest.eager) {}

    Result<RaceOutcome> run() {
        if (auto ready = prepare(); !ready)
            return std::unexpected(ready.error());
        if (outcome_.refusal.empty())
            if (auto timed = timeAll(); !timed)
                return std::unexpected(timed.error());
        return std::move(outcome_);
    }

private:
    /// A set of inputs, what the candidate makes of it, and the same for the eager program.
    struct Copy {
        CallBuffers buffers;
        std::vector<at::Tensor> expected;
        Values values;
        std::unique_ptr<CapturedWork> captured;
    };

    Result<void> prepare() {
        static_cast<void>(contest_.eager.begin());
        useTf32(contest_.eager.allowsTf32());
        if (auto done = memory_.prepare(request_.subject.seed, stream_); !done)
            return done;
        std::int64_t bytes = 0;
        for (const auto* tensors : {&contest_.model.inputs, &contest_.model.outputs})
            for (const TrialTensor& tensor : *tensors)
                bytes += tensor.bytes();
        constexpr std::int64_t smallBytes = std::int64_t{256} << 20;
        constexpr std::int64_t largeBytes = std::int64_t{4} << 30;
        const std::uint32_t wanted = bytes <= smallBytes ? 4 : (bytes <= largeBytes ? 2 : 1);
        for (std::uint32_t i = 0; i < wanted; ++i) {
            auto added = withoutExceptions("a set of inputs", "", [&] { return addCopy(i); });
            if (!added && copies_.empty())
                return added;
            if (!added) {
                releaseCachedMemory();
                break;
            }
        }
        outcome_.times.inputCopies = static_cast<std::uint32_t>(copies_.size());
        const auto comparison = contest_.referee.compare(contest_.model, copies_.front()->values,
                                                         copies_.front()->expected, false);
        if (!comparison)
            return std::unexpected(comparison.error());
        if (!comparison->result.isWithinLoose)
            outcome_.refusal = "the candidate computes wrong results when it is timed: " +
                               comparison->result.worst;
        static_cast<void>(contest_.eager.begin());
        useTf32(contest_.eager.allowsTf32());
        return {};
    }

    Result<void> addCopy(std::uint32_t number) {
        auto copy = std::make_unique<Copy>(Copy{CallBuffers(contest_.model, device_), {}, {}, {}});
        const auto& inputs = copy->buffers.inputs();
        for (std::size_t i = 0; i < inputs.size(); ++i)
            drawInput(inputs[i], contest_.model.inputs[i],
                      {request_.subject.seed + number, Distribution::Normal});
        copy->buffers.fillOutputs(poison);
        memory_.fillWorkspace(poison);
        if (auto done = forward(*copy); !done)
            return done;
        for (const at::Tensor& output : copy->buffers.outputs())
            copy->expected.push_back(output.clone());
        synchronize(stream_);
        copy->values = valuesFor(contest_.eager, contest_.model, memory_.weights(), inputs);
        copies_.push_back(std::move(copy));
        return {};
    }

    Copy& nextCopy() { return *copies_[next_++ % copies_.size()]; }

    /// A round of the candidate, by one way to launch it.
    Result<double> candidateRound(const std::function<Result<void>(Copy&)>& launch) {
        Copy& copy = nextCopy();
        copy.buffers.fillOutputs(otherPoison);
        auto time = clock_.time([&] { return launch(copy); });
        if (time && outcome_.refusal.empty() &&
            !areRepeated(copy.buffers.outputs(), copy.expected, !memory_.library().used().empty()))
            outcome_.refusal = "the candidate gives other results in a timed call";
        return time;
    }

    /// Library nodes take the setting of their time: eager rounds have another.
    Result<void> forward(Copy& copy) {
        useTf32(contest_.eager.allowsTf32());
        return memory_.forward(copy.buffers, stream_);
    }

    Result<double> eagerRound() {
        Values first = nextCopy().values;
        Result<Values> last; // Freed behind the round.
        useTf32(false);
        return clock_.time([&]() -> Result<void> {
            last = contest_.eager.run(std::move(first), {});
            return last ? Result<void>() : std::unexpected(last.error());
        });
    }

    /// Whether every set of inputs could be captured; else says why not.
    bool captureAll() {
        useTf32(contest_.eager.allowsTf32());
        for (const auto& copy : copies_) {
            auto captured = capture(device_, [&](const c10::Stream& stream) {
                return memory_.forward(copy->buffers, stream);
            });
            if (!captured) {
                outcome_.times.whyNotReplayed = captured.error().describe();
                return false;
            }
            copy->captured = std::move(*captured);
        }
        return true;
    }

    /// Warms up, and finds how many rounds are worth their time.
    Result<void> warmUp(Runner& runner) const {
        using std::chrono::milliseconds;
        const auto times = timeRounds({3, 5, milliseconds(2'000)}, runner.round);
        if (!times)
            return std::unexpected(times.error());
        const double median = TorchTiming{*times, false}.median();
        runner.rounds = std::max(request_.rounds, 1u);
        if (median > longRound)
            runner.rounds =
                std::min(runner.rounds,
                         std::max(minLongRounds, static_cast<std::uint32_t>(longRounds / median)));
        return {};
    }

    Result<void> timeAll() {
        std::vector<Runner> runners(2);
        runners[0].round = [&] {
            return candidateRound([&](Copy& copy) { return forward(copy); });
        };
        runners[1].round = [&] { return eagerRound(); };
        for (Runner& runner : runners)
            if (auto warm = warmUp(runner); !warm)
                return warm;
        for (std::uint32_t block = 0; block < blocks; ++block)
            for (Runner& runner : runners)
                if (auto done = timeBlock(runner, block); !done)
                    return done;
        outcome_.times.candidate = timingOf(runners[0]);
        outcome_.times.eager = timingOf(runners[1]);
        if (auto done = timeByWall(); !done)
            return done;
        return timeReplays();
    }

    /// Comes last: a capture that fails leaves LibTorch's generators and allocator in any state.
    Result<void> timeReplays() {
        if (!captureAll())
            return {};
        Runner replays;
        replays.round = [&] {
            return candidateRound([](Copy& copy) -> Result<void> {
                copy.captured->replay();
                return {};
            });
        };
        if (auto warm = warmUp(replays); !warm)
            return warm;
        if (auto done = timeBlock(replays, blocks - 1); !done)
            return done;
        outcome_.times.replayed = timingOf(replays);
        return {};
    }

    TorchTiming timingOf(Runner& runner) const {
        return {std::move(runner.microseconds), clock_.isOfDevice()};
    }

    static Result<void> timeBlock(Runner& runner, std::uint32_t block) {
        const auto until = static_cast<std::uint64_t>(runner.rounds) * (block + 1) / blocks;
        while (runner.microseconds.size() < until) {
            const auto time = runner.round();
            if (!time)
                return std::unexpected(time.error());
            runner.microseconds.push_back(*time);
        }
        return {};
    }

    /// Many calls, and the wall's clock: nothing may go on beside the stream.
    Result<void> timeByWall() {
        constexpr double wanted = 20'000;
        const double median = outcome_.times.candidate.median();
        const auto calls =
            static_cast<std::uint32_t>(std::clamp(wanted / std::max(median, 1.0), 3.0, 200.0));
        synchronizeDevice(device_);
        const auto begin = Clock::now();
        for (std::uint32_t i = 0; i < calls; ++i)
            if (auto done = forward(nextCopy()); !done)
                return done;
        synchronizeDevice(device_);
        const double wall = Microseconds(Clock::now() - begin).count() / calls;
        outcome_.times.wallMicroseconds = wall;
        // A call may wait for the CPU, which rounds do not see where the sweep covers it.
        constexpr double allowedExcess = 3;
        constexpr double launches = 500;
        if (outcome_.refusal.empty() && wall > allowedExcess * median + launches)
            outcome_.refusal = "the candidate's stream is ready after " +
                               std::to_string(std::lround(median)) + " us, but a call takes " +
                               std::to_string(std::lround(wall)) +
                               " us: it works on beside its stream";
        return {};
    }

    const Contest& contest_;
    const TorchJudgeRequest& request_;
    RoundClock clock_;
    c10::Device device_;
    c10::Stream stream_;
    c10::StreamGuard onStream_; ///< Also while memory is made and filled.
    CandidateMemory memory_;
    std::vector<std::unique_ptr<Copy>> copies_;
    std::size_t next_ = 0;
    RaceOutcome outcome_;
};

} // namespace

Result<RaceOutcome> race(const Contest& contest, const TorchJudgeRequest& request) {
    releaseCachedMemory(); // Memory of other streams.
    return withoutExceptions("the model cannot be timed", "", [&]() -> Result<RaceOutcome> {
        auto clock = RoundClock::of(contest.eager.place().device);
        if (!clock)
            return std::unexpected(clock.error());
        return Race(contest, request, std::move(*clock)).run();
    });
}

} // namespace kernelskill::engine::graph
