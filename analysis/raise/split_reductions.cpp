#include "analysis/raise/split_reductions.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/merged_axes.h"

#include <algorithm>
#include <limits>
#include <optional>
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
    bool split(Computation& computation) {
        const auto results = elementsOf(extentsOf(computation.axes)).constant();
        if (computation.reductions.empty() || computation.scanned || !results || *results == 0 ||
            std::ranges::any_of(computation.reductions, findsPlace, &Reduction::reducer))
            return false;
        const bool hasNeutral =
            std::ranges::all_of(computation.reductions, [](const Reduction& reduction) {
                return isFloating(reduction.type) || reduction.reducer == Reducer::Sum ||
                       reduction.reducer == Reducer::Product;
            });
        if (hasNeutral && formOf(computation) != Form::Contraction && splitAcross(computation))
            return true;
        const Index elements = elementsOf(extentsOf(computation.reduced));
        const auto most = elements.bounds().high;
        if (*results > limits_.maxResults || (most && *most < limits_.minElements))
            return false;
        std::int64_t wanted = (limits_.wantedParts + *results - 1) / *results;
        if (most)
            wanted = std::min(wanted, *most / std::max<std::int64_t>(limits_.minPartElements, 1));
        if (wanted < 2 || !hasNeutral)
            return false;
        const auto known = elements.constant();
        add(computation, known ? partsOf(*known, wanted) : partsOf(elements, wanted), elements, 0);
        return true;
    }

    /// Elements of a result, or results, that lie next to each other in memory.
    struct Run {
        std::vector<Axis> axes; ///< The outermost first.
        std::int64_t length = 1;
    };

    /// The neighbours in the largest buffer of which a result reads several elements: results,
    /// along the last of their axes, or some of the elements; nullopt if it is neither.
    [[nodiscard]] std::optional<Run> runOf(const Computation& computation) const {
        std::optional<Index> read;
        double most = 0;
        const auto look = [&](const ScalarNode& node) {
            if (node.kind != ScalarNode::Kind::Load)
                return;
            const std::vector<Index>& shape = program_.buffers[node.buffer].shape;
            const Index at = flattened(node.position, shape);
            const double size = estimatedElements(shape);
            if (size <= most || std::ranges::none_of(computation.reduced, [&](const Axis& axis) {
                    return at.mentions(axis.id);
                }))
                return;
            most = size;
            read = at;
        };
        for (const Reduction& reduction : computation.reductions)
            forEachNode(reduction.element, look);
        if (!read)
            return std::nullopt;
        Run run;
        const auto isNext = [&](const Axis& axis) {
            return axis.extent->constant().value_or(1) > 1 && read->mentions(axis.id) &&
                   !(*read - run.length * Index::of(axis)).mentions(axis.id);
        };
        for (auto next = std::ranges::find_if(computation.reduced, isNext);
             next != computation.reduced.end();
             next = std::ranges::find_if(computation.reduced, isNext)) {
            const auto extent = next->extent->constant();
            run.axes.insert(run.axes.begin(), *next);
            if (!extent)
                return std::nullopt;
            run.length *= *extent;
        }
        if (!run.axes.empty())
            return run;
        if (computation.axes.empty() || !isNext(computation.axes.back()))
            return std::nullopt;
        return run;
    }

    /// Moves the axes of neighbouring elements to the end. Splits the reduction into parts with a
    /// thread each if few elements are neighbours, or other results are, and there are too few
    /// results to give each a thread.
    bool splitAcross(Computation& computation) {
        constexpr std::int64_t longRun = 128; // Elements that are worth a warp and its wide loads.
        const auto run = runOf(computation);
        const auto results = elementsOf(extentsOf(computation.axes)).constant();
        if (!run)
            return false;
        for (const Axis& axis : run->axes) {
            const auto own = std::ranges::find(computation.reduced, axis.id, &Axis::id);
            std::rotate(own, own + 1, computation.reduced.end());
        }
        if (run->length >= longRun || run->axes.size() == computation.reduced.size())
            return false;
        Computation turned = computation;
        for (const Axis& axis : run->axes)
            turned.axes.push_back(axis);
        turned.reduced.resize(turned.reduced.size() - run->axes.size());
        const Index apart = elementsOf(extentsOf(turned.reduced));
        const auto elements = apart.constant();
        const std::int64_t threads = *results * run->length;
        if (!elements || *elements < 2 * limits_.minThreadElements ||
            threads > limits_.maxThreadResults)
            return false;
        const std::int64_t parts = std::min((limits_.wantedThreads + threads - 1) / threads,
                                            *elements / limits_.minThreadElements);
        if (parts < 2)
            return false;
        add(turned, partsOf(*elements, parts), apart, run->axes.size());
        return true;
    }

    /// Adds the reduction of each part, and that of the parts' results. The second also reduces the
    /// last `more` axes of the computation.
    void add(const Computation& computation, const Parts& parts, const Index& elements,
             std::size_t more) {
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
        // Results of one are next to each other, so that the second reads along its elements.
        std::vector<Axis> stored = computation.axes;
        stored.push_back(part);
        std::vector<Index> partShape = extentsOf(stored);
        std::vector<Index> written;
        for (const Axis& each : stored)
            written.push_back(Index::of(each));
        std::vector<Index> read = written;
        read.back() = Index::of(second.reduced[0]);
        for (std::size_t i = 0; i < more; ++i) {
            second.reduced.insert(second.reduced.begin(), second.axes.back());
            second.axes.pop_back();
        }
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
