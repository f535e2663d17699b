#include "engine/graph/torch/mix.h"

#include "engine/graph/torch/device_streams.h"
#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/gate_trial.h"
#include "engine/graph/torch/mixed_program.h"
#include "engine/graph/torch/part_model.h"
#include "engine/graph/torch/referee.h"

#include <algorithm>
#include <c10/core/StreamGuard.h>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

class MixJudge {
public:
    MixJudge(const std::shared_ptr<const Program>& program, const TorchMixRequest& request,
             const Referee& referee, const PreparedProgram& eager, const TrialTensors& model)
        : program_(program), request_(request), referee_(referee), eager_(eager), model_(model),
          device_(eager.place().device), stream_(newStream(device_)), onStream_(stream_),
          mixes_(request.mixes.size()) {}

    Result<TorchMixes> run() {
        load();
        for (std::size_t number = 0; number < leastTrials; ++number) {
            const TrialPlan plan = trialPlan(request_.subject.seed, number);
            const std::vector<at::Tensor> weights = drawnWeights(plan.first.seed);
            prepare(weights);
            for (const Draw& draw : {plan.first, plan.second})
                if (auto done = runAll(weights, draw); !done)
                    return std::unexpected(done.error());
        }
        TorchMixes answer;
        for (Mix& mix : mixes_) {
            if (mix.isGoing)
                mix.verdict.outcome = MixVerdict::Outcome::Right;
            answer.verdicts.push_back(std::move(mix.verdict));
        }
        return answer;
    }

private:
    struct Mix {
        std::vector<std::size_t> models;
        std::optional<MixedProgram> program;
        bool isGoing = false; ///< Neither wrong nor given up.
        MixVerdict verdict;
    };

    static void giveUp(Mix& mix, std::string why) {
        mix.isGoing = false;
        mix.verdict.why = std::move(why);
    }

    void load() {
        std::vector<std::string> problems(request_.libraries.size());
        for (std::size_t i = 0; i < request_.libraries.size(); ++i) {
            auto model = withoutExceptions("it cannot be loaded", "", [&] {
                return PartModel::load(program_, request_.libraries[i], request_.subject);
            });
            if (!model)
                problems[i] = model.error().describe();
            models_.push_back(model ? std::move(*model) : nullptr);
        }
        for (std::size_t i = 0; i < mixes_.size(); ++i) {
            Mix& mix = mixes_[i];
            mix.models = request_.mixes[i];
            std::vector<PartModel*> models;
            for (const std::size_t model : mix.models) {
                if (models_[model] == nullptr && mix.verdict.why.empty())
                    mix.verdict.why = problems[model];
                models.push_back(models_[model].get());
            }
            if (!mix.verdict.why.empty())
                continue;
            mix.program.emplace(eager_, models);
            mix.verdict.leftOut = mix.program->leftOut();
            mix.isGoing = true;
        }
    }

    [[nodiscard]] at::Tensor emptyFor(const TrialTensor& tensor) const {
        return at::empty(tensor.sizes, at::TensorOptions().dtype(tensor.type).device(device_));
    }

    [[nodiscard]] std::vector<at::Tensor> drawnWeights(std::uint64_t seed) const {
        std::vector<at::Tensor> weights;
        for (const TrialTensor& weight : model_.weights) {
            weights.push_back(emptyFor(weight));
            drawWeight(weights.back(), weight, seed);
        }
        return weights;
    }

    void prepare(const std::vector<at::Tensor>& weights) {
        const Values values = valuesFor(eager_, model_, weights, {});
        std::set<std::size_t> used;
        for (const Mix& mix : mixes_)
            if (mix.isGoing)
                used.insert(mix.models.begin(), mix.models.end());
        for (const std::size_t model : used) {
            const auto done = withoutExceptions("it cannot be prepared", "", [&] {
                return models_[model]->prepare(values, stream_);
            });
            if (done)
                continue;
            for (Mix& mix : mixes_)
                if (mix.isGoing && std::ranges::find(mix.models, model) != mix.models.end())
                    giveUp(mix, done.error().describe());
        }
    }

