#include "analysis/raise/stored_layouts.h"

#include "analysis/raise/inverse.h"
#include "analysis/raise/rewrite.h"
#include "analysis/raise/uses.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace kernelskill::analysis::raise {

namespace {

bool divides(const Index& index) {
    return std::ranges::any_of(index.terms(), [](const auto& entry) {
        return std::ranges::any_of(
            entry.second.atoms, [](const Index::AtomRef& atom) { return atom->left != nullptr; });
    });
}

class Storing {
public:
    explicit Storing(Program program) : program_(std::move(program)) {}

    Program run() {
        // Buffers change; steps and who reads what do not.
        const Uses uses(program_);
        for (BufferId buffer = 0; buffer < program_.buffers.size(); ++buffer)
            store(buffer, uses);
        return std::move(program_);
    }

private:
    void store(BufferId buffer, const Uses& uses) {
        const auto place = uses.writer(buffer);
        Buffer& stored = program_.buffers[buffer];
        if (stored.role != Buffer::Role::Local || !place || !uses.isReadPlainly(buffer) ||
            uses.readers(buffer).size() != 1)
            return;
        const auto& reader = std::get<Computation>(program_.steps[uses.readers(buffer).front()]);
        const auto read = positionRead(reader, buffer);
        if (!read || std::ranges::none_of(*read, divides))
            return;
        std::vector<Axis> axes;
        for (const std::vector<Axis>* all : {&reader.axes, &reader.reduced})
            std::ranges::copy_if(*all, std::back_inserter(axes), [&](const Axis& axis) {
                return std::ranges::any_of(*read,
                                           [&](const Index& at) { return at.mentions(axis.id); });
            });
        const std::uint32_t numbers = program_.axes;
        const std::vector<Axis> components = newAxes(program_, stored.shape, "p");
        const Inverse inverse = inverseOf(*read, axes, components);
        if (!inverse.isWhole || !coversAll(axes, stored.shape)) {
            program_.axes = numbers;
            return;
        }
        auto& writer = std::get<Computation>(program_.steps[place->step]);
        Store& own = writer.stores[place->store];
        std::map<std::uint32_t, Index> elements;
        for (std::size_t i = 0; i < components.size(); ++i)
            elements.emplace(components[i].id, own.position[i]);
        std::vector<Index> position;
        std::vector<Index> shape;
        for (const Axis& axis : axes) {
            position.push_back(inverse.axes.at(axis.id));
            shape.push_back(*axis.extent);
        }
        own.position = relocated(position, elements);
        stored.shape = std::move(shape);
        rewriteRoots(std::get<Computation>(program_.steps[uses.readers(buffer).front()]),
                     [&](const Scalar& root) {
                         return replaced(root, [&](const ScalarNode& node) -> Scalar {
                             return node.kind == ScalarNode::Kind::Load && node.buffer == buffer
                                        ? load(node.type, buffer, indicesOf(axes))
                                        : nullptr;
                         });
                     });
    }

    Program program_;
};

} // namespace

Program withStoredLayouts(Program program) {
    return Storing(std::move(program)).run();
}

} // namespace kernelskill::analysis::raise
