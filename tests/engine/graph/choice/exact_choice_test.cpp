/// The choice of variants that are exact enough, with made-up times and verdicts.
#include "tests/engine/graph/choice/node_choice_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine::graph {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace testing;

TEST_F(NodeChoice, TakesTheFastestThatIsExactEnough) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return isTf32(codes.at(0)) ? MadeUpRacer::wrong() : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    const PlaceMeasurement& place = choice.places.at(0);
    EXPECT_THAT(chosenOf(place), HasSubstr("bfloat16 in two parts"));
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

TEST_F(NodeChoice, SplitsTf32WhereBFloat16InTwoPartsIsWrongOrSlower) {
    const Program program = layers({512});
    MadeUpRacer racer(timeByUnit);
    racer.verdictOf = [](const std::vector<std::string>& codes) {
        return isTf32(codes.at(0)) || isSplitBFloat16(codes.at(0)) ? MadeUpRacer::wrong()
                                                                   : MadeUpRacer::right();
    };
    const ModelChoice choice = choose(program, racer);
    EXPECT_THAT(chosenOf(choice.places.at(0)), HasSubstr("TF32 in two parts"));
    EXPECT_THAT(racer.judged, SizeIs(3));

    machine_ = "a GPU with slow bfloat16";
    MadeUpRacer other([](const std::string& code) {
        return isSplitBFloat16(code) ? std::optional(70.0) : timeByUnit(code);
    });
    other.verdictOf = [](const std::vector<std::string>& codes) {
        return isTf32(codes.at(0)) ? MadeUpRacer::wrong() : MadeUpRacer::right();
    };
    EXPECT_THAT(chosenOf(choose(program, other).places.at(0)), HasSubstr("TF32 in two parts"));
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
    EXPECT_THAT(refusalOfTf32(choice.places.at(0)) + refusalOfTf32(choice.places.at(1)),
                HasSubstr("with all places, normal inputs"));
}

TEST_F(NodeChoice, TakesNoTf32ThatNothingVouchesFor) {
    const Program program = layers({1024, 512});
    MadeUpRacer racer(timeByUnit);
    racer.isJudgeGone = true;
    const ModelChoice choice = choose(program, racer);
    for (const PlaceMeasurement& place : choice.places) {
        EXPECT_THAT(chosenOf(place), HasSubstr("two parts"));
        EXPECT_EQ(refusalOfTf32(place), "not compared: the time was up");
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
    EXPECT_EQ(refusalOfTf32(second.places.at(0)), refusalOfTf32(first.places.at(0)));
    EXPECT_NE(refusalOfTf32(second.places.at(0)), "");

    // Other weights may need other variants.
    Program other = program;
    other.tensors["w0"] = testing::floats({1024, 1024}, std::vector<float>(1024 * 1024, 0.5f));
    static_cast<void>(choose(other, idle));
    EXPECT_THAT(idle.judged, Not(IsEmpty()));
}

TEST_F(NodeChoice, TakesNoWholeModelThatIsWrong) {
    const Program program = layers({1024, 512});
    // Kernels that are right inside of the program that LibTorch runs are wrong in one model.
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

} // namespace
} // namespace kernelskill::engine::graph
