// Products and convolutions: what becomes rows, columns and depth, and what the kernels compute.
#include "engine/graph/kernels/contraction.h"
#include "engine/graph/kernels/contraction_layout.h"
#include "engine/graph/kernels/contraction_split.h"
#include "engine/graph/kernels/contraction_strides.h"
#include "engine/graph/kernels/needed_tiles.h"
#include "tests/engine/graph/kernels/emulated_contraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::testing {
namespace {

using namespace analysis::raise;
using analysis::ScalarKind;
using engine::graph::Contraction;
using engine::graph::contractionOf;
using engine::graph::ContractionTile;
using engine::graph::KernelOptions;
using engine::graph::MultiplyUnit;
using engine::graph::tiledContraction;
using engine::graph::tileFor;
using engine::graph::tilesFor;
using At = std::vector<Index>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Scalar times(const Scalar& left, const Scalar& right) {
    return call(ScalarKind::Float, Function::Multiply, {left, right});
}
Scalar plus(const Scalar& left, const Scalar& right) {
    return call(ScalarKind::Float, Function::Add, {left, right});
}

std::vector<std::string> namesOf(const std::vector<Axis>& axes) {
    std::vector<std::string> names;
    for (const Axis& axis : axes)
        names.push_back(fmt::format("{}<{}", axis.name, axis.extent->text()));
    return names;
}

Tensor inputOf(Builder& builder, const std::string& name, const std::vector<Index>& shape) {
    return builder.input(name, ScalarKind::Float, shape, Buffer::Role::Input, name);
}

/// a[i, k] * b[k, j], or with either one transposed.
struct Product {
    Index rows;
    Index columns;
    Index depth;
    bool isLeftTurned = false;
    bool isRightTurned = false;
    ScalarKind element = ScalarKind::Float; ///< The type of both factors.
    bool isResultTurned = false;
};

analysis::raise::Program productOf(const Product& of) {
    Builder builder;
    const Tensor a = builder.input("a", of.element,
                                   of.isLeftTurned ? At{of.depth, of.rows} : At{of.rows, of.depth},
                                   Buffer::Role::Input, "a");
    const Tensor b = builder.input(
        "b", of.element, of.isRightTurned ? At{of.columns, of.depth} : At{of.depth, of.columns},
        Buffer::Role::Input, "b");
    const auto widened = [](const Scalar& value) {
        return value->type == ScalarKind::Float ? value : converted(value, ScalarKind::Float);
    };
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {of.rows, of.columns}, {{"k", of.depth}},
        [&](const At& at, const At& k) {
            return times(widened(a.at(of.isLeftTurned ? At{k[0], at[0]} : At{at[0], k[0]})),
                         widened(b.at(of.isRightTurned ? At{at[1], k[0]} : At{k[0], at[1]})));
        },
        "product");
    auto program = builder.take();
    if (of.isResultTurned) {
        auto& computation = std::get<Computation>(program.steps[0]);
        std::ranges::reverse(computation.stores[0].position);
        std::ranges::reverse(program.buffers[computation.stores[0].buffer].shape);
    }
    return program;
}

/// The program's product with zeros where column - row is above `diagonal`, or where it is below.
analysis::raise::Program triangular(analysis::raise::Program program, bool isLower,
                                    std::int64_t diagonal) {
    auto& computation = std::get<Computation>(program.steps.back());
    const auto at = [](const Index& index) { return positionValue(ScalarKind::Int64, index); };
    const Index row = Index::of(computation.axes.at(0)) + diagonal;
    const Index column = Index::of(computation.axes.at(1));
    Store& store = computation.stores.at(0);
    store.value = select(call(ScalarKind::Bool, Function::LessOrEqual,
                              {at(isLower ? column : row), at(isLower ? row : column)}),
                         store.value, number(ScalarKind::Float, 0));
    return program;
}

struct Convolved {
    std::int64_t channels = 16;
    std::int64_t results = 24;
    std::int64_t taps = 3;
    std::int64_t stride = 1;
    std::int64_t padding = 1;
    std::int64_t groups = 1;
};

