/// The choice between own kernels and libraries, with made-up times.
#include "engine/graph/choice/node_choice.h"
#include "engine/graph/lowering/raised.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProgramBuilder;
using ::testing::SizeIs;
using testing::value;

/// A chain of linear layers with a clamp behind each; `widths`: of the layers' results.
Program layers(const std::vector<std::int64_t>& widths) {
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
    Result<std::vector<VariantTime>> race(std::size_t place, std::stop_token stop) override {
        raced.push_back(parts_.at(place));
        if (raced.size() == onLast)
            last.request_stop();
        if (stop.stop_requested() || raced.size() > most)
            return std::unexpected(Error{ErrorKind::Cancelled, "stopped", "", ""});
        std::vector<VariantTime> times;
        for (const ModelFiles& files : built_.at(place)) {
            const auto time = timeOf_(compiledOf(files));
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

bool callsLibrary(const std::string& code) {
    return code.contains("library.run(");
}

class NodeChoice : public ::testing::Test {
protected:
    ModelChoice choose(const Program& program, MadeUpRacer& racer,
                       MultiplyUnit most = MultiplyUnit::TF32, std::stop_token stop = {},
                       std::stop_token measuring = {}) {
        ChoiceRequest request;
        request.name = "model";
        request.options.kernels.multiply = most;
        request.machine = machine_;
        const TimesMemory memory{
            .find = [this](const std::string& key) -> std::optional<std::string> {
                const auto known = kept_.find(key);
                return known != kept_.end() ? std::optional(known->second) : std::nullopt;
            },
            .keep = [this](const std::string& key, const std::string& text) { kept_[key] = text; }};
        auto choice = chooseByTimes(program, request, racer, memory,
                                    {.simple = stop,
                                     .measuring = measuring.stop_possible() ? measuring : stop,
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
    std::map<std::string, std::string> kept_;
};

TEST_F(NodeChoice, LeavesANodeToTheLibraryThatIsFaster) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 50.0 : 80.0; });
    const ModelChoice choice = choose(program, racer);
    ASSERT_THAT(choice.places, SizeIs(1));
    EXPECT_TRUE(choice.places[0].isMeasured);
    EXPECT_EQ(chosenOf(choice.places[0]), "a library in float32");
    EXPECT_THAT(choice.places[0].nodes, ElementsAre("linear0"));
    EXPECT_EQ(choice.places[0].operation,
              "aten.linear.default of float32[1024, 1024], float32[512, 1024]");
    const ModelPlan plan = planOf(program, choice);
    ASSERT_THAT(libraryCalls(plan), SizeIs(1));
    EXPECT_EQ(libraryCalls(plan)[0]->node, "linear0");
    // The clamp behind it stays a kernel.
    EXPECT_THAT(plan.steps, SizeIs(2));
    EXPECT_THAT(racer.raced, SizeIs(1)) << "the part is the whole model";
}

TEST_F(NodeChoice, TakesTheTileThatIsFastest) {
    const Program program = layers({4096});
    MadeUpRacer equal([](const std::string&) { return 50.0; });
    const std::vector<MeasuredVariant> variants = choose(program, equal).places.at(0).variants;
    ASSERT_GE(variants.size(), 7U) << "two more exact units, tiles, and the library twice";
    for (const std::size_t wanted : {std::size_t{2}, variants.size() - 3}) {
        const std::string schedule =
            variants[wanted].what.substr(std::string("own kernels: ").size());
        MadeUpRacer racer(
            [&](const std::string& code) { return code.contains(schedule) ? 40.0 : 50.0; });
        machine_ = schedule;
        const ModelPlan plan = planOf(program, choose(program, racer));
        EXPECT_THAT(libraryCalls(plan), IsEmpty());
        EXPECT_TRUE(std::ranges::any_of(plan.steps, [&](const ModelStep& step) {
            const auto* kernel = std::get_if<Kernel>(&step.work);
            return kernel != nullptr && kernel->schedule == schedule;
        })) << schedule;
    }
}

TEST_F(NodeChoice, PrefersOwnAndMoreExactKernelsThatAreEquallyFast) {
    const Program program = layers({512});
    MadeUpRacer library([](const std::string& code) { return callsLibrary(code) ? 100.0 : 100.9; });
    const ModelChoice own = choose(program, library);
    EXPECT_THAT(chosenOf(own.places.at(0)), HasSubstr("float32"));
    EXPECT_THAT(libraryCalls(planOf(program, own)), IsEmpty());
    machine_ = "another GPU";
    MadeUpRacer inexact([](const std::string& code) {
        if (callsLibrary(code))
            return 100.0;
        return code.contains("stages, TF32") ? 95.0 : 98.0;
    });
    EXPECT_THAT(chosenOf(choose(program, inexact).places.at(0)), HasSubstr("TF32"));
}

TEST_F(NodeChoice, TriesNoPrecisionThatIsNotAllowed) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string&) { return 100.0; });
    for (const auto& [most, name] :
         {std::pair(MultiplyUnit::Float32, "TF32"), {MultiplyUnit::TF32Split, "stages, TF32 "}}) {
        const ModelChoice choice = choose(program, racer, most);
        std::size_t own = 0;
        for (const MeasuredVariant& variant : choice.places.at(0).variants)
            if (!variant.what.starts_with("a library")) {
                ++own;
                EXPECT_FALSE((variant.what + " ").contains(name) &&
                             !variant.what.contains("two parts"))
                    << variant.what;
            }
        EXPECT_GT(own, 1U);
    }
}