    Result<void> runAll(const std::vector<at::Tensor>& weights, const Draw& draw) {
        if (std::ranges::none_of(mixes_, &Mix::isGoing))
            return {};
        if (std::chrono::steady_clock::now() - begin_ > request_.longest) {
            for (Mix& mix : mixes_)
                if (mix.isGoing)
                    giveUp(mix, "the time was up");
            return {};
        }
        std::vector<at::Tensor> inputs;
        for (const TrialTensor& input : model_.inputs) {
            inputs.push_back(emptyFor(input));
            drawInput(inputs.back(), input, draw);
        }
        const Values values = valuesFor(eager_, model_, weights, inputs);
        auto expectation = referee_.expect(model_, values);
        if (!expectation)
            return std::unexpected(expectation.error());
        for (Mix& mix : mixes_) {
            if (!mix.isGoing)
                continue;
            const auto result = withoutExceptions(
                "it cannot be run", "", [&] { return resultOf(mix, values, *expectation, draw); });
            if (result) {
                take(mix, *result, draw);
                continue;
            }
            giveUp(mix, result.error().describe());
            // Throws if the models left the GPU unusable for others.
            synchronizeDevice(device_);
        }
        return {};
    }

    Result<TrialResult> resultOf(const Mix& mix, const Values& values, Expectation& expectation,
                                 const Draw& draw) const {
        static_cast<void>(eager_.begin()); // Seeds nodes that draw numbers.
        auto made = mix.program->run(values, stream_, request_.tolerance == Tolerance::Loose);
        if (!made)
            return std::unexpected(made.error());
        std::vector<at::Tensor> outputs;
        for (const TrialTensor& output : model_.outputs)
            outputs.push_back(made->at(output.name).toTensor().reshape(output.sizes));
        synchronize(stream_);
        return Referee::compare(expectation, outputs,
                                draw.distribution == Distribution::LargeMagnitude, request_.share);
    }

    void take(Mix& mix, const TrialResult& result, const Draw& draw) const {
        MixVerdict& verdict = mix.verdict;
        const std::string where = std::string(nameOf(draw.distribution)) + " inputs, seed " +
                                  std::to_string(draw.seed) + ": " + result.worst;
        const bool isRight = result.isWithin(request_.tolerance);
        if (!isRight) {
            mix.isGoing = false;
            verdict.outcome = MixVerdict::Outcome::Wrong;
        }
        if (!isRight || result.error >= verdict.error)
            verdict.worst = where;
        verdict.error = std::max(verdict.error, result.error);
    }

    std::shared_ptr<const Program> program_;
    const TorchMixRequest& request_;
    const Referee& referee_;
    const PreparedProgram& eager_;
    const TrialTensors& model_;
    c10::Device device_;
    c10::Stream stream_;
    c10::StreamGuard onStream_;
    std::vector<std::unique_ptr<PartModel>> models_; ///< Null where one cannot be loaded.
    std::vector<Mix> mixes_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace

Result<TorchMixes> judgeMixes(const std::shared_ptr<const Program>& program,
                              const TorchMixRequest& request) {
    const auto referee = Referee::of(program, request.subject);
    if (!referee)
        return std::unexpected(referee.error());
    const auto eager = PreparedProgram::prepareAsWritten(program, request.subject);
    if (!eager)
        return std::unexpected(eager.error());
    const auto model = TrialTensors::ofExported(*program);
    if (!model)
        return std::unexpected(model.error());
    releaseCachedMemory(); // Memory of other streams.
    auto mixes = withoutExceptions("the mixes cannot be judged", "", [&] {
        return MixJudge(program, request, *referee, *eager, *model).run();
    });
    releaseCachedMemory(); // Other processes may use the GPU until the next request.
    return mixes;
}

} // namespace kernelskill::engine::graph
