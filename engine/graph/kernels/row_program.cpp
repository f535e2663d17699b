#include "engine/graph/kernels/row_program.h"

#include "analysis/raise/inverse.h"
#include "analysis/raise/merged_axes.h"
#include "analysis/raise/rewrite.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Buffer;
using analysis::raise::BufferId;
using analysis::raise::Computation;
using analysis::raise::Index;
using analysis::raise::Program;
using analysis::raise::ScalarNode;
using analysis::raise::Store;
using analysis::raise::Uses;
using Positions = std::map<std::uint32_t, Index>; ///< An index for each axis, by the axis's id.

bool isUnit(const Axis& axis) {
    return axis.extent->constant() == 1;
}

/// The axis that the index is; nullopt if it is none alone.
std::optional<std::uint32_t> axisOf(const Index& index) {
    if (index.terms().size() != 1)
        return std::nullopt;
    const Index::Monomial& term = index.terms().begin()->second;
    if (term.factor != 1 || term.atoms.size() != 1 ||
        term.atoms[0]->kind != Index::Atom::Kind::Axis)
        return std::nullopt;
    return term.atoms[0]->axis.id;
}

/// The axis that the index is the quotient of, and the divisor.
std::optional<std::pair<std::uint32_t, Index>> quotientOfAxis(const Index& index) {
    if (index.terms().size() != 1)
        return std::nullopt;
    const Index::Monomial& term = index.terms().begin()->second;
    if (term.factor != 1 || term.atoms.size() != 1 ||
        term.atoms[0]->kind != Index::Atom::Kind::Quotient)
        return std::nullopt;
    const auto axis = axisOf(*term.atoms[0]->left);
    return axis ? std::optional(std::pair(*axis, *term.atoms[0]->right)) : std::nullopt;
}

class Building {
public:
    Building(const Program& program, const Uses& uses, std::size_t first,
             const std::vector<bool>& done, const std::vector<bool>& excluded)
        : program_(program), uses_(uses), first_(first), done_(done), excluded_(excluded) {
        result_.axes = program.axes;
    }

    std::optional<RowProgram> run() {
        if (!begin())
            return std::nullopt;
        for (std::size_t i = first_ + 1; i < program_.steps.size(); ++i)
            if (!done_[i] && !excluded_[i] && isReady(i))
                follow(i);
        std::ranges::sort(result_.steps);
        findWanted();
        return std::move(result_);
    }

private:
    const Computation* computationAt(std::size_t step) const {
        return std::get_if<Computation>(&program_.steps[step]);
    }
    bool reads(std::size_t step, BufferId buffer) const {
        return std::ranges::find(uses_.readBy(step), buffer) != uses_.readBy(step).end();
    }
    bool writes(std::size_t step, BufferId buffer) const {
        return std::ranges::find(uses_.writtenBy(step), buffer) != uses_.writtenBy(step).end();
    }
    bool isOfProgram(std::size_t step) const {
        return std::ranges::find(result_.steps, step) != result_.steps.end();
    }

    bool begin() {
        const Computation* seed = computationAt(first_);
        if (seed == nullptr || seed->reductions.empty() || seed->scanned || findsPlaces(*seed))
            return false;
        result_.rows = seed->axes;
        for (const Store& store : seed->stores)
            if (!addRowValue(store, seed->axes))
                return false;
        elements_ = elementAxis(elementsOf(analysis::raise::extentsOf(seed->reduced)));
        absorbMaps(*seed);
        RowPass pass = passOf(*seed, seed->reduced, RowPass::Kind::Reduction);
        if (!readsOwnElements(pass))
            return false;
        result_.passes.push_back(std::move(pass));
        result_.steps.push_back(first_);
        return true;
    }

    static bool findsPlaces(const Computation& computation) {
        return std::ranges::any_of(computation.reductions, analysis::raise::findsPlace,
                                   &analysis::raise::Reduction::reducer);
    }