TEST_F(NodeChoice, MeasuresEqualLayersOnceAndNothingAgain) {
    const Program program = layers({1024, 1024, 512});
    MadeUpRacer racer([](const std::string& code) {
        return 10.0 + static_cast<double>(std::ranges::count(code, '\n'));
    });
    const ModelChoice first = choose(program, racer);
    EXPECT_THAT(first.places, SizeIs(3));
    const std::size_t parts = static_cast<std::size_t>(
        std::ranges::count_if(racer.raced, [](const auto& part) { return part.has_value(); }));
    EXPECT_EQ(parts, 2U) << "two of the layers are equal";

    MadeUpRacer idle([](const std::string&) { return 1.0; });
    const ModelChoice second = choose(program, idle);
    EXPECT_THAT(idle.raced, IsEmpty());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(second.places[i].isRemembered);
        EXPECT_EQ(chosenOf(second.places[i]), chosenOf(first.places[i]));
        EXPECT_EQ(second.places[i].variants[0].time.microseconds,
                  first.places[i].variants[0].time.microseconds);
    }
    EXPECT_EQ(second.options.libraryNodes, first.options.libraryNodes);
    EXPECT_EQ(second.options.kernels.ofNodes, first.options.kernels.ofNodes);

    machine_ = "another GPU";
    static_cast<void>(choose(program, idle));
    EXPECT_THAT(idle.raced, Not(IsEmpty()));
}

TEST_F(NodeChoice, LeavesWhatIsNotMeasuredToTheLibraryAndSaysWhy) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 80.0 : 50.0; });
    racer.most = 1;
    const ModelChoice choice = choose(program, racer);
    ASSERT_THAT(choice.places, SizeIs(2));
    EXPECT_TRUE(choice.places[0].isMeasured);
    EXPECT_FALSE(choice.places[1].isMeasured);
    EXPECT_EQ(choice.places[1].why, "the time was up");
    EXPECT_EQ(chosenOf(choice.places[1]), "a library in float32");
    EXPECT_EQ(choice.options.float32Nodes, choice.options.libraryNodes);
    EXPECT_EQ(choice.options.libraryNodes,
              std::set<std::string>(choice.places[1].nodes.begin(), choice.places[1].nodes.end()));
}