analysis::raise::Program convolutionOf(const Convolved& of) {
    constexpr std::int64_t height = 9;
    constexpr std::int64_t width = 11;
    Builder builder;
    const Tensor x = inputOf(builder, "x", {2, of.channels, height, width});
    const Tensor weight =
        inputOf(builder, "weight", {of.results, of.channels / of.groups, of.taps, of.taps});
    Tensor source = x;
    for (const std::size_t axis : {std::size_t{2}, std::size_t{3}})
        if (of.padding != 0)
            source = padded(source, axis, of.padding, of.padding, 0);
    const auto extent = [&](std::int64_t of_, std::int64_t padding) {
        return (of_ + 2 * padding - of.taps) / of.stride + 1;
    };
    const std::int64_t perGroup = of.channels / of.groups;
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float,
        {2, of.results, extent(height, of.padding), extent(width, of.padding)},
        {{"c", perGroup}, {"k0", of.taps}, {"k1", of.taps}},
        [&](const At& at, const At& k) {
            return times(
                source.at({at[0], quotient(at[1], of.results / of.groups) * perGroup + k[0],
                           at[2] * of.stride + k[1], at[3] * of.stride + k[2]}),
                weight.at({at[1], k[0], k[1], k[2]}));
        },
        "conv2d");
    return builder.take();
}

struct Transposed {
    std::int64_t taps = 3;
    std::int64_t stride = 2;
    std::int64_t padding = 1;
    std::int64_t dilation = 1;
};

/// Along one axis of 7 elements, with 8 channels in and 12 out.
analysis::raise::Program transposedConvolutionOf(const Transposed& of) {
    constexpr std::int64_t width = 7;
    Builder builder;
    const Tensor x = inputOf(builder, "x", {2, 8, width});
    const Tensor weight = builder.input("weight", ScalarKind::Float, {8, 12, of.taps},
                                        Buffer::Role::Weight, "weight");
    const std::int64_t extent =
        (width - 1) * of.stride - 2 * of.padding + (of.taps - 1) * of.dilation + 1;
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {2, 12, extent}, {{"c", 8}, {"k0", of.taps}},
        [&](const At& at, const At& k) {
            const Index place = at[2] + of.padding - k[1] * of.dilation;
            const Index from = quotient(place, of.stride);
            const Scalar divides =
                call(ScalarKind::Bool, Function::Equal,
                     {positionValue(ScalarKind::Int64, remainder(place, of.stride)),
                      integerNumber(ScalarKind::Int64, 0)});
            const Scalar isTap =
                call(ScalarKind::Bool, Function::And, {divides, isInside(from, width)});
            return times(select(isTap, x.at({at[0], k[0], from}), number(ScalarKind::Float, 0)),
                         weight.at({k[0], at[1], k[1]}));
        },
        "transposed");
    return builder.take();
}

/// All buffers after the program ran on inputs that depend on the element alone.
Memory ranOnNumbers(const analysis::raise::Program& program) {
    Memory memory(program.buffers.size());
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (program.buffers[i].role == Buffer::Role::Input ||
            program.buffers[i].role == Buffer::Role::Weight)
            for (std::int64_t k = 0; k < *elementsOf(program.buffers[i].shape).constant(); ++k)
                memory[i].push_back(static_cast<double>((k * 7 + 3) % 11) - 5);
    const auto ran = interpret(program, memory);
    EXPECT_TRUE(ran) << (ran ? "" : ran.error());
    return memory;
}

/// How many products the program's sums have.
std::int64_t productsOf(const analysis::raise::Program& program) {
    std::int64_t products = 0;
    for (const Step& step : program.steps)
        if (const auto& each = std::get<Computation>(step); !each.reductions.empty())
            products +=
                *(engine::graph::extentOf(each.axes) * engine::graph::extentOf(each.reduced))
                     .constant();
    return products;
}