    Axis elementAxis(const Index& extent) {
        return {result_.axes++, "e", std::make_shared<const Index>(extent)};
    }

    /// Notes which row each axis of the buffer is; false if it is not one element a row.
    bool addRowValue(const Store& store, const std::vector<Axis>& rows) {
        std::vector<std::optional<std::uint32_t>> rowOfAxis;
        std::set<std::uint32_t> used;
        for (const Index& at : store.position) {
            const auto axis = axisOf(at);
            if ((!axis && !at.isZero()) || (axis && !used.insert(*axis).second))
                return false;
            rowOfAxis.push_back(axis);
        }
        const bool isOneARow = std::ranges::all_of(
            rows, [&](const Axis& row) { return isUnit(row) || used.contains(row.id); });
        if (!isOneARow)
            return false;
        rowsOfValue_[store.buffer] = std::move(rowOfAxis);
        result_.rowValues.insert(store.buffer);
        return true;
    }

    /// Maps whose elements the seed reads, each at its own place, and that can run just before it.
    void absorbMaps(const Computation& seed) {
        std::vector<Axis> axes = seed.axes;
        axes.insert(axes.end(), seed.reduced.begin(), seed.reduced.end());
        for (std::size_t i = first_; i-- > 0;) {
            const Computation* map = computationAt(i);
            if (done_[i] || excluded_[i] || map == nullptr || !map->reductions.empty() ||
                map->stores.size() != 1)
                continue;
            const Store& store = map->stores[0];
            const auto position = positionRead(seed, store.buffer);
            if (!position || !samePosition(store.position, indicesOf(map->axes)) ||
                !isBijection(*position, program_.buffers[store.buffer].shape, axes) || !canWait(i))
                continue;
            Positions places;
            for (std::size_t k = 0; k < map->axes.size(); ++k)
                places[map->axes[k].id] = (*position)[k];
            Computation pass = substituted(*map, places);
            pass.axes = seed.axes;
            pass.reduced = seed.reduced;
            result_.passes.insert(result_.passes.begin(),
                                  passOf(pass, seed.reduced, RowPass::Kind::Map));
            result_.steps.push_back(i);
        }
    }

    /// Whether the positions hit each element of an array of that shape once.
    bool isBijection(const std::vector<Index>& position, const std::vector<Index>& shape,
                     const std::vector<Axis>& axes) {
        std::vector<Axis> components;
        for (const Index& extent : shape)
            components.push_back(elementAxis(extent));
        return inverseOf(position, axes, components).isWhole && coversAll(axes, shape);
    }

    /// Whether no step between that one and the seed reads what it writes, so that it can run with
    /// the seed.
    bool canWait(std::size_t step) const {
        for (std::size_t i = step + 1; i < first_; ++i)
            for (const BufferId buffer : uses_.writtenBy(step))
                if (!isOfProgram(i) && reads(i, buffer))
                    return false;
        return true;
    }

    /// Whether all that the step reads is there before the row program runs, or computed by it.
    bool isReady(std::size_t step) const {
        bool readsOfProgram = false;
        for (const BufferId buffer : uses_.readBy(step))
            for (std::size_t i = 0; i < step; ++i) {
                if (!writes(i, buffer))
                    continue;
                if (isOfProgram(i))
                    readsOfProgram = true;
                else if (i > first_ && !done_[i])
                    return false;
            }
        return readsOfProgram;
    }

    /// The place of each axis of a step: it is a row, a part of the elements, or is split into
    /// both.
    struct Layout {
        Positions places;
        std::vector<Axis> elements;
    };

