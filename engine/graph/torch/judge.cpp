#include "engine/graph/torch/judge.h"

#include "engine/graph/torch/cuda_devices.h"
#include "engine/graph/torch/gate_trial.h"
#include "engine/graph/torch/race.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

/// After so many wrong results, more of them say nothing new.
constexpr std::size_t enoughWrong = 4;

class Gate {
public:
    Gate(const TorchJudgeRequest& request, Judgement& judgement)
        : request_(request), judgement_(judgement) {}

    /// Runs trials from the one of number `begin` to that of number `end`, until the time is up.
    /// False if that is enough: the candidate is refused, or wrong again and again.
    Result<bool> run(const Contest& contest, std::size_t begin, std::size_t end) {
        for (std::size_t number = begin; number < end; ++number) {
            if (number >= leastTrials &&
                std::chrono::steady_clock::now() - begin_ > request_.longestGate)
                return true;
            auto outcome = runTrial(contest, trialPlan(request_.subject.seed, number));
            if (!outcome)
                return std::unexpected(outcome.error());
            take(std::move(*outcome));
            const auto wrong =
                std::ranges::count(judgement_.trials, false, &TrialResult::isWithinLoose);
            if (!judgement_.refusals.empty() || static_cast<std::size_t>(wrong) >= enoughWrong)
                return false;
        }
        return true;
    }

private:
    void take(TrialOutcome outcome) {
        // The first trial: both sets of inputs are usual ones.
        if (judgement_.trials.empty())
            judgement_.isOutputConstant = outcome.isOutputConstant;
        for (TrialResult& result : outcome.results)
            judgement_.trials.push_back(std::move(result));
        for (const std::string& node : outcome.libraryNodes)
            if (std::ranges::find(judgement_.libraryNodes, node) == judgement_.libraryNodes.end())
                judgement_.libraryNodes.push_back(node);
        if (!outcome.refusal.empty())
            judgement_.refusals.push_back(std::move(outcome.refusal));
    }

    const TorchJudgeRequest& request_;
    Judgement& judgement_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace

Result<Judgement> judge(const std::shared_ptr<const Program>& program,
                        const TorchJudgeRequest& request) {
    const auto referee = Referee::of(program, request.subject);
    if (!referee)
        return std::unexpected(referee.error());
    const auto eager = PreparedProgram::prepareAsWritten(program, request.subject);
    if (!eager)
        return std::unexpected(eager.error());
    const auto model = TrialTensors::ofExported(*program);
    if (!model)
        return std::unexpected(model.error());
    const auto candidate = Candidate::load(request.library);
    if (!candidate)
        return std::unexpected(candidate.error());

    Judgement judgement;
    judgement.device = deviceName(eager->place().device);
    const Contest contest{*candidate, *model, *referee, *eager};
    const std::size_t trials = std::max<std::size_t>(request.seeds, 1) * leastTrials;
    judgement.plannedTrials = static_cast<std::uint32_t>(2 * trials);
    Gate gate(request, judgement);
    auto goesOn = gate.run(contest, 0, leastTrials);
    if (const auto other = otherSymbols(*program, model->symbols); goesOn && *goesOn && other) {
        const auto otherModel = TrialTensors::of(*program, *other);
        if (!otherModel)
            return std::unexpected(otherModel.error());
        judgement.plannedTrials += 2 * leastTrials;
        goesOn = gate.run({*candidate, *otherModel, *referee, *eager}, 0, leastTrials);
    }
    if (goesOn && *goesOn)
        goesOn = gate.run(contest, leastTrials, trials);
    if (!goesOn)
        return std::unexpected(goesOn.error());
    if (!request.wantsTimes || !judgement.isWithinLoose())
        return judgement;
    auto outcome = race(contest, request);
    if (!outcome)
        return std::unexpected(outcome.error());
    if (outcome->refusal.empty())
        judgement.times = std::move(outcome->times);
    else
        judgement.refusals.push_back(std::move(outcome->refusal));
    return judgement;
}

} // namespace kernelskill::engine::graph
