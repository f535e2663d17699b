/// Checks of generated models against references that are right, wrong, or none.
#include "engine/graph/check/model_check.h"
#include "engine/graph/check/tensor_numbers.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "engine/graph/reference/seeded_tensors.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelChecks : public kernelskill::testing::EmulatorFixture {
protected:
    /// y = relu(x)
    static Program rectified(const Sizes& sizes) {
        ProgramBuilder builder;
        builder.input("x", sizes)
            .node("y", "aten.relu.default", {value("self", "x")})
            .type("y", sizes)
            .output("y");
        return builder.program();
    }

    /// The rectified elements, after `change`.
    ModelReference referenceOf(const Program& program,
                               std::function<void(std::vector<double>&)> change = {}) {
        return [this, program, change](const ProgramExtents& extents,
                                       const std::vector<std::string>&) -> Result<TorchRun> {
            limits_.push_back(extents.largest.value_or(0));
            const auto smaller =
                withSymbolValues(withExtents(program, extents.largest), extents.symbols);
            if (!smaller)
                return std::unexpected(smaller.error());
            const auto x = seededTensor(*smaller, smaller->inputs.front(), options_.seed);
            if (!x)
                return std::unexpected(x.error());
            std::vector<double> elements = numbersIn(*x);
            for (double& element : elements)
                element = std::max(element, 0.0);
            if (change)
                change(elements);
            const Sizes sizes{static_cast<std::int64_t>(elements.size())};
            TorchRun run;
            run.outputs.emplace_back(
                owningTensor(contiguousType(ElementType::Float64, sizes), bytesOf(elements)));
            return run;
        };
    }

    ModelCheck check(const Program& program, const ModelReference& reference,
                     std::stop_token stop = {}) {
        return checkModel(program, reference, options_, *executor_, bench_.toolchain,
                          std::move(stop));
    }

    ModelCheckOptions options_{.model = {}, .seed = 7};
    std::vector<std::int64_t> limits_; ///< The limits that were asked for; 0: none.
};

TEST_F(ModelChecks, AgreeWithAReferenceThatIsRight) {
    const Program program = rectified({5, 33});
    const ModelCheck done = check(program, referenceOf(program));
    EXPECT_EQ(nameOf(done.outcome), "agrees") << done.why;
    EXPECT_EQ(done.kernels, 1U);
    EXPECT_LT(done.largestError, 1e-6);
    EXPECT_THAT(done.shapes, ElementsAre(ElementsAre("x float32[5, 33]")));
    EXPECT_THAT(limits_, ElementsAre(0));
}

TEST_F(ModelChecks, DifferByASingleElement) {
    const Program program = rectified({40});
    const ModelCheck done =
        check(program, referenceOf(program, [](auto& elements) { elements[17] += 1e-3; }));
    EXPECT_EQ(nameOf(done.outcome), "differs");
    EXPECT_THAT(done.why, AllOf(HasSubstr("the output y has"), HasSubstr("as element 17")));
    EXPECT_NEAR(done.largestError, 1e-3, 1e-5);
}

TEST_F(ModelChecks, DifferByTheNumberOfElements) {
    const Program program = rectified({40});
    const ModelCheck done =
        check(program, referenceOf(program, [](auto& elements) { elements.pop_back(); }));
    EXPECT_EQ(nameOf(done.outcome), "differs");
    EXPECT_THAT(done.why, HasSubstr("has 40 elements instead of 39"));
}

TEST_F(ModelChecks, DifferWhereNaNStandsForANumber) {
    const Program program = rectified({40});
    const ModelCheck done =
        check(program, referenceOf(program, [](auto& elements) { elements[3] = NAN; }));
    EXPECT_EQ(nameOf(done.outcome), "differs");
}

TEST_F(ModelChecks, TakeSmallerExtentsForMuchWork) {
    const Program program = rectified({1 << 20, 3});
    options_.maxWork = 1000;
    const ModelCheck done = check(program, referenceOf(program));
    EXPECT_EQ(nameOf(done.outcome), "agrees") << done.why;
    EXPECT_THAT(done.shapes, ElementsAre(ElementsAre("x float32[32, 3]")));
    EXPECT_THAT(limits_, ElementsAre(64));
}

