#include "analysis/raise/pulled_values.h"

#include "analysis/raise/cost.h"
#include "analysis/raise/inverse.h"
#include "analysis/raise/live_steps.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/uses.h"
#include "analysis/raise/weights_alone.h"
#include "analysis/syntax/scalar_bytes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

/// A part of a reader's values that stands around a load of the buffer, and the same over the
/// buffer's own axes.
struct Candidate {
    Scalar part;
    Scalar pattern;
};

/// All loads of the buffer at one position of one computation.
struct Reading {
    std::size_t step = 0;
    Scalar load;
    std::vector<Candidate> candidates; ///< From the load outwards.
};

/// Whether the value is computed with the load each time, not only where a condition holds.
bool isAlwaysLoaded(const Scalar& value, const ScalarNode* target) {
    if (value.get() == target)
        return true;
    if (value->kind == ScalarNode::Kind::Select)
        return isAlwaysLoaded(value->arguments[0], target);
    return std::ranges::any_of(
        value->arguments, [&](const Scalar& argument) { return isAlwaysLoaded(argument, target); });
}

/// Rewrites parts of a reader over the axes of the buffer that it loads at `position`.
class Patterns {
public:
    Patterns(const std::vector<Index>& position, const std::vector<Axis>& axes,
             const std::vector<Axis>& components)
        : position_(position), components_(components),
          inverse_(inverseOf(position, axes, components)) {
        for (std::size_t i = 0; i < position.size(); ++i)
            given_.emplace(components[i].id, position[i]);
        for (const Axis& axis : axes)
            axes_.push_back(axis.id);
    }

    [[nodiscard]] bool isWhole() const { return inverse_.isWhole; }

    /// Null if the part depends on more than the place of the element.
    [[nodiscard]] Scalar of(const Scalar& part) const {
        bool isKnown = true;
        Scalar pattern = withIndices(part, [&](const Index& index) {
            auto known = indexOf(index);
            isKnown = isKnown && known;
            return known ? *std::move(known) : index;
        });
        return isKnown ? pattern : nullptr;
    }

private:
    [[nodiscard]] bool standsOverAxes(const Index& index) const {
        return std::ranges::any_of(axes_, [&](std::uint32_t axis) { return index.mentions(axis); });
    }

    [[nodiscard]] std::optional<Index> indexOf(const Index& index) const {
        if (!standsOverAxes(index))
            return index;
        for (std::size_t i = 0; i < position_.size(); ++i)
            if (standsOverAxes(position_[i]))
                if (const auto distance = (index - position_[i]).constant())
                    return Index::of(components_[i]) + *distance;
        const Index known = joined(index.substituted(inverse_.axes));
        if (standsOverAxes(known) || !(joined(known.substituted(given_)) == joined(index)))
            return std::nullopt;
        return known;
    }

    const std::vector<Index>& position_;
    const std::vector<Axis>& components_;
    Inverse inverse_;
    std::map<std::uint32_t, Index> given_;
    std::vector<std::uint32_t> axes_;
};

class Pulling {
public:
    explicit Pulling(Program program)
        : program_(std::move(program)), uses_(program_), alone_(dependsOnWeightsAlone(program_)) {}

    Program run() {
        interner_.intern(program_);
        for (BufferId buffer = 0; buffer < program_.buffers.size(); ++buffer)
            while (pull(buffer)) {
                program_ = inOrderOfNeeds(std::move(program_));
                uses_ = Uses(program_);
                alone_ = dependsOnWeightsAlone(program_);
            }
        return std::move(program_);
    }

private:
    bool pull(BufferId buffer) {
        const Uses& uses = uses_;
        const auto place = uses.writer(buffer);
        if (program_.buffers[buffer].role != Buffer::Role::Local || !place ||
            !uses.isReadPlainly(buffer) || uses.readers(buffer).empty())
            return false;
        const std::uint32_t axes = program_.axes;
        const std::vector<Axis> components = newAxes(program_, program_.buffers[buffer].shape, "p");
        std::vector<Reading> readings;
        double reads = 0;
        for (const std::size_t step : uses.readers(buffer))
            if (!addReadings(buffer, step, place->step, components, uses, readings, reads)) {
                program_.axes = axes;
                return false;
            }
        const Scalar pattern = common(readings);
        // A step that depends on weights alone runs once: it must stay so.
        if (pattern != nullptr && alone_[place->step] &&
            !readsWeightsAlone(buffer, pattern, uses)) {
            program_.axes = axes;
            return false;
        }
        // Readers of a small part compute less than the writer would.
        const bool isWorth =
            reads * 2 >= estimatedElements(program_.buffers[buffer].shape) && pattern != nullptr;
        if (!isWorth) {
            program_.axes = axes;
            return false;
        }
        apply(buffer, *place, components, readings, pattern);
        return true;
    }