TEST(WithoutStrideZeros, SumsUpTheSameWithFewerProducts) {
    for (const Transposed& of :
         {Transposed{}, Transposed{.taps = 4}, Transposed{.taps = 5, .padding = 0},
          Transposed{.taps = 3, .stride = 5, .dilation = 2}, Transposed{.taps = 5, .stride = 3}}) {
        const auto program = transposedConvolutionOf(of);
        const auto rewritten = engine::graph::withoutStrideZeros(program);
        const Memory before = ranOnNumbers(program);
        const Memory after = ranOnNumbers(rewritten);
        const BufferId result = contractionIn(program).stores[0].buffer;
        EXPECT_EQ(before[result], after[result]) << textOf(rewritten);
        EXPECT_LT(productsOf(rewritten) * 4, productsOf(program) * 3) << textOf(rewritten);
    }
}

TEST(WithoutStrideZeros, LeavesOtherConvolutionsAlone) {
    for (const auto& program :
         {transposedConvolutionOf({.stride = 1}), convolutionOf({}), convolutionOf({.stride = 2})})
        EXPECT_EQ(textOf(engine::graph::withoutStrideZeros(program)), textOf(program));
}

TEST(WithSplitContractions, DividesALongDepthOfFewResults) {
    const auto program = productOf({16, 16, 4096});
    const auto split =
        engine::graph::withSplitContractions(program, {.multiply = MultiplyUnit::TF32});
    ASSERT_EQ(split.steps.size(), 2u) << textOf(split);
    const auto& parts = std::get<Computation>(split.steps[0]);
    EXPECT_THAT(namesOf(parts.axes), ElementsAre("part<16", "i0<16", "i1<16"));
    EXPECT_THAT(namesOf(parts.reduced), ElementsAre("k<256"));
    const BufferId result = contractionIn(program).stores[0].buffer;
    EXPECT_EQ(ranOnNumbers(program)[result], ranOnNumbers(split)[result]) << textOf(split);
}

TEST(WithSplitContractions, LeavesWhatFillsAGpuOrIsShort) {
    for (const auto& program : {productOf({4096, 4096, 4096}), productOf({16, 128, 64})})
        EXPECT_EQ(
            textOf(engine::graph::withSplitContractions(program, {.multiply = MultiplyUnit::TF32})),
            textOf(program));
}

TEST(TilesFor, FitTheMatrix) {
    const auto first = [](const Product& of) {
        const auto program = productOf(of);
        return tilesFor(*contractionOf(program, contractionIn(program)), MultiplyUnit::TF32)
            .front();
    };
    EXPECT_EQ(first({8192, 8192, 512}).columns, 256);
    EXPECT_EQ(first({1 << 20, 32, 512}).columns, 32);
    EXPECT_EQ(first({10, 4096, 512}).rows, 16);
    for (const MultiplyUnit unit : {MultiplyUnit::Float32, MultiplyUnit::TF32,
                                    MultiplyUnit::BFloat16Split, MultiplyUnit::TF32Split}) {
        const auto program = productOf({100, 100, 100});
        for (const ContractionTile& tile :
             tilesFor(*contractionOf(program, contractionIn(program)), unit)) {
            EXPECT_GE(tile.threads(), std::max(tile.rows, tile.columns));
            EXPECT_EQ(tile.unit, unit);
            if (unit != MultiplyUnit::Float32)
                EXPECT_EQ(tile.depth % 16, 0);
        }
    }
}

TEST(UnitFor, TakesTensorCoresWhereTheyAreExact) {
    const auto unit = [](const Product& of, MultiplyUnit wanted) {
        const auto program = productOf(of);
        return engine::graph::unitFor(*contractionOf(program, contractionIn(program)), wanted);
    };
    const Product floats{100, 100, 1000};
    EXPECT_EQ(unit(floats, MultiplyUnit::Float32), MultiplyUnit::Float32);
    EXPECT_EQ(unit(floats, MultiplyUnit::TF32Split), MultiplyUnit::TF32Split);
    EXPECT_EQ(unit({100, 100, 32}, MultiplyUnit::TF32Split), MultiplyUnit::Float32);
    EXPECT_EQ(unit({100, 100, 32}, MultiplyUnit::BFloat16Split), MultiplyUnit::BFloat16Split);
    for (const ScalarKind element : {ScalarKind::Half, ScalarKind::BFloat16}) {
        const Product halfs{.rows = 100, .columns = 100, .depth = 1000, .element = element};
        for (const MultiplyUnit wanted : {MultiplyUnit::Float32, MultiplyUnit::TF32,
                                          MultiplyUnit::BFloat16Split, MultiplyUnit::TF32Split})
            EXPECT_EQ(unit(halfs, wanted), MultiplyUnit::TF32);
    }
}

