#include "analysis/raise/inlined_maps.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/inverse.h"
#include "analysis/raise/live_steps.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/sources.h"
#include "analysis/raise/uses.h"
#include "analysis/raise/weights_alone.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

/// Whether a quotient or remainder of one of the axes stands in the index.
bool dividesAxis(const Index& index, const std::vector<Axis>& axes) {
    return std::ranges::any_of(index.terms(), [&](const auto& entry) {
        return std::ranges::any_of(entry.second.atoms, [&](const Index::AtomRef& atom) {
            return atom->left != nullptr && std::ranges::any_of(axes, [&](const Axis& axis) {
                       return atom->left->mentions(axis.id);
                   });
        });
    });
}

bool readsData(const Scalar& value) {
    bool reads = false;
    forEachNode(value, [&](const ScalarNode& node) {
        reads = reads || std::ranges::any_of(node.position, &Index::readsData);
    });
    return reads;
}

class Inlining {
public:
    Inlining(Program program, const InlineLimits& limits)
        : program_(std::move(program)), uses_(program_), alone_(dependsOnWeightsAlone(program_)),
          limits_(limits) {}

    Program run() {
        interner_.intern(program_);
        for (BufferId buffer = 0; buffer < program_.buffers.size(); ++buffer)
            inlineMap(buffer);
        return withoutDeadSteps(std::move(program_));
    }

private:
    /// The value that a map writes to its buffer, as a function of the buffer's axes.
    struct Written {
        Scalar value;
        std::vector<Axis> components;
    };

    void inlineMap(BufferId buffer) {
        const Uses& uses = uses_;
        const auto place = uses.writer(buffer);
        if (program_.buffers[buffer].role != Buffer::Role::Local || !place ||
            !uses.isReadPlainly(buffer) || uses.readers(buffer).empty())
            return;
        const auto& map = std::get<Computation>(program_.steps[place->step]);
        if (!map.reductions.empty() || map.stores.size() != 1)
            return;
        const auto written = valueOf(buffer, map);
        if (!written)
            return;
        const bool isDoneOnce = alone_[place->step] && !alone_[uses.readers(buffer).front()];
        if (operationsIn(written->value) > 0 && (uses.readers(buffer).size() > 1 || isDoneOnce))
            return;
        std::vector<Computation> changed;
        for (const std::size_t step : uses.readers(buffer)) {
            auto reader = withValue(std::get<Computation>(program_.steps[step]), buffer, *written);
            if (!reader)
                return;
            addSources(*reader, map);
            changed.push_back(std::move(*reader));
        }
        for (std::size_t i = 0; i < changed.size(); ++i)
            program_.steps[uses.readers(buffer)[i]] = std::move(changed[i]);
        uses_ = Uses(program_);
    }

    std::optional<Written> valueOf(BufferId buffer, const Computation& map) {
        const Store& store = map.stores.front();
        Written written{nullptr, newAxes(program_, program_.buffers[buffer].shape, "p")};
        const Inverse inverse = inverseOf(store.position, map.axes, written.components);
        if (!inverse.isWhole)
            return std::nullopt;
        written.value = relocated(store.value, inverse.axes);
        return written;
    }

    /// The reader with the map's value in the place of its result; nullopt if that costs more.
    std::optional<Computation> withValue(Computation reader, BufferId buffer,
                                         const Written& written) {
        const bool isContraction = formOf(reader) == Form::Contraction;
        const auto cost = static_cast<double>(operationsIn(written.value));
        const double elements = estimatedElements(program_.buffers[buffer].shape);
        if (isContraction && readsData(written.value))
            return std::nullopt;
        double operations = 0;
        NodeReplacements replacements;
        for (const Scalar& node : nodesOf(rootsOf(reader))) {
            if (node->kind != ScalarNode::Kind::Load || node->buffer != buffer)
                continue;
            std::map<std::uint32_t, Index> position;
            for (std::size_t i = 0; i < written.components.size(); ++i)
                position.emplace(written.components[i].id, node->position[i]);
            Scalar value = relocated(written.value, position);
            if (isContraction && !isSimple(value, reader))
                return std::nullopt;
            operations += cost * repeatsOf(reader, isContraction) / std::max(1.0, elements);
            replacements.emplace(node.get(), std::move(value));
        }
        // A map's own results cost nothing more where each is used once.
        if (operations > std::max(limits_.operations, cost))
            return std::nullopt;
        rewriteRoots(reader,
                     [&](const Scalar& root) { return interner_(withNodes(root, replacements)); });
        if (isContraction && formOf(reader) != Form::Contraction)
            return std::nullopt;
        return reader;
    }

    /// How often the reader computes what it reads for an element of its axes.
    [[nodiscard]] double repeatsOf(const Computation& reader, bool isContraction) const {
        const double elements = estimatedElements(reader.axes) * estimatedElements(reader.reduced);
        return isContraction ? elements / limits_.contractionReuse : elements;
    }

    /// Whether inner loops need no quotients.
    static bool isSimple(const Scalar& value, const Computation& reader) {
        bool simple = true;
        forEachNode(value, [&](const ScalarNode& node) {
            for (const Index& at : node.position)
                simple = simple && !dividesAxis(at, reader.reduced);
        });
        return simple;
    }

    Program program_;
    Uses uses_;
    std::vector<bool> alone_; ///< Says of each step whether it depends on weights alone.
    InlineLimits limits_;
    Interner interner_;
};

} // namespace

Program withInlinedMaps(Program program, const InlineLimits& limits) {
    return Inlining(std::move(program), limits).run();
}

} // namespace kernelskill::analysis::raise