    /// The loads of the buffer by a step; false if one can be pulled nowhere.
    bool addReadings(BufferId buffer, std::size_t step, std::size_t writer,
                     const std::vector<Axis>& components, const Uses& uses,
                     std::vector<Reading>& readings, double& reads) {
        const auto& computation = std::get<Computation>(program_.steps[step]);
        const std::vector<Scalar> roots = rootsOf(computation);
        std::vector<Axis> axes = computation.axes;
        axes.insert(axes.end(), computation.reduced.begin(), computation.reduced.end());
        for (const Scalar& node : nodesOf(roots)) {
            if (node->kind != ScalarNode::Kind::Load || node->buffer != buffer)
                continue;
            Reading reading{step, node, {}};
            const std::vector<Index>& shape = program_.buffers[buffer].shape;
            const Patterns patterns(node->position, axes, components);
            const bool isEverywhere =
                isInsideOf(node->position, shape) && patterns.isWhole() && coversAll(axes, shape);
            for (const Scalar& part : dominatorsOf(roots, node)) {
                const Scalar pattern = patterns.of(part);
                if (pattern != nullptr && isAllowed(buffer, part, node, pattern, isEverywhere) &&
                    existsBefore(writer, buffer, pattern, uses))
                    reading.candidates.push_back({part, interner_(pattern)});
            }
            if (reading.candidates.size() < 2) // The load itself is the first.
                return false;
            readings.push_back(std::move(reading));
            double own = 1;
            for (const Axis& axis : axes)
                if (mentions(node, axis.id))
                    own *= estimated(*axis.extent);
            reads += own;
        }
        return true;
    }

    [[nodiscard]] bool isAllowed(BufferId buffer, const Scalar& part, const Scalar& read,
                                 const Scalar& pattern, bool isEverywhere) const {
        if (scalarBytes(part->type) > scalarBytes(program_.buffers[buffer].element))
            return false;
        const bool isSafe = isInsideOf(read->position, program_.buffers[buffer].shape) ||
                            isAlwaysLoaded(part, read.get());
        if (!isSafe)
            return false;
        // The writer computes it for elements that no reader reads as well.
        bool isValid = true;
        std::size_t own = 0;
        forEachNode(pattern, [&](const ScalarNode& node) {
            if (node.kind == ScalarNode::Kind::Accumulated)
                isValid = false;
            if (node.kind != ScalarNode::Kind::Load)
                return;
            own += node.buffer == buffer ? 1 : 0;
            isValid = isValid && (isEverywhere || node.buffer == buffer ||
                                  isInsideOf(node.position, program_.buffers[node.buffer].shape));
        });
        return isValid && own == 1;
    }

    static bool existsBefore(std::size_t writer, BufferId buffer, const Scalar& pattern,
                             const Uses& uses) {
        bool exists = true;
        forEachRead(pattern, [&](BufferId read, bool) {
            exists = exists && (read == buffer || !uses.bufferDepends(read, writer));
        });
        return exists;
    }

    [[nodiscard]] bool readsWeightsAlone(BufferId buffer, const Scalar& pattern,
                                         const Uses& uses) const {
        bool isAlone = true;
        forEachRead(pattern, [&](BufferId read, bool) {
            const auto place = uses.writer(read);
            isAlone =
                isAlone && (read == buffer || program_.buffers[read].role == Buffer::Role::Weight ||
                            (place && alone_[place->step]));
        });
        return isAlone;
    }

    /// The largest pattern that all readings have; null if it is no more than the load.
    [[nodiscard]] static Scalar common(const std::vector<Reading>& readings) {
        const std::vector<Candidate>& first = readings.front().candidates;
        for (std::size_t i = first.size(); i-- > 1;) {
            const bool isCommon = std::ranges::all_of(readings, [&](const Reading& reading) {
                return std::ranges::find(reading.candidates, first[i].pattern,
                                         &Candidate::pattern) != reading.candidates.end();
            });
            if (isCommon && first[i].pattern->kind != ScalarNode::Kind::Load)
                return first[i].pattern;
        }
        return nullptr;
    }

    void apply(BufferId buffer, StorePlace place, const std::vector<Axis>& components,
               const std::vector<Reading>& readings, const Scalar& pattern) {
        Buffer& written = program_.buffers[buffer];
        auto& writer = std::get<Computation>(program_.steps[place.step]);
        Store& store = writer.stores[place.store];
        std::map<std::uint32_t, Index> position;
        for (std::size_t i = 0; i < components.size(); ++i)
            position.emplace(components[i].id, store.position[i]);
        const Scalar value = store.value;
        store.value =
            interner_(replaced(relocated(pattern, position), [&](const ScalarNode& node) -> Scalar {
                return node.kind == ScalarNode::Kind::Load && node.buffer == buffer ? value
                                                                                    : nullptr;
            }));
        written.element = pattern->type;
        std::map<std::size_t, NodeReplacements> replacements;
        for (const Reading& reading : readings) {
            const auto part =
                std::ranges::find(reading.candidates, pattern, &Candidate::pattern)->part;
            replacements[reading.step].emplace(part.get(),
                                               load(pattern->type, buffer, reading.load->position));
        }
        for (const auto& [step, nodes] : replacements)
            rewriteRoots(std::get<Computation>(program_.steps[step]),
                         [&](const Scalar& root) { return interner_(withNodes(root, nodes)); });
    }

    Program program_;
    Uses uses_;
    std::vector<bool> alone_; ///< Says of each step whether it depends on weights alone.
    Interner interner_;
};

} // namespace

Program withPulledValues(Program program) {
    return Pulling(std::move(program)).run();
}

} // namespace kernelskill::analysis::raise