TEST_F(NodeChoice, KeepsASmallerComputationThatIsNotMeasured) {
    // Both layers are one product, by linear-after-linear: a library would compute two.
    ProgramBuilder builder;
    builder.input("x", {1024, 1024}).parameter("v", {1024, 1024}).parameter("w", {64, 1024});
    builder.node("first", "aten.linear.default", {value("input", "x"), value("weight", "v")})
        .type("first", {1024, 1024})
        .node("second", "aten.linear.default", {value("input", "first"), value("weight", "w")})
        .type("second", {1024, 64})
        .output("second");
    MadeUpRacer racer([](const std::string&) { return 50.0; });
    racer.most = 0;
    const ModelChoice choice = choose(builder.program(), racer);
    ASSERT_THAT(choice.places, SizeIs(1));
    EXPECT_FALSE(choice.places[0].isMeasured);
    EXPECT_NE(chosenOf(choice.places[0]), "a library");
    EXPECT_THAT(choice.options.libraryNodes, IsEmpty());
}

TEST_F(NodeChoice, DoesNotTakeAVariantWithoutATime) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string& code) {
        return callsLibrary(code) ? std::nullopt : std::optional(80.0);
    });
    const ModelChoice choice = choose(program, racer);
    EXPECT_TRUE(choice.options.libraryNodes.empty());
    EXPECT_EQ(choice.places.at(0).variants.back().time.why, "nvcc: error");
    machine_ = "another GPU";
    MadeUpRacer broken([](const std::string&) { return std::nullopt; });
    const ModelChoice none = choose(program, broken);
    EXPECT_FALSE(none.places.at(0).isMeasured);
    EXPECT_EQ(none.places.at(0).why, "no variant could be timed");
    EXPECT_THAT(none.options.libraryNodes, ElementsAre("linear0"));
}

TEST_F(NodeChoice, ComparesWholeModelsAndTakesASimpleOneThatIsFaster) {
    const Program program = layers({1024, 512});
    // A library wins at each place, and loses where the whole is timed.
    MadeUpRacer racer([](const std::string& code) {
        const bool isWhole = code.contains("namespace model");
        return callsLibrary(code) == isWhole ? 80.0 : 50.0;
    });
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_EQ(chosenOf(place), "a library in float32");
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
    EXPECT_THAT(libraryCalls(planOf(program, choice)), IsEmpty());
}

TEST_F(NodeChoice, ComparesWholeModelsAlsoWhenTheTimeForPlacesIsUp) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer([](const std::string& code) {
        const bool isWhole = code.contains("namespace model");
        return callsLibrary(code) == isWhole ? 80.0 : 50.0;
    });
    racer.onLast = 2;
    const ModelChoice choice =
        choose(program, racer, MultiplyUnit::TF32, {}, racer.last.get_token());
    EXPECT_TRUE(racer.last.stop_requested());
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
}

TEST_F(NodeChoice, ComparesWholeModelsWhereNoPlaceWasMeasuredInTime) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 80.0 : 50.0; });
    std::stop_source past;
    past.request_stop();
    const ModelChoice choice = choose(program, racer, MultiplyUnit::TF32, {}, past.get_token());
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_FALSE(place.isMeasured);
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "own kernels alone");
    EXPECT_THAT(libraryCalls(planOf(program, choice)), IsEmpty());
}

TEST_F(NodeChoice, LetsALibraryDoAReductionThatIsFasterThere) {
    ProgramBuilder builder;
    builder.input("x", {4096, 4096})
        .node("softmax", "aten.softmax.int", {value("self", "x"), {"dim", std::int64_t{-1}}})
        .type("softmax", {4096, 4096})
        .output("softmax");
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 50.0 : 80.0; });
    const ModelChoice choice = choose(builder.program(), racer);
    ASSERT_THAT(choice.places, SizeIs(1));
    EXPECT_THAT(choice.options.libraryNodes, ElementsAre("softmax"));
    // Without a time, a reduction stays an own kernel.
    machine_ = "another GPU";
    racer.most = 0;
    EXPECT_THAT(choose(builder.program(), racer).options.libraryNodes, IsEmpty());
}

bool isTf32(const std::string& code) {
    return code.contains("stages, TF32") && !code.contains("two parts");
}

