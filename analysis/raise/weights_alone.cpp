#include "analysis/raise/weights_alone.h"

#include "analysis/raise/rewrite.h"
#include "analysis/raise/uses.h"

#include <algorithm>

namespace kernelskill::analysis::raise {

namespace {

bool hasSize(const Index& index) {
    return std::ranges::any_of(index.terms(), [](const auto& entry) {
        return std::ranges::any_of(entry.second.atoms, [](const Index::AtomRef& atom) {
            return atom->kind == Index::Atom::Kind::Size ||
                   (atom->data != nullptr && hasSize(atom->data)) ||
                   (atom->left != nullptr && (hasSize(*atom->left) || hasSize(*atom->right)));
        });
    });
}

bool hasSize(const Computation& computation) {
    const auto ofAxis = [](const Axis& axis) { return hasSize(*axis.extent); };
    return std::ranges::any_of(computation.axes, ofAxis) ||
           std::ranges::any_of(computation.reduced, ofAxis) ||
           std::ranges::any_of(rootsOf(computation),
                               [](const Scalar& root) { return hasSize(root); });
}

} // namespace

bool hasSize(const Scalar& value) {
    bool has = false;
    forEachNode(value, [&](const ScalarNode& node) {
        has = has || hasSize(node.index) ||
              std::ranges::any_of(node.position, [](const Index& at) { return hasSize(at); });
    });
    return has;
}

std::vector<bool> dependsOnWeightsAlone(const Program& program) {
    std::vector<bool> isKnown;
    for (const Buffer& buffer : program.buffers)
        isKnown.push_back(buffer.role == Buffer::Role::Weight);
    std::vector<bool> alone;
    for (const Step& step : program.steps) {
        const auto* computation = std::get_if<Computation>(&step);
        bool isAlone = computation != nullptr && !hasSize(*computation);
        for (const BufferId buffer : readsOf(step))
            isAlone = isAlone && isKnown[buffer];
        for (const BufferId buffer : writesOf(step))
            isAlone = isAlone && program.buffers[buffer].role == Buffer::Role::Local;
        if (isAlone)
            for (const BufferId buffer : writesOf(step))
                isKnown[buffer] = true;
        alone.push_back(isAlone);
    }
    return alone;
}

std::vector<std::size_t> stepsOfWeightsAlone(const Program& program) {
    const std::vector<bool> alone = dependsOnWeightsAlone(program);
    std::vector<std::size_t> steps;
    for (std::size_t step = 0; step < alone.size(); ++step)
        if (alone[step])
            steps.push_back(step);
    return steps;
}

} // namespace kernelskill::analysis::raise
