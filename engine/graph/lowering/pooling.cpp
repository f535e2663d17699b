/// Extremes and means over windows.
#include "engine/graph/lowering/lowering.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <limits>

namespace kernelskill::engine::graph {

namespace {

using namespace analysis::raise;
using Position = std::vector<Index>;

struct Windows {
    std::vector<std::int64_t> size;
    std::vector<std::int64_t> stride;
    std::vector<std::int64_t> padding;
    std::vector<std::int64_t> dilation;
    bool roundsUp = false;
};

Windows windowsOf(Lowering& in, std::size_t axes, bool isDilated) {
    Windows windows;
    windows.size = in.perAxis("kernel_size", axes);
    windows.stride = in.perAxis("stride", axes, windows.size);
    windows.padding = in.perAxis("padding", axes);
    windows.dilation =
        isDilated ? in.perAxis("dilation", axes) : std::vector<std::int64_t>(axes, 1);
    windows.roundsUp = in.truth("ceil_mode");
    return windows;
}

/// The number of windows along an axis. The last one begins in the input or in front of it.
Index countOf(const Index& extent, const Windows& windows, std::size_t axis) {
    const std::int64_t span = (windows.size[axis] - 1) * windows.dilation[axis] + 1;
    const std::int64_t stride = windows.stride[axis];
    const Index room = extent + (2 * windows.padding[axis] - span);
    const Index count = quotient(room + (windows.roundsUp ? stride - 1 : 0), stride) + 1;
    if (!windows.roundsUp)
        return count;
    const auto known = count.constant();
    const auto known_extent = extent.constant();
    if (!known || !known_extent)
        throw NotRaised{"windows rounded up over an extent that is known only when the program "
                        "runs"};
    const bool isBehind = (*known - 1) * stride >= *known_extent + windows.padding[axis];
    return *known - (isBehind ? 1 : 0);
}

/// The last `axes` axes as windows; those before stay.
struct Pooled {
    Tensor input;
    std::size_t before; ///< Axes in front.
    std::vector<Index> shape;
    std::vector<std::pair<std::string, Index>> reduced;
};

Pooled pooled(Lowering& in, std::size_t axes, const Windows& windows) {
    Pooled result{in.reread(in.tensor("self"), 1), 0, {}, {}};
    result.before = result.input.rank() - axes;
    for (std::size_t i = 0; i < result.before; ++i)
        result.shape.push_back(result.input.shape[i]);
    for (std::size_t i = 0; i < axes; ++i) {
        result.shape.push_back(countOf(result.input.shape[result.before + i], windows, i));
        result.reduced.emplace_back(fmt::format("k{}", i), Index(windows.size[i]));
    }
    return result;
}

template <std::size_t axes>
Results maximumPool(Lowering& in) {
    const Windows windows = windowsOf(in, axes, true);
    const Pooled pool = pooled(in, axes, windows);
    Tensor source = pool.input;
    const double lowest = isFloating(source.element) ? -std::numeric_limits<double>::infinity()
                                                     : -9223372036854775808.0;
    return {in.builder().reducedBy(
        Reducer::Maximum, source.element, pool.shape, pool.reduced,
        [&](const Position& at, const Position& k) {
            Position from = at;
            Scalar isInput = integerNumber(ScalarKind::Bool, 1);
            for (std::size_t i = 0; i < axes; ++i) {
                Index& place = from[pool.before + i];
                place = place * windows.stride[i] + k[i] * windows.dilation[i] - windows.padding[i];
                isInput = both(isInput, isInside(place, source.shape[pool.before + i]));
            }
            const Scalar value = source.at(from);
            return select(isInput, value, constantLike(value, lowest));
        },
        in.node().name)};
}

/// The number of elements of a window along an axis that lie in the input, with the padding around
/// it if `counts`, as a value.
Scalar lengthOf(const Index& window, const Index& extent, const Windows& windows, std::size_t axis,
                bool counts, ScalarKind type) {
    const auto value = [&](const Index& index) { return positionValue(ScalarKind::Int64, index); };
    const Index begin = window * windows.stride[axis] - windows.padding[axis];
    const Index end = begin + windows.size[axis];
    const Index first = counts ? Index(-windows.padding[axis]) : Index(0);
    const Index limit = counts ? extent + windows.padding[axis] : extent;
    const bool isWhole =
        isWithin(begin - first, limit - first + 1) && isWithin(end - first, limit - first + 1);
    if (isWhole)
        return number(type, static_cast<double>(windows.size[axis]));
    const Scalar from = applied(Function::Maximum, value(begin), value(first));
    const Scalar to = applied(Function::Minimum, value(end), value(limit));
    return converted(minus(to, from), type);
}

template <std::size_t axes>
Results averagePool(Lowering& in) {
    const Windows windows = windowsOf(in, axes, false);
    const Pooled pool = pooled(in, axes, windows);
    const ScalarKind type = in.resultType();
    const ScalarKind work = computedIn(type);
    const Tensor source = convertedTensor(pool.input, work);
    const bool counts = in.truth("count_include_pad");
    std::optional<double> divisor;
    if constexpr (axes > 1)
        if (!in.isNone("divisor_override"))
            divisor = in.real("divisor_override");
    const Tensor sum = in.builder().reducedBy(
        Reducer::Sum, work, pool.shape, pool.reduced,
        [&](const Position& at, const Position& k) {
            Position from = at;
            Scalar isInput = integerNumber(ScalarKind::Bool, 1);
            for (std::size_t i = 0; i < axes; ++i) {
                Index& place = from[pool.before + i];
                place = place * windows.stride[i] + k[i] - windows.padding[i];
                isInput = both(isInput, isInside(place, source.shape[pool.before + i]));
            }
            const Scalar value = source.at(from);
            return select(isInput, value, constantLike(value, 0));
        },
        in.node().name);
    return {tensorOf(type, sum.shape, [=](const Position& at) {
        Scalar elements = number(work, divisor.value_or(1));
        if (!divisor)
            for (std::size_t i = 0; i < axes; ++i)
                elements =
                    times(elements, lengthOf(at[pool.before + i], source.shape[pool.before + i],
                                             windows, i, counts, work));
        return converted(over(sum.at(at), elements), type);
    })};
}

/// Window i of an axis of n elements in m windows runs from floor(i n / m) to ceil((i + 1) n / m).
template <std::size_t axes>
Results adaptiveAveragePool(Lowering& in) {
    const Tensor input = in.reread(in.tensor("self"), 1);
    const ScalarKind type = in.resultType();
    const ScalarKind work = computedIn(type);
    const Tensor source = convertedTensor(input, work);
    const std::size_t before = input.rank() - axes;
    const std::vector<std::int64_t> counts = in.perAxis("output_size", axes);
    std::vector<Index> shape(input.shape.begin(),
                             input.shape.begin() + static_cast<std::ptrdiff_t>(before));
    std::vector<std::pair<std::string, Index>> reduced;
    std::vector<bool> isEven(axes);
    for (std::size_t i = 0; i < axes; ++i) {
        const auto extent = input.shape[before + i].constant();
        if (!extent)
            throw NotRaised{"an extent that is known only when the program runs"};
        shape.emplace_back(counts[i]);
        isEven[i] = *extent % counts[i] == 0;
        reduced.emplace_back(fmt::format("k{}", i),
                             Index(*extent / counts[i] + (isEven[i] ? 0 : 2)));
    }
    const auto beginOf = [=](const Index& window, std::size_t i) {
        return quotient(window * input.shape[before + i], counts[i]);
    };
    const auto endOf = [=](const Index& window, std::size_t i) {
        return quotient((window + 1) * input.shape[before + i] + (counts[i] - 1), counts[i]);
    };
    const auto value = [](const Index& index) { return positionValue(ScalarKind::Int64, index); };
    const Tensor sum = in.builder().reducedBy(
        Reducer::Sum, work, shape, reduced,
        [&](const Position& at, const Position& k) {
            Position from = at;
            Scalar isInput = integerNumber(ScalarKind::Bool, 1);
            for (std::size_t i = 0; i < axes; ++i) {
                const Index place = beginOf(at[before + i], i) + k[i];
                if (!isEven[i])
                    isInput = both(isInput, isLess(value(place), value(endOf(at[before + i], i))));
                from[before + i] = place;
            }
            const Scalar element = source.at(from);
            return select(isInput, element, constantLike(element, 0));
        },
        in.node().name);
    return {tensorOf(type, shape, [=](const Position& at) {
        Scalar elements = number(work, 1);
        for (std::size_t i = 0; i < axes; ++i)
            elements = times(
                elements,
                converted(value(endOf(at[before + i], i) - beginOf(at[before + i], i)), work));
        return converted(over(sum.at(at), elements), type);
    })};
}

constexpr std::array poolingTable = {
    Rule{"aten.adaptive_avg_pool1d.default", adaptiveAveragePool<1>},
    Rule{"aten.adaptive_avg_pool2d.default", adaptiveAveragePool<2>},
    Rule{"aten.adaptive_avg_pool3d.default", adaptiveAveragePool<3>},
    Rule{"aten.avg_pool1d.default", averagePool<1>},
    Rule{"aten.avg_pool2d.default", averagePool<2>},
    Rule{"aten.avg_pool3d.default", averagePool<3>},
    Rule{"aten.max_pool1d.default", maximumPool<1>},
    Rule{"aten.max_pool2d.default", maximumPool<2>},
    Rule{"aten.max_pool3d.default", maximumPool<3>},
};

} // namespace

std::span<const Rule> poolingRules() {
    return poolingTable;
}

} // namespace kernelskill::engine::graph
