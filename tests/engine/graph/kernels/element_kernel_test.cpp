// Tests kernels of maps whose threads load and store vectors.
#include "engine/graph/kernels/element_kernel.h"
#include "tests/engine/graph/kernels/emulated_contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::testing {
namespace {

using namespace analysis::raise;
using analysis::ScalarKind;
using engine::graph::ElementSchedule;
using engine::graph::elementScheduleFor;
using ::testing::HasSubstr;
using ::testing::Not;

/// Computes f(x + bias); the bias is repeated along the rows.
analysis::raise::Program biasedRows(std::int64_t rows, std::int64_t columns, Function function) {
    Builder builder;
    const Tensor x =
        builder.input("x", ScalarKind::Float, {rows, columns}, Buffer::Role::Input, "x");
    const Tensor bias =
        builder.input("turn", ScalarKind::Float, {columns}, Buffer::Role::Input, "turn");
    const Tensor result = tensorOf(ScalarKind::Float, {rows, columns}, [=](const auto& at) {
        const Scalar sum = call(ScalarKind::Float, Function::Add, {x.at(at), bias.at({at[1]})});
        return call(ScalarKind::Float, function, {sum});
    });
    (void)builder.output(result, "result");
    return builder.take();
}

const Computation& mapOf(const analysis::raise::Program& program) {
    return std::get<Computation>(program.steps.back());
}

using ElementKernels = EmulatedContraction;

TEST_F(ElementKernels, LoadAllVectorsOfAThreadBeforeTheyComputeOne) {
    // 7 x 301 vectors: neither a whole number of blocks nor of threads' pairs.
    const auto program = biasedRows(7, 1204, Function::ExponentialMinusOne);
    for (const ElementSchedule schedule :
         {ElementSchedule{}, ElementSchedule{.threads = 128, .vectors = 2},
          ElementSchedule{.threads = 32, .vectors = 3}}) {
        const Kernel kernel = elementKernel(program, mapOf(program), schedule);
        EXPECT_EQ(kernel.threads[0], schedule.threads);
        EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 1e-6) << textOf(kernel);
        const std::string& text = kernel.definition;
        EXPECT_LT(text.rfind("reinterpret_cast<const"), text.find("expm1f")) << text;
        if (schedule.vectors > 1) {
            EXPECT_LT(text.find("break;"), text.find("reinterpret_cast<const")) << text;
            EXPECT_LT(text.find("reinterpret_cast<const"), text.rfind("break;")) << text;
            EXPECT_THAT(kernel.schedule, HasSubstr("times 4 neighbouring elements"));
        } else {
            EXPECT_THAT(text, Not(HasSubstr("break;")));
        }
    }
}

TEST_F(ElementKernels, HaveTwoVectorsAThreadWhereManyElementsTakeLong) {
    const auto scheduleOf = [](std::int64_t rows, Function function) {
        const auto program = biasedRows(rows, 4096, function);
        return elementScheduleFor(program, mapOf(program));
    };
    EXPECT_EQ(scheduleOf(4096, Function::ExponentialMinusOne).vectors, 2U);
    EXPECT_EQ(scheduleOf(4096, Function::ExponentialMinusOne).threads, 128U);
    EXPECT_EQ(scheduleOf(4096, Function::Absolute).vectors, 1U);
    EXPECT_EQ(scheduleOf(64, Function::ExponentialMinusOne).vectors, 1U);
}

} // namespace
} // namespace kernelskill::testing