/// Own kernels in TF32 are fastest, then those in split TF32, then libraries.
std::optional<double> timeByUnit(const std::string& code) {
    if (callsLibrary(code))
        return 80.0;
    return isTf32(code) ? 40.0 : (code.contains("two parts") ? 60.0 : 100.0);
}

/// Convolutions whose images a library may have in channels-last order,
/// with a pool behind each.
Program convolutions(int count = 2) {
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

bool hasImagesTurned(const std::string& code) {
    return code.contains("isChannelsLast");
}

TEST_F(NodeChoice, TakesChannelsLastOrderWhereItIsFasterThere) {
    const Program program = convolutions();
    MadeUpRacer racer([](const std::string& code) {
        return hasImagesTurned(code) ? 20.0 : callsLibrary(code) ? 30.0 : 50.0;
    });
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        if (place.operation.contains("conv2d"))
            EXPECT_EQ(chosenOf(place), "a library, in channels-last order");
    EXPECT_THAT(channelsLastCalls(planOf(program, choice)), ElementsAre("conv0", "conv1"));
}

TEST_F(NodeChoice, TimesWholeModelsFirstWherePlacesAreMany) {
    const Program program = convolutions(13);
    const auto timeOf = [](const std::string& code) {
        return hasImagesTurned(code) ? 20.0 : callsLibrary(code) ? 30.0 : 50.0;
    };
    MadeUpRacer racer(timeOf);
    racer.onLast = 2; // The first race is that of whole models.
    const ModelChoice choice =
        choose(program, racer, MultiplyUnit::TF32, {}, racer.last.get_token());
    ASSERT_FALSE(racer.raced.empty());
    EXPECT_FALSE(racer.raced[0]) << "a part instead of the whole";
    ASSERT_GE(choice.places.size(), 13U);
    EXPECT_FALSE(choice.places[0].isMeasured);
    EXPECT_EQ(chosenOf(choice.places[0]), "a library, in channels-last order");
    EXPECT_THAT(channelsLastCalls(planOf(program, choice)), SizeIs(13));

    // Without that time, the order is PyTorch's.
    machine_ = "another GPU";
    MadeUpRacer none(timeOf);
    none.most = 0;
    const ModelChoice unknown = choose(program, none);
    EXPECT_EQ(chosenOf(unknown.places.at(0)), "a library");
    EXPECT_THAT(channelsLastCalls(planOf(program, unknown)), IsEmpty());
}

TEST_F(NodeChoice, TakesChannelsLastOrderWhereOnlyTheWholeIsFasterWithIt) {
    const Program program = convolutions();
    // A place alone turns its images twice.
    const auto convolutionsIn = [](const std::string& code) {
        std::size_t count = 0;
        for (auto at = code.find("library.run("); at != std::string::npos;
             at = code.find("library.run(", at + 1))
            ++count;
        return count;
    };
    MadeUpRacer racer([&](const std::string& code) {
        if (!callsLibrary(code))
            return 100.0;
        return hasImagesTurned(code) && convolutionsIn(code) == 1 ? 40.0
               : hasImagesTurned(code) ? 45.0
                                       : 30.0 * static_cast<double>(convolutionsIn(code));
    });
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        if (place.operation.contains("conv2d"))
            EXPECT_EQ(chosenOf(place), "a library");
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "as chosen place by place, images in channels-last order");
    EXPECT_THAT(channelsLastCalls(planOf(program, choice)), ElementsAre("conv0", "conv1"));
}

TEST_F(NodeChoice, ChoosesNothingForOtherPlacesByAPlaceWithOneKindOfOwnKernels) {
    ProgramBuilder builder;
    builder.input("x", {4, 64, 32, 32})
        .parameter("v", {64, 1, 3, 3})
        .parameter("w", {128, 64, 1, 1})
        .node("depthwise", "aten.conv2d.default",
              {value("input", "x"),
               value("weight", "v"),
               {"padding", std::vector<std::int64_t>{1, 1}},
               {"groups", std::int64_t{64}}})
        .type("depthwise", {4, 64, 32, 32})
        .node("pointwise", "aten.conv2d.default",
              {value("input", "depthwise"), value("weight", "w")})
        .type("pointwise", {4, 128, 32, 32})
        .output("pointwise");
    const Program program = builder.program();
    MadeUpRacer racer(timeByUnit);
    const ModelPlan plan = planOf(program, choose(program, racer));
    EXPECT_THAT(libraryCalls(plan), IsEmpty());
    const auto product = std::ranges::find_if(plan.steps, [](const ModelStep& step) {
        const auto* kernel = std::get_if<Kernel>(&step.work);
        return kernel != nullptr && kernel->schedule.contains("results a block, each a warp");
    });
    ASSERT_NE(product, plan.steps.end());
    EXPECT_THAT(std::get<Kernel>(product->work).schedule, HasSubstr("TF32"));
}