TEST(WithPackedWeights, WritesWeightsInTheOrderOfTiles) {
    const auto program = transposedConvolutionOf({.stride = 1});
    const auto packed = engine::graph::withPackedWeights(program);
    ASSERT_EQ(packed.steps.size(), 2u);
    EXPECT_EQ(packed.buffers.back().name, "transposed_weights");
    const BufferId result = contractionIn(program).stores[0].buffer;
    EXPECT_EQ(ranOnNumbers(program)[result], ranOnNumbers(packed)[result]) << textOf(packed);
    const auto contraction = contractionOf(packed, contractionIn(packed));
    ASSERT_TRUE(contraction) << contraction.error();
    const auto order = engine::graph::depthOrderOf(
        packed, contraction->depth,
        {{contraction->left, contraction->rows}, {contraction->right, contraction->columns}});
    EXPECT_EQ(accessOf(packed, contraction->right, contraction->columns, order).width, 4);
}

TEST(WithPackedWeights, LeavesWeightsThatLieWellAndOtherFactors) {
    const auto convolution = convolutionOf({}); // Its factors are inputs.
    EXPECT_EQ(textOf(engine::graph::withPackedWeights(convolution)), textOf(convolution));
    Builder builder;
    const Tensor x = inputOf(builder, "x", {16, 32});
    const Tensor weight =
        builder.input("weight", ScalarKind::Float, {24, 32}, Buffer::Role::Weight, "weight");
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {16, 24}, {{"k", 32}},
        [&](const At& at, const At& k) {
            return times(x.at({at[0], k[0]}), weight.at({at[1], k[0]}));
        },
        "linear");
    const auto linear = builder.take();
    EXPECT_EQ(textOf(engine::graph::withPackedWeights(linear)), textOf(linear));
}

ContractionTile smallestTile(const Contraction& contraction, MultiplyUnit unit) {
    return std::ranges::min(tilesFor(contraction, unit), {}, [](const ContractionTile& tile) {
        return std::pair(tile.rows * tile.columns, tile.rows);
    });
}

TEST(NeededTiles, AreThoseWithAResultOfTheTriangle) {
    for (const bool isLower : {false, true})
        for (const std::int64_t diagonal : {-300, 0, 1, 135}) {
            const auto program = triangular(productOf({600, 560, 24}), isLower, diagonal);
            const auto contraction = contractionOf(program, contractionIn(program));
            ASSERT_TRUE(contraction) << contraction.error();
            const ContractionTile tile = smallestTile(*contraction, MultiplyUnit::Float32);
            const auto needed = engine::graph::neededTiles(*contraction, tile);
            ASSERT_TRUE(needed);
            ASSERT_EQ(needed->size(), 1u);
            int left = 0;
            for (int row = 0; row < 600; row += tile.rows)
                for (int column = 0; column < 560; column += tile.columns) {
                    const bool holdsResult = isLower ? column <= row + tile.rows - 1 + diagonal
                                                     : row + diagonal <= column + tile.columns - 1;
                    const auto excess =
                        valueOf(needed->front(), {{"firstRow", row}, {"firstColumn", column}});
                    ASSERT_TRUE(excess);
                    EXPECT_EQ(*excess <= 0, holdsResult) << row << ", " << column;
                    left += holdsResult ? 0 : 1;
                }
            EXPECT_GT(left, 0) << "the tiles are too large to tell";
        }
}

