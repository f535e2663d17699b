#include "engine/graph/torch/heat.h"

#include "engine/graph/torch/agreement.h"
#include "engine/graph/torch/candidate_memory.h"
#include "engine/graph/torch/cuda_devices.h"
#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/gate_trial.h"
#include "engine/graph/torch/referee.h"
#include "engine/graph/torch/round_clock.h"

#include <algorithm>
#include <c10/core/StreamGuard.h>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

/// Rounds of each model before those that count, and the fewest that count.
constexpr std::uint32_t warmUpRounds = 3;
constexpr std::uint32_t leastRounds = 3;

/// |found - expected| of a tensor, in multiples of the outputs' magnitude, that no rounding of a
/// precision explains: the models were compared with LibTorch before, on the emulator.
constexpr double farAway = 0.1;

/// A model with the memory that it works on.
struct HeatRunner {
    HeatRunner(Candidate loaded, const TrialTensors& model, const PreparedProgram& eager)
        : candidate(std::move(loaded)), memory(candidate, model, eager) {}

    Candidate candidate;
    CandidateMemory memory; ///< Refers to the candidate: neither is moved.
};

class Heat {
public:
    Heat(const PreparedProgram& eager, const TrialTensors& model, const TorchHeatRequest& request,
         RoundClock clock)
        : eager_(eager), model_(model), request_(request), clock_(std::move(clock)),
          device_(eager.place().device), stream_(newStream(device_)), onStream_(stream_),
          buffers_(model, device_) {}

    Result<std::vector<HeatLane>> run() {
        static_cast<void>(eager_.begin()); // Seeds library nodes.
        for (std::size_t i = 0; i < buffers_.inputs().size(); ++i)
            drawInput(buffers_.inputs()[i], model_.inputs[i],
                      {request_.subject.seed, Distribution::Normal});
        lanes_.resize(request_.libraries.size());
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            const auto begun = withoutExceptions("it cannot be run", "", [&] { return begin(i); });
            if (begun)
                continue;
            lanes_[i].why = begun.error().describe();
            // Throws if the model left the GPU unusable for the others.
            synchronizeDevice(device_);
        }
        if (auto timed = time(); !timed)
            return std::unexpected(timed.error());
        return std::move(lanes_);
    }

private:
    /// Loads the model, and compares its results with LibTorch's.
    Result<void> begin(std::size_t lane) {
        auto candidate = Candidate::load(request_.libraries[lane]);
        if (!candidate)
            return std::unexpected(candidate.error());
        auto runner = std::make_unique<HeatRunner>(*candidate, model_, eager_);
        if (auto done = runner->memory.prepare(request_.subject.seed, stream_); !done)
            return done;
        buffers_.fillOutputs(poison);
        runner->memory.fillWorkspace(poison);
        if (auto done = forward(*runner); !done)
            return done;
        synchronize(stream_);
        if (expected_.empty()) {
            auto outputs =
                outputsOf(eager_, model_,
                          valuesFor(eager_, model_, runner->memory.weights(), buffers_.inputs()));
            if (!outputs)
                return std::unexpected(outputs.error());
            expected_ = std::move(*outputs);
        }
        for (std::size_t i = 0; i < expected_.size(); ++i) {
            const double scale = std::max(1.0, magnitudeOf(expected_[i]).value_or(1));
            const Agreement agreement = agreementOf(buffers_.outputs()[i], expected_[i], scale);
            if (agreement.error > farAway) {
                lanes_[lane].why = "output " + model_.outputs[i].name + " is " +
                                   std::to_string(agreement.found) + " instead of " +
                                   std::to_string(agreement.expected) + " at " +
                                   placeText(agreement.worst, expected_[i].sizes());
                return {};
            }
        }
        runners_.push_back({lane, std::move(runner)});
        return {};
    }

    Result<void> forward(HeatRunner& runner) {
        useTf32(eager_.allowsTf32());
        return runner.memory.forward(buffers_, stream_);
    }

    Result<void> time() {
        expected_.clear();
        for (const auto& [lane, runner] : runners_)
            lanes_[lane].timing = TorchTiming{{}, clock_.isOfDevice()};
        const auto begin = std::chrono::steady_clock::now();
        const std::uint32_t rounds = warmUpRounds + std::max(request_.rounds, leastRounds);
        for (std::uint32_t round = 0; round < rounds; ++round) {
            if (round >= warmUpRounds + leastRounds &&
                std::chrono::steady_clock::now() - begin > request_.longest)
                break;
            for (std::size_t i = 0; i < runners_.size(); ++i) {
                auto& [lane, runner] = runners_[(i + round) % runners_.size()];
                const auto time = clock_.time([&] { return forward(*runner); });
                if (!time)
                    return std::unexpected(time.error());
                if (round >= warmUpRounds)
                    lanes_[lane].timing->microseconds.push_back(*time);
            }
        }
        return {};
    }

    const PreparedProgram& eager_;
    const TrialTensors& model_;
    const TorchHeatRequest& request_;
    RoundClock clock_;
    c10::Device device_;
    c10::Stream stream_;
    c10::StreamGuard onStream_; ///< Also while memory is made and filled.
    CallBuffers buffers_;
    std::vector<at::Tensor> expected_; ///< LibTorch's outputs.
    /// Those that compute the right results, with their lanes.
    std::vector<std::pair<std::size_t, std::unique_ptr<HeatRunner>>> runners_;
    std::vector<HeatLane> lanes_;
};

} // namespace

Result<TorchHeat> runHeat(const std::shared_ptr<const Program>& program,
                          const TorchHeatRequest& request) {
    const auto eager = PreparedProgram::prepareAsWritten(program, request.subject);
    if (!eager)
        return std::unexpected(eager.error());
    const auto model = TrialTensors::ofExported(*program);
    if (!model)
        return std::unexpected(model.error());
    releaseCachedMemory(); // Memory of other streams.
    auto heat = withoutExceptions("the models cannot be timed", "", [&]() -> Result<TorchHeat> {
        auto clock = RoundClock::of(eager->place().device);
        if (!clock)
            return std::unexpected(clock.error());
        auto lanes = Heat(*eager, *model, request, std::move(*clock)).run();
        if (!lanes)
            return std::unexpected(lanes.error());
        return TorchHeat{std::move(*lanes), deviceName(eager->place().device)};
    });
    releaseCachedMemory(); // Other processes may use the GPU until the next heat.
    return heat;
}

} // namespace kernelskill::engine::graph
