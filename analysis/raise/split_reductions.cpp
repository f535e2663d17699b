#include "analysis/raise/split_reductions.h"

#include "analysis/raise/merged_axes.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

/// The neutral element: combined with a value, it gives that value.
Scalar neutral(const Reduction& reduction) {
    const bool isFloat = isFloating(reduction.type);
    const auto of = [&](double number) {
        return isFloat ? raise::number(reduction.type, number)
                       : integerNumber(reduction.type, static_cast<std::int64_t>(number));
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    switch (reduction.reducer) {
    case Reducer::Product:
        return of(1);
    case Reducer::Maximum:
        return of(-infinity);
    case Reducer::Minimum:
        return of(infinity);
    default:
        return of(0);
    }
}

/// The number of parts, near `wanted`, and the elements of each.
struct Parts {
    std::int64_t count = 1;
    Index elements = 0;
    bool isGuarded = false; ///< The last parts may go beyond the end.
};

// Parts of one size that is a multiple of what vector accesses take need no guard.
constexpr std::int64_t unitOfParts = 4;

Parts partsOf(std::int64_t elements, std::int64_t wanted) {
    constexpr std::int64_t unit = unitOfParts;
    for (std::int64_t count = wanted; count >= std::max<std::int64_t>(wanted / 2, 2); --count)
        if (elements % (count * unit) == 0)
            return {count, elements / count, false};
    for (std::int64_t count = wanted + 1; count <= 2 * wanted; ++count)
        if (elements % (count * unit) == 0)
            return {count, elements / count, false};
    const std::int64_t size = (elements + wanted * unit - 1) / (wanted * unit) * unit;
    const std::int64_t count = (elements + size - 1) / size;
    return {count, size, count * size != elements};
}

/// The same for a number of elements that is no constant.
Parts partsOf(const Index& elements, std::int64_t wanted) {
    const std::int64_t unit = wanted * unitOfParts;
    return {wanted, quotient(elements + (unit - 1), unit) * unitOfParts, true};
}

class Splitting {
public:
    Splitting(Program program, const SplitLimits& limits)
        : program_(std::move(program)), limits_(limits) {}

    Program run() {
        std::vector<Step> steps = std::move(program_.steps);
        program_.steps.clear();
        for (Step& step : steps) {
            if (auto* computation = std::get_if<Computation>(&step);
                computation && split(*computation))
                continue;
            program_.steps.push_back(std::move(step));
        }
        return std::move(program_);
    }

private:
    Axis axis(const std::string& name, const Index& extent) {
        return {program_.axes++, name, std::make_shared<const Index>(extent)};
    }

    /// Adds two steps in the place of the computation, if it is worth that.
    bool split(const Computation& computation) {
        const auto results = elementsOf(extentsOf(computation.axes)).constant();
        const Index elements = elementsOf(extentsOf(computation.reduced));
        const auto most = elements.bounds().high;
        if (computation.reductions.empty() || computation.scanned || !results || *results == 0 ||
            *results > limits_.maxResults || (most && *most < limits_.minElements) ||
            std::ranges::any_of(computation.reductions, findsPlace, &Reduction::reducer))
            return false;
        const bool hasNeutral =
            std::ranges::all_of(computation.reductions, [](const Reduction& reduction) {
                return isFloating(reduction.type) || reduction.reducer == Reducer::Sum ||
                       reduction.reducer == Reducer::Product;
            });
        std::int64_t wanted = (limits_.wantedParts + *results - 1) / *results;
        if (most)
            wanted = std::min(wanted, *most / std::max<std::int64_t>(limits_.minPartElements, 1));
        if (wanted < 2 || !hasNeutral)
            return false;
        const auto known = elements.constant();
        add(computation, known ? partsOf(*known, wanted) : partsOf(elements, wanted), elements);
        return true;
    }

    void add(const Computation& computation, const Parts& parts, const Index& elements) {
        const Axis part = axis("part", parts.count);
        const Axis inner = axis("r", parts.elements);
        const Index at = Index::of(part) * parts.elements + Index::of(inner);
        const std::vector<Index> shape = extentsOf(computation.reduced);
        const std::vector<Index> position = unflattened(at, shape);
        std::map<std::uint32_t, Index> places;
        for (std::size_t i = 0; i < position.size(); ++i)
            places[computation.reduced[i].id] = position[i];
        Computation first = substituted(computation, places);
        first.name = computation.name + "_parts";
        first.reduced = {inner};
        first.axes.insert(first.axes.begin(), part);
        first.stores.clear();

        Computation second = computation;
        second.reduced = {axis("part", parts.count)};
        std::vector<Index> partShape = extentsOf(first.axes);
        std::vector<Index> written;
        for (const Axis& each : first.axes)
            written.push_back(Index::of(each));
        std::vector<Index> read = written;
        read[0] = Index::of(second.reduced[0]);
        for (std::size_t i = 0; i < first.reductions.size(); ++i) {
            Reduction& reduction = first.reductions[i];
            if (parts.isGuarded)
                reduction.element =
                    select(isInside(at, elements), reduction.element, neutral(reduction));
            const auto buffer = static_cast<BufferId>(program_.buffers.size());
            program_.buffers.push_back({freshBufferName(program_, first.name), reduction.type,
                                        partShape, Buffer::Role::Local, ""});
            first.stores.push_back({buffer, written, accumulated(reduction.type, i)});
            second.reductions[i].element = load(reduction.type, buffer, read);
        }
        program_.steps.emplace_back(std::move(first));
        program_.steps.emplace_back(std::move(second));
    }

    Program program_;
    SplitLimits limits_;
};

} // namespace

Program withSplitReductions(Program program, const SplitLimits& limits) {
    return Splitting(std::move(program), limits).run();
}

} // namespace kernelskill::analysis::raise