TEST(NeededTiles, AreAllWhereAnyResultMayDependOnTheProduct) {
    const auto isAll = [](const analysis::raise::Program& program) {
        const auto contraction = contractionOf(program, contractionIn(program));
        EXPECT_TRUE(contraction) << contraction.error();
        return !engine::graph::neededTiles(*contraction,
                                           tilesFor(*contraction, MultiplyUnit::Float32).front());
    };
    const auto lower = triangular(productOf({150, 140, 24}), true, 0);
    EXPECT_FALSE(isAll(lower));
    EXPECT_TRUE(isAll(productOf({150, 140, 24})));
    auto added = lower; // The sum is also added outside of the select.
    Store& sum = std::get<Computation>(added.steps.back()).stores.at(0);
    sum.value = plus(sum.value, accumulated(ScalarKind::Float, 0));
    EXPECT_TRUE(isAll(added));
    auto both = lower; // Both branches depend on the sum.
    Store& chosen = std::get<Computation>(both.steps.back()).stores.at(0);
    chosen.value = select(chosen.value->arguments[0], chosen.value->arguments[1],
                          plus(chosen.value->arguments[1], number(ScalarKind::Float, 1)));
    EXPECT_TRUE(isAll(both));
}

TEST(ContractionOf, TellsRowsFromColumns) {
    const auto program = productOf({32, 48, 16});
    const auto product = contractionOf(program, contractionIn(program));
    ASSERT_TRUE(product) << product.error();
    EXPECT_THAT(namesOf(product->rows), ElementsAre("i0<32"));
    EXPECT_THAT(namesOf(product->columns), ElementsAre("i1<48"));
    EXPECT_THAT(namesOf(product->depth), ElementsAre("k<16"));
}

TEST(ContractionOf, SplitsGroupsFromChannels) {
    const auto program = convolutionOf({.channels = 32, .results = 24, .groups = 2});
    const auto product = contractionOf(program, contractionIn(program));
    ASSERT_TRUE(product) << product.error();
    EXPECT_THAT(namesOf(product->batches), ElementsAre("i1_group<2"));
    EXPECT_THAT(namesOf(product->rows), ElementsAre("i0<2", "i2<9", "i3<11"));
    EXPECT_THAT(namesOf(product->columns), ElementsAre("i1<12"));
}

TEST(ContractionOf, RefusesWhatSharesNothing) {
    const auto program = convolutionOf({.channels = 8, .results = 8, .groups = 8});
    const auto product = contractionOf(program, contractionIn(program));
    ASSERT_FALSE(product);
    EXPECT_THAT(product.error(), HasSubstr("each factor needs an axis"));
}

TEST(ContractionOf, RefusesMoreRowsThanNumbersHold) {
    const auto program = productOf({std::int64_t{1} << 31, 8, 8});
    const auto product = contractionOf(program, contractionIn(program));
    ASSERT_FALSE(product);
    EXPECT_THAT(product.error(), HasSubstr("more than 2^30 rows"));
}

class ContractionKernels : public EmulatedContraction {
protected:
    /// The error of the kernel with each tile of the unit that `only` takes.
    void expectRight(const analysis::raise::Program& program, const Sizes& sizes = {},
                     std::size_t tiles = 2) {
        const auto contraction = contractionOf(program, contractionIn(program));
        ASSERT_TRUE(contraction) << contraction.error();
        const auto all = tilesFor(*contraction, MultiplyUnit::Float32);
        for (std::size_t i = 0; i < all.size(); i += (all.size() + tiles - 1) / tiles) {
            const Kernel kernel = tiledContraction(program, *contraction, all[i]);
            EXPECT_LT(errorOf(program, kernel, textOf(kernel), sizes), 2e-6) << textOf(kernel);
        }
    }
};

TEST_F(ContractionKernels, MultiplyMatricesHoweverTheyLie) {
    for (const bool left : {false, true})
        for (const bool right : {false, true})
            expectRight(productOf({72, 132, 40, left, right}), {}, 1);
}

TEST_F(ContractionKernels, TakeExtentsThatAreNoMultiplesOfTiles) {
    expectRight(productOf({37, 41, 29}));
    expectRight(productOf({37, 41, 29, true, true}));
}

TEST_F(ContractionKernels, TakeSymbolicExtents) {
    const Index size = Index::size("s7", 1, 4096);
    expectRight(productOf({size, 36, 20}), {{"s7", 45}}, 1);
    expectRight(productOf({20, 36, size}), {{"s7", 45}}, 1);
}

