#include "engine/graph/torch/gate_trial.h"

#include "engine/graph/torch/agreement.h"
#include "engine/graph/torch/candidate_memory.h"
#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"

#include <array>
#include <c10/core/StreamGuard.h>
#include <limits>
#include <optional>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

constexpr std::array distributions{Distribution::Normal,    Distribution::Uniform,
                                   Distribution::OneSign,   Distribution::LargeMagnitude,
                                   Distribution::WithZeros, Distribution::Denormals};
static_assert(2 * leastTrials == distributions.size());

/// Whether no element differs by a hundredth of the outputs' magnitude.
bool areAlike(const std::vector<at::Tensor>& some, const std::vector<at::Tensor>& others) {
    for (std::size_t i = 0; i < some.size(); ++i) {
        const double magnitude = magnitudeOf(some[i]).value_or(0);
        if (agreementOf(some[i], others[i]).difference > looseTolerance * magnitude)
            return false;
    }
    return true;
}

class Trial {
public:
    Trial(const Contest& contest, const TrialPlan& plan)
        : contest_(contest), plan_(plan), device_(contest.eager.place().device),
          stream_(plan.isOnDefaultStream ? defaultStream(device_) : newStream(device_)),
          onStream_(stream_), memory_(contest.candidate, contest.model, contest.eager),
          buffers_(std::in_place, contest.model, device_) {}

    Result<TrialOutcome> run() {
        auto called = withoutExceptions("the candidate failed", "", [&] { return callAll(); });
        outcome_.libraryNodes = memory_.library().used();
        if (!called)
            outcome_.refusal = called.error().describe();
        if (!outcome_.refusal.empty())
            return outcome_;
        return withoutExceptions("the trial failed", "", [&] { return compareAll(); });
    }

private:
    struct Call {
        std::vector<at::Tensor> outputs;
        std::vector<std::int64_t> inputSums; ///< After the call.
    };

    /// Fills what the candidate must not rely on; what it reads before the stream has drawn its
    /// inputs is NaN, or 0 in place of integers.
    void spoil(int pattern) const {
        for (const at::Tensor& input : buffers_->inputs()) {
            if (input.is_floating_point())
                input.fill_(std::numeric_limits<double>::quiet_NaN());
            else
                input.zero_();
        }
        buffers_->fillOutputs(pattern);
        memory_.fillWorkspace(pattern);
    }

    /// False if the candidate is refused.
    Result<bool> callOnce(const Draw& draw, int pattern, Call& call) {
        static_cast<void>(contest_.eager.begin()); // Seeds library nodes.
        useTf32(contest_.eager.allowsTf32());
        spoil(pattern);
        synchronizeDevice(device_);
        delay(device_);
        drawInputs(buffers_->inputs(), draw);
        if (auto done = memory_.forward(*buffers_, stream_); !done)
            return std::unexpected(done.error());
        for (const at::Tensor& output : buffers_->outputs())
            call.outputs.push_back(output.clone());
        synchronize(stream_);
        call.inputSums = checksums(buffers_->inputs());
        if (const auto overrun = buffers_->overrun(); !overrun.empty())
            return refuse("writes beside its " + overrun);
        if (const auto damage = memory_.damage(); !damage.empty())
            return refuse(damage);
        return true;
    }

    bool refuse(const std::string& what) {
        outcome_.refusal = "the candidate " + what;
        return false;
    }

    void drawInputs(const std::vector<at::Tensor>& tensors, const Draw& draw) const {
        for (std::size_t i = 0; i < tensors.size(); ++i)
            drawInput(tensors[i], contest_.model.inputs[i], draw);
    }

