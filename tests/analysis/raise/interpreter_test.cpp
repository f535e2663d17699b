/// Raised programs against the same computations written as loops.
#include "analysis/raise/builder.h"
#include "tests/analysis/raise/interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace kernelskill::analysis::raise {
namespace {

constexpr ScalarKind real = ScalarKind::Float;

std::vector<double> counted(std::size_t count) {
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 0.0);
    return values;
}

class Raised : public ::testing::Test {
protected:
    Tensor input(const std::vector<Index>& shape, std::vector<double> values) {
        given_.push_back(std::move(values));
        return builder.input("x", real, shape, Buffer::Role::Input, "x");
    }
    /// The elements of `tensor`, which becomes an output.
    std::vector<double> valuesOf(const Tensor& tensor,
                                 const std::map<std::string, std::int64_t>& sizes = {}) {
        static_cast<void>(builder.kept(tensor, "out", Buffer::Role::Output));
        Program program = builder.take();
        text = textOf(program);
        Memory memory(program.buffers.size());
        std::size_t next = 0;
        for (std::size_t i = 0; i < program.buffers.size(); ++i)
            if (program.buffers[i].role == Buffer::Role::Input)
                memory[i] = given_.at(next++);
        const auto done = interpret(program, memory, {.sizes = sizes});
        EXPECT_TRUE(done) << done.error() << "\n" << text;
        return memory.back();
    }

    Builder builder;
    std::string text;

private:
    std::vector<std::vector<double>> given_;
};

TEST_F(Raised, MapsBroadcast) {
    const Tensor x = input({2, 3}, counted(6));
    const Tensor y = input({3}, {10, 20, 30});
    const Tensor sum = zipped({x, y}, real, [](const std::vector<Scalar>& values) {
        return call(real, Function::Add, values);
    });
    EXPECT_EQ(valuesOf(sum), (std::vector<double>{10, 21, 32, 13, 24, 35}));
    EXPECT_EQ(builder.program().steps.size(), 0U); // Taken.
    EXPECT_NE(text.find("map out for [i0<"), std::string::npos) << text;
}

TEST_F(Raised, ViewsCostNothing) {
    const Tensor x = input({2, 3, 4}, counted(24));
    const Tensor view = reshaped(permuted(reshaped(x, {6, 4}), {1, 0}), {2, 2, 6});
    EXPECT_EQ(builder.costOf(view), 0U);
    std::vector<double> expected;
    for (int column = 0; column < 4; ++column)
        for (int row = 0; row < 6; ++row)
            expected.push_back(row * 4 + column);
    EXPECT_EQ(valuesOf(view), expected);
}

TEST_F(Raised, WindowsAndPaddingReadWhatIsThere) {
    const Tensor x = input({5}, counted(5));
    const Tensor windows = unfolded(padded(x, 0, 1, 1, -1), 0, 3, 2);
    EXPECT_EQ(valuesOf(windows), (std::vector<double>{-1, 0, 1, 1, 2, 3, 3, 4, -1}));
}

TEST_F(Raised, PaddingCutsOff) {
    EXPECT_EQ(valuesOf(padded(input({5}, counted(5)), 0, -2, 0, 9)),
              (std::vector<double>{2, 3, 4}));
}

TEST_F(Raised, TurnsAndJoins) {
    const Tensor x = input({4}, counted(4));
    const Tensor joined =
        concatenated({flipped(x, 0), rolled(x, 0, 1), rolled(x, 0, -1), sliced(x, 0, 1, 2, 2)}, 0);
    EXPECT_EQ(valuesOf(joined), (std::vector<double>{3, 2, 1, 0, 3, 0, 1, 2, 1, 2, 3, 0, 1, 3}));
}

TEST_F(Raised, ReductionsShareAPass) {
    const Tensor x = input({2, 3}, {1, 5, 5, -2, -7, 0});
    const auto results = builder.reduced({{Reducer::Maximum, x, real},
                                          {Reducer::FirstMaximum, x, ScalarKind::Int64},
                                          {Reducer::Sum, x, real},
                                          {Reducer::Product, x, real},
                                          {Reducer::Minimum, x, real}},
                                         {1}, false, "stats");
    std::vector<Tensor> rows;
    for (const Tensor& result : results)
        rows.push_back(unsqueezed(convertedTensor(result, real), 0));
    EXPECT_EQ(valuesOf(concatenated(rows, 0)),
              (std::vector<double>{5, 0, 1, 2, 11, -9, 25, 0, 1, -7}));
}

TEST_F(Raised, NotANumberPassesThroughExtremes) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Tensor x = input({3}, {1, nan, 2});
    const std::vector<double> results = valuesOf(convertedTensor(
        builder.reduced({{Reducer::Maximum, x, real}}, {0}, true, "max").front(), real));
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(std::isnan(results[0]));
}

TEST_F(Raised, ContractionsAreRecognised) {
    const Tensor a = input({2, 3}, counted(6));
    const Tensor b = input({3, 2}, counted(6));
    const Tensor product = builder.reducedBy(
        Reducer::Sum, real, {2, 2}, {{"k", Index(3)}},
        [&](const std::vector<Index>& at, const std::vector<Index>& k) {
            return call(real, Function::Multiply, {a.at({at[0], k[0]}), b.at({k[0], at[1]})});
        },
        "product");
    EXPECT_EQ(formOf(std::get<Computation>(builder.program().steps.front())), Form::Contraction);
    EXPECT_EQ(valuesOf(product), (std::vector<double>{10, 13, 28, 40}));
}