TEST_F(ContractionKernels, Convolve) {
    expectRight(convolutionOf({}));
    expectRight(convolutionOf({.channels = 3, .taps = 5, .stride = 2, .padding = 2}));
    expectRight(convolutionOf({.channels = 32, .padding = 0, .groups = 2}));
}

TEST_F(ContractionKernels, ComputeFactorsAndResultsOnTheWay) {
    Builder builder;
    // Names that the kernel's text uses itself.
    const Tensor x = inputOf(builder, "rows", {3, 20, 24});
    const Tensor weight = inputOf(builder, "left", {36, 24});
    const Tensor bias = inputOf(builder, "bias", {36});
    const Tensor residual = inputOf(builder, "residual", {3, 36, 20});
    (void)builder.reducedBy(
        Reducer::Sum, ScalarKind::Float, {3, 20, 36}, {{"k", 24}},
        [&](const At& at, const At& k) {
            const Scalar positive =
                call(ScalarKind::Float, Function::Maximum,
                     {x.at({at[0], at[1], k[0]}), number(ScalarKind::Float, 0)});
            return times(positive, weight.at({at[2], k[0]}));
        },
        "linear");
    auto program = builder.take();
    auto& computation = std::get<Computation>(program.steps[0]);
    Store& store = computation.stores[0];
    const Index n = Index::of(computation.axes[0]);
    const Index row = Index::of(computation.axes[1]);
    const Index column = Index::of(computation.axes[2]);
    store.value = plus(plus(accumulated(ScalarKind::Float, 0), bias.at({column})),
                       residual.at({n, column, row}));
    store.position = {n, column, row};
    program.buffers[store.buffer].shape = {3, 36, 20};
    expectRight(program);
}

TEST_F(ContractionKernels, ComputeTheTilesOfATriangleAlone) {
    for (const bool isLower : {false, true}) {
        const auto program = triangular(productOf({150, 140, 24}), isLower, isLower ? -3 : 2);
        const auto contraction = contractionOf(program, contractionIn(program));
        ASSERT_TRUE(contraction) << contraction.error();
        for (const MultiplyUnit unit : {MultiplyUnit::Float32, MultiplyUnit::TF32}) {
            const Kernel kernel =
                tiledContraction(program, *contraction, smallestTile(*contraction, unit));
            EXPECT_THAT(kernel.definition, HasSubstr("// Other tiles have no result"));
            EXPECT_LT(errorOf(program, kernel, textOf(kernel)),
                      unit == MultiplyUnit::TF32 ? 1e-3 : 2e-6)
                << textOf(kernel);
        }
    }
}

TEST_F(ContractionKernels, UseTensorCores) {
    for (const auto& program :
         {productOf({37, 41, 29}), productOf({40, 36, 32, true, true}), convolutionOf({})}) {
        const auto contraction = contractionOf(program, contractionIn(program));
        ASSERT_TRUE(contraction) << contraction.error();
        for (const MultiplyUnit unit : {MultiplyUnit::TF32, MultiplyUnit::TF32Split}) {
            const Kernel kernel =
                tiledContraction(program, *contraction, tilesFor(*contraction, unit).front());
            const double error = errorOf(program, kernel, textOf(kernel));
            EXPECT_LT(error, unit == MultiplyUnit::TF32 ? 1e-3 : 3e-6) << textOf(kernel);
            if (unit == MultiplyUnit::TF32)
                EXPECT_GT(error, 1e-6) << "nothing was rounded";
        }
    }
}