    Result<void> callAll() {
        if (auto done = memory_.prepare(plan_.first.seed, stream_); !done)
            return done;
        for (const auto& [draw, call] :
             {std::pair{&plan_.first, &first_}, {&plan_.second, &second_}}) {
            const auto isFine = callOnce(*draw, poison, *call);
            if (!isFine)
                return std::unexpected(isFine.error());
            if (!*isFine)
                return {};
        }
        Call again;
        const auto isFine = callOnce(plan_.first, otherPoison, again);
        if (!isFine)
            return std::unexpected(isFine.error());
        if (*isFine &&
            !areRepeated(again.outputs, first_.outputs, !memory_.library().used().empty()))
            refuse("gives other results for the same inputs in a later call");
        return {};
    }

    Result<TrialOutcome> compareAll() {
        memory_.releaseWorkspace(); // The reference may need the room.
        buffers_.reset();
        std::vector<at::Tensor> firstExpected;
        for (const auto& [draw, call] :
             {std::pair{&plan_.first, &first_}, {&plan_.second, &second_}}) {
            std::vector<at::Tensor> inputs;
            for (const TrialTensor& input : contest_.model.inputs)
                inputs.push_back(
                    at::empty(input.sizes, at::TensorOptions().dtype(input.type).device(device_)));
            drawInputs(inputs, *draw);
            if (const auto sums = checksums(inputs); sums != call->inputSums) {
                for (std::size_t i = 0; i < sums.size(); ++i)
                    if (sums[i] != call->inputSums[i])
                        refuse("changes its input " + contest_.model.inputs[i].name);
                return outcome_;
            }
            auto comparison = contest_.referee.compare(
                contest_.model,
                valuesFor(contest_.eager, contest_.model, memory_.weights(), inputs), call->outputs,
                draw->distribution == Distribution::LargeMagnitude);
            if (!comparison)
                return std::unexpected(comparison.error());
            TrialResult& result = comparison->result;
            result.seed = draw->seed;
            result.distribution = draw->distribution;
            result.symbols = contest_.model.symbols;
            result.isOnDefaultStream = plan_.isOnDefaultStream;
            outcome_.results.push_back(std::move(result));
            call->outputs.clear();
            if (firstExpected.empty()) {
                firstExpected = std::move(comparison->expected);
                continue;
            }
            outcome_.isOutputConstant = areAlike(firstExpected, comparison->expected);
        }
        return outcome_;
    }

    const Contest& contest_;
    const TrialPlan& plan_;
    c10::Device device_;
    c10::Stream stream_;
    c10::StreamGuard onStream_; ///< Also while memory is made and filled.
    CandidateMemory memory_;
    std::optional<CallBuffers> buffers_;
    Call first_, second_;
    TrialOutcome outcome_;
};

} // namespace

TrialPlan trialPlan(std::uint64_t seed, std::size_t number) {
    const auto draw = [&](std::size_t place) {
        return Draw{seed + place, distributions[place % distributions.size()]};
    };
    return {draw(2 * number), draw(2 * number + 1), number % 2 == 1};
}

Values valuesFor(const PreparedProgram& program, const TrialTensors& model,
                 const std::vector<at::Tensor>& weights, const std::vector<at::Tensor>& inputs) {
    Values values = numbersAt(program.program(), model.symbols);
    for (std::size_t i = 0; i < weights.size(); ++i)
        values.insert_or_assign(model.weights[i].name, weights[i]);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        values.insert_or_assign(model.inputs[i].name, inputs[i]);
    return values;
}

bool areRepeated(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& earlier,
                 bool usesLibrary) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const bool isSame = areSameBits(outputs[i], earlier[i]) ||
                            (usesLibrary && agreementOf(outputs[i], earlier[i]).beyondTight == 0);
        if (!isSame)
            return false;
    }
    return true;
}

Result<TrialOutcome> runTrial(const Contest& contest, const TrialPlan& plan) {
    // Memory that LibTorch caches for one stream cannot be used by another.
    releaseCachedMemory();
    return withoutExceptions("the trial cannot begin", "",
                             [&] { return Trial(contest, plan).run(); });
}

} // namespace kernelskill::engine::graph