TEST_F(NodeChoice, TakesTheFastestThatIsExactEnough) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return isTf32(codes.at(0)) ? MadeUpRacer::wrong() : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    const PlaceMeasurement& place = choice.places.at(0);
    EXPECT_THAT(chosenOf(place), HasSubstr("two parts"));
    for (const MeasuredVariant& variant : place.variants)
        EXPECT_EQ(variant.refused,
                  isTf32(variant.what) ? "normal inputs, seed 1: 2 instead of 1" : "")
            << variant.what;
    ASSERT_TRUE(choice.accuracy);
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Right);
    EXPECT_TRUE(choice.accuracy->isOfWhole) << "the place is the whole program";
    EXPECT_THAT(racer.judged, SizeIs(2)) << "a unit that is refused is not judged with other tiles";
    EXPECT_TRUE(std::ranges::any_of(planOf(program, choice).steps, [](const ModelStep& step) {
        const auto* kernel = std::get_if<Kernel>(&step.work);
        return kernel != nullptr && kernel->schedule.contains("two parts");
    }));
}

TEST_F(NodeChoice, LeavesAProductWithoutTf32ToALibrary) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string& code) -> std::optional<double> {
        if (callsLibrary(code))
            return code.contains("needsFloat32") ? 50.0 : 30.0;
        return 90.0;
    });
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return callsLibrary(codes.at(0)) && !codes.at(0).contains("needsFloat32")
                   ? MadeUpRacer::wrong()
                   : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    EXPECT_EQ(chosenOf(choice.places.at(0)), "a library in float32");
    const ModelPlan plan = planOf(program, choice);
    EXPECT_THAT(plan.float32Nodes, ElementsAre("linear0"));
    EXPECT_THAT(modelFiles(plan).at("model.cpp"), HasSubstr("name == \"linear0\""));
}

TEST_F(NodeChoice, ChangesOnlyThePlacesThatMakeTheProgramWrong) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    // The last layer has to be exact, alone and with the others.
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        for (const std::string& code : codes)
            if (isTf32(code) && (code.starts_with("whole") || code.contains("[512, 1024]")))
                return MadeUpRacer::wrong();
        return MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    ASSERT_THAT(choice.places, SizeIs(2));
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_EQ(isTf32(chosenOf(place)), place.nodes.at(0) == "linear0") << chosenOf(place);
}

TEST_F(NodeChoice, MakesTheLargestErrorSmallerWherePlacesAreWrongTogether) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        const auto inexact = std::ranges::count_if(codes, isTf32);
        if (inexact > 1)
            return MadeUpRacer::wrong();
        MixVerdict verdict = MadeUpRacer::right();
        for (const std::string& code : codes)
            if (isTf32(code))
                verdict.error = code.contains("[512, 1024]") ? 2e-3 : 8e-3;
        return verdict;
    };
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_EQ(isTf32(chosenOf(place)), place.nodes.at(0) == "linear1") << chosenOf(place);
    EXPECT_THAT(choice.places.at(0).variants.at(2).refused +
                    choice.places.at(1).variants.at(2).refused,
                HasSubstr("with all places, normal inputs"));
}

TEST_F(NodeChoice, TakesNoTf32ThatNothingVouchesFor) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.isJudgeGone = true;
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places) {
        EXPECT_THAT(chosenOf(place), HasSubstr("two parts"));
        EXPECT_EQ(place.variants.at(2).refused, "not compared: the time was up");
    }
    ASSERT_TRUE(choice.accuracy);
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::NotCompared);
    EXPECT_EQ(choice.accuracy->verdict.why, "the time was up");
}

