/// A fixture for choices between own kernels and libraries, with made-up times and verdicts.
#pragma once

#include "engine/graph/choice/node_choice.h"
#include "tests/engine/graph/program_builder.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine::graph::testing {

/// A chain of linear layers with a clamp behind each; `widths`: of the layers' results.
inline Program layers(const std::vector<std::int64_t>& widths) {
    ProgramBuilder builder;
    builder.input("x", {1024, 1024});
    std::string from = "x";
    std::int64_t width = 1024;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string number = std::to_string(i);
        builder.parameter("w" + number, {widths[i], width});
        width = widths[i];
        builder
            .node("linear" + number, "aten.linear.default",
                  {value("input", from), value("weight", "w" + number)})
            .type("linear" + number, {1024, width})
            .node("relu" + number, "aten.relu.default", {value("self", "linear" + number)})
            .type("relu" + number, {1024, width});
        from = "relu" + number;
    }
    builder.output(from);
    return builder.program();
}

/// Convolutions whose images a library may have in channels-last order,
/// with a pool behind each.
inline Program convolutions(int count = 2) {
    ProgramBuilder builder;
    std::int64_t side = std::int64_t{8} << count;
    builder.input("x", {4, 16, side, side});
    std::string from = "x";
    std::int64_t channels = 16;
    for (int i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        builder.parameter("w" + number, {channels, channels, 3, 3})
            .node("conv" + number, "aten.conv2d.default",
                  {value("input", from),
                   value("weight", "w" + number),
                   {"padding", std::vector<std::int64_t>{1, 1}}})
            .type("conv" + number, {4, channels, side, side})
            .node(
                "pool" + number, "aten.max_pool2d.default",
                {value("self", "conv" + number), {"kernel_size", std::vector<std::int64_t>{2, 2}}})
            .type("pool" + number, {4, channels, side / 2, side / 2});
        side /= 2;
        from = "pool" + number;
    }
    builder.output(from);
    return builder.program();
}

inline bool hasChannelsLast(const std::string& code) {
    return code.contains("isChannelsLast");
}

/// Gives times by what the variants' files say.
class MadeUpRacer : public VariantRacer {
public:
    /// The time of a model; nullopt: it does not compile.
    using TimeOf = std::function<std::optional<double>(const std::string& code)>;
    explicit MadeUpRacer(TimeOf timeOf) : timeOf_(std::move(timeOf)) {}

    void build(std::size_t place, const std::optional<ProgramPart>& part,
               const std::vector<ModelFiles>& variants) override {
        parts_[place] = part;
        built_[place] = variants;
    }
    Result<std::vector<VariantTime>> race(std::size_t place, const RaceStops& stops) override {
        raced.push_back(parts_.at(place));
        if (raced.size() == onLast)
            last.request_stop();
        if (stops.all.stop_requested() || raced.size() > most)
            return std::unexpected(Error{ErrorKind::Cancelled, "stopped", "", ""});
        std::vector<VariantTime> times;
        for (const ModelFiles& files : built_.at(place)) {
            const std::string code = compiledOf(files);
            if (stops.compiling.stop_requested() && isLate(code)) {
                times.push_back({std::nullopt, 0, "it was not compiled in time"});
                continue;
            }
            const auto time = timeOf_(code);
            times.push_back({time, 0.01, time ? "" : "nvcc: error"});
        }
        return times;
    }

    Result<std::vector<MixVerdict>> judge(const std::vector<VariantMix>& mixes,
                                          std::stop_token stop) override {
        if (stop.stop_requested() || isJudgeGone)
            return std::unexpected(Error{ErrorKind::Cancelled, "stopped", "", ""});
        std::vector<MixVerdict> verdicts;
        for (const VariantMix& mix : mixes) {
            judged.push_back(mix.size());
            std::vector<std::string> codes;
            for (const PlacedVariant& variant : mix)
                codes.push_back((variant.part ? "" : "whole\n") + compiledOf(*variant.files));
            verdicts.push_back(verdictOf(codes));
        }
        return verdicts;
    }

