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
    std::int64_t elements = 0;
};

Parts partsOf(std::int64_t elements, std::int64_t wanted) {
    // Parts of one size that is a multiple of what vector accesses take need no guard.
    constexpr std::int64_t unit = 4;
    for (std::int64_t count = wanted; count >= std::max<std::int64_t>(wanted / 2, 2); --count)
        if (elements % (count * unit) == 0)
            return {count, elements / count};
    for (std::int64_t count = wanted + 1; count <= 2 * wanted; ++count)
        if (elements % (count * unit) == 0)
            return {count, elements / count};
    const std::int64_t size = (elements + wanted * unit - 1) / (wanted * unit) * unit;
    return {(elements + size - 1) / size, size};
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
    Axis axis(const std::string& name, std::int64_t extent) {
        return {program_.axes++, name, std::make_shared<const Index>(extent)};
    }

    /// Adds two steps in the place of the computation, if it is worth that.
    bool split(const Computation& computation) {
        const auto results = elementsOf(extentsOf(computation.axes)).constant();
        const auto elements = elementsOf(extentsOf(computation.reduced)).constant();
        if (computation.reductions.empty() || computation.scanned || !results || !elements ||
            *results == 0 || *results > limits_.maxResults || *elements < limits_.minElements ||
            std::ranges::any_of(computation.reductions, findsPlace, &Reduction::reducer))
            return false;
        const bool hasNeutral =
            std::ranges::all_of(computation.reductions, [](const Reduction& reduction) {
                return isFloating(reduction.type) || reduction.reducer == Reducer::Sum ||
                       reduction.reducer == Reducer::Product;
            });
        const std::int64_t wanted =
            std::min((limits_.wantedParts + *results - 1) / *results,
                     *elements / std::max<std::int64_t>(limits_.minPartElements, 1));
        if (wanted < 2 || !hasNeutral)
            return false;
        add(computation, partsOf(*elements, wanted), *elements);
        return true;
    }

    void add(const Computation& computation, const Parts& parts, std::int64_t elements) {
        const Axis part = axis("part", parts.count);
        const Axis inner = axis("r", parts.elements);
        const Index at = Index::of(part) * Index(parts.elements) + Index::of(inner);
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
        const bool isGuarded = parts.count * parts.elements != elements;

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
            if (isGuarded)
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