TEST_F(NodeChoice, TakesNoTf32WhereAPartIsLeftOut) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        MixVerdict verdict = MadeUpRacer::right();
        for (std::size_t i = 0; i < codes.size(); ++i)
            if (codes[i].contains("[512, 1024]") && !codes[i].starts_with("whole"))
                verdict.leftOut.push_back(i);
        return verdict;
    };
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places)
        EXPECT_EQ(isTf32(chosenOf(place)), place.nodes.at(0) == "linear0") << chosenOf(place);
    EXPECT_EQ(std::ranges::count(racer.judged, 2U), 2) << "what is picked then is judged as well";
}

TEST_F(NodeChoice, RemembersVerdicts) {
    const Program program = layers({1024, 512});
    const auto verdictOf = [](const std::vector<std::string>& codes) {
        return std::ranges::any_of(codes, isTf32) ? MadeUpRacer::wrong() : MadeUpRacer::right();
    };
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = verdictOf;
    const ModelChoice first = choose(program, racer);
    MadeUpRacer idle(timeByUnit);
    const ModelChoice second = choose(program, idle);
    EXPECT_THAT(idle.raced, IsEmpty());
    EXPECT_THAT(idle.judged, IsEmpty());
    EXPECT_EQ(second.options.kernels.ofNodes, first.options.kernels.ofNodes);
    EXPECT_FALSE(first.accuracy->isRemembered);
    EXPECT_TRUE(second.accuracy->isRemembered);
    EXPECT_EQ(second.places.at(0).variants.at(2).refused,
              first.places.at(0).variants.at(2).refused);
    EXPECT_NE(second.places.at(0).variants.at(2).refused, "");

    // Other weights may need other variants.
    Program other = program;
    other.tensors["w0"] = testing::floats({1024, 1024}, std::vector<float>(1024 * 1024, 0.5f));
    static_cast<void>(choose(other, idle));
    EXPECT_THAT(idle.judged, Not(IsEmpty()));
}

TEST_F(NodeChoice, TakesNoWholeModelThatIsWrong) {
    const Program program = layers({1024, 512});
    // What is right in the program that LibTorch runs is wrong in one model.
    MadeUpRacer racer([](const std::string& code) { return callsLibrary(code) ? 80.0 : 50.0; });
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return codes.at(0).starts_with("whole") && !callsLibrary(codes.at(0))
                   ? MadeUpRacer::wrong()
                   : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    ASSERT_TRUE(choice.whole);
    EXPECT_EQ(chosenOf(*choice.whole), "all products by a library");
    EXPECT_THAT(choice.whole->variants.at(0).refused, HasSubstr("2 instead of 1"));
    EXPECT_THAT(libraryCalls(planOf(program, choice)), SizeIs(2));
    ASSERT_TRUE(choice.accuracy);
    EXPECT_TRUE(choice.accuracy->isOfWhole);
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Right);

    // Where no model of the heat is right, the products are PyTorch's, without TF32.
    machine_ = "another GPU";
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return codes.at(0).starts_with("whole") && !codes.at(0).contains("needsFloat32")
                   ? MadeUpRacer::wrong()
                   : MadeUpRacer::right();
    };
    const ModelChoice last = choose(program, racer);
    EXPECT_THAT(planOf(program, last).float32Nodes, ElementsAre("linear0", "linear1"));
    EXPECT_THAT(chosenOf(*last.whole), HasSubstr("as PyTorch computes them"));
}