TEST_F(ContractionKernels, MultiplyBFloat16InTwoParts) {
    constexpr double promised = 1e-5;
    constexpr double ofOnePart = 1e-3; ///< The least error if the rest were dropped.
    for (const auto& program : {productOf({37, 41, 70}), productOf({64, 64, 200, true}),
                                productOf({40, 36, 32, true, true}), convolutionOf({})}) {
        const auto contraction = contractionOf(program, contractionIn(program));
        ASSERT_TRUE(contraction) << contraction.error();
        const std::vector<ContractionTile> tiles =
            tilesFor(*contraction, MultiplyUnit::BFloat16Split);
        for (const ContractionTile& tile : {tiles.front(), tiles.back()}) {
            const Kernel kernel = tiledContraction(program, *contraction, tile);
            EXPECT_THAT(kernel.definition, HasSubstr(fmt::format("__launch_bounds__({}, {})\n",
                                                                 tile.threads(), tile.blocks)));
            EXPECT_LT(errorOf(program, kernel, textOf(kernel)), promised) << textOf(kernel);
        }
        const Kernel kernel = tiledContraction(program, *contraction, tiles.front());
        std::string most = textOf(kernel);
        const std::string both = "return {most, ";
        const std::size_t at = most.find(both);
        ASSERT_NE(at, std::string::npos);
        most.insert(at, "return {most, {0, 0}};\n");
        EXPECT_GT(errorOf(program, kernel, most), ofOnePart) << "nothing was rounded";
    }
}

/// The emulator's tensor cores round sums, so that their error says nothing about this.
TEST_F(ContractionKernels, AddBFloat16ProductsUpInStepsWhereTheyAreManyOrItIsAskedFor) {
    for (const std::int64_t depth : {8192, 8208}) {
        const auto program = productOf({.rows = 16, .columns = 16, .depth = depth});
        const auto contraction = contractionOf(program, contractionIn(program));
        ASSERT_TRUE(contraction) << contraction.error();
        ContractionTile tile = smallestTile(*contraction, MultiplyUnit::BFloat16Split);
        const Kernel usual = tiledContraction(program, *contraction, tile);
        tile.sumsInSteps = true;
        const Kernel asked = tiledContraction(program, *contraction, tile);
        EXPECT_EQ(textOf(usual) == textOf(asked), depth > 8192) << "they would be timed twice";
        for (const Kernel* kernel : {&usual, &asked}) {
            const bool isInSteps = depth > 8192 || kernel == &asked;
            EXPECT_EQ(kernel->schedule.ends_with("sums in steps"), isInSteps) << kernel->schedule;
            for (const std::string& text : {"stepSums", "firstProduct"})
                EXPECT_EQ(kernel->definition.contains(text), isInSteps) << kernel->definition;
            EXPECT_LT(errorOf(program, *kernel, textOf(*kernel)), 1e-5);
        }
    }
}

TEST(TileFor, AddsSumsUpInStepsOfSplitBFloat16Alone) {
    const auto program = productOf({64, 64, 200});
    const auto contraction = contractionOf(program, contractionIn(program));
    ASSERT_TRUE(contraction) << contraction.error();
    for (const MultiplyUnit unit : {MultiplyUnit::BFloat16Split, MultiplyUnit::TF32Split}) {
        KernelOptions options{.multiply = unit, .sumsInSteps = true};
        const bool isSplitBFloat16 = unit == MultiplyUnit::BFloat16Split;
        EXPECT_EQ(tileFor(*contraction, options).sumsInSteps, isSplitBFloat16);
        options.sumsInSteps = false;
        for (const std::string& node : contraction->computation.sources)
            options.ofNodes[node] = {unit, 0, true};
        EXPECT_EQ(tileFor(*contraction, options).sumsInSteps,
                  isSplitBFloat16 && !contraction->computation.sources.empty());
    }
}

/// Results that neighbours in the rows store, of tiles of few rows or columns.
TEST_F(ContractionKernels, StoreTilesOfEverySize) {
    for (const Product& product : {Product{.rows = 16, .columns = 64, .depth = 16},
                                   Product{.rows = 64, .columns = 16, .depth = 16}}) {
        for (const bool isTurned : {false, true}) {
            Product turned = product;
            turned.isResultTurned = isTurned;
            const auto program = productOf(turned);
            const auto contraction = contractionOf(program, contractionIn(program));
            ASSERT_TRUE(contraction) << contraction.error();
            for (const ContractionTile& tile : tilesFor(*contraction, MultiplyUnit::TF32)) {
                const Kernel kernel = tiledContraction(program, *contraction, tile);
                EXPECT_LT(errorOf(program, kernel, textOf(kernel)), 1e-3) << textOf(kernel);
            }
        }
    }
}

} // namespace
} // namespace kernelskill::testing