TEST_F(Raised, FormsAreToldApart) {
    const Tensor x = input({2, 6}, counted(12));
    const auto formOfLast = [&] {
        return formOf(std::get<Computation>(builder.program().steps.back()));
    };
    static_cast<void>(builder.reduced(Reducer::Sum, x, {1}, false, "sum"));
    EXPECT_EQ(formOfLast(), Form::Reduction);
    static_cast<void>(builder.reducedBy(
        Reducer::Maximum, real, {2, 4}, {{"k", Index(3)}},
        [&](const std::vector<Index>& at, const std::vector<Index>& k) {
            return x.at({at[0], at[1] + k[0]});
        },
        "window"));
    EXPECT_EQ(formOfLast(), Form::Window);
    static_cast<void>(builder.scanned(Reducer::Sum, x, 1, "scan"));
    EXPECT_EQ(formOfLast(), Form::Scan);
    // A sum of squares is no contraction: both factors are one tensor's.
    static_cast<void>(builder.reduced(
        Reducer::Sum,
        mapped(x, real, [](const Scalar& v) { return call(real, Function::Multiply, {v, v}); }),
        {1}, false, "squares"));
    EXPECT_EQ(formOfLast(), Form::Reduction);
}

TEST_F(Raised, ScansRunAlongAnAxis) {
    const Tensor x = input({2, 3}, counted(6));
    EXPECT_EQ(valuesOf(builder.scanned(Reducer::Sum, x, 1, "cumsum")),
              (std::vector<double>{0, 1, 3, 3, 7, 12}));
}

TEST_F(Raised, ScansRunAlongTheFirstAxis) {
    const Tensor x = input({2, 3}, counted(6));
    EXPECT_EQ(valuesOf(builder.scanned(Reducer::Sum, x, 0, "cumsum")),
              (std::vector<double>{0, 1, 2, 3, 5, 7}));
}

TEST_F(Raised, GathersReadWhereATensorSays) {
    const Tensor table = input({3, 2}, counted(6));
    const Tensor rows = input({2}, {2, 0});
    const Tensor gathered = tensorOf(real, {2, 2}, [&](const std::vector<Index>& at) {
        const Index row = Index::data(converted(rows.at({at[0]}), ScalarKind::Int64), Bounds{0, 2});
        return table.at({row, at[1]});
    });
    EXPECT_EQ(valuesOf(gathered), (std::vector<double>{4, 5, 0, 1}));
    EXPECT_NE(text.find("gather out for [i0<2, i1<2]\n"
                        "    out[i0, i1] = x[[long long(x_2[i0])], i1]\n"),
              std::string::npos)
        << text;
}

TEST_F(Raised, SizesMayBeKnownLate) {
    const Index n = Index::size("n", 1);
    const Tensor x = input({n, 2}, counted(6));
    const Tensor sum = builder.reduced(Reducer::Sum, x, {0}, false, "sum");
    EXPECT_EQ(valuesOf(sum, {{"n", 3}}), (std::vector<double>{6, 9}));
}

TEST_F(Raised, SaysWhatItCannotRun) {
    const Tensor x = input({Index::size("n", 1)}, {});
    static_cast<void>(builder.kept(x, "out", Buffer::Role::Output));
    Memory memory(2);
    const Program program = builder.take();
    EXPECT_EQ(interpret(program, memory).error(), "the size n of x is not known");
    EXPECT_EQ(interpret(program, memory, {.sizes = {{"n", 4}}}).error(), "x has 0 elements, not 4");
    memory[0] = counted(4);
    EXPECT_TRUE(interpret(program, memory, {.sizes = {{"n", 4}}, .maxElements = 4}));
    EXPECT_FALSE(interpret(program, memory, {.sizes = {{"n", 4}}, .maxElements = 3}));
}

TEST_F(Raised, LibraryCallsAreNamed) {
    const Tensor x = input({2}, counted(2));
    builder.setSources({"lstm"});
    const Tensor y =
        builder.library("no rule for aten.lstm.input", {x}, {x}, "lstm", false).front();
    static_cast<void>(builder.kept(y, "out", Buffer::Role::Output));
    Memory memory(3);
    memory[0] = counted(2);
    EXPECT_EQ(interpret(builder.take(), memory).error(),
              "lstm is left to a library: no rule for aten.lstm.input");
}

TEST(Rounded, HoldsWhatATypeHolds) {
    EXPECT_EQ(rounded(1.0 / 3, ScalarKind::Half), 0.333251953125);
    EXPECT_EQ(rounded(65520, ScalarKind::Half), std::numeric_limits<double>::infinity());
    EXPECT_EQ(rounded(1.0 / 3, ScalarKind::BFloat16), 0.333984375);
    EXPECT_EQ(rounded(300, ScalarKind::UInt8), 44);
    EXPECT_EQ(rounded(std::ldexp(1.0, -25), ScalarKind::Half), 0);
}

} // namespace
} // namespace kernelskill::analysis::raise