TEST_F(NodeChoice, TakesNoOwnKernelsThatAreSlowerThanProductsAsPyTorchComputesThem) {
    const Program program = layers({1024, 512});
    // A library in TF32 is fastest and wrong; own kernels are right and slower than it is in
    // float32.
    MadeUpRacer racer([](const std::string& code) {
        return !callsLibrary(code) ? 100.0 : (code.contains("needsFloat32") ? 80.0 : 30.0);
    });
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return codes.at(0).starts_with("whole") && callsLibrary(codes.at(0)) &&
                       !codes.at(0).contains("needsFloat32")
                   ? MadeUpRacer::wrong()
                   : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    ASSERT_TRUE(choice.whole);
    EXPECT_THAT(chosenOf(*choice.whole), HasSubstr("as PyTorch computes them"));
    EXPECT_THAT(planOf(program, choice).float32Nodes, ElementsAre("linear0", "linear1"));
}

TEST_F(NodeChoice, LeavesToALibraryWhatNoOwnKernelsAreExactEnoughFor) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return callsLibrary(codes.at(0)) ? MadeUpRacer::right() : MadeUpRacer::wrong();
    };
    const ModelChoice choice = choose(program, racer);
    EXPECT_EQ(chosenOf(choice.places.at(0)), "a library in float32");
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Right);
}

TEST_F(NodeChoice, FallsBackToALibraryThatHasNoTime) {
    const Program program = layers({512});
    MadeUpRacer racer([](const std::string& code) -> std::optional<double> {
        return isTf32(code) ? std::optional(40.0) : std::nullopt;
    });
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return isTf32(codes.at(0)) ? MadeUpRacer::wrong() : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    EXPECT_EQ(chosenOf(choice.places.at(0)), "a library in float32");
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Right);
}

TEST_F(NodeChoice, SaysThatNothingIsRight) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>&) { return MadeUpRacer::wrong(); };
    const ModelChoice choice = choose(program, racer);
    ASSERT_TRUE(choice.accuracy);
    EXPECT_EQ(choice.accuracy->verdict.outcome, MixVerdict::Outcome::Wrong);
    EXPECT_FALSE(isTf32(chosenOf(choice.places.at(0))));
}

TEST_F(NodeChoice, MeasuresMoreExactKernelsWhereAPlaceOfManyIsWrong) {
    const Program program = layers({1024, 512, 256, 128, 64});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return std::ranges::any_of(codes,
                                   [](const std::string& code) {
                                       return isTf32(code) && code.contains("[512, 1024]");
                                   })
                   ? MadeUpRacer::wrong()
                   : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    ASSERT_THAT(choice.places, SizeIs(5));
    std::size_t split = 0;
    for (const PlaceMeasurement& place : choice.places) {
        split += chosenOf(place).contains("two parts") ? 1U : 0U;
        if (chosenOf(place).contains("two parts")) {
            EXPECT_THAT(place.operation, HasSubstr("float32[512, 1024]"));
            EXPECT_TRUE(place.variants.at(place.chosen).time.microseconds);
        }
    }
    EXPECT_GE(split, 1U);
    EXPECT_LT(split, 5U);
}

TEST(PreferredVariant, IsTheFirstOfThoseThatAreEquallyFast) {
    EXPECT_EQ(preferredOf({}), std::nullopt);
    EXPECT_EQ(preferredOf({{std::nullopt, 0, "no"}}), std::nullopt);
    EXPECT_EQ(preferredOf({{102, 0, ""}, {101, 0, ""}, {100, 0, ""}}), 1U);
    EXPECT_EQ(preferredOf({{std::nullopt, 0, ""}, {100, 0, ""}, {100, 0, ""}}), 1U);
}

TEST(VariantTimes, AreReadBackFromTheirText) {
    const std::vector<VariantTime> times{{12.5, 0.02, ""}, {std::nullopt, 0, "nvcc: error"}};
    const auto read = variantTimesFrom(textOf(times));
    ASSERT_TRUE(read);
    ASSERT_THAT(*read, SizeIs(2));
    EXPECT_EQ(read->at(0).microseconds, 12.5);
    EXPECT_EQ(read->at(1).microseconds, std::nullopt);
    EXPECT_EQ(read->at(1).why, "nvcc: error");
    EXPECT_FALSE(variantTimesFrom("[1]"));
    EXPECT_FALSE(variantTimesFrom("no JSON"));
}

} // namespace
} // namespace kernelskill::engine::graph