TEST_F(ModelChecks, SayWhyTheReferenceFailsWithTheLargestExtents) {
    const Program program = rectified({96});
    const ModelCheck done =
        check(program, [&](const ProgramExtents& extents, const auto&) -> Result<TorchRun> {
            limits_.push_back(extents.largest.value_or(0));
            return std::unexpected(
                Error{ErrorKind::Failed,
                      "no room for " + std::to_string(extents.largest.value_or(0)), "", ""});
        });
    EXPECT_EQ(nameOf(done.outcome), "not-compared");
    EXPECT_EQ(done.why, "no room for 0");
    EXPECT_THAT(limits_, ElementsAre(0, 64, 32, 20, 12)) << "each once";
}

TEST_F(ModelChecks, SayThatAllExtentsAreTooMuchWork) {
    const Program program = rectified({96});
    options_.maxWork = 0.1;
    const ModelCheck done = check(program, referenceOf(program));
    EXPECT_EQ(nameOf(done.outcome), "not-compared");
    EXPECT_THAT(done.why, HasSubstr("operations are too many"));
    EXPECT_THAT(limits_, ElementsAre());
}

TEST_F(ModelChecks, CompareSeveralValuesOfDynamicExtents) {
    ProgramBuilder builder;
    builder.symbol("s0", 6, {2, 4096})
        .sizedInput("x", {"s0", "5"})
        .node("y", "aten.relu.default", {value("self", "x")})
        .sizedType("y", {"s0", "5"})
        .output("y");
    const ModelCheck done = check(builder.program(), referenceOf(builder.program()));
    EXPECT_EQ(nameOf(done.outcome), "agrees") << done.why;
    EXPECT_EQ(done.why, "");
    EXPECT_EQ(done.kernels, 1U);
    EXPECT_THAT(done.shapes,
                ElementsAre(ElementsAre("x float32[6, 5]"), ElementsAre("x float32[2, 5]"),
                            ElementsAre("x float32[37, 5]")));
}

TEST_F(ModelChecks, DifferByOneOfTheValues) {
    ProgramBuilder builder;
    builder.symbol("s0", 6, {2, 4096})
        .sizedInput("x", {"s0", "5"})
        .node("y", "aten.relu.default", {value("self", "x")})
        .sizedType("y", {"s0", "5"})
        .output("y");
    const ModelCheck done = check(builder.program(), referenceOf(builder.program(), [](auto& all) {
                                      if (all.size() == 37 * 5)
                                          all[180] += 1;
                                  }));
    EXPECT_EQ(nameOf(done.outcome), "differs");
    EXPECT_THAT(done.why, HasSubstr("as element 180"));
    EXPECT_THAT(done.shapes, ElementsAre(ElementsAre("x float32[37, 5]")));
}

TEST_F(ModelChecks, SayWhichValuesWereNotCompared) {
    ProgramBuilder builder;
    builder.symbol("s0", 6, {2, 4096})
        .sizedInput("x", {"s0", "5"})
        .node("y", "aten.relu.default", {value("self", "x")})
        .sizedType("y", {"s0", "5"})
        .output("y");
    const ModelReference right = referenceOf(builder.program());
    const ModelCheck done =
        check(builder.program(),
              [&](const ProgramExtents& extents, const auto& keep) -> Result<TorchRun> {
                  if (extents.symbols.at("s0") == 2)
                      return std::unexpected(Error{ErrorKind::Failed, "not so few", "", ""});
                  return right(extents, keep);
              });
    EXPECT_EQ(nameOf(done.outcome), "agrees");
    EXPECT_EQ(done.shapes.size(), 2U);
    EXPECT_THAT(done.why, HasSubstr("not with s0 = 2: not so few"));
}

TEST_F(ModelChecks, StopWhenAsked) {
    std::stop_source stop;
    stop.request_stop();
    const Program program = rectified({40});
    const ModelCheck done = check(program, referenceOf(program), stop.get_token());
    EXPECT_EQ(nameOf(done.outcome), "not-compared");
    EXPECT_THAT(limits_, ElementsAre());
}

} // namespace
} // namespace kernelskill::engine::graph::testing