    std::vector<std::optional<ProgramPart>> raced; ///< The calls of race().
    std::size_t most = 1000;                       ///< Later races are stopped.
    std::size_t onLast = 0;                        ///< The race that requests `last`, from 1.
    std::stop_source last;
    /// Whether a model is compiled only when no compiler is waited for any more.
    std::function<bool(const std::string& code)> isLate = [](const std::string&) { return false; };
    std::vector<std::size_t> judged; ///< The models of each mix.
    bool isJudgeGone = false;
    /// The verdict on models.
    std::function<MixVerdict(const std::vector<std::string>& codes)> verdictOf =
        [](const std::vector<std::string>&) { return right(); };

    static MixVerdict right() { return {MixVerdict::Outcome::Right, 1e-3, "normal inputs", ""}; }
    static MixVerdict wrong(double error = 0.5) {
        return {MixVerdict::Outcome::Wrong, error, "normal inputs, seed 1: 2 instead of 1", ""};
    }

private:
    static std::string compiledOf(const ModelFiles& files) {
        std::string code;
        for (const auto& [path, text] : files)
            if (path.ends_with(".cu") || path == "model.cpp")
                code += text;
        return code;
    }

    TimeOf timeOf_;
    std::map<std::size_t, std::optional<ProgramPart>> parts_;
    std::map<std::size_t, std::vector<ModelFiles>> built_;
};

inline bool callsLibrary(const std::string& code) {
    return code.contains("library.run(");
}

class NodeChoice : public ::testing::Test {
protected:
    ModelChoice choose(const Program& program, MadeUpRacer& racer,
                       MultiplyUnit most = MultiplyUnit::TF32, std::stop_token stop = {},
                       std::stop_token measuring = {}, std::stop_token compiling = {}) {
        ChoiceRequest request;
        request.name = "model";
        request.options.kernels.multiply = most;
        request.tolerance = tolerance_;
        request.machine = machine_;
        auto choice = chooseByTimes(program, request, racer, memory_,
                                    {.simple = stop,
                                     .measuring = measuring.stop_possible() ? measuring : stop,
                                     .compiling = compiling.stop_possible() ? compiling : stop,
                                     .all = stop});
        EXPECT_TRUE(choice) << choice.error().describe();
        return choice.value_or(ModelChoice{});
    }
    static ModelPlan planOf(const Program& program, const ModelChoice& choice) {
        auto plan = plannedModel(program, "model", choice.options);
        EXPECT_TRUE(plan) << plan.error().describe();
        return *std::move(plan);
    }
    static std::string chosenOf(const PlaceMeasurement& place) {
        return place.variants.at(place.chosen).what;
    }

    std::string machine_ = "a GPU";
    Tolerance tolerance_ = Tolerance::Loose;
    std::map<std::string, std::string> kept_;
    const TimesMemory memory_{
        .find = [this](const std::string& key) -> std::optional<std::string> {
            const auto known = kept_.find(key);
            return known != kept_.end() ? std::optional(known->second) : std::nullopt;
        },
        .keep = [this](const std::string& key, const std::string& text) { kept_[key] = text; }};
};

inline bool isTf32(const std::string& code) {
    return code.contains("stages, TF32") && !code.contains("two parts");
}

inline bool isSplitBFloat16(const std::string& code) {
    return code.contains("bfloat16 in two parts");
}

inline bool isSplitTf32(const std::string& code) {
    return code.contains("TF32 in two parts");
}

/// Own kernels in TF32 are fastest, then those in split bfloat16, in split TF32, then libraries.
inline std::optional<double> timeByUnit(const std::string& code) {
    if (callsLibrary(code))
        return 80.0;
    if (isTf32(code))
        return 40.0;
    return isSplitBFloat16(code) ? 50.0 : (isSplitTf32(code) ? 60.0 : 100.0);
}

/// Why own kernels in TF32 are refused; empty if they are not.
inline std::string refusalOfTf32(const PlaceMeasurement& place) {
    const auto found = std::ranges::find_if(
        place.variants, [](const MeasuredVariant& variant) { return isTf32(variant.what); });
    return found != place.variants.end() ? found->refused : "no such variant";
}

} // namespace kernelskill::engine::graph::testing