    std::optional<Layout> layoutOf(const Computation& computation) {
        std::map<std::uint32_t, Index> ofRow; // The index of each row, over the step's axes.
        bool isSame = true;
        const auto note = [&](std::uint32_t row, const Index& at) {
            const auto [known, isNew] = ofRow.try_emplace(row, at);
            isSame = isSame && (isNew || known->second == at);
        };
        forEachNode(computation, [&](const ScalarNode& node) {
            if (node.kind != ScalarNode::Kind::Load)
                return;
            const auto value = rowsOfValue_.find(node.buffer);
            if (value == rowsOfValue_.end())
                return;
            for (std::size_t i = 0; i < node.position.size(); ++i)
                if (value->second[i])
                    note(*value->second[i], node.position[i]);
        });
        if (!isSame)
            return std::nullopt;
        Layout layout;
        struct Part {
            Axis inner;
            Index whole; ///< The extent that the axis has to have.
        };
        std::map<std::uint32_t, Part> parts; // The inner parts of split axes.
        for (const Axis& row : result_.rows) {
            if (isUnit(row))
                continue;
            const auto at = ofRow.find(row.id);
            if (at == ofRow.end())
                return std::nullopt;
            if (const auto axis = axisOf(at->second)) {
                if (!layout.places.try_emplace(*axis, Index::of(row)).second)
                    return std::nullopt;
            } else if (const auto split = quotientOfAxis(at->second)) {
                const auto& [id, by] = *split;
                const Axis part{result_.axes++, "e", std::make_shared<const Index>(by)};
                if (!layout.places.try_emplace(id, Index::of(row) * by + Index::of(part)).second)
                    return std::nullopt;
                parts.emplace(id, Part{part, *row.extent * by});
            } else {
                return std::nullopt;
            }
        }
        for (const Axis& axis : computation.axes) {
            const auto place = layout.places.find(axis.id);
            const auto part = parts.find(axis.id);
            if (part != parts.end()) {
                if (!(part->second.whole == *axis.extent))
                    return std::nullopt;
                layout.elements.push_back(part->second.inner);
            } else if (place == layout.places.end() && !isUnit(axis)) {
                layout.elements.push_back(axis);
            } else if (place != layout.places.end() && !isSameExtent(axis, place->second)) {
                return std::nullopt;
            }
        }
        return layout;
    }

    /// Whether the axis is as long as the row that it is.
    static bool isSameExtent(const Axis& axis, const Index& row) {
        return *axis.extent == *row.terms().begin()->second.atoms[0]->axis.extent;
    }

    void follow(std::size_t step) {
        const Computation* next = computationAt(step);
        if (next == nullptr || next->scanned || findsPlaces(*next))
            return;
        const auto layout = layoutOf(*next);
        if (!layout)
            return;
        const bool isReduction = !next->reductions.empty();
        if (isReduction && !layout->elements.empty())
            return;
        if (!isReduction && areFewRows() && isLong(layout->elements))
            return;
        Computation pass = substituted(*next, layout->places);
        pass.axes = result_.rows;
        const bool isOneARow = !isReduction && layout->elements.empty();
        const RowPass::Kind kind = isReduction ? RowPass::Kind::Reduction
                                   : isOneARow ? RowPass::Kind::Row
                                               : RowPass::Kind::Map;
        RowPass made = passOf(pass, isReduction ? next->reduced : layout->elements, kind);
        if (!readsOwnElements(made) || leavesMostIdle(made))
            return;
        if (kind != RowPass::Kind::Map) {
            const auto valuesBefore = result_.rowValues;
            const auto rowsBefore = rowsOfValue_;
            for (const Store& store : pass.stores)
                if (!addRowValue(store, result_.rows)) {
                    result_.rowValues = valuesBefore;
                    rowsOfValue_ = rowsBefore;
                    return;
                }
        }
        result_.passes.push_back(std::move(made));
        result_.steps.push_back(step);
    }

    /// Whether the rows alone leave most of a GPU idle.
    bool areFewRows() const {
        constexpr std::int64_t fewRows = 264;
        const auto high =
            analysis::raise::elementsOf(analysis::raise::extentsOf(result_.rows)).bounds().high;
        return high && *high < fewRows;
    }
    /// Whether the pass stores across its elements, so that its threads would not store neighbours,
    /// and the rows are too few to have a thread each. On its own, it has a thread for each
    /// element.
    bool leavesMostIdle(const RowPass& pass) const {
        constexpr std::int64_t fewThreads = 16384;
        constexpr std::int64_t fewElements = 128; // About as long as a launch takes.
        if (pass.kind != RowPass::Kind::Map)
            return false;
        const auto rows =
            analysis::raise::elementsOf(analysis::raise::extentsOf(result_.rows)).bounds().high;
        const auto elements = pass.elements->extent->bounds().high;
        return rows && *rows < fewThreads && (!elements || *elements > fewElements) &&
               std::ranges::any_of(
                   pass.computation.stores,
                   [&](const Store& store) {
                       return !goesAlong(flat(store.buffer, store.position), *pass.elements);
                   });
    }
    static bool isLong(const std::vector<Axis>& elements) {
        constexpr std::int64_t longRow = 8192;
        const auto high =
            analysis::raise::elementsOf(analysis::raise::extentsOf(elements)).bounds().high;
        return !high || *high > longRow;
    }
    /// Whether each element of a buffer that a map of the program writes is read by the pass where
    /// it was written: by the same thread.
    bool readsOwnElements(const RowPass& pass) const {
        bool isOwn = true;
        forEachNode(pass.computation, [&](const ScalarNode& node) {
            if (node.kind != ScalarNode::Kind::Load)
                return;
            for (const RowPass& before : result_.passes)
                for (const Store& store : before.computation.stores)
                    if (before.kind == RowPass::Kind::Map && store.buffer == node.buffer)
                        isOwn = isOwn && flat(node.buffer, node.position) ==
                                             flat(store.buffer, store.position);
        });
        return isOwn;
    }

    Index flat(BufferId buffer, const std::vector<Index>& position) const {
        return flattened(position, program_.buffers[buffer].shape);
    }

    /// The pass with all of `elements` as one axis.
    RowPass passOf(Computation pass, const std::vector<Axis>& elements, RowPass::Kind kind) {
        RowPass result{kind, std::move(pass), std::nullopt};
        if (kind != RowPass::Kind::Row) {
            const std::vector<Index> shape = analysis::raise::extentsOf(elements);
            const Index extent = analysis::raise::elementsOf(shape);
            const Axis axis = extent == *elements_.extent ? elements_ : elementAxis(extent);
            const std::vector<Index> at = analysis::raise::unflattened(Index::of(axis), shape);
            Positions places;
            for (std::size_t i = 0; i < elements.size(); ++i)
                places[elements[i].id] = at[i];
            result.computation = substituted(result.computation, places);
            result.computation.reduced = {axis};
            result.elements = axis;
        } else {
            result.computation.reduced.clear();
        }
        result.computation.axes = result_.rows;
        return result;
    }

    void findWanted() {
        for (const std::size_t step : result_.steps)
            for (const BufferId buffer : uses_.writtenBy(step)) {
                bool isWanted = program_.buffers[buffer].role == Buffer::Role::Output;
                for (std::size_t i = 0; i < program_.steps.size(); ++i)
                    isWanted = isWanted || (!isOfProgram(i) && reads(i, buffer));
                if (isWanted)
                    result_.wanted.insert(buffer);
            }
    }

    const Program& program_;
    const Uses& uses_;
    std::size_t first_;
    const std::vector<bool>& done_;
    const std::vector<bool>& excluded_;
    Axis elements_; ///< The axis of the seed's elements.
    /// The row that each axis of a buffer is; nullopt for one of extent 1.
    std::map<BufferId, std::vector<std::optional<std::uint32_t>>> rowsOfValue_;
    RowProgram result_;
};

} // namespace

std::optional<RowProgram> rowProgramAt(const Program& program, const Uses& uses, std::size_t first,
                                       const std::vector<bool>& done,
                                       const std::vector<bool>& excluded) {
    return Building(program, uses, first, done, excluded).run();
}

} // namespace kernelskill::engine::graph
